package schema

import (
	"fmt"
	"strings"
	"unsafe"
)

// Check reports whether text is one JSON value that the schema accepts: nil,
// a *SyntaxError with the place where it stops being JSON, or an
// *InvalidError with the violations, as many as can be read.
func (s *Schema) Check(text string) error {
	if s.fast != nil && s.fast.accepts(text, s.cost.depth) {
		return nil
	}
	return s.fullCheck(text)
}

// CheckBytes is Check without a copy of the text, which must not change
// meanwhile.
func (s *Schema) CheckBytes(text []byte) error { return s.Check(asString(text)) }

// asString is bytes as a string, without a copy, for who keeps nothing of it.
func asString(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text)) //nolint:gosec // as said
}

// ValidBytes is Valid without a copy of the text.
func ValidBytes(text []byte) error { return Valid(asString(text)) }

// fullCheck is the verdict of the full library, and its texts.
func (s *Schema) fullCheck(text string) (err error) {
	v, err := parse(text, s.text)
	if err != nil {
		return err
	}
	depth, parts := v.extent()
	if s.cost.depth > 0 && depth > s.cost.depth {
		return &InvalidError{Violations: []Violation{{
			Keyword: "$ref", Got: fmt.Sprintf("a value nested %d deep", depth),
			Want: fmt.Sprintf("at most %d: the schema refers to itself in several ways", s.cost.depth),
		}}}
	}
	if parts > s.cost.parts {
		return &InvalidError{Violations: []Violation{{
			Keyword: "$ref", Got: fmt.Sprintf("a value of %d parts", parts),
			Want: fmt.Sprintf("at most %d: the schema has many alternatives for each", s.cost.parts),
		}}}
	}
	defer func() {
		if r := recover(); r != nil {
			err = &InvalidError{Violations: []Violation{{Got: "a value the checker cannot handle", Want: fmt.Sprintf("another one (%v)", r)}}}
		}
	}()
	tree := v.tree()
	if err := s.full.Validate(tree); err != nil {
		return explain(s.source, s.full, v, err)
	}
	if s.plain != nil {
		if err := s.plain.Validate(tree); err != nil {
			return explain(s.source, s.plain, v, err)
		}
	}
	return nil
}

// extent is how deep v is nested, and of how many values it consists.
func (v *value) extent() (depth, parts int) {
	parts = 1
	add := func(sub *value) {
		d, n := sub.extent()
		depth, parts = max(depth, d), parts+n
	}
	for _, item := range v.items {
		add(item)
	}
	for _, m := range v.members {
		add(m.value)
	}
	if v.isObject() || v.isArray() {
		depth++
	}
	return depth, parts
}

// Arguments reads the text of a call's arguments, whatever their schema:
// blank text is {}, duplicate keys, invalid UTF-8 and trailing bytes are
// refused. What it returns has one reading.
func Arguments(text string) (string, error) {
	if strings.Trim(text, " \t\r\n") == "" {
		return "{}", nil
	}
	// The same walk that checks a schema reads plain text without a tree.
	if anyNode().accepts(text, 0) {
		return text, nil
	}
	_, err := parse(text, limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues})
	if err != nil {
		return "", err
	}
	return text, nil
}

func anyNode() *node {
	c := fastCompiler{nodes: map[fastKey]*node{}}
	return c.anything()
}

// Valid reports whether text is one JSON value, as RFC 8259 has it: nil, or a
// *SyntaxError.
func Valid(text string) error {
	if len(text) <= maxTextBytes && anyNode().accepts(text, 0) { // without a tree
		return nil
	}
	_, err := parse(text, limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues, duplicates: true})
	return err
}

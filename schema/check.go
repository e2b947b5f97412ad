package schema

import (
	"errors"
	"fmt"
	"strings"
)

// Check reports whether text is one JSON value that the schema accepts: nil,
// a *SyntaxError with the place where it stops being JSON, or an
// *InvalidError with every violation.
func (s *Schema) Check(text string) error {
	if s.fast != nil && s.fast.accepts(text) {
		return nil
	}
	return s.fullCheck(text)
}

// fullCheck is the verdict of the full library, and its texts.
func (s *Schema) fullCheck(text string) (err error) {
	v, err := parse(text, s.text)
	if err != nil {
		return err
	}
	if s.maxDepth > 0 {
		if d := v.depth(); d > s.maxDepth {
			return &InvalidError{[]Violation{{
				Keyword: "$ref", Got: fmt.Sprintf("a value nested %d deep", d),
				Want: fmt.Sprintf("at most %d: this schema refers to itself in several ways", s.maxDepth),
			}}}
		}
	}
	defer func() {
		if r := recover(); r != nil {
			err = &InvalidError{[]Violation{{Got: "a value the checker cannot handle", Want: fmt.Sprintf("another one (%v)", r)}}}
		}
	}()
	tree := v.tree()
	if err := s.full.Validate(tree); err != nil {
		return explain(s.full, v, err)
	}
	if s.plain != nil {
		if err := s.plain.Validate(tree); err != nil {
			return explain(s.plain, v, err)
		}
	}
	return nil
}

func (v *value) depth() int {
	deepest := 0
	for _, item := range v.items {
		deepest = max(deepest, item.depth())
	}
	for _, m := range v.members {
		deepest = max(deepest, m.value.depth())
	}
	if v.isObject() || v.isArray() {
		deepest++
	}
	return deepest
}

// Arguments reads the text of a call's arguments, whatever their schema:
// blank text is {}, duplicate keys, invalid UTF-8 and trailing bytes are
// refused. What it returns has one reading.
func Arguments(text string) (string, error) {
	if strings.Trim(text, " \t\r\n") == "" {
		return "{}", nil
	}
	// The same walk that checks a schema reads plain text without a tree.
	if anyNode().accepts(text) {
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

// CheckObject reports whether text, a valid JSON value, is an object: nil or an
// *InvalidError.
func CheckObject(text string) error {
	v, err := parse(text, limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues})
	if err != nil || v.isObject() {
		return err
	}
	return &InvalidError{[]Violation{{Keyword: "type", Got: shown(v), Want: "object"}}}
}

// Valid reports whether text is one JSON value, as RFC 8259 has it: nil, or a
// *SyntaxError.
func Valid(text string) error {
	_, err := parse(text, limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues, duplicates: true})
	return err
}

// Violations returns what err lists, if it is an InvalidError.
func Violations(err error) []Violation {
	if e := (*InvalidError)(nil); errors.As(err, &e) {
		return e.Violations
	}
	return nil
}

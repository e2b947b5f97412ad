package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent
// use.
type Schema struct {
	source json.RawMessage
	full   *jsonschema.Schema
	plain  *jsonschema.Schema // not nil: what full accepts must also be valid here
	fast   *node              // nil: the full library serves every check
	served bool               // fast covers every keyword
	text   limits
	cost   cost
}

// Options say how a schema is to be read. The zero value reads it as JSON
// Schema is published, draft 2020-12 unless the schema names another.
type Options struct {
	// Arguments reads it for the arguments of a call: an object whose schema
	// names properties and is silent on others takes no others, and duplicate
	// or wrong-case keys are refused.
	Arguments bool
	// Open keeps such objects open; the rest of Arguments stays.
	Open bool
	// Draft7 is the draft of a schema that names none.
	Draft7 bool
	// Documents may be referenced, by absolute URI. Nothing is ever fetched:
	// a reference to anything else refuses the schema.
	Documents map[string]json.RawMessage
}

// What a schema may be. Real tools stay far below each.
const (
	maxSchemaBytes  = 1 << 20
	maxSchemaDepth  = 128
	maxSchemaValues = 50_000
	maxSchemaName   = 512 // places are named by the names on the way to them
	// Finding them takes the library quadratic time.
	maxSchemaParts = 2_000
	maxSchemaRefs  = 500
)

// What a value may be when it is read into a tree.
const (
	maxTextBytes  = 64 << 20
	maxTextDepth  = 5000
	maxTextValues = 2_000_000
)

// baseURI names the schema itself. Its host cannot exist, and nothing looks.
const baseURI = "https://schema.invalid/root"

// Compile reads and bounds a schema. What is wrong with it, or would make later
// checks slow whatever the value, is an error here that names the place.
func Compile(text []byte, o Options) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, &DefinitionError{Reason: fmt.Sprintf("the schema cannot be compiled: %v", r)}
		}
	}()
	tree, err := parseSchema(string(text))
	if err != nil {
		return nil, err
	}
	s = &Schema{source: bytes.Clone(text)}
	s.text = limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues, duplicates: !o.Arguments}

	if draft := draftIn(tree, o); draft < 2019 {
		dropHidden(newDocument(tree, draft))
	}
	lib := library{options: o}
	if o.Arguments {
		plain := tree
		r := strict(plain, o)
		tree, lib.assertFormat, lib.cased = r.tree, r.upgraded, r.cased
		// Closing a branch of oneOf can leave one match where there were two.
		// An upgraded schema, or one with a keyword of ours, is looked at less
		// closely by the library. In these cases it must fit as it is, too.
		if r.upgraded || r.cased || mentions(plain, "oneOf") {
			if s.plain, err = (library{options: Options{Draft7: o.Draft7, Documents: o.Documents}}).compile(plain); err != nil {
				return nil, err
			}
		}
	}
	if s.full, err = lib.compile(tree); err != nil {
		return nil, err
	}
	if s.cost, err = bound(s.full); err != nil {
		return nil, err
	}
	s.fast, s.served = compileFast(s.full, tree)
	return s, nil
}

// parseSchema reads a schema's text into a tree.
func parseSchema(text string) (*value, error) {
	tree, err := parse(text, limits{bytes: maxSchemaBytes, depth: maxSchemaDepth, values: maxSchemaValues, name: maxSchemaName})
	if err != nil {
		e := &DefinitionError{Reason: "not a JSON text: " + err.Error(), Err: err}
		if s := (*SyntaxError)(nil); errors.As(err, &s) {
			e.Pointer = s.Pointer
		}
		return nil, e
	}
	if !tree.isObject() && !tree.isBool() {
		return nil, &DefinitionError{Reason: "got " + kindName(tree) + ", want an object, true or false"}
	}
	var subschemas, references int
	tree.count(&subschemas, &references)
	if subschemas > maxSchemaParts {
		return nil, &DefinitionError{Reason: fmt.Sprintf("got %d subschemas, want at most %d", subschemas, maxSchemaParts)}
	}
	if references > maxSchemaRefs {
		return nil, &DefinitionError{Reason: fmt.Sprintf("got %d references, want at most %d", references, maxSchemaRefs)}
	}
	if err := tree.checkCounts(); err != nil {
		return nil, err
	}
	return tree, nil
}

// checkCounts refuses lengths and numbers of items that no machine can count
// to: the library would take them for others. The place is built on the way
// back.
func (v *value) checkCounts() *DefinitionError {
	within := func(err *DefinitionError, token string) *DefinitionError {
		err.Pointer = pointer(token) + err.Pointer
		return err
	}
	for _, m := range v.members {
		if vocabulary[m.name].shape == countShape && m.value.isNumber() {
			d, short := parseDecimal(m.value.text)
			if c, ok := d.compare(decimal{digits: 1, exp: 15}); !short || !ok || c > 0 {
				return &DefinitionError{Pointer: pointer(m.name), Reason: fmt.Sprintf("got %s, want at most 1e15", clip(m.value.text, 24))}
			}
		}
		if err := m.value.checkCounts(); err != nil {
			return within(err, m.name)
		}
	}
	for i, item := range v.items {
		if err := item.checkCounts(); err != nil {
			return within(err, strconv.Itoa(i))
		}
	}
	return nil
}

// count adds up what may be subschemas and references. A reference can turn
// any part of the document into a schema, so every object is looked at as one.
func (v *value) count(subschemas, references *int) {
	eachSubschema(v, func(string, position, *value) { *subschemas++ })
	for _, item := range v.items {
		item.count(subschemas, references)
	}
	for _, m := range v.members {
		if m.name == "$ref" || m.name == "$dynamicRef" || m.name == "$recursiveRef" {
			*references++
		}
		m.value.count(subschemas, references)
	}
}

// Source returns the text that the schema was compiled from. The caller must
// not change it.
func (s *Schema) Source() json.RawMessage { return s.source }

// Fast reports whether the one-pass engine covers every keyword of the schema.
// Where it does not, the full library checks what it cannot say yes to:
// correct, and much slower.
func (s *Schema) Fast() bool { return s.served }

// library drives the full engine and keeps it from doing harm: it loads
// nothing, and what it throws is caught.
type library struct {
	options      Options
	assertFormat bool
	cased        bool // the schema has our own keyword
}

func (l library) compile(tree *value) (s *jsonschema.Schema, err error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(l)
	c.UseRegexpEngine((&patterns{known: map[string]*regexp.Regexp{}}).compile)
	c.DefaultDraft(jsonschema.Draft2020)
	if l.options.Draft7 {
		c.DefaultDraft(jsonschema.Draft7)
	}
	if l.assertFormat {
		c.AssertFormat()
	}
	if l.cased {
		c.RegisterVocabulary(caseVocabulary())
		c.AssertVocabs()
	}
	if err := c.AddResource(baseURI, tree.tree()); err != nil {
		return nil, definitionError(err)
	}
	s, err = c.Compile(baseURI)
	if err != nil {
		return nil, definitionError(err)
	}
	return s, nil
}

// errNotFollowed is why a reference refuses its schema.
var errNotFollowed = errors.New("only references within the schema are followed; nothing is loaded from files or hosts")

// Load implements the library's loader over the given documents only.
func (l library) Load(uri string) (any, error) {
	text, ok := l.options.Documents[uri]
	if !ok {
		return nil, errNotFollowed
	}
	tree, err := parseSchema(string(text))
	if err != nil {
		return nil, err
	}
	return tree.tree(), nil
}

// definitionError finds the place in what the library says.
func definitionError(err error) error {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			leaf := v
			for len(leaf.Causes) > 0 {
				leaf = leaf.Causes[0]
			}
			reason := leaf.ErrorKind.LocalizedString(printer())
			if k, ok := leaf.ErrorKind.(*kind.Format); ok && k.Want == "regex" {
				reason = fmt.Sprintf("pattern %q: %v (%s)", k.Got, k.Err, patternHint)
			}
			return &DefinitionError{Pointer: pointer(leaf.InstanceLocation...), Reason: reason, Err: err}
		}
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return &DefinitionError{Reason: fmt.Sprintf("reference to %q: %v", strings.TrimPrefix(load.URL, baseURI), load.Err), Err: err}
	}
	if regex, ok := errors.AsType[*jsonschema.InvalidRegexError](err); ok {
		return &DefinitionError{Pointer: fragment(regex.URL), Reason: fmt.Sprintf("pattern %q: %v (%s)", regex.Regex, regex.Err, patternHint), Err: err}
	}
	if missing, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return &DefinitionError{Reason: fmt.Sprintf("reference to %q leads nowhere", "#"+fragment(missing.URL)), Err: err}
	}
	return &DefinitionError{Reason: strings.ReplaceAll(err.Error(), baseURI, ""), Err: err}
}

// fragment returns what follows the # of a location, decoded.
func fragment(location string) string {
	_, frag, _ := strings.Cut(location, "#")
	if plain, err := url.PathUnescape(frag); err == nil {
		return plain
	}
	return frag
}

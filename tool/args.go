package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
)

// Args are the arguments of one call, checked against the schema. They cannot
// be changed: who wants other arguments has them admitted anew. Only
// [Tool.Admit] makes them.
type Args struct{ a *admitted }

type admitted struct {
	text     string
	received string
	decoded  any // typed tools: *In
	mended   []string
}

// Text is the arguments as JSON text. It has one reading: an object, valid
// UTF-8, no duplicate keys, nothing behind it.
func (a Args) Text() string {
	if a.a == nil {
		return "{}"
	}
	return a.a.text
}

// Received is the text as it came from the model.
func (a Args) Received() string {
	if a.a == nil {
		return ""
	}
	return a.a.received
}

// Mended lists what a repair changed in what was received; nil: nothing.
func (a Args) Mended() []string {
	if a.a == nil {
		return nil
	}
	return slices.Clone(a.a.mended)
}

// Decode reads the arguments into the Go value that v points to.
func (a Args) Decode(v any) error { return schema.Decode(a.Text(), v) }

// MarshalJSON writes the arguments as they are.
func (a Args) MarshalJSON() ([]byte, error) { return []byte(a.Text()), nil }

// Admit is the one way to Args: it reads the text, checks it against the
// schema and, for a typed tool, decodes it. Blank text is {}. mend, where not
// nil, may repair text that is not JSON, once, and says what it changed; what
// it returns passes every check ([schema.Repair] is one). The error is an
// [Error] of kind invalid_input, with words a model can repair from.
func (t *Tool) Admit(input json.RawMessage, mend func(text string) (mended string, changes []string, err error)) (Args, error) {
	if t.input == nil {
		return Args{}, &Error{Kind: Failed, Text: "The tool is not ready.", Detail: fmt.Sprintf("tool %q: not made by Check, New or Spec.Tool", t.Name)}
	}
	a := &admitted{received: string(input)}
	a.text = a.received
	if blank(a.text) {
		a.text = "{}"
	}
	err := t.input.Check(a.text)
	if mend != nil && errors.As(err, new(*schema.SyntaxError)) {
		err = t.mend(a, mend, err)
	}
	if err == nil && strings.TrimLeft(a.text, " \t\r\n")[0] != '{' {
		err = schema.CheckObject(a.text)
	}
	if err == nil && t.decode != nil {
		a.decoded, err = t.decode(a.text)
	}
	if err != nil {
		return Args{}, invalidInput(err)
	}
	return Args{a}, nil
}

func (t *Tool) mend(a *admitted, mend func(string) (string, []string, error), cause error) (err error) {
	defer func() {
		if recover() != nil {
			err = cause
		}
	}()
	text, changes, err := mend(a.received)
	if err != nil {
		return cause // the first error is about what the model wrote
	}
	if text, err = schema.Arguments(text); err != nil {
		return cause
	}
	a.text, a.mended = text, slices.Clone(changes)
	return t.input.Check(text)
}

func blank(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return true
}

func invalidInput(err error) *Error {
	text := err.Error()
	if errors.As(err, new(*schema.SyntaxError)) {
		text = "the arguments are not valid JSON: " + text
	}
	return &Error{Kind: InvalidInput, Text: "InputValidationError: " + text, Cause: err}
}

// typed returns the decoded arguments of a typed tool.
func typed[In any](a Args) (*In, error) {
	if a.a != nil {
		if in, ok := a.a.decoded.(*In); ok {
			return in, nil
		}
	}
	return nil, fmt.Errorf("arguments of another tool: want those admitted for %T", *new(In))
}

package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/schema"
)

// Args are the arguments of one call, checked against the schema of one tool.
// They cannot be changed: who wants other arguments has them admitted anew.
// Only [Tool.Admit] and its like make them; the zero value is nobody's.
type Args struct{ a *admitted }

type admitted struct {
	by      *Tool
	text    string
	decoded any         // typed tools: *In
	taken   atomic.Bool // decoded was given to a function that could write to it
	origin  *origin     // nil: text is what was received
	facts   atomic.Pointer[stated]
}

// stated gives what a tool's Facts said of arguments, or that it failed.
type stated func() (Facts, error)

// origin is what became of the text on its way.
type origin struct {
	received string
	mended   []string
}

// Text is the arguments as JSON text. It has one reading: an object, valid
// UTF-8, no duplicate keys, nothing behind it. Strings in it may be escaped
// (\u0074oken is token): who looks for words decodes first.
func (a Args) Text() string {
	if a.a == nil {
		return ""
	}
	return a.a.text
}

// Received is the text as it came from the model.
func (a Args) Received() string {
	if a.a == nil {
		return ""
	}
	if a.a.origin == nil {
		return a.a.text
	}
	return a.a.origin.received
}

// Mended lists what a repair changed in what was received; nil: nothing.
func (a Args) Mended() []string {
	if a.a == nil || a.a.origin == nil {
		return nil
	}
	return slices.Clone(a.a.origin.mended)
}

// String names the arguments without showing them: logs may not be the place.
func (a Args) String() string { return fmt.Sprintf("[arguments: %d bytes]", len(a.Text())) }

// MarshalJSON is String: who may record the arguments takes Text.
func (a Args) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// Decode reads the arguments into the Go value that v points to.
func (a Args) Decode(v any) error { return schema.Decode(a.Text(), v) }

// Canonical is the text in the one form that all texts of the same arguments
// have; see [schema.Canonical].
func (a Args) Canonical() string { return schema.Canonical(a.Text()) }

// Facts are what the call is about, by the tool's own function; nothing is known
// where there is none, or where it fails: the error says so. What the function
// said stands for these arguments. What is given out is not to be changed.
func (a Args) Facts() (Facts, error) {
	if a.a == nil || a.a.by.Facts == nil {
		return Facts{}, nil
	}
	if f := a.a.facts.Load(); f != nil {
		return (*f)()
	}
	facts, err := a.a.by.factsOf(a)
	said := stated(func() (Facts, error) { return facts, err })
	if !a.a.facts.CompareAndSwap(nil, &said) {
		return (*a.a.facts.Load())() // another reader was first
	}
	return facts, err
}

func (t *Tool) factsOf(a Args) (f Facts, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			f, err = Facts{}, fmt.Errorf("tool %q: facts: %w", t.Name, err)
		}
	}()
	f, err = t.Facts(a)
	return f.clone(), err
}

// FailFacts is for who runs tools: the tool's function was not waited for, or is
// not believed, so that nothing is known of these arguments. What it said before
// stands.
func (a Args) FailFacts(err error) {
	if a.a != nil {
		said := stated(func() (Facts, error) { return Facts{}, err })
		a.a.facts.CompareAndSwap(nil, &said)
	}
}

// Admit is the way to Args: it reads the text, checks it against the schema
// and, for a typed tool, decodes it. Blank text is {}. The error is an [Error]
// of kind invalid_input, with words a model can repair from.
func (t *Tool) Admit(input json.RawMessage) (Args, error) {
	return t.admit(new(admitted), string(input), nil)
}

// AdmitMended is Admit for a host that lets text which is not JSON be repaired,
// once. mend says what it changed; what it returns passes every check.
// [schema.Repair] is one.
func (t *Tool) AdmitMended(input json.RawMessage, mend func(text string) (mended string, changes []string, err error)) (Args, error) {
	return t.admit(new(admitted), string(input), mend)
}

// Readmit checks arguments that a validator, a hook or a person put in the
// place of old ones. What was received stays what the model sent.
func (t *Tool) Readmit(old Args, input json.RawMessage) (Args, error) {
	return t.admit(&admitted{origin: &origin{old.Received(), old.Mended()}}, string(input), nil)
}

// Admitted reports whether these arguments were checked for this tool as it is
// now. A runtime runs nothing else.
func (t *Tool) Admitted(a Args) bool { return a.a != nil && a.a.by.input == t.input }

// Intact reports whether what a typed tool's functions were given of these
// arguments is still what the text says: false after the first of them has
// written through a slice, a map or a pointer of its input. It is for who tests
// a tool. What the others see is never touched: each has its own.
func (t *Tool) Intact(a Args) bool {
	if a.a == nil || a.a.decoded == nil {
		return true
	}
	fresh, err := t.Admit(json.RawMessage(a.a.text))
	if err != nil {
		return true // of another tool: not for this one to say
	}
	if reflect.DeepEqual(a.a.decoded, fresh.a.decoded) {
		return true
	}
	again, err := t.Admit(json.RawMessage(a.a.text))
	return err != nil || !reflect.DeepEqual(fresh.a.decoded, again.a.decoded) // a type that never equals itself
}

func (t *Tool) admit(a *admitted, text string, mend func(string) (string, []string, error)) (Args, error) {
	if t.input == nil {
		return Args{}, &Error{Kind: Failed, Text: "The tool is not ready.", Detail: fmt.Sprintf("tool %q: not made by Check, New or Spec.Tool", t.Name)}
	}
	a.by, a.text = t, text
	if blank(text) {
		a.text = "{}"
		if a.origin == nil {
			a.origin = &origin{received: text}
		}
	}
	if t.read != nil {
		if v, ok := t.read(a.text); ok {
			a.decoded = v
			return Args{a}, nil
		}
	}
	err := t.input.Check(a.text)
	if mend != nil && errors.As(err, new(*schema.SyntaxError)) {
		err = t.mend(a, mend, err)
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
	received := a.text
	text, changes, err := mend(received)
	if err != nil {
		return cause // the first error is about what the model wrote
	}
	if text, err = schema.Arguments(text); err != nil {
		return cause
	}
	a.text, a.origin = text, &origin{received, slices.Clone(changes)}
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

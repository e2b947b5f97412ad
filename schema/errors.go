package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError says where a text stops being acceptable JSON.
type SyntaxError struct {
	Offset       int    // in bytes, from 0
	Line, Column int    // from 1; the column counts characters
	Pointer      string // the value it happened in, as a JSON Pointer; "" is the root
	Reason       string
}

// Error says the reason first and the place after it.
func (e *SyntaxError) Error() string {
	in := ""
	if e.Pointer != "" {
		in = ", in " + shortPointer(e.Pointer)
	}
	return fmt.Sprintf("%s at byte %d (line %d, column %d%s)", e.Reason, e.Offset, e.Line, e.Column, in)
}

// Violation is one way in which a value does not fit its schema.
type Violation struct {
	Pointer string // where in the value, as a JSON Pointer; "" is the root
	Keyword string // the keyword of the schema that it violates
	Got     string // what was found
	Want    string // what would be accepted
}

// String is the violation in words a model can repair from.
func (v Violation) String() string {
	return fmt.Sprintf("%s: got %s, want %s", shortPointer(v.Pointer), v.Got, v.Want)
}

// InvalidError lists what is wrong with one value.
type InvalidError struct {
	Violations []Violation
	More       int // violations that are not listed, because there are too many
}

// Error lists the violations, one after another.
func (e *InvalidError) Error() string {
	text := strings.Join(apply(e.Violations, Violation.String), "; ")
	if e.More > 0 {
		text += fmt.Sprintf("; and %d more", e.More)
	}
	return text
}

// DefinitionError says what is wrong with a schema, and where in it.
type DefinitionError struct {
	Pointer string // in the schema, as a JSON Pointer; "" is the root
	Reason  string
	Err     error // what it was made from, where it was an error
}

// Error names the place, then the reason.
func (e *DefinitionError) Error() string {
	return "schema " + shortPointer(e.Pointer) + ": " + e.Reason
}

// Unwrap returns the error behind it, if any.
func (e *DefinitionError) Unwrap() error { return e.Err }

// shortPointer is a pointer for a sentence: the root by name, a long one by its
// ends.
func shortPointer(ptr string) string {
	const most = 60
	if ptr == "" {
		return "(root)"
	}
	if len(ptr) <= 2*most {
		return ptr
	}
	return strings.ToValidUTF8(ptr[:most], "") + "…" + strings.ToValidUTF8(ptr[len(ptr)-most:], "")
}

// syntaxError turns an error of the JSON decoder into ours.
func syntaxError(text string, err error) *SyntaxError {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return place(text, len(text), "", strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	reason := s.Err.Error()
	if errors.Is(s.Err, jsontext.ErrDuplicateName) {
		reason = "duplicate key " + lastToken(s.JSONPointer)
	}
	return place(text, int(s.ByteOffset), string(s.JSONPointer), plainReason(text, int(s.ByteOffset), strings.TrimPrefix(reason, "jsontext: ")))
}

// plainReason says the commonest mistakes in plain words.
func plainReason(text string, offset int, reason string) string {
	if offset >= len(text) {
		return "the text ends too early (not closed, or cut off)"
	}
	switch before := strings.TrimRight(text[:offset], " \t\r\n"); {
	case text[offset] == '\'':
		return "a single quote where a double quote is wanted"
	case text[offset] == '`' && before == "":
		return "a code fence instead of JSON alone"
	case (text[offset] == '}' || text[offset] == ']') && strings.HasSuffix(before, ","):
		return "a comma with nothing after it"
	case text[offset] == ',' && strings.IndexAny(strings.TrimLeft(text[offset+1:], " \t\r\n"), "}]") == 0:
		return "a comma with nothing after it"
	}
	return reason
}

func lastToken(p jsontext.Pointer) string {
	return string(quote(clip(p.LastToken(), 60)))
}

// place makes a SyntaxError with line and column worked out from the offset.
func place(text string, offset int, ptr, reason string) *SyntaxError {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return &SyntaxError{Offset: offset, Line: line, Column: column, Pointer: ptr, Reason: reason}
}

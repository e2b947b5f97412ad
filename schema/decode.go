package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads text that a schema has accepted into the Go value that v points
// to. Duplicate keys, invalid UTF-8 and trailing bytes are refused here too;
// keys that v does not have, in another case too, are for the schema to refuse.
// An integer may be written 1.0 or 1e2.
func Decode(text string, v any) error {
	if p := reflect.ValueOf(v); p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("decode: got %T, want a pointer to fill", v)
	}
	err := jsonv2.Unmarshal([]byte(text), v)
	if err == nil {
		return nil
	}
	var semantic *jsonv2.SemanticError
	if errors.As(err, &semantic) && semantic.JSONKind == '0' {
		if plain, changed := plainIntegers(text); changed {
			if err = jsonv2.Unmarshal([]byte(plain), v); err == nil {
				return nil
			}
		}
	}
	return decodeError(text, err)
}

// plainIntegers rewrites numbers such as 1.0 and 1e2 as 1 and 100.
func plainIntegers(text string) (string, bool) {
	var b strings.Builder
	changed := false
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			w := walker{s: text, i: i}
			if _, _, ok := w.scan(); !ok {
				// An escape that the walker leaves to others.
				w.i = i + len(quotedPrefix(text[i:]))
			}
			b.WriteString(text[i:w.i])
			i = w.i
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
				end++
			}
			if plain, ok := integerText(text[i:end]); ok {
				b.WriteString(plain)
				changed = true
			} else {
				b.WriteString(text[i:end])
			}
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), changed
}

// quotedPrefix is the string literal that s begins with.
func quotedPrefix(s string) string {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[:i+1]
		}
	}
	return s
}

// decodeError says in the words of a violation why a value does not fit the Go
// type.
func decodeError(text string, err error) error {
	var semantic *jsonv2.SemanticError
	if !errors.As(err, &semantic) {
		if _, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			return syntaxError(text, err)
		}
		return &InvalidError{Violations: []Violation{{Got: "a value that cannot be read", Want: err.Error()}}}
	}
	v := Violation{Pointer: string(semantic.JSONPointer), Keyword: "type", Got: "a value that does not fit", Want: goKind(semantic.GoType)}
	if tree, perr := parse(text, limits{bytes: maxTextBytes, depth: maxTextDepth, values: maxTextValues}); perr == nil {
		v.Got = shown(tree.at(pointerTokens(v.Pointer)...))
	}
	switch {
	case semantic.Err == nil || errors.Is(semantic.Err, strconv.ErrSyntax) || errors.As(semantic.Err, new(*time.ParseError)):
	case errors.Is(semantic.Err, strconv.ErrRange):
		if k := semantic.GoType.Kind(); k == reflect.Float32 || k == reflect.Float64 {
			v.Want += " that is not too large"
		}
	default:
		v.Want += fmt.Sprintf(" (%v)", semantic.Err)
	}
	return &InvalidError{Violations: []Violation{v}}
}

// goKind names a Go type for somebody who does not know Go.
func goKind(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	switch k := t.Kind(); {
	case t.String() == "time.Time":
		return "a date and time with a zone, such as 2026-01-31T15:04:05Z"
	case reflect.Int <= k && k <= reflect.Int64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Uint <= k && k <= reflect.Uint64:
		return fmt.Sprintf("a whole number from 0, of %d bits", t.Bits())
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "a base64 string"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "another value"
}

// Canonical is JSON text in the one form that all texts of the same value have:
// names in order, no blanks, strings with as few escapes as can be. Numbers stay
// as they are written: two spellings of one number are two values, never one
// spelling of two. Text that is not JSON stays as it is.
func Canonical(text string) string {
	v := jsontext.Value(text)
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false), jsontext.PreserveRawStrings(false), jsontext.Multiline(false), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false)); err != nil {
		return text
	}
	return string(v)
}

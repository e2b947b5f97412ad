package tool

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Result is what came of one call. Every call has exactly one. A model reads
// [Result.String]; as JSON a result holds the operator's Detail too, and is for
// records. A tool does not change what it has returned: large results are not
// copied.
type Result struct {
	ID      string    `json:"id,omitempty"`      // Ferrule's own, unique
	CallID  string    `json:"call_id,omitempty"` // the provider's
	Content []Content `json:"content,omitempty"` // of most errors: empty
	// Err is nil where it went well. Compare it before it is returned as an error:
	// an error that holds a nil *Error is not nil.
	Err *Error `json:"error,omitempty"`
	// Trust lowers how far the content is believed, below the tool's source; a
	// value above the source's has no effect. Nil: the source's.
	Trust *Trust `json:"trust,omitempty"`
	// Origin is whose content it is, where that is not the tool that was called:
	// of a page of a result that was kept. Only Ferrule sets it.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is the tool that content comes from.
type Origin struct {
	Source      string      `json:"source,omitempty"` // "": the program itself
	Tool        string      `json:"tool"`             // its name within the source
	Sensitivity Sensitivity `json:"sensitivity"`
}

// String is the result as a model reads it, error or not: send this, and say
// beside it whether Err is nil. A failure is its text, or what its kind asks of
// the model where it has none, then when to try again, then what content there
// is. The operator's Detail is not in it.
func (r Result) String() string {
	text := TextOf(r.Content)
	if r.Err == nil {
		if text == "" {
			return "(tool ran successfully with no output)"
		}
		return text
	}
	failure := r.Err.forModel()
	if text == failure {
		text = ""
	}
	if d := r.Err.RetryAfter; d > 0 && !strings.Contains(failure, d.String()) {
		failure += fmt.Sprintf("\nTry again in %s.", d)
	}
	if text == "" {
		return failure
	}
	return failure + "\n" + text
}

// forModel is never blank.
func (e *Error) forModel() string {
	switch {
	case strings.TrimSpace(e.Text) != "":
		return e.Text
	case e.Kind == Failed: // its hint is about a text
		return "The tool failed and gave no reason."
	}
	return cmp.Or(e.Kind.Hint(), string(e.Kind))
}

// Content is one block of a result. Which fields count depends on its type.
type Content struct {
	Type ContentType     `json:"type"`
	Text string          `json:"text,omitempty"` // of text; a link's title
	JSON json.RawMessage `json:"json,omitempty"` // of structured output: valid JSON

	Data      []byte `json:"data,omitempty"`       // of an image or sound
	MediaType string `json:"media_type,omitempty"` // of data and links
	Name      string `json:"name,omitempty"`       // of data and links
	Width     int    `json:"width,omitempty"`      // of an image, where known
	Height    int    `json:"height,omitempty"`
	URI       string `json:"uri,omitempty"` // of a link
}

// ContentType says what a block of content is.
type ContentType string

// The types of content.
const (
	TextContent  ContentType = "text"
	JSONContent  ContentType = "json"
	ImageContent ContentType = "image"
	AudioContent ContentType = "audio"
	LinkContent  ContentType = "link"
)

// Text makes a block of text. Bytes that are not UTF-8 are replaced.
func Text(s string) Content {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return Content{Type: TextContent, Text: s}
}

// String is the block as text; what has no text is named in brackets.
func (c Content) String() string {
	switch c.Type {
	case JSONContent:
		return string(c.JSON)
	case ImageContent, AudioContent:
		return fmt.Sprintf("[%s:%s]", c.Type, oneWord(c.MediaType))
	case LinkContent:
		return fmt.Sprintf("[link:%s]", oneWord(c.URI))
	case TextContent:
	}
	return c.Text
}

// oneWord keeps what a stranger wrote between brackets there.
func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) || r == ']' {
			return -1
		}
		return r
	}, s)
}

// TextOf is content as text, one block a line.
func TextOf(content []Content) string {
	if len(content) == 1 {
		return content[0].String() // no copy
	}
	parts := make([]string, len(content))
	for i, c := range content {
		parts[i] = c.String()
	}
	return strings.Join(parts, "\n")
}

// Encode turns what a tool returned into content: nothing into none, a string
// into text as it is, content into itself, anything else into JSON. A value
// that JSON cannot hold is an [Error] of kind invalid_output.
func Encode(v any) ([]Content, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if v == "" {
			return nil, nil
		}
		return []Content{Text(v)}, nil
	case Content:
		return []Content{v}, nil
	case []Content:
		return v, nil
	case Result, *Result, reply, error:
		return nil, &Error{Kind: InvalidOutput, Text: "The tool returned its result inside another value.", Detail: fmt.Sprintf("got %T, want it returned by itself", v)}
	case struct{}:
		return nil, nil
	case json.RawMessage:
		if len(v) == 0 {
			return nil, nil
		}
	}
	switch rv := reflect.ValueOf(v); {
	case rv.Kind() == reflect.Pointer && rv.IsNil():
		return nil, nil
	case rv.Kind() == reflect.Pointer && rv.Type() == reflect.TypeFor[*Content]():
		return Encode(rv.Elem().Interface())
	case rv.Kind() == reflect.String && !writesItself(v):
		return Encode(rv.String()) // a type of its own, but still a string
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, &Error{Kind: InvalidOutput, Text: "The tool returned a value that JSON cannot hold.", Detail: err.Error(), Cause: err}
	}
	if !utf8.Valid(b) {
		return nil, &Error{Kind: InvalidOutput, Text: "The tool returned JSON that is not valid UTF-8."}
	}
	return []Content{{Type: JSONContent, JSON: unescapeHTML(b)}}, nil
}

// writesItself reports whether v has its own form, such as a secret that prints
// as stars.
func writesItself(v any) bool {
	switch v.(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}

// unescapeHTML undoes, in place, what json.Marshal does to < > and & for web
// pages: a model reads <a>, not \u003ca\u003e. An Encoder could leave it out,
// for three allocations a result.
func unescapeHTML(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u00`)) {
		return b
	}
	to := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' {
			if i+6 <= len(b) {
				switch string(b[i+1 : i+6]) {
				case "u003c":
					to, i = append(to, '<'), i+5
					continue
				case "u003e":
					to, i = append(to, '>'), i+5
					continue
				case "u0026":
					to, i = append(to, '&'), i+5
					continue
				}
			}
			to = append(to, b[i]) // and what it escapes, below
			i++
		}
		to = append(to, b[i])
	}
	return to
}

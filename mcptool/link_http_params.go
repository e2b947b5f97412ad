package mcptool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// headerParams are the arguments of a tool that go into headers as well, so that
// what stands between can route by them: those whose schema has x-mcp-header.
type headerParams []headerParam

type headerParam struct {
	path   []string // of properties, from the arguments inwards
	header string   // Mcp-Param-…
}

// paramHeader is how their names begin.
const paramHeader = "Mcp-Param-"

// maxHeaderParams is how many headers one tool may ask for, and maxHeaderDepth
// how deep its schema is looked into.
const (
	maxHeaderParams = 64
	maxHeaderDepth  = 16
)

// headerProperty is what is read of a schema.
type headerProperty struct {
	Type       json.RawMessage            `json:"type"`
	Header     json.RawMessage            `json:"x-mcp-header"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// headerParamsOf reads the input schema of a tool. The error says what is wrong
// with its x-mcp-header; such a tool cannot be called in the new era over HTTP.
func headerParamsOf(schema json.RawMessage) (headerParams, error) {
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return nil, nil
	}
	var all headerParams
	err := all.find(schema, nil, map[string]bool{})
	return all, err
}

func (h *headerParams) find(schema json.RawMessage, path []string, seen map[string]bool) error {
	var s headerProperty
	if json.Unmarshal(schema, &s) != nil || len(path) > maxHeaderDepth {
		return nil // true, false and whatever else is no object have no properties
	}
	if s.Header != nil && len(path) > 0 {
		at := strings.Join(path, ".")
		var kind, name string
		_ = json.Unmarshal(s.Type, &kind)
		if kind != "string" && kind != "integer" && kind != "boolean" {
			return fmt.Errorf("x-mcp-header of %s: got type %.40q, want string, integer or boolean", at, s.Type)
		}
		if json.Unmarshal(s.Header, &name) != nil || !headerToken(name) {
			return fmt.Errorf("x-mcp-header of %s: got %.80q, want a name of a header", at, s.Header)
		}
		if seen[strings.ToLower(name)] {
			return fmt.Errorf("x-mcp-header of %s: %q stands in the schema twice", at, name)
		}
		seen[strings.ToLower(name)] = true
		if len(seen) > maxHeaderParams {
			return fmt.Errorf("x-mcp-header: got more than %d, want at most that", maxHeaderParams)
		}
		*h = append(*h, headerParam{path: slices.Clone(path), header: paramHeader + name})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := h.find(s.Properties[name], append(path, name), seen); err != nil {
			return err
		}
	}
	return nil
}

// of are the headers for these arguments. One that is absent, null or no string,
// boolean or whole number has none.
func (h headerParams) of(arguments json.RawMessage) http.Header {
	headers := http.Header{}
	for _, p := range h {
		value := arguments
		for _, name := range p.path {
			var object map[string]json.RawMessage
			if json.Unmarshal(value, &object) != nil {
				value = nil
				break
			}
			value = object[name]
		}
		if text, ok := headerText(value); ok {
			headers.Set(p.header, headerValue(text))
		}
	}
	return headers
}

// headerText is a primitive value as text. Whole numbers are those that every
// reader of JSON has exactly.
func headerText(value json.RawMessage) (string, bool) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53-1 {
			return "", false
		}
		return strconv.FormatInt(int64(v), 10), true
	}
	return "", false
}

// headerValue writes a text so that it passes through a header unchanged: what is
// not plain ASCII, or would lose a space at its ends, or reads as if it were
// encoded, is encoded.
func headerValue(text string) string {
	encoded := strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=")
	plain := !encoded && strings.Trim(text, " \t") == text
	for i := range len(text) {
		plain = plain && text[i] >= 0x20 && text[i] <= 0x7e
	}
	if plain {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// headerToken says whether a text may be part of the name of a header.
func headerToken(text string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for _, r := range text {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune(marks, r) {
			return false
		}
	}
	return text != ""
}

type headersKey struct{}

// withHeaders is a context for do: the request carries these headers of arguments
// too, over HTTP in the new era.
func withHeaders(ctx context.Context, h http.Header) context.Context {
	return context.WithValue(ctx, headersKey{}, h)
}

func headersFrom(ctx context.Context) http.Header {
	h, _ := ctx.Value(headersKey{}).(http.Header)
	return h
}

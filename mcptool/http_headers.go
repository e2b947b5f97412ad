package mcptool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Headers of the new era that say again what the body says, for those on the way
// who do not read bodies.
const (
	fieldMethod = "Mcp-Method"
	fieldName   = "Mcp-Name"
	fieldParam  = "Mcp-Param-"
)

// headersAgree says how the headers of a message differ from its body; nil: they
// agree. Who decided by the headers must have decided about this message.
func headersAgree(h http.Header, m message, meta requestMeta, version string) *Fault {
	if m.method == "" {
		return nil
	}
	if m.id != nil && meta.version != "" && meta.version != version {
		return mismatch("%s is %q in the headers and %q in _meta", fieldVersion, version, meta.version)
	}
	if version != newVersion {
		return unsupported(version)
	}
	if m.id != nil && meta.version == "" {
		return &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", metaVersion)}
	}
	if f := sameField(h, fieldMethod, m.method); f != nil {
		return f
	}
	name, ok := nameOf(m)
	if !ok {
		return nil
	}
	return sameField(h, fieldName, name)
}

func mismatch(format string, args ...any) *Fault {
	return &Fault{Code: codeHeaderMismatch, Message: "header mismatch: " + fmt.Sprintf(format, args...)}
}

// unsupported is the answer to a version that is not spoken.
func unsupported(version string) *Fault {
	data, err := json.Marshal(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{spokenVersions(), version})
	if err != nil {
		data = nil // strings can be written
	}
	return &Fault{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}

// same says how a header differs from want.
func sameField(h http.Header, name, want string) *Fault {
	values := h.Values(name)
	if len(values) == 0 || values[0] == "" {
		return mismatch("missing %s", name)
	}
	if len(values) > 1 {
		return mismatch("%s stands %d times", name, len(values))
	}
	if got, ok := decodeHeader(values[0]); values[0] != want && (!ok || got != want) {
		return mismatch("%s is %q in the headers and %q in the body", name, values[0], want)
	}
	return nil
}

// nameOf is what a request is about, where that must stand in a header.
func nameOf(m message) (name string, ok bool) {
	switch m.method {
	case "tools/call", "prompts/get":
		return textMember(m.params, "name"), true
	case "resources/read":
		return textMember(m.params, "uri"), true
	default:
		return "", false
	}
}

// decodeHeader is the value of a header that may stand in base64. ok is false
// where it says so and is not.
func decodeHeader(value string) (decoded string, ok bool) {
	inner, wrapped := strings.CutPrefix(value, "=?base64?")
	if !wrapped {
		return value, true
	}
	if inner, wrapped = strings.CutSuffix(inner, "?="); !wrapped {
		return value, true
	}
	b, err := base64.StdEncoding.DecodeString(inner)
	return string(b), err == nil
}

// property is what the headers need of a schema.
type paramProperty struct {
	Header     json.RawMessage          `json:"x-mcp-header"`
	Properties map[string]paramProperty `json:"properties"`
}

// paramsAgree says how the headers of a call differ from its arguments, where the
// tool's schema wants arguments in headers.
func (d *door) paramsAgree(h http.Header, m message) *Fault {
	if m.method != "tools/call" || d.schema == nil {
		return nil
	}
	schema := d.schema(textMember(m.params, "name"))
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil
	}
	var root paramProperty
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	args, _ := member(m.params, "arguments")
	return paramsWithin(h, root, args)
}

func paramsWithin(h http.Header, schema paramProperty, args json.RawMessage) *Fault {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(args, &values) // no object has no members
	for name, prop := range schema.Properties {
		var header string
		if json.Unmarshal(prop.Header, &header) == nil && header != "" {
			if f := paramAgrees(h, fieldParam+header, values[name]); f != nil {
				return f
			}
		}
		if f := paramsWithin(h, prop, values[name]); f != nil {
			return f
		}
	}
	return nil
}

func paramAgrees(h http.Header, header string, value json.RawMessage) *Fault {
	got := h.Get(header)
	switch {
	case len(h.Values(header)) > 1:
		return mismatch("%s stands %d times", header, len(h.Values(header)))
	case value == nil || string(value) == "null":
		if got != "" {
			return mismatch("%s has no argument", header)
		}
		return nil
	case got == "":
		return mismatch("missing %s", header)
	}
	decoded, ok := decodeHeader(got)
	if !ok {
		return mismatch("%s is not base64", header)
	}
	if !sameValue(decoded, value) {
		return mismatch("%s does not agree with the argument", header)
	}
	return nil
}

// sameValue says whether a header's text is a value of JSON. Only strings, truth
// values and whole numbers that every program can hold stand in headers.
func sameValue(text string, value json.RawMessage) bool {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		return text == v
	case bool:
		return text == strconv.FormatBool(v)
	case float64:
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && n == v && v == math.Trunc(v) && math.Abs(v) < 1<<53
	default:
		return false
	}
}

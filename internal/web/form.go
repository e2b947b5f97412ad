package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// field is one of a form that is made from a schema: an argument.
type field struct {
	Name     string
	Kind     kind
	Word     string // what is to be written
	Such     string // an example of it
	Long     bool   // its text may have several lines
	Help     string // what the schema says of it
	Bounds   string // what else it says, in short
	Required bool
	Value    string // what stands in it at first
	Options  []option
	Min, Max json.Number
}

// kind is what is made of the text of a field.
type kind string

const (
	texts   kind = "text"
	numbers kind = "number"
	whole   kind = "integer"
	choices kind = "choice" // a boolean, too
	asJSON  kind = "json"
)

// option is a value that can be chosen.
type option struct {
	Value string // as JSON
	Word  string
}

// blank is a form that is made from a schema.
type blank struct {
	Fields []field
	// Beyond is what the schema says and the form does not: the raw JSON says it.
	Beyond string
	Raw    string // what stands in the raw field at first
}

// maxFields is how many fields a form has: what has more is written as JSON.
const maxFields = 80

// shape is as much of a schema as forms know.
type shape struct {
	Type        any               `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Const       json.RawMessage   `json:"const"`
	Enum        []json.RawMessage `json:"enum"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`
	Ref         string            `json:"$ref"`
	Format      string            `json:"format"`
	Media       string            `json:"contentMediaType"`
	Pattern     string            `json:"pattern"`
	MinLength   int               `json:"minLength"`
	MaxLength   int               `json:"maxLength"`
	Minimum     json.Number       `json:"minimum"`
	Maximum     json.Number       `json:"maximum"`

	Properties json.RawMessage            `json:"properties"`
	Required   []string                   `json:"required"`
	Defs       map[string]json.RawMessage `json:"$defs"`
	Old        map[string]json.RawMessage `json:"definitions"`
	If         json.RawMessage            `json:"if"`
	Patterns   json.RawMessage            `json:"patternProperties"`
}

// formOf makes a form from the schema of a tool's arguments. What a server wrote there
// is not to be relied on: what is not understood becomes JSON.
func formOf(schema json.RawMessage) (b blank) {
	var root shape
	if len(schema) > 0 && json.Unmarshal(schema, &root) != nil {
		b.Beyond = "The schema says something that a form cannot: write the arguments as JSON."
		return b
	}
	names, values := members(root.Properties)
	if len(names) > maxFields {
		b.Beyond = fmt.Sprintf("It has %d arguments, which is too many for a form: write them as JSON.", len(names))
		return b
	}
	if len(root.AnyOf)+len(root.OneOf)+len(root.AllOf) > 0 || root.If != nil || root.Patterns != nil || root.Ref != "" {
		b.Beyond = "The schema says more than the form shows: see it below, and write the arguments as JSON where they do not fit."
	}
	for i, name := range names {
		f := fieldOf(&root, name, values[i])
		f.Required = slices.Contains(root.Required, name)
		b.Fields = append(b.Fields, f)
	}
	slices.SortStableFunc(b.Fields, func(x, y field) int { return truth(y.Required) - truth(x.Required) })
	return b
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// members are those of a JSON object, in the order in which they were written.
func members(object json.RawMessage) (names []string, values []json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return names, values
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values
}

// fieldOf is the field for one argument.
func fieldOf(root *shape, name string, schema json.RawMessage) field {
	f := field{Name: name, Kind: asJSON, Word: "JSON"}
	s, ok := narrowed(root, schema)
	if !ok {
		return f
	}
	f.Help = strings.TrimSpace(s.Description)
	if f.Help == "" && s.Title != name {
		f.Help = strings.TrimSpace(s.Title)
	}
	enum := s.Enum
	if s.Const != nil {
		enum = []json.RawMessage{s.Const}
	}
	switch t := typeOf(s.Type); {
	case len(enum) > 0 && len(enum) <= 200:
		f.Kind, f.Word = choices, fmt.Sprintf("one of %d", len(enum))
		for _, v := range enum {
			f.Options = append(f.Options, option{compact(v), wordOf(v)})
		}
	case len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) > 0:
	case t == "boolean":
		f.Kind, f.Word, f.Options = choices, "true or false", []option{{"true", "true"}, {"false", "false"}}
	case t == "string":
		f.Kind, f.Word = texts, "text"
		f.Long = long(name, &s)
		f.Bounds = bounds(&s)
	case t == "integer", t == "number":
		f.Kind, f.Word, f.Min, f.Max = numbers, "number", s.Minimum, s.Maximum
		if t == "integer" {
			f.Kind, f.Word = whole, "whole number"
		}
		f.Bounds = bounds(&s)
	case t == "array":
		f.Word, f.Such = "list, as JSON", `["a", "b"]`
	case t == "object":
		f.Word, f.Such = "object, as JSON", `{"name": "value"}`
	}
	if s.Default != nil && (!f.fill(s.Default) || seenLines(f.Value) != f.Value) {
		f.Value = "" // it does not fit its own schema, or nobody would see all that is sent
	}
	return f
}

// narrowed is a schema with a reference followed, and without what only says that it
// may be null.
func narrowed(root *shape, schema json.RawMessage) (s shape, ok bool) {
	var about shape // what stands beside a reference counts too
	for range 4 {
		s = shape{}
		if json.Unmarshal(schema, &s) != nil {
			return s, false
		}
		if about.Description == "" {
			about.Title, about.Description = s.Title, s.Description
		}
		if about.Default == nil {
			about.Default = s.Default
		}
		next := beneath(root, &s)
		if next == nil {
			s.Title, s.Description, s.Default = about.Title, about.Description, about.Default
			return s, true
		}
		schema = next
	}
	return s, false // it leads round
}

// beneath is the one schema that another stands for; nil: it stands for itself.
func beneath(root, s *shape) json.RawMessage {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return root.Defs[name]
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		return root.Old[name]
	}
	var other []json.RawMessage
	for _, one := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		var t shape
		if json.Unmarshal(one, &t) != nil || t.Type != "null" {
			other = append(other, one)
		}
	}
	if len(other) == 1 {
		return other[0]
	}
	return nil
}

// typeOf is the one type that a schema names, beside null.
func typeOf(t any) string {
	switch t := t.(type) {
	case string:
		return t
	case []any:
		t = slices.DeleteFunc(t, func(v any) bool { return v == "null" })
		if len(t) == 1 {
			name, _ := t[0].(string)
			return name
		}
	}
	return ""
}

// maxLine is how long a text can be that has a line of its own.
const maxLine = 400

// long reports whether a text may have several lines.
func long(name string, s *shape) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	hints := []string{"content", "contents", "text", "body", "code", "script", "command", "message", "patch", "diff", "prompt", "query", "sql", "html", "markdown", "input", "new", "old"}
	return s.MaxLength > maxLine || s.Media != "" || slices.Contains([]string{"textarea", "markdown", "multiline", "html"}, s.Format) ||
		bytes.Contains(s.Default, []byte(`\n`)) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(hints, w) })
}

// bounds is what a schema wants of a value, in short.
func bounds(s *shape) string {
	var all []string
	add := func(is bool, format string, value any) {
		if is {
			all = append(all, fmt.Sprintf(format, value))
		}
	}
	add(s.Minimum != "", "at least %s", s.Minimum)
	add(s.Maximum != "", "at most %s", s.Maximum)
	add(s.MinLength > 1, "at least %d characters", s.MinLength)
	add(s.MaxLength > 0, "at most %d characters", s.MaxLength)
	add(s.Format != "", "format %s", s.Format)
	add(s.Pattern != "", "fits %s", s.Pattern)
	return strings.Join(all, ", ")
}

// fill puts a value into a field, and reports whether it has room there.
func (f *field) fill(value json.RawMessage) bool {
	switch f.Kind {
	case texts:
		return json.Unmarshal(value, &f.Value) == nil
	case choices:
		f.Value = compact(value)
		return slices.ContainsFunc(f.Options, func(o option) bool { return o.Value == f.Value })
	case numbers, whole:
		f.Value = compact(value)
		return isNumber(f.Value)
	case asJSON:
		f.Value = indented(value)
		return true
	}
	return false
}

// fillAll puts the arguments of a call into a form: where they do not fit they stand in
// the raw field.
func (b *blank) fillAll(args json.RawMessage) {
	names, values := members(args)
	given := make([]field, len(b.Fields))
	for i := range b.Fields {
		given[i] = b.Fields[i]
		given[i].Value = ""
	}
	for n, name := range names {
		i := slices.IndexFunc(given, func(f field) bool { return f.Name == name })
		if i < 0 || !given[i].fill(values[n]) {
			b.Raw = indented(args)
			return
		}
	}
	b.Fields = given
}

func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return ""
	}
	return b.String()
}

func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// wordOf is a value as it is shown.
func wordOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return text
	}
	return compact(value)
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

// trial is a call that a person makes: of the three the first counts that is there.
type trial struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Raw       string          `json:"raw,omitempty"` // the arguments as a text that is JSON
	// Fields are texts by the names of the arguments, as a form has them: the schema
	// says what they become. An empty one is left out; one that must be there is refused.
	Fields map[string]string `json:"fields,omitempty"`
}

// args are the arguments of the call.
func (t *trial) args(schema json.RawMessage) (json.RawMessage, error) {
	text := t.Arguments
	if text == nil {
		text = json.RawMessage(strings.TrimSpace(t.Raw))
	}
	if len(text) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil || object == nil {
			return nil, errors.New("the arguments are not a JSON object: want one such as {\"path\": \"a\"}")
		}
		return text, nil
	}
	object := make(map[string]json.RawMessage)
	fields := formOf(schema).Fields
	for name, text := range t.Fields {
		i := slices.IndexFunc(fields, func(f field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is no argument of it: the schema is another than when the form was made: open the page again", name)
		}
		value, err := fields[i].value(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != nil {
			object[name] = value
		}
	}
	return json.Marshal(object)
}

// value is what becomes of the text of a field; nil: it is left out.
func (f *field) value(text string) (json.RawMessage, error) {
	if f.Kind != texts {
		text = strings.TrimSpace(text)
	}
	switch {
	case text == "" && f.Required:
		return nil, errors.New("it is required: fill it in. Where an empty text is meant, write the arguments as JSON")
	case text == "":
		return nil, nil
	case f.Kind == texts:
		return json.Marshal(text)
	case (f.Kind == numbers || f.Kind == whole) && !isNumber(text):
		return nil, fmt.Errorf("got %q, want a number", text)
	case !json.Valid([]byte(text)):
		return nil, errors.New("got what is no JSON, want a value such as [1, 2] or {\"a\": true}: texts have quotes there")
	}
	return json.RawMessage(text), nil
}

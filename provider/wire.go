package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// writer writes JSON whose members stand in the order in which they are written, and
// in which JSON that came from elsewhere stays as it is: encoding/json would compact
// it and escape its < and >. A comma is written where the last byte says so: no JSON
// value ends with an opening bracket.
type writer []byte

// open begins an object or array, as an item or as the value behind a name.
func (w *writer) open(bracket byte) {
	w.comma()
	*w = append(*w, bracket)
}

func (w *writer) close(bracket byte) { *w = append(*w, bracket) }

func (w *writer) comma() {
	if n := len(*w); n > 0 {
		switch (*w)[n-1] {
		case '{', '[', ':':
		default:
			*w = append(*w, ',')
		}
	}
}

// name writes the name of a member; its value follows.
func (w *writer) name(name string) {
	w.string(name)
	*w = append(*w, ':')
}

// raw writes a value that is JSON already.
func (w *writer) raw(v []byte) {
	w.comma()
	*w = append(*w, v...)
}

func (w *writer) string(s string) {
	w.comma()
	*w = appendString(*w, s)
}

// text, number, flag and member write a member.
func (w *writer) text(name, s string) {
	w.name(name)
	w.string(s)
}

func (w *writer) number(name string, n int) {
	w.name(name)
	*w = strconv.AppendInt(*w, int64(n), 10)
}

func (w *writer) flag(name string, v bool) {
	w.name(name)
	*w = strconv.AppendBool(*w, v)
}

func (w *writer) member(name string, v []byte) {
	w.name(name)
	w.raw(v)
}

// data writes bytes in base64 as the member data.
func (w *writer) data(v []byte) {
	w.name("data")
	*w = append(*w, '"')
	*w = base64.StdEncoding.AppendEncode(*w, v)
	*w = append(*w, '"')
}

// appendString writes a string as JSON. Bytes that are not UTF-8 are replaced.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// quoted is a string as JSON.
func quoted(s string) []byte { return appendString(make([]byte, 0, len(s)+2), s) }

// body writes the outermost object of a request: what Extra names is not written
// otherwise.
type body struct {
	writer
	extra map[string]json.RawMessage
}

// newBody begins a request.
func newBody(extra map[string]json.RawMessage) (*body, error) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !json.Valid(extra[name]) {
			return nil, fmt.Errorf("extra member %s: got %.40q, want JSON", name, extra[name])
		}
	}
	return &body{writer{'{'}, extra}, nil
}

// wants reports whether a member is to be written: Extra does not have it.
func (b *body) wants(name string) bool {
	_, there := b.extra[name]
	return !there
}

// omit leaves a member of Extra out, which is written already.
func (b *body) omit(name string) {
	b.extra = maps.Clone(b.extra)
	delete(b.extra, name)
}

// end writes the members of Extra and ends the object.
func (b *body) end() []byte {
	for _, name := range slices.Sorted(maps.Keys(b.extra)) {
		b.member(name, b.extra[name])
	}
	b.close('}')
	return b.writer
}

// take removes a member of a body that is being read.
func take(members map[string]json.RawMessage, name string) json.RawMessage {
	v := members[name]
	delete(members, name)
	if string(v) == "null" {
		return nil
	}
	return v
}

// isObject reports whether text is one valid JSON object.
func isObject(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '{' && json.Valid(text)
}

// inputObject is the input of a call as an object, which providers want even where
// the model wrote something else: nothing is {}, and what is no object is given back
// as text, so that the model sees what it wrote beside the error that came of it.
func inputObject(input []byte) []byte {
	switch {
	case isObject(input):
		return bytes.TrimSpace(input)
	case len(bytes.TrimSpace(input)) == 0:
		return []byte("{}")
	}
	var w writer
	w.open('{')
	w.text("invalid_json", string(input))
	w.close('}')
	return w
}

// sameInput reports whether two inputs are written alike: white space between their
// tokens, and whether a < is escaped, do not count.
func sameInput(a, b []byte) bool {
	if a, b = inputObject(a), inputObject(b); bytes.Equal(a, b) {
		return true
	}
	return bytes.Equal(plain(a), plain(b))
}

// plain is valid JSON as encoding/json writes it.
func plain(v []byte) []byte {
	text, err := json.Marshal(json.RawMessage(v))
	if err != nil {
		return v
	}
	return text
}

// withMember is a JSON object with one more member, or with another value of it.
func withMember(object []byte, name string, value []byte) []byte {
	var w writer
	w.open('{')
	done := false
	_ = eachMember(object, func(key string, v json.RawMessage) {
		if key == name {
			if done {
				return
			}
			v, done = value, true
		}
		if v != nil {
			w.member(key, v)
		}
	})
	if !done && value != nil {
		w.member(name, value)
	}
	w.close('}')
	return w
}

// eachMember goes through the members of an object in their order.
func eachMember(object []byte, each func(name string, v json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("got %.40q, want an object", object)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		name, _ := t.(string)
		each(name, v)
	}
	return nil
}

// own is a part's own form for a format, or nil.
func (p *Part) own(format string) json.RawMessage {
	if p.Of != format || !isObject(p.Own) {
		return nil
	}
	return p.Own
}

// blank reports whether there is nothing to read in s.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// describe is the description of a tool with what has no place of its own in the
// definitions of providers: tags and examples.
func describe(d tool.Definition) string {
	if len(d.Tags) == 0 && len(d.Examples) == 0 {
		return d.Description
	}
	var parts []string
	if !blank(d.Description) {
		parts = append(parts, d.Description)
	}
	if len(d.Tags) > 0 {
		parts = append(parts, "Tags: "+strings.Join(d.Tags, ", "))
	}
	if len(d.Examples) > 0 {
		list := []byte("Examples:")
		for _, e := range d.Examples[:min(len(d.Examples), 5)] {
			list = append(append(list, "\n- "...), e.Input...)
			if len(e.Output) > 0 {
				list = append(append(list, " gives "...), e.Output...)
			}
		}
		parts = append(parts, string(list))
	}
	return strings.Join(parts, "\n\n")
}

// turns are the messages with neighbours of one role joined, results first: providers
// want roles to alternate, and the results of calls right behind them. What is empty
// stays out.
func turns(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for _, m := range messages {
		if len(m.Parts) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = slices.Concat(out[n-1].Parts, m.Parts)
			continue
		}
		out = append(out, m)
	}
	for i := range out {
		out[i].Parts = resultsFirst(out[i].Parts)
	}
	return out
}

// resultsFirst moves results to the front and leaves all else in order.
func resultsFirst(parts []Part) []Part {
	others := false
	for i := range parts {
		if parts[i].Kind != PartResult {
			others = true
		} else if others {
			parts = slices.Clone(parts)
			slices.SortStableFunc(parts, func(a, b Part) int { return rank(a) - rank(b) })
			return parts
		}
	}
	return parts
}

func rank(p Part) int {
	if p.Kind == PartResult {
		return 0
	}
	return 1
}

// pieces are a text in parts of some length, as a stream tells it.
func pieces(s string) []string {
	const size = 24
	var out []string
	for len(s) > size {
		n := size
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 {
			n = size
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}

// writeEvent writes one server-sent event; data has no line ends.
func writeEvent(b []byte, name string, data []byte) []byte {
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	b = append(append(b, "data: "...), data...)
	return append(b, "\n\n"...)
}

// oneLine is JSON without line ends, which only stand between its tokens.
func oneLine(v json.RawMessage) json.RawMessage {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, v)
}

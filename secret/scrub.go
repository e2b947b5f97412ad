package secret

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unsafe"
)

// markOf is what stands for a value: no value, nor a part of one that could be
// joined to one, and nothing that a string of JSON cannot hold.
func (s *scanner) markOf(name string) string {
	for _, mark := range []string{"[secret " + name + "]", "[" + name + "]", "[...]", "***"} {
		if spans, _ := s.scan(mark, true); len(spans) == 0 {
			return mark
		}
	}
	return ""
}

// sorted brings spans in order and joins those that overlap, under the name of
// the one that begins first, or else is the longest.
func sorted(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.name, b.name))
	})
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.start < joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// named adds the names of those whose values were found, each once.
func named(names []string, spans []span) []string {
	for _, found := range spans {
		if !slices.Contains(names, found.name) {
			names = append(names, found.name)
		}
	}
	return names
}

// replace puts marks in the place of values. Behind them stand names that were
// not given.
func (s *scanner) replace(text string, spans []span, found []string) (clean string, names []string) {
	names = named(found, spans)
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, sp := range sorted(spans) {
		b.WriteString(text[at:sp.start])
		b.WriteString(s.marks[sp.name])
		at = sp.end
	}
	b.WriteString(text[at:])
	return b.String(), names
}

// maxRounds is how often a text is looked at once more after something was taken
// out of it: what stood around that may be a value now.
const maxRounds = 8

// scrub is a text without values.
func (s *scanner) scrub(text string) (clean string, found []string) {
	clean = text
	for range maxRounds {
		spans, _ := s.scan(clean, true)
		if len(spans) == 0 {
			return clean, found
		}
		clean, found = s.replace(clean, spans, found)
	}
	return "", found
}

// scrubJSON is a JSON text without values, and still one. The text is known to be
// JSON, and to be none any more once values were replaced as they stand.
func (s *scanner) scrubJSON(text string) string {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var b bytes.Buffer
	if s.rewrite(in, &b) {
		if spans, _ := s.scan(b.String(), true); len(spans) == 0 && json.Valid(b.Bytes()) {
			return b.String()
		}
	}
	clean, _ := s.scrub(text)
	b.Reset()
	quote(&b, clean)
	if spans, _ := s.scan(b.String(), true); len(spans) > 0 {
		return `""`
	}
	return b.String()
}

// rewrite copies one JSON value, with each string and number scrubbed by itself.
func (s *scanner) rewrite(in *json.Decoder, b *bytes.Buffer) (ok bool) {
	token, err := in.Token()
	if err != nil {
		return false
	}
	switch v := token.(type) {
	case json.Delim:
		b.WriteRune(rune(v))
		for i := 0; in.More(); i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			if v == '{' {
				if !s.rewrite(in, b) {
					return false
				}
				b.WriteByte(':')
			}
			if !s.rewrite(in, b) {
				return false
			}
		}
		end, err := in.Token()
		if d, is := end.(json.Delim); err == nil && is {
			b.WriteRune(rune(d))
			return true
		}
		return false
	case string:
		clean, _ := s.scrub(v)
		quote(b, clean)
	case json.Number:
		if clean, found := s.scrub(v.String()); len(found) > 0 {
			quote(b, clean)
		} else {
			b.WriteString(clean)
		}
	case bool:
		b.WriteString(map[bool]string{true: "true", false: "false"}[v])
	case nil:
		b.WriteString("null")
	}
	return true
}

// quote writes a JSON string.
func quote(b *bytes.Buffer, text string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can always be
	b.Truncate(b.Len() - 1)
}

// Live reports whether a value was ever given out. Until then nothing has to be
// scrubbed, and asking costs next to nothing.
func (v *Vault) Live() bool { return v != nil && v.shared.scan.Load() != nil }

// Scrub takes every value that was given out, by this vault or one that shares
// its values, out of a text: [secret NAME] stands in its place, and found are the
// names. So are the lines of a value that has several, where they have 16 bytes or
// more, and the beginning of a value that the text ends in, if that is half of it.
// What is valid JSON, an object, a list or a string, still is afterwards. A text
// in which nothing is found is returned as it is; looking at it makes no copy.
func (v *Vault) Scrub(text string) (clean string, found []string) {
	if !v.Live() {
		return text, nil
	}
	s := v.shared.scan.Load()
	clean, found = s.scrub(text)
	if len(found) > 0 && strings.IndexByte(`{["`, firstOf(text)) >= 0 && !json.Valid([]byte(clean)) && json.Valid([]byte(text)) {
		clean = s.scrubJSON(text)
	}
	return clean, found
}

// ScrubJSON is Scrub for what is known to be JSON, also a number.
func (v *Vault) ScrubJSON(text json.RawMessage) (clean json.RawMessage, found []string) {
	if !v.Live() {
		return text, nil
	}
	if len(v.Within(text)) == 0 {
		return text, nil
	}
	c, found := v.Scrub(string(text))
	if clean = json.RawMessage(c); !json.Valid(clean) {
		clean = json.RawMessage(v.shared.scan.Load().scrubJSON(string(text)))
	}
	return clean, found
}

// Within are the names of the secrets whose values stand in data.
func (v *Vault) Within(data []byte) (found []string) {
	if !v.Live() || len(data) == 0 {
		return nil
	}
	s := v.shared.scan.Load()
	spans, _ := s.scan(asText(data), true)
	return named(nil, spans)
}

// asText is bytes as text for as long as they are looked at, without a copy.
func asText(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody changes them meanwhile
}

// firstOf is the first byte of a text that is no space.
func firstOf(text string) byte {
	if text = strings.TrimLeft(text, " \t\r\n"); text == "" {
		return ' '
	}
	return text[0]
}

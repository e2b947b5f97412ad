package mcptool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions here read and change JSON as bytes. They take JSON that was
// parsed before (as a part of a message is); of what is none they find nothing,
// and leave it as it is.

// kindOf tells values apart: { [ " t f n, 0 for numbers; 0 the byte: nothing.
func kindOf(raw json.RawMessage) byte {
	s := scanner{b: raw}
	s.space()
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return c
	}
	return '0'
}

func kindName(kind byte) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '0':
		return "a number"
	}
	return "nothing"
}

// each gives the members of an object in their order, those of one name as often
// as they are there.
func each(raw json.RawMessage, f func(key string, value json.RawMessage)) {
	s := scanner{b: raw}
	s.space()
	s.object(f)
}

// items are the items of an array; ok is false where it is none.
func items(raw json.RawMessage) (all []json.RawMessage, ok bool) {
	s := scanner{b: raw}
	s.space()
	ok = s.array(func(item json.RawMessage) { all = append(all, item) })
	return all, ok
}

// member is the member of an object with this name: the last one, as most that
// read JSON take it.
func member(raw json.RawMessage, key string) (value json.RawMessage, ok bool) {
	each(raw, func(k string, v json.RawMessage) {
		if k == key {
			value, ok = v, true
		}
	})
	return value, ok
}

// textMember is a member that is a string; "" where there is none.
func textMember(raw json.RawMessage, key string) string {
	value, _ := member(raw, key)
	text, _ := unquote(value)
	return text
}

// repeated is a name that an object has twice.
func repeated(raw json.RawMessage) (key string, twice bool) {
	const few = 16 // names that are compared one by one
	var (
		names = make([]string, 0, few)
		more  map[string]bool
	)
	each(raw, func(k string, _ json.RawMessage) {
		if more[k] || slices.Contains(names, k) {
			key, twice = k, true
			return
		}
		if len(names) < few {
			names = append(names, k)
			return
		}
		if more == nil {
			more = make(map[string]bool)
		}
		more[k] = true
	})
	return key, twice
}

// pair is a member to set, or to remove where value is nil.
type pair struct {
	key   string
	value json.RawMessage
}

// setMembers gives an object with these members replaced where they are, added at
// the end where they are not, or removed. All other bytes stay as they are. Nil
// and null are taken as an empty object; what else is no object stays as it is.
func setMembers(raw json.RawMessage, pairs ...pair) json.RawMessage {
	if kind := kindOf(raw); kind == 0 || kind == 'n' {
		raw = json.RawMessage("{}")
	}
	s := scanner{b: raw}
	s.space()
	size := len(raw)
	for _, p := range pairs {
		size += len(p.key) + len(p.value) + 4
	}
	out := append(make([]byte, 0, size), raw[:min(s.i+1, len(raw))]...)
	var (
		done  = make([]bool, len(pairs))
		first = true
		from  = s.i + 1 // of the bytes that belong to the next member
	)
	comma := func() {
		if !first {
			out = append(out, ',')
		}
		first = false
	}
	// A member reaches from behind the comma before it to the comma after it: so
	// its space goes where it goes.
	ok := s.object(func(key string, value json.RawMessage) {
		end := s.i
		for end < len(raw) && raw[end] != ',' && raw[end] != '}' {
			end++
		}
		begin := from
		from = end + 1
		i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == key })
		switch {
		case i < 0:
			comma()
			out = append(out, raw[begin:end]...)
		case pairs[i].value != nil && !done[i]:
			done[i] = true
			comma()
			out = append(out, raw[begin:s.i-len(value)]...)
			out = append(out, pairs[i].value...)
			out = append(out, raw[s.i:end]...)
		}
	})
	if !ok {
		return raw
	}
	for i, p := range pairs {
		if p.value != nil && !done[i] {
			comma()
			out = append(appendString(out, p.key), ':')
			out = append(out, p.value...)
		}
	}
	return append(append(out, '}'), raw[s.i:]...)
}

// metaMember is a member of _meta in the params of a request or in a result.
func metaMember(raw json.RawMessage, key string) (json.RawMessage, bool) {
	meta, _ := member(raw, "_meta")
	return member(meta, key)
}

// setMeta changes members of _meta, which is added if it is not there and
// something is to be set.
func setMeta(raw json.RawMessage, pairs ...pair) json.RawMessage {
	meta, ok := member(raw, "_meta")
	sets := slices.ContainsFunc(pairs, func(p pair) bool { return p.value != nil })
	if kindOf(meta) != '{' {
		if ok = false; !sets {
			return raw
		}
		meta = nil
	}
	if !ok && !sets {
		return raw
	}
	return setMembers(raw, pair{"_meta", setMembers(meta, pairs...)})
}

// unquote reads a string of JSON.
func unquote(raw json.RawMessage) (string, bool) {
	s := scanner{b: raw}
	s.space()
	from := s.i
	if s.peek() != '"' || !s.text() {
		return "", false
	}
	text := raw[from+1 : s.i-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text), s.atEnd()
	}
	var decoded string
	if err := json.Unmarshal(raw[from:s.i], &decoded); err != nil {
		return "", false
	}
	return decoded, s.atEnd()
}

// quote writes a string as JSON.
func quote(text string) json.RawMessage { return appendString(nil, text) }

// appendString appends a string as JSON, with as few escapes as can be.
func appendString(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ':
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// short is a text of a stranger, as an error names it: what could steer a terminal
// is not in it.
func short(text string) string {
	const most = 80
	cut := ""
	if len(text) > most {
		text, cut = text[:most], "…"
	}
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsGraphic(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "")) + cut
}

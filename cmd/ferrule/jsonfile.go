package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// withoutComments is a JSON text without comments and commas that nothing follows,
// as VS Code and others let them stand there, and whether there was a comment. What
// is left keeps its places.
func withoutComments(text []byte) (plain []byte, had bool) {
	plain = bytes.Clone(bytes.TrimPrefix(text, []byte("\ufeff")))
	blank := func(from, to int) {
		had = true
		for i := from; i < to; i++ {
			if plain[i] != '\n' && plain[i] != '\r' {
				plain[i] = ' '
			}
		}
	}
	comma := -1
	for i := 0; i < len(plain); i++ {
		switch c := plain[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(plain) && plain[i] != '"'; i++ {
				if plain[i] == '\\' {
					i++
				}
			}
		case c == '/' && bytes.HasPrefix(plain[i:], []byte("//")):
			end := bytes.IndexByte(plain[i:], '\n')
			if end < 0 {
				end = len(plain) - i
			}
			blank(i, i+end)
		case c == '/' && bytes.HasPrefix(plain[i:], []byte("/*")):
			end := bytes.Index(plain[i+2:], []byte("*/"))
			if end < 0 {
				return plain, true // no JSON
			}
			blank(i, i+end+4)
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				plain[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return plain, had
}

// span is where the value of a key of an object stands; ok is false where there is
// no such key.
func span(object []byte, key string) (start, end int, ok bool, err error) {
	in := json.NewDecoder(bytes.NewReader(object))
	first, err := in.Token()
	if err != nil || first != json.Delim('{') {
		return 0, 0, false, errors.Join(errors.New("got no JSON object"), err)
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return 0, 0, false, err
		}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return 0, 0, false, err
		}
		if name == key {
			if ok {
				return 0, 0, false, fmt.Errorf("got %q twice, want it once", key)
			}
			end = int(in.InputOffset())
			start, ok = end-len(raw), true
		}
	}
	if _, err := in.Token(); err != nil {
		return 0, 0, false, err
	}
	if _, err := in.Token(); err == nil || len(bytes.TrimSpace(object[in.InputOffset():])) > 0 {
		return 0, 0, false, errors.New("got text behind the object")
	}
	return start, end, ok, nil
}

// value is the value of a key of an object; nil: there is none.
func value(object []byte, key string) (json.RawMessage, error) {
	start, end, ok, err := span(object, key)
	if err != nil || !ok {
		return nil, err
	}
	return object[start:end], nil
}

// put gives a key of an object a value, and leaves everything else as it stands. A
// new key comes first.
func put(object []byte, key string, value json.RawMessage) ([]byte, error) {
	if len(bytes.TrimSpace(object)) == 0 {
		object = []byte("{}\n")
	}
	start, end, ok, err := span(object, key)
	if err != nil {
		return nil, err
	}
	if ok {
		return bytes.Join([][]byte{object[:start], value, object[end:]}, nil), nil
	}
	at := bytes.IndexByte(object, '{') + 1
	comma := ","
	if at < len(object) && !bytes.ContainsAny(object[at:at+1], " \t\r\n") {
		comma = ",\n  "
	}
	if next := bytes.TrimSpace(object[at:]); len(next) > 0 && next[0] == '}' {
		comma = "\n"
	}
	name, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{object[:at], []byte("\n  " + string(name) + ": "), value, []byte(comma), object[at:]}, nil), nil
}

// indented is a value as it stands below a key of a file.
func indented(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("  ", "  ")
	if err := out.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSpace(b.String())), nil
}

package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// needle is one thing to look for: a value, or what an encoder makes of one.
type needle struct {
	name string // of the secret
	text string
	kind kind
	run  int // how often its first byte is repeated at its beginning
	// What is known of the character behind it in base64, which holds the last
	// bits of the value: the first so many bits of that character.
	tail     byte
	tailBits int
}

type kind uint8

const (
	plain   kind = iota
	sixty4       // base64; with the letters of the standard alphabet here
	sixteen      // hex; with small letters here
)

// unbrokenStart is how many characters of a value in base64 or hex stand in front
// of the first line break in it. With fewer, almost any line of ordinary output
// would end with what might be the beginning of a value.
const unbrokenStart = 2

// minLine is how long a line of a value of many lines, or a text within one that is
// JSON, must be to be looked for by itself.
const minLine = 16

// needlesOf are all things to look for because of one value.
func needlesOf(name, value string) []needle {
	list := undone(encoded(nil, name, value), name, value)
	if !utf8.ValidString(value) { // who makes text of it replaces what is none
		for _, text := range []string{strings.ToValidUTF8(value, "\uFFFD"), string([]rune(value))} {
			if rest := strings.ReplaceAll(text, "\uFFFD", ""); rest != "" && len(text) >= minSize {
				list = append(list, needle{name: name, text: text})
			}
		}
	}
	if texts, ok := within(value); ok {
		for _, text := range texts {
			if len(text) >= minLine {
				list = encoded(list, name, text)
				list = lines(list, name, text)
			}
		}
		return list
	}
	return lines(list, name, value)
}

// lines appends the lines of a value that has several.
func lines(list []needle, name, value string) []needle {
	if !strings.ContainsAny(value, "\r\n") {
		return list
	}
	for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		armour := strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ")
		if len(line) >= minLine && !armour {
			list = encoded(list, name, line)
		}
	}
	return list
}

// within are the texts in a value that is an object or a list of JSON, but for the
// keys.
func within(value string) (texts []string, ok bool) {
	var all any
	if c := firstOf(value); c != '{' && c != '[' || json.Unmarshal([]byte(value), &all) != nil {
		return nil, false
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(all)
	return texts, true
}

// undone appends a value without what looks like escapes in it: where it is printed
// by who leaves those as they are, they are undone with the others.
func undone(list []needle, name, value string) []needle {
	for _, way := range []byte(`\%`) {
		f := finder{final: true, first: new([256]bool)}
		v := view{text: value}
		if f.undo(&f.views[0], &v, way) && len(strings.TrimSpace(f.views[0].text)) >= minBegun {
			list = append(list, needle{name: name, text: strings.Clone(f.views[0].text)})
		}
	}
	return list
}

// encoded appends a text and what encoders make of it.
func encoded(list []needle, name, text string) []needle {
	list = append(list, needle{name: name, text: text})
	digits := hex.EncodeToString([]byte(text))
	list = broken(list, needle{name: name, text: digits, kind: sixteen})
	for before := range 3 { // bytes in front of it, of those that are encoded together
		letters := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		bits := 8 * (before + len(text))
		n := needle{name: name, kind: sixty4, text: letters[(8*before+5)/6 : bits/6], tailBits: bits % 6}
		if n.tailBits > 0 {
			n.tail = sextet(letters[bits/6]) >> (6 - n.tailBits)
		}
		list = broken(list, n)
	}
	return list
}

// broken appends a needle, and the same without its first character: that may
// stand in front of a line break.
func broken(list []needle, n needle) []needle {
	list = append(list, n)
	for range unbrokenStart - 1 {
		if len(n.text) > minLine-unbrokenStart {
			n.text = n.text[1:]
			list = append(list, n)
		}
	}
	return list
}

// sextet is what a letter of base64 stands for, in either alphabet; 0xff: it is
// none.
func sextet(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c - 'A'
	case 'a' <= c && c <= 'z':
		return c - 'a' + 26
	case '0' <= c && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return 0xff
}

// spellings are the bytes that may stand for the one at place i.
func (n *needle) spellings(i int) []byte {
	c := n.text[i]
	switch {
	case n.kind == plain && c == ' ':
		return []byte{' ', '+'}
	case n.kind == sixty4 && c == '+':
		return []byte{'+', '-'}
	case n.kind == sixty4 && c == '/':
		return []byte{'/', '_'}
	case n.kind == sixteen && c >= 'a':
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// is reports whether c may stand for the byte that is wanted.
func (n *needle) is(want, c byte) bool {
	switch {
	case c == want:
		return true
	case n.kind == plain:
		return c == '+' && want == ' '
	case n.kind == sixty4:
		return c == '-' && want == '+' || c == '_' && want == '/'
	}
	return c >= 'A' && c <= 'F' && c-'A'+'a' == want
}

// same reports whether a text may stand for the one that is wanted, which is not
// longer.
func (n *needle) same(want, text string) bool {
	for i := range len(want) {
		if !n.is(want[i], text[i]) {
			return false
		}
	}
	return true
}

// state is whether a needle stands at a place.
type state uint8

const (
	absent state = iota
	begun        // as far as the text goes
	whole
	wholeAndMore // it is whole, and what may belong to it can still come
)

// minBegun is how much of a value is taken out where the text ends in it: as many
// bytes at least, and half of it.
const minBegun = 8

// at says whether the needle, from its place i on, stands at p of a text, and
// where it ends. Once too much was compared, as for a text and a value that repeat
// themselves, what begins like a needle counts as one.
func (f *finder) at(n *needle, text string, p, i int) (end int, s state) {
	if f.work < 0 {
		return min(p+len(n.text)-i, len(text)), whole
	}
	if n.kind == plain {
		k := min(len(n.text)-i, len(text)-p)
		if k > 2*gramSize && !n.same(n.text[i+k-gramSize:i+k], text[p+k-gramSize:p+k]) {
			return 0, absent
		}
		if odd := n.run - i; 0 < odd && odd < k && !n.is(n.text[n.run], text[p+odd]) {
			return 0, absent
		}
	}
	const few = 16
	for free := i + few; i < len(n.text); i, p = i+1, p+1 {
		if n.kind != plain && i >= unbrokenStart {
			p = unbroken(text, p)
		}
		if p == len(text) {
			switch {
			case !f.final:
				return 0, begun
			case i >= minBegun && 2*i >= len(n.text):
				return p, whole
			}
			return 0, absent
		}
		if !n.is(n.text[i], text[p]) {
			return 0, absent
		}
		if i >= free {
			f.work--
		}
	}
	return f.padded(n, text, p)
}

// padded is behind the character with the last bits, and what fills it up.
func (f *finder) padded(n *needle, text string, p int) (end int, s state) {
	if n.tailBits == 0 {
		return p, whole
	}
	if p < len(text) && sextet(text[p])>>(6-n.tailBits) == n.tail { // of none: more than any has
		p++
		for range 3 - n.tailBits/2 { // as many = as base64 has there, if it ends there
			if p == len(text) || text[p] != '=' {
				break
			}
			p++
		}
	}
	if p == len(text) && !f.final {
		return p, wholeAndMore
	}
	return p, whole
}

package secret

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// needle is one thing to look for: a value, or what an encoder makes of one.
type needle struct {
	owner int // whose value it is, by its place in the names
	text  string
	kind  kind
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

// minLine is how long a line of a value of many lines must be to be looked for by
// itself.
const minLine = 16

// needlesOf are all things to look for because of one value.
func needlesOf(owner int, value string) []needle {
	list := encoded(nil, owner, value)
	if !utf8.ValidString(value) { // who makes text of it replaces what is none
		list = append(list,
			needle{owner: owner, text: strings.ToValidUTF8(value, "\uFFFD")},
			needle{owner: owner, text: string([]rune(value))})
	}
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
			line = strings.TrimSpace(line)
			armour := strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ")
			if len(line) >= minLine && !armour {
				list = encoded(list, owner, line)
			}
		}
	}
	return list
}

// encoded appends a text and what encoders make of it.
func encoded(list []needle, owner int, text string) []needle {
	list = append(list, needle{owner: owner, text: text})
	digits := hex.EncodeToString([]byte(text))
	list = broken(list, needle{owner: owner, text: digits, kind: sixteen})
	for before := range 3 { // bytes in front of it, of those that are encoded together
		letters := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		bits := 8 * (before + len(text))
		n := needle{owner: owner, kind: sixty4, text: letters[(8*before+5)/6 : bits/6], tailBits: bits % 6}
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

// takes is how many bytes of the needle, from place i, u is; 0: it is others.
func (n *needle) takes(u *unit, i int, how string) int {
	c := u.b[0]
	if u.n == 1 && c == n.text[i] {
		return 1
	}
	switch {
	case n.kind == plain && u.n > 1:
		if strings.HasPrefix(n.text[i:], string(u.b[:u.n])) {
			return int(u.n)
		}
		return 0
	case u.n > 1:
		return 0
	case n.kind == plain && c == '+' && n.text[i] == ' ' && strings.Contains(how, "u"),
		n.kind == sixty4 && sextet(c) == sextet(n.text[i]),
		n.kind == sixteen && c >= 'A' && c <= 'F' && c-'A'+'a' == n.text[i]:
		return 1
	}
	return 0
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

// at says whether the needle stands at p, and where it ends.
func (n *needle) at(r *reader, p int, how string) (end int, s state) {
	for i := 0; i < len(n.text); {
		u := r.unit(p, how)
		if n.kind != plain && i >= unbrokenStart {
			u = r.unbroken(p, how)
		}
		if u.n == 0 {
			switch {
			case !r.final:
				return 0, begun
			case i >= minBegun && 2*i >= len(n.text):
				return len(r.text), whole
			}
			return 0, absent
		}
		k := n.takes(&u, i, how)
		if k == 0 && how != "" { // what looks like an escape may be none
			if u = r.unit(p, how[:len(how)-1]); u.n > 0 {
				k = n.takes(&u, i, how)
			}
		}
		if k == 0 {
			return 0, absent
		}
		i, p = i+k, u.next
	}
	return n.padded(r, p, how)
}

// padded is behind the character with the last bits, and what fills it up.
func (n *needle) padded(r *reader, p int, how string) (end int, s state) {
	if n.tailBits == 0 {
		return p, whole
	}
	u := r.unit(p, how)
	if u.n == 1 && sextet(u.b[0])>>(6-n.tailBits) == n.tail { // of none: more than any has
		p = u.next
		for range 3 - n.tailBits/2 { // as many = as base64 has there, if it ends there
			if u = r.unit(p, how); u.n != 1 || u.b[0] != '=' {
				break
			}
			p = u.next
		}
	}
	if u.n == 0 && !r.final {
		return p, wholeAndMore
	}
	return p, whole
}

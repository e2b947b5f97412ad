package mcptool

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// scanner reads JSON text once, from left to right, and says whether it is JSON.
// It makes nothing of what it reads: parts are slices of the text. That text is
// UTF-8 is for its user to check.
//
// It has no limit of depth, and does not recurse: of a message that is too deep
// for who reads it the rest is still to be known, above all whom it answers.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\t', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek is the next byte; 0: none.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// atEnd reports whether nothing but space is left.
func (s *scanner) atEnd() bool {
	s.space()
	return s.i == len(s.b)
}

// value reads one value.
func (s *scanner) value() bool {
	var few [64]byte
	inside := few[:0] // the ends of the objects and arrays around what is read
	for {
		switch c := s.peek(); c {
		case '{', '[':
			end := c + 2 // the code of } or ]
			s.i++
			if s.space(); s.peek() != end {
				if inside = append(inside, end); end == '}' && !s.key() {
					return false
				}
				continue
			}
			s.i++
		default:
			if !s.scalar(c) {
				return false
			}
		}
		for more := false; !more; {
			if len(inside) == 0 {
				return true
			}
			last := len(inside) - 1
			var ok bool
			if more, ok = s.more(inside[last]); !ok || more && inside[last] == '}' && !s.key() {
				return false
			}
			if !more {
				inside = inside[:last]
			}
		}
	}
}

func (s *scanner) scalar(first byte) bool {
	switch first {
	case '"':
		return s.text()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// key reads the name of a member, up to its value.
func (s *scanner) key() bool {
	if s.peek() != '"' || !s.text() {
		return false
	}
	if s.space(); s.peek() != ':' {
		return false
	}
	s.i++
	s.space()
	return true
}

// object reads an object, and gives each member to f.
func (s *scanner) object(f func(key string, value json.RawMessage)) bool {
	if s.peek() != '{' {
		return false
	}
	s.i++
	if s.space(); s.peek() == '}' {
		s.i++
		return true
	}
	for {
		from := s.i
		if !s.key() {
			return false
		}
		name, _ := unquote(bytes.TrimRight(s.b[from:s.i], ": \n\t\r"))
		at := s.i
		if !s.value() {
			return false
		}
		f(name, s.b[at:s.i:s.i])
		if more, ok := s.more('}'); !more || !ok {
			return ok
		}
	}
}

// array reads an array, and gives each item to f.
func (s *scanner) array(f func(item json.RawMessage)) bool {
	if s.peek() != '[' {
		return false
	}
	s.i++
	if s.space(); s.peek() == ']' {
		s.i++
		return true
	}
	for {
		at := s.i
		if !s.value() {
			return false
		}
		f(s.b[at:s.i:s.i])
		if more, ok := s.more(']'); !more || !ok {
			return ok
		}
	}
}

// more reads what follows a member or item: a comma, or the end.
func (s *scanner) more(end byte) (more, ok bool) {
	s.space()
	c := s.peek()
	if c != ',' && c != end {
		return false, false
	}
	s.i++
	if c == end {
		return false, true
	}
	s.space()
	return true, true
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// text reads a string, eight bytes at a time where they are plain.
func (s *scanner) text() bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := s.i + 1
	for {
		for i+8 <= len(s.b) {
			x := binary.LittleEndian.Uint64(s.b[i:])
			// A byte's high bit is set here if it is a quote, a backslash or a
			// control character; below the first such byte none is, but for bytes
			// that are not ASCII, which are looked at one by one.
			m := (((x ^ 0x22*ones) - ones) | ((x ^ 0x5c*ones) - ones) | (x - 0x20*ones)) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(s.b) {
			return false
		}
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			n := escape(s.b[i+1:])
			if n == 0 {
				return false
			}
			i += 1 + n
		case c < ' ':
			return false
		default:
			i++
		}
	}
}

// escape is how many bytes the escape is long whose backslash was read; 0: it is
// none.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, c := range b[1:5] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 5
	}
	return 0
}

func (s *scanner) number() bool {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return false
		}
	}
	if s.peek()|0x20 == 'e' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}

package mcptool

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// maxDepth is how deep arrays and objects may be nested, as in encoding/json.
const maxDepth = 10_000

// scanner reads JSON text once, from left to right, and says whether it is JSON.
// It makes nothing of what it reads: parts are slices of the text. That text is
// UTF-8 is for its user to check.
type scanner struct {
	b     []byte
	i     int
	depth int
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
	switch c := s.peek(); c {
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case '"':
		return s.text()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// object reads an object, and gives each member to f if there is one.
func (s *scanner) object(f func(key string, value json.RawMessage)) bool {
	if s.depth++; s.peek() != '{' || s.depth > maxDepth {
		return false
	}
	s.i++
	if s.space(); s.peek() == '}' {
		s.i, s.depth = s.i+1, s.depth-1
		return true
	}
	for {
		from := s.i
		if s.peek() != '"' || !s.text() {
			return false
		}
		key := s.b[from:s.i]
		if s.space(); s.peek() != ':' {
			return false
		}
		s.i++
		s.space()
		at := s.i
		if !s.value() {
			return false
		}
		if f != nil {
			name, _ := unquote(key)
			f(name, s.b[at:s.i:s.i])
		}
		if more, ok := s.more('}'); !more {
			return ok
		}
	}
}

// array reads an array, and gives each item to f if there is one.
func (s *scanner) array(f func(item json.RawMessage)) bool {
	if s.depth++; s.peek() != '[' || s.depth > maxDepth {
		return false
	}
	s.i++
	if s.space(); s.peek() == ']' {
		s.i, s.depth = s.i+1, s.depth-1
		return true
	}
	for {
		at := s.i
		if !s.value() {
			return false
		}
		if f != nil {
			f(s.b[at:s.i:s.i])
		}
		if more, ok := s.more(']'); !more {
			return ok
		}
	}
}

// more reads what follows a member or item: a comma, or the end.
func (s *scanner) more(end byte) (more, ok bool) {
	s.space()
	c := s.peek()
	s.i++
	if c == end {
		s.depth--
		return false, true
	}
	s.space()
	return c == ',', false
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

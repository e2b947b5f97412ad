package search

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// maxWord is how long a word may be, in bytes; what is longer is cut.
const maxWord = 48

// scanner takes text apart into words of small letters: at all that is neither
// letter nor digit, and inside names at changes of case (getHTTPStatus: get, http,
// status). Scripts that put no spaces between words give pairs of characters that
// stand side by side. It takes any bytes; what is no UTF-8 separates.
type scanner struct {
	text string
	join bool // GitHub is git, hub, and github: others write it small
	at   int
	from int    // where the last word begins
	word []byte // the last word: valid until the next
	gap  bool   // a sentence or a part of one ended before it

	whole []byte // the parts of the word so far, where case takes it apart
	parts int
	ready bool // whole is to be given out next

	wide rune // the last character of a script without spaces
}

// next goes to the next word, and says whether there is one.
func (s *scanner) next() bool {
	if s.ready {
		s.ready, s.gap = false, false
		s.word = append(s.word[:0], s.whole...)
		s.whole, s.parts = s.whole[:0], 0
		return true
	}
	s.word, s.gap = s.word[:0], false
	lower, upper := false, 0 // what the word had so far
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c < utf8.RuneSelf {
			switch {
			case c >= 'a' && c <= 'z':
				if upper > 1 && !lower { // HTTPStatus: the last capital begins a word
					return s.cutLast()
				}
				lower = true
				s.put(c)
			case c >= '0' && c <= '9':
				s.put(c)
			case c >= 'A' && c <= 'Z':
				if lower || len(s.word) > 0 && upper == 0 {
					return s.part()
				}
				upper++
				s.put(c + 'a' - 'A')
			case c == '\'' && lower && s.at+1 < len(s.text) && isLetter(s.text[s.at+1]): // don't: dont
			default:
				if len(s.word) > 0 {
					return s.end()
				}
				s.apart(c == '\n' || ends(rune(c)) && s.spaceNext())
			}
			s.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		switch {
		case unspaced(r):
			if len(s.word) > 0 {
				return s.end()
			}
			s.from = s.at
			s.at += size
			before := s.wide
			s.wide = r
			next, _ := utf8.DecodeRuneInString(s.text[s.at:])
			if before == 0 && unspaced(next) {
				continue // a pair follows
			}
			if before != 0 {
				s.word = utf8.AppendRune(s.word, before)
			}
			s.word = utf8.AppendRune(s.word, r)
			return true
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			s.wide = 0
			if unicode.IsUpper(r) {
				if lower {
					return s.part()
				}
				upper++
			} else {
				lower = true
			}
			if len(s.word) == 0 {
				s.from = s.at
			}
			if len(s.word) < maxWord {
				s.word = appendPlain(s.word, unicode.ToLower(r))
			}
		case unicode.Is(unicode.Mn, r): // an accent of the letter before
		default:
			if len(s.word) > 0 {
				return s.end()
			}
			s.apart(ends(r))
		}
		s.at += size
	}
	return len(s.word) > 0 && s.end()
}

// apart forgets the word before what separates.
func (s *scanner) apart(gap bool) {
	s.wide, s.whole, s.parts = 0, s.whole[:0], 0
	s.gap = s.gap || gap
}

func (s *scanner) spaceNext() bool {
	return s.at+1 >= len(s.text) || s.text[s.at+1] <= ' '
}

// ends says that a character ends a sentence or a part of one.
func ends(r rune) bool {
	switch r {
	case '.', ',', ';', ':', '!', '?', '。', '、', '，', '；', '：', '！', '？':
		return true
	}
	return false
}

// Words are the words of a text that are not too common to count, in small letters.
// Names are taken apart; pairs of characters stand for words where a script has no
// spaces.
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := scanner{text: cut(text), join: true}
		for s.next() {
			if !stopped(s.word) && !yield(string(s.word)) {
				return
			}
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (s *scanner) put(c byte) {
	s.wide = 0
	if len(s.word) == 0 {
		s.from = s.at
	}
	if len(s.word) < maxWord {
		s.word = append(s.word, c)
	}
}

// part ends a word at a change of case.
func (s *scanner) part() bool {
	s.parts++
	if len(s.whole) < maxWord {
		s.whole = append(s.whole, s.word...)
	}
	return true
}

// cutLast ends a word before the capital that was just taken.
func (s *scanner) cutLast() bool {
	_, size := utf8.DecodeLastRuneInString(s.text[:s.at])
	s.at -= size
	if n := len(s.word); n < maxWord {
		_, size := utf8.DecodeLastRune(s.word)
		if n > size {
			s.word = s.word[:n-size]
		}
	}
	return s.part()
}

// end ends a word at what is no letter. Where case has cut one word in two, both
// together may be a word as well.
func (s *scanner) end() bool {
	if s.join && s.parts == 1 && len(s.whole)+len(s.word) <= maxWord {
		s.whole, s.ready = append(s.whole, s.word...), true
		return true
	}
	s.whole, s.parts = s.whole[:0], 0
	return true
}

// unspaced says that a script writes words without spaces between them.
func unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// plainLatin are the letters from U+00E0 to U+017F without their accents.
const plainLatin = "aaaaaaaceeeeiiiidnooooo/ouuuuytyaaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// appendPlain appends a small letter, without its accent where it is a Latin one.
func appendPlain(b []byte, r rune) []byte {
	const first = 0xe0
	if i := int(r) - first; i >= 0 && i < len(plainLatin) {
		return append(b, plainLatin[i])
	}
	return utf8.AppendRune(b, r)
}

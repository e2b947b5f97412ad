package scan

import (
	"unicode"
	"unicode/utf8"
)

// normal is a text as rules read it, and where each byte of it comes from.
type normal struct {
	text     []byte
	from, to []int32 // offsets in the window, one each for a byte of text
	decoded  []run   // what of text was encoded

	depth  int // of decoding
	lo, hi int // where all of a decoded run comes from
	word   int // up to here mixed is known
	mixed  bool
	rune   []byte
}

// run is a piece of normalised text.
type run struct {
	start, end int
	encoding   string
}

// depths is how often decoded text is decoded again.
const depths = 3

func (n *normal) reset() {
	n.text, n.from, n.to, n.decoded = n.text[:0], n.from[:0], n.to[:0], n.decoded[:0]
	n.depth, n.word = 0, 0
}

// put adds a byte that stands for src[from:to].
func (n *normal) put(b byte, from, to int) {
	if n.depth > 0 {
		from, to = n.lo, n.hi
	}
	n.text = append(n.text, lower(b))
	n.from = append(n.from, int32(from)) //nolint:gosec // windows are small
	n.to = append(n.to, int32(to))       //nolint:gosec // windows are small
}

// space adds white space, of which any amount is one.
func (n *normal) space(b byte, from, to int) {
	if b != '\n' && b != '\r' {
		b = ' '
	} else {
		b = '\n'
	}
	last := len(n.text) - 1
	if last >= 0 && (n.text[last] == ' ' || n.text[last] == '\n') {
		if b == '\n' {
			n.text[last] = b
		}
		return
	}
	n.put(b, from, to)
}

// whole normalises a text that begins and ends where it stands, or at white
// space. base is the offset of src in the window.
func (n *normal) whole(src []byte, base int) {
	n.reset()
	n.space('\n', base, base)
	n.add(src, base)
	n.space('\n', base+len(src), base+len(src))
}

// add normalises src, whose first byte is at base.
func (n *normal) add(src []byte, base int) {
	n.word = 0
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			if size := n.encodedRun(src, i, base); size > 0 {
				i += size
				continue
			}
			if c <= 'Z' && c >= 'A' && caseBorder(src, i) {
				n.put(' ', base+i, base+i)
			}
			n.put(c, base+i, base+i+1)
			i++
		case c == ' ' || '\t' <= c && c <= '\r':
			n.space(c, base+i, base+i+1)
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size <= 1 {
				n.put(c, base+i, base+i+1)
			} else {
				n.letter(r, src, i, base+i, base+i+size)
			}
			i += size
		case c == '\\' || c == '&' || c == '%':
			r, size := escaped(src[i:])
			if size == 0 {
				n.put(c, base+i, base+i+1)
				i++
				continue
			}
			n.letter(r, src, i, base+i, base+i+size)
			i += size
		case c == '<':
			if size := insideWord(src, i); size > 0 {
				i += size
				continue
			}
			n.put(c, base+i, base+i+1)
			i++
		default:
			n.put(c, base+i, base+i+1)
			i++
		}
	}
}

// letter adds what a character reads as, from src[i:].
func (n *normal) letter(r rune, src []byte, i, from, to int) {
	switch {
	case r < utf8.RuneSelf && r > ' ' && r != 0x7f:
		n.put(byte(r), from, to)
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		b := byte(' ')
		if r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 {
			b = '\n'
		}
		n.space(b, from, to)
	case isTag(r):
		if b := byte(r - tagBase); b > ' ' && b < 0x7f { //nolint:gosec // isTag
			n.put(b, from, to)
		} else if b == ' ' {
			n.space(' ', from, to)
		}
	case invisible(r) || r < ' ':
	default:
		if twin := lookAlike(r); twin != 0 && n.inLatin(src, i) {
			n.put(twin, from, to)
			return
		}
		n.rune = foldRune(n.rune[:0], r)
		for _, b := range n.rune {
			n.put(b, from, to)
		}
	}
}

// inLatin reports whether the word around src[i] has a Latin letter in it: only
// there is a letter of another alphabet a disguise.
func (n *normal) inLatin(src []byte, i int) bool {
	if i < n.word {
		return n.mixed
	}
	const far = 96 // bytes
	n.mixed = false
	lo := i
	for lo > 0 && i-lo < far && wordByte(src[lo-1]) {
		lo--
		n.mixed = n.mixed || src[lo] < utf8.RuneSelf && src[lo] != '\''
	}
	hi := i
	for hi < len(src) && hi-i < far && wordByte(src[hi]) {
		n.mixed = n.mixed || src[hi] < utf8.RuneSelf
		hi++
	}
	n.word = hi
	return n.mixed
}

// wordByte: of a letter, or of what is not ASCII.
func wordByte(b byte) bool {
	return b >= utf8.RuneSelf || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// caseBorder reports whether a sentence begins at src[i] right behind another
// word: USAIgnore all. Names are left alone.
func caseBorder(src []byte, i int) bool {
	if i == 0 || !wordByte(src[i-1]) || src[i-1] >= utf8.RuneSelf {
		return false
	}
	j := i + 1
	for j < len(src) && j < i+24 && 'a' <= src[j] && src[j] <= 'z' {
		j++
	}
	if j == len(src) || src[j] != ' ' && src[j] != '\n' && src[j] != ',' && src[j] != ':' {
		return false
	}
	switch string(src[i:j]) { // SELinux is no sentence
	case "Ignore", "Disregard", "Forget", "Please", "Important", "System", "You", "Stop", "Now", "Instead", "Before", "Do", "New",
		"This", "Attention", "Override", "Assistant", "Print", "Say", "Reveal", "Send", "From", "Never", "Always", "Act", "Pretend":
		return true
	default:
		return false
	}
}

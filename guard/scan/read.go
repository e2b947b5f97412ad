package scan

import (
	"unicode"
	"unicode/utf8"
)

// reader knows what single characters read as.
type reader struct {
	text  []byte
	word  int // up to here mixed is known
	mixed bool
	rune  []byte
}

// read adds what a character at src[i:] reads as: nothing, white space, or
// other characters.
func (n *reader) read(to []byte, r rune, src []byte, i int) []byte {
	switch {
	case r < utf8.RuneSelf && r > ' ' && r != 0x7f:
		return append(to, lower(byte(r)))
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		if r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return append(to, '\n')
		}
		return append(to, ' ')
	case isTag(r):
		if b := byte(r - tagBase); b >= ' ' && b < 0x7f { //nolint:gosec // isTag
			return append(to, lower(b))
		}
		return to
	case invisible(r) || r < ' ':
		return to
	}
	if twin := lookAlike(r); twin != 0 && n.inLatin(src, i) {
		return append(to, lower(twin))
	}
	if 0 <= r && r < wide {
		return append(to, narrowRunes().folds[r]...)
	}
	return foldRune(to, r)
}

// inLatin reports whether the word around src[i] has a Latin letter in it: only
// there is a letter of another alphabet a disguise.
func (n *reader) inLatin(src []byte, i int) bool {
	if i < n.word {
		return n.mixed
	}
	const far = 96 // bytes
	n.mixed = false
	lo := i
	for lo > 0 && i-lo < far && wordByte(src[lo-1]) {
		lo--
		n.mixed = n.mixed || src[lo] < utf8.RuneSelf
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

func letterOrDigit(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

func blank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

// caseBorder reports whether a sentence begins at src[i] right behind another
// word: USAIgnore all. Names are left alone.
func caseBorder(src []byte, i int) bool {
	if i == 0 || src[i] < 'A' || src[i] > 'Z' || !wordByte(src[i-1]) || src[i-1] >= utf8.RuneSelf {
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

// folded is what a byte of ASCII reads as.
var folded = foldedBytes() //nolint:gochecknoglobals // a table that nothing changes, read for each byte

func foldedBytes() (f [256]byte) {
	for b := range f {
		switch c := byte(b); {
		case c == '\n' || c == '\r':
			f[b] = '\n'
		case blank(c):
			f[b] = ' '
		default:
			f[b] = lower(c)
		}
	}
	return f
}

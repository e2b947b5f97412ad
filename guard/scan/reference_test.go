package scan

import "unicode/utf8"

// reference normalises a whole text byte by byte, as the package says that it
// reads texts: what the fast way gives is held to it.
type reference struct {
	reader
	depth int
}

func (n *reference) whole(src []byte) []byte {
	n.text = n.text[:0]
	n.space('\n')
	n.add(src)
	n.space('\n')
	return n.text
}

func (n *reference) space(b byte) {
	if b != '\n' {
		b = ' '
	}
	if last := len(n.text) - 1; last >= 0 && blank(n.text[last]) {
		if b == '\n' {
			n.text[last] = b
		}
		return
	}
	n.text = append(n.text, b)
}

func (n *reference) letter(r rune, src []byte, i int) {
	n.rune = n.read(n.rune[:0], r, src, i)
	for _, b := range n.rune {
		if blank(b) {
			n.space(b)
		} else {
			n.text = append(n.text, b)
		}
	}
}

func (n *reference) add(src []byte) {
	n.word = 0
	for i := 0; i < len(src); {
		c := src[i]
		if text, size, _ := decodeAt(src, i, nil); size > 0 && n.depth < depths {
			n.depth++
			word, mixed := n.word, n.mixed
			n.space('\n')
			n.add(text)
			n.space('\n')
			n.word, n.mixed = word, mixed
			n.depth--
			i += size
			continue
		}
		switch {
		case blank(c):
			if c == '\r' {
				c = '\n'
			}
			n.space(c)
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size <= 1 {
				n.text = append(n.text, c)
			} else {
				n.letter(r, src, i)
			}
			i += size
		case control(c):
			i += controls(src[i:])
		case c == '<' && insideWord(src, i) > 0:
			i += insideWord(src, i)
		default:
			if special(c) && c != '<' {
				if r, size := escaped(src[i:]); size > 0 {
					n.letter(r, src, i)
					i += size
					continue
				}
			}
			if caseBorder(src, i) {
				n.space(' ')
			}
			n.text = append(n.text, lower(c))
			i++
		}
	}
}

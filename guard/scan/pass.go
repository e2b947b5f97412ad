package scan

import (
	"slices"
	"unicode/utf8"
)

// pass normalises a window and looks for anchors in it, both in one loop: what
// is written as it reads costs a step of the automaton and a copied byte.
type pass struct {
	reader
	auto  *automaton
	state uint16
	hits  []hit

	segs    []segment
	decoded []run
	found   []encoded          // runs to be decoded, of the text that is read and of those around it
	buf     []byte             // to decode into
	bufs    [depths + 1][]byte // what is decoded at each depth
	depth   int                // of decoding
	goesOn  bool               // the text began before the window
	unseen  bool               // something was invisible
	// foreignSeen: not all of the normalised text is ASCII.
	foreignSeen bool
}

// hit is a stem that ends at an offset of the normalised text.
type hit struct{ stem, at int32 }

// segment says where normalised text from at on comes from: byte by byte from
// src on, or, where it is one piece, from src to end.
type segment struct {
	at, src, end int
	piece        bool
}

// run is a piece of normalised text that was encoded.
type run struct {
	start, end int
	encoding   string
}

// depths is how often decoded text is decoded again.
const depths = 3

// whole normalises a text.
func (p *pass) whole(src []byte) {
	p.text, p.segs, p.decoded, p.found, p.hits = p.text[:0], p.segs[:0], p.decoded[:0], p.found[:0], p.hits[:0]
	p.state, p.depth, p.unseen, p.foreignSeen = behindSign, 0, false, false
	p.piece(0, 0)
	p.space('\n')
	p.from(0)
	p.add(src)
	p.piece(len(src), len(src))
	p.space('\n')
}

// from notes that what comes next is src[at:], byte by byte.
func (p *pass) from(at int) {
	if p.depth == 0 {
		p.segs = append(p.segs, segment{at: len(p.text), src: at})
	}
}

// piece notes that what comes next stands for src[start:end].
func (p *pass) piece(start, end int) {
	if p.depth == 0 {
		p.segs = append(p.segs, segment{len(p.text), start, end, true})
	}
}

// put adds a byte of normalised text.
func (p *pass) put(b byte) {
	p.text = append(p.text, b)
	p.step(b)
}

func (p *pass) step(b byte) {
	p.state = p.auto.step(p.state, b)
	if p.state >= p.auto.first {
		p.hit(p.state, len(p.text))
	}
}

func (p *pass) hit(state uint16, at int) {
	for _, w := range p.auto.at(state) {
		p.hits = append(p.hits, hit{w, int32(at)}) //nolint:gosec // windows are small
	}
}

// space adds white space, of which any amount is one.
func (p *pass) space(b byte) {
	if last := len(p.text) - 1; last >= 0 && blank(p.text[last]) {
		if b == '\n' {
			p.text[last] = b
		}
		return
	}
	p.put(b)
}

// add normalises src.
func (p *pass) add(src []byte) {
	p.word = 0
	mine := len(p.found)
	p.findEncoded(src)
	end := len(p.found)
	i := 0
	for at := mine; at < end; at++ {
		// What an escape or markup took in is no run of its own.
		if e := p.found[at]; e.start >= i {
			if i = p.plain(src, i, e.start); i == e.start {
				i = p.decode(src, e)
				p.from(i)
			}
		}
	}
	p.plain(src, i, len(src))
	p.found = p.found[:mine]
}

// decode adds what an encoded run says and returns its end.
func (p *pass) decode(src []byte, e encoded) int {
	p.piece(e.start, e.end)
	if e.border {
		p.space(' ')
		return e.end
	}
	buf := &p.bufs[min(p.depth, depths)]
	text, _, name := decodeAt(src, e.start, (*buf)[:0])
	if e.name != "" {
		text, _, name = decodeRun(src[e.start:], (*buf)[:0])
	}
	if cap(text) > cap(*buf) {
		*buf = text
	}
	start := len(p.text)
	word, mixed := p.word, p.mixed
	p.depth++
	p.space('\n')
	p.add(text)
	p.space('\n')
	p.depth--
	p.word, p.mixed = word, mixed
	if p.depth == 0 {
		p.decoded = append(p.decoded, run{start, len(p.text), name})
	}
	return e.end
}

// plain normalises src from i to at least end, without looking for encoded
// runs, and returns where it stopped: behind end if an escape goes on there.
func (p *pass) plain(src []byte, i, end int) int {
	fast, next, first := &p.auto.fast, p.auto.next, p.auto.first
	for i < end {
		p.text = slices.Grow(p.text, end-i)
		text, j, state := p.text[:cap(p.text)], len(p.text), p.state
		to := uint16(0)
		for _, c := range src[i:end] {
			if to = next[uint(state)<<shift|uint(fast[c])]; to >= first {
				break
			}
			text[j] = folded[c]
			state = to
			j++
		}
		i += j - len(p.text)
		p.text, p.state = text[:j], state
		switch {
		case i == end:
		case to < p.auto.stop:
			p.text, p.state = append(p.text, folded[src[i]]), to
			p.hit(to, len(p.text))
			i++
		case blank(src[i]):
			for ; i < end && blank(src[i]); i++ {
				p.space(folded[src[i]])
			}
			p.from(i)
		default:
			i = p.token(src, i)
		}
	}
	return i
}

// token reads what has to be looked at, at src[i], and returns its end.
func (p *pass) token(src []byte, i int) int {
	c := src[i]
	switch {
	case c >= utf8.RuneSelf:
		return p.foreign(src, i)
	case control(c):
		i += controls(src[i:])
		p.from(i)
		return i
	case c == '<':
		if size := insideWord(src, i); size > 0 {
			p.from(i + size)
			return i + size
		}
	default:
		if r, size := escaped(src[i:]); size > 0 {
			p.letter(r, src, i, size)
			return i + size
		}
	}
	p.put(c)
	return i + 1
}

// control reports whether a byte shows nothing and is no white space.
func control(c byte) bool { return c < ' ' && !blank(c) || c == 0x7f }

// controls is how many bytes of src, which begins with one that shows nothing, read as
// nothing: of an order to a terminal all.
func controls(src []byte) int {
	const most = 32
	if len(src) < 3 || src[0] != 0x1b || src[1] != '[' {
		return 1
	}
	for i, c := range src[2:min(len(src), most)] {
		if '@' <= c && c <= '~' {
			return i + 3
		}
		if c < ' ' || c > '?' {
			break
		}
	}
	return 1
}

// foreign reads characters that are not ASCII from src[i] on, and returns the
// end of the first that does not read as it is written.
func (p *pass) foreign(src []byte, i int) int {
	start := i
	p.foreignSeen = true
	narrow := narrowRunes()
	for i < len(src) && src[i] >= utf8.RuneSelf {
		size := 0
		switch c := src[i]; {
		case 0xc2 <= c && c <= 0xdf && i+1 < len(src) && !utf8.RuneStart(src[i+1]):
			if kind := narrow.kinds[uint(c&0x1f)<<6|uint(src[i+1]&0x3f)]; kind == asIs || kind == twin && !p.inLatin(src, i) {
				size = 2
			}
		case 0xe4 <= c && c <= 0xe9 && i+2 < len(src) && !utf8.RuneStart(src[i+1]) && !utf8.RuneStart(src[i+2]):
			size = 3 // Chinese characters, all that begin so
		default:
			if r, n := utf8.DecodeRune(src[i:]); plainRune(r) || n <= 1 {
				size = n
			}
		}
		if size == 0 {
			p.copy(src[start:i])
			r, size := utf8.DecodeRune(src[i:])
			p.letter(r, src, i, size)
			return i + size
		}
		i += size
	}
	p.copy(src[start:i])
	return i
}

// copy adds text that reads as it is written.
func (p *pass) copy(text []byte) {
	state, at := p.state, len(p.text)
	p.text = append(p.text, text...)
	class, next, first := &p.auto.class, p.auto.next, p.auto.first
	for i, b := range text {
		if state = next[uint(state)<<shift|uint(class[b])]; state >= first {
			p.hit(state, at+i+1)
		}
	}
	p.state = state
}

// letter adds what a character reads as that takes size bytes.
func (p *pass) letter(r rune, src []byte, i, size int) {
	p.piece(i, i+size)
	p.foreignSeen = true
	p.rune = p.read(p.rune[:0], r, src, i)
	p.unseen = p.unseen || len(p.rune) == 0 || isTag(r)
	for _, b := range p.rune {
		if blank(b) {
			p.space(b)
		} else {
			p.put(b)
		}
	}
	p.from(i + size)
}

// span gives where normalised text comes from.
func (p *pass) span(start, end int) (int, int) {
	from, _ := p.source(start)
	_, to := p.source(end - 1)
	return from, to
}

func (p *pass) source(at int) (from, to int) {
	// Of segments that begin at the same place the last is the one.
	i, _ := slices.BinarySearchFunc(p.segs, at+1, func(s segment, at int) int { return s.at - at })
	s := p.segs[i-1]
	if s.piece {
		return s.src, s.end
	}
	return s.src + at - s.at, s.src + at - s.at + 1
}

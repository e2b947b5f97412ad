package scan

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// encoded is a run that says something else than it reads as, or the place
// where a sentence begins right behind a word.
type encoded struct {
	start, end int
	border     bool
}

// findEncoded adds the runs of a text, in order. Each kind has a shape that can
// be seen at few places of a long run, so that not every byte is looked at.
func (p *pass) findEncoded(src []byte) {
	mine := len(p.found)
	p.borders(src)
	if p.depth < depths {
		p.long(src)
		p.apart(src)
		p.grouped(src, 2, 16, 8)
		p.grouped(src, 8, 2, 24)
	}
	if own := p.found[mine:]; len(own) > 1 {
		slices.SortFunc(own, func(a, b encoded) int { return cmp.Compare(a.start, b.start) })
	}
}

func (p *pass) try(src []byte, at int) {
	text, size, _ := decodeAt(src, at, p.buf)
	if cap(text) > cap(p.buf) {
		p.buf = text
	}
	if size > 0 {
		p.found = append(p.found, encoded{start: at, end: at + size})
	}
}

// long finds runs of at least shortBase64 bytes: such a run has a byte at a
// multiple of that.
func (p *pass) long(src []byte) {
	for i := shortBase64 - 1; i < len(src); i += shortBase64 {
		if !base64Byte[src[i]] {
			continue
		}
		lo := i
		for lo > 0 && base64Byte[src[lo-1]] {
			lo--
		}
		hi := i + 1
		for hi < len(src) && base64Byte[src[hi]] {
			hi++
		}
		if hi-lo >= shortBase64 && (readableStart(src[lo:hi]) || hi-lo >= shortHex && readableHex(src[lo:lo+16])) {
			p.try(src, lo)
		}
		i = max(i, hi-shortBase64)
	}
}

// apart finds letters that stand apart: of shortSpaced such letters, two stand
// at a multiple of four or behind it.
func (p *pass) apart(src []byte) {
	for i := 0; i+2 < len(src); i += 4 {
		if !apartSign[src[i+1]] && !apartSign[src[i+2]] || i+3 < len(src) && !apartSign[src[i]] && !apartSign[src[i+3]] {
			continue
		}
		at := i
		if !single(src, at) {
			if at++; !single(src, at) {
				continue
			}
		}
		for at >= 2 && single(src, at-2) && src[at-1] == src[at+1] {
			at -= 2
		}
		p.try(src, at)
	}
}

// grouped finds groups of digits, with a space at least every so often where it
// looks.
func (p *pass) grouped(src []byte, digits, base, far int) {
	for i := 0; i < len(src); i += far {
		for q := i; q <= i+digits && q+digits+1 < len(src); q++ {
			if src[q] != ' ' || src[q+digits+1] != ' ' {
				continue
			}
			if _, ok := number(src, q+1, digits, base); !ok {
				continue
			}
			at, end := q+1, q+1+digits
			for behindGroup(src, at, digits, base) {
				at -= digits + 1
			}
			for end < len(src) && src[end] == ' ' {
				if _, ok := number(src, end+1, digits, base); !ok {
					break
				}
				end += digits + 1
			}
			if end-at >= shortGroups*(digits+1)-1 {
				p.try(src, at)
			}
			i = max(i, end-far)
			break
		}
	}
}

// borders finds where capital letters between a letter and a small one begin a
// sentence. It reads eight bytes at once, of which the first and the last are
// only neighbours.
func (p *pass) borders(src []byte) {
	i := 0
	for ; i+8 <= len(src); i += 6 {
		x := binary.LittleEndian.Uint64(src[i:])
		capital := between(x, 'A', 'Z')
		if capital == 0 {
			continue
		}
		small := between(x, 'a', 'z')
		for at := capital & ((capital | small) << 8) & (small >> 8); at != 0; at &= at - 1 {
			p.border(src, i+trailing(at))
		}
	}
	for i++; i < len(src); i++ {
		p.border(src, i)
	}
}

func (p *pass) border(src []byte, at int) {
	if caseBorder(src, at) {
		p.found = append(p.found, encoded{at, at, true})
	}
}

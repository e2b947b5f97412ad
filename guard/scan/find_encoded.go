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
	name       string // of what is to be read without looking at what stands before
}

// findEncoded adds the runs of a text, in order. Each kind has a shape that can
// be seen at few places of a long run, so that not every byte is looked at.
func (p *pass) findEncoded(src []byte) {
	mine := len(p.found)
	p.borders(src)
	if p.depth < depths {
		if p.depth == 0 && p.goesOn {
			p.middle(src)
		}
		p.long(src)
		p.apart(src)
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

// middle finds the rest of a run that began before the window: it may be read
// from its first to its fourth byte on.
func (p *pass) middle(src []byte) {
	for i := range min(4, len(src)) {
		if !base64Byte[src[i]] {
			return
		}
		text, size, name := decodeRun(src[i:], p.buf[:0])
		if cap(text) > cap(p.buf) {
			p.buf = text
		}
		if size >= shortBase64 {
			p.found = append(p.found, encoded{start: i, end: i + size, name: name})
			return
		}
	}
}

// long finds runs of at least shortBase64 bytes: such a run has a byte at a
// multiple of that, and goes on for half as much on one side of it.
func (p *pass) long(src []byte) {
	const half = shortBase64 / 2
	for i := shortBase64 - 1; i < len(src); i += shortBase64 {
		if i+8 <= len(src) && parted(src[i-8:]) && parted(src[i:]) {
			continue
		}
		around := src[i-half : min(len(src), i+half)]
		k := kinds[around[9]] & kinds[around[7]] & kinds[around[5]] & kinds[around[3]] & kinds[around[0]]
		if len(around) == 2*half {
			k |= kinds[around[11]] & kinds[around[13]] & kinds[around[15]] & kinds[around[17]] & kinds[around[19]]
		}
		if k&kinds[src[i]]&ofBase64 == 0 {
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

// parted reports whether one of eight bytes is a space or a sign like it, which no
// run has.
func parted(src []byte) bool {
	x := binary.LittleEndian.Uint64(src)
	return (x-'+'*ones)&^x&highest != 0
}

// apart finds letters and groups of digits that stand apart. The shortest run
// of either is so long that four bytes of every six tell it.
func (p *pass) apart(src []byte) {
	const far = 6
	behind := 0 // groups up to here are known
	for i := 0; i+4 <= len(src); i += far {
		a, b, c, d := kinds[src[i]], kinds[src[i+1]], kinds[src[i+2]], kinds[src[i+3]]
		if a&b&c&d&ofGroups != 0 && i >= behind {
			behind = max(p.grouped(src, i, 2, 16), p.grouped(src, i, 8, 2))
		}
		if (a&c|b&d)&ofApart != 0 {
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
			end := at // of a long run there is nothing more to be found
			for end+2 < len(src) && src[end+1] == src[at+1] && single(src, end+2) {
				end += 2
			}
			i = max(i, end-far)
		}
	}
}

// grouped tries the groups of digits around src[i], and returns up to where
// they are known.
func (p *pass) grouped(src []byte, i, digits, base int) int {
	for q := i; q <= i+digits && q+digits < len(src); q++ {
		if src[q] != ' ' {
			continue
		}
		if _, ok := number(src, q+1, digits, base); !ok {
			return 0
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
		return end
	}
	return 0
}

// What a byte can be part of.
const (
	ofBase64 = 1 << iota
	ofGroups // of digits
	ofApart  // stands between letters that are kept apart
)

// kinds says it of each byte.
var kinds = byteKinds() //nolint:gochecknoglobals // a table that nothing changes, read for each byte

func byteKinds() (k [256]uint8) {
	for i := range k {
		b := byte(i)
		if base64Byte[b] {
			k[i] |= ofBase64
		}
		if digit(b) >= 0 || b == ' ' {
			k[i] |= ofGroups
		}
		if apartSign(b) {
			k[i] |= ofApart
		}
	}
	return k
}

// borders finds where capital letters between a letter and a small one begin a
// sentence. It reads eight bytes at once, and looks closer where one of them may be
// such a letter.
func (p *pass) borders(src []byte) {
	i := 0
	for ; i+9 <= len(src); i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		// Letters have bit 6, small ones bit 5, too.
		if x&(highest>>1)&^(x<<1) == 0 {
			continue
		}
		capital, small := between(x, 'A', 'Z'), between(x, 'a', 'z')
		before, behind := (capital|small)<<8, small>>8
		if i > 0 && wordByte(src[i-1]) {
			before |= 0x80
		}
		if c := src[i+8]; 'a' <= c && c <= 'z' {
			behind |= 0x80 << 56
		}
		for at := capital & before & behind; at != 0; at &= at - 1 {
			p.border(src, i+trailing(at))
		}
	}
	for ; i < len(src); i++ {
		p.border(src, i)
	}
}

func (p *pass) border(src []byte, at int) {
	if caseBorder(src, at) {
		p.found = append(p.found, encoded{start: at, end: at, border: true})
	}
}

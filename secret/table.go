package secret

import "encoding/binary"

// table is what is looked for because of some values. It never changes.
type table struct {
	needles []needle
	first   [256][]*needle // by what they may begin with
	pairs   pairs          // of the first two bytes of needles
	starts  grams          // of the first four
	grams   grams          // of those at their first places, as many as stride
	stride  int            // 4, or less where a needle is too short for that
}

// gramSize is how many bytes are compared at once.
const gramSize = 4

// grams is a set of groups of bytes, in which some are by mistake.
type grams [1 << 10]uint64

func hash(g uint32) uint32 { return g * 0x9e3779b1 >> 16 }

func (g *grams) add(b [gramSize]byte) {
	h := hash(binary.LittleEndian.Uint32(b[:]))
	g[h>>6] |= 1 << (h & 63)
}

func (g *grams) has(gram uint32) bool {
	h := hash(gram)
	return g[h>>6&(1<<10-1)]>>(h&63)&1 != 0
}

// gramOf is the beginning of a text, read at once.
func gramOf(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// pairs is a set of two bytes.
type pairs [1 << 10]uint64

func (p *pairs) add(a, b byte) { p[int(a)<<2|int(b)>>6] |= 1 << (b & 63) }

func (p *pairs) has(a, b byte) bool { return p[int(a)<<2|int(b)>>6]>>(b&63)&1 != 0 }

// newTable makes the table of needles.
func newTable(needles []needle) *table {
	t := &table{needles: needles, stride: gramSize}
	for i := range needles {
		t.stride = min(t.stride, len(needles[i].text)-gramSize+1)
	}
	for i := range needles {
		n := &needles[i]
		for n.run < len(n.text) && n.text[n.run] == n.text[0] {
			n.run++
		}
		for _, c := range n.spellings(0) {
			t.first[c] = append(t.first[c], n)
		}
		for j := range t.stride {
			n.spell(j, func(b [gramSize]byte) {
				if t.grams.add(b); j == 0 {
					t.starts.add(b)
					t.pairs.add(b[0], b[1])
				}
			})
		}
	}
	return t
}

// reach is how many characters a needle has that begins just before a place that
// is looked at.
func (t *table) reach() int { return t.stride + gramSize - 1 }

// spell calls f with every way to write the four bytes of the needle at a place.
func (n *needle) spell(at int, f func([gramSize]byte)) {
	var b [gramSize]byte
	var next func(i int)
	next = func(i int) {
		if i == gramSize {
			f(b)
			return
		}
		for _, c := range n.spellings(at + i) {
			b[i] = c
			next(i + 1)
		}
	}
	next(0)
}

package secret

import (
	"encoding/binary"
	"strings"
)

// scanner finds needles in texts. It never changes.
//
// A text is looked at in two ways. Where nothing in it is escaped or broken, four
// bytes at every fourth place are compared with those that stand at the first
// places of the needles. Around each backslash, percent sign and line break, the
// few characters that a needle could begin at are undone and compared. Only what
// passes is compared with the needles themselves.
type scanner struct {
	names   []string
	marks   []string // that stand for the values, by name
	needles []needle
	first   [256][]*needle // by what they may begin with
	starts  grams          // of the first four bytes of needles
	grams   grams          // of those at their first places, as many as stride
	early   [256]bool      // what may stand at the first places, as many as reach
	stride  int            // 4, or 1 where a needle is too short for that
	reach   int            // how many characters a needle has that begins just before a place that is looked at
	spaces  bool           // a needle has a space, for which + may stand
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
	return g[h>>6]>>(h&63)&1 != 0
}

// gramOf is the beginning of a text, read at once.
func gramOf(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// newScanner looks for values, each of them of the name in the same place.
func newScanner(names, values []string) *scanner {
	s := &scanner{names: names, stride: gramSize}
	for i, v := range values {
		s.needles = append(s.needles, needlesOf(i, v)...)
		s.spaces = s.spaces || strings.Contains(v, " ")
	}
	for i := range s.needles {
		if len(s.needles[i].text) < 2*gramSize-1 {
			s.stride = 1
		}
	}
	s.reach = s.stride + gramSize - 1
	for i := range s.needles {
		n := &s.needles[i]
		for _, c := range n.spellings(0) {
			s.first[c] = append(s.first[c], n)
		}
		for j := range min(s.reach, len(n.text)) {
			for _, c := range n.spellings(j) {
				s.early[c] = true
			}
		}
		for j := range s.stride {
			n.spell(j, func(b [gramSize]byte) {
				if s.grams.add(b); j == 0 {
					s.starts.add(b)
				}
			})
		}
	}
	for _, name := range names {
		s.marks = append(s.marks, s.markOf(name))
	}
	return s
}

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

// span is where a value stands in a text.
type span struct{ start, end, owner int }

// finder is one look at a text.
type finder struct {
	*scanner
	reader
	escaped bool // there is something to undo
	spans   []span
	hold    int // from where on the text may be the beginning of a value
}

// scan gives the places of values in a text, and from where on it may be the
// beginning of one; with final that is its end.
func (s *scanner) scan(text string, final bool) (spans []span, hold int) {
	f := finder{scanner: s, reader: reader{text, final}, hold: len(text)}
	slashes, percents := strings.IndexByte(text, '\\') >= 0, strings.IndexByte(text, '%') >= 0
	f.escaped = slashes || percents || s.spaces && strings.IndexByte(text, '+') >= 0
	f.stepOver()
	if slashes {
		f.each('\\', f.aroundEscape)
	}
	if percents {
		f.each('%', f.aroundEscape)
	}
	f.each('\n', f.aroundBreak)
	f.each('\r', f.aroundBreak)
	if !final {
		for p := max(0, len(text)-s.reach+1); p < len(text); p++ {
			if c := text[p]; len(s.first[c]) > 0 || c == '\\' || c == '%' {
				f.try(p)
			}
		}
	}
	return f.spans, f.hold
}

// each calls look with every place of c.
func (f *finder) each(c byte, look func(int)) {
	for p := 0; p < len(f.text); p++ {
		i := strings.IndexByte(f.text[p:], c)
		if i < 0 {
			return
		}
		p += i
		look(p)
	}
}

// stepOver finds values that begin with characters as they are.
func (f *finder) stepOver() {
	text, step := f.text, f.stride
	for i := 0; i+gramSize <= len(text); i += step {
		if !f.grams.has(gramOf(text[i:])) {
			continue
		}
		for p := i; p > i-step && p >= 0; p-- {
			if f.starts.has(gramOf(text[p:])) {
				f.try(p)
			}
		}
	}
}

// special reports whether something is looked around for.
func special(c byte) bool { return c == '\\' || c == '%' || c == '\n' || c == '\r' }

// aroundEscape finds values that begin at an escape, or a little before.
func (f *finder) aroundEscape(q int) {
	how := "j"
	if f.text[q] == '%' {
		how = "u"
	}
	asItself := f.early[f.text[q]]
	if !asItself && q+1 < len(f.text) && f.idle(q) {
		return
	}
	u := f.unit(q, how)
	if !asItself && !f.worthwhile(q, &u) {
		return
	}
	from := q
	for from > 0 && q-from < f.reach-1 && f.text[from-1] != '\\' && f.text[from-1] != '%' { // which are looked around for themselves
		from--
	}
	if again := f.window(from, q, how); !again && !asItself {
		return
	}
	for _, other := range hows() {
		if other != how && (asItself || strings.Contains(other, how)) {
			f.window(from, q, other)
		}
	}
}

// idle tells most escapes that begin no needle by their first two characters.
func (f *finder) idle(q int) bool {
	switch second := f.text[q+1]; {
	case f.text[q] == '%':
		return hexDigit(second) < 0 && !special(second)
	case second == 'n':
		return !f.early['\n'] && (q < unbrokenStart || sextet(f.text[q-1]) == 0xff)
	case second == 't':
		return !f.early['\t']
	case second == '"':
		return !f.early['"']
	}
	return false
}

// worthwhile reports whether what an escape stands for can be at the beginning of
// a needle.
func (f *finder) worthwhile(q int, u *unit) bool {
	switch c := u.b[0]; {
	case u.n == 0 || f.early[c]:
		return true
	case c == '\n' || c == '\r':
		return q >= unbrokenStart && sextet(f.text[q-1]) != 0xff && sextet(f.text[q-2]) != 0xff
	case u.next > q+1 && (c == '\\' || c == '%'):
		return true // it may be another escape
	}
	for p := q + 1; p < min(max(u.next, q+2), len(f.text)); p++ {
		if c := f.text[p]; c == '\\' || c == '%' { // it is to be undone first
			return true
		}
	}
	return false
}

// aroundBreak finds encoded values that begin a little before a line break.
func (f *finder) aroundBreak(q int) {
	if q < unbrokenStart || sextet(f.text[q-1]) == 0xff || sextet(f.text[q-2]) == 0xff {
		return
	}
	u := f.unbroken(q, "")
	if u.n == 1 && sextet(u.b[0]) == 0xff && !special(u.b[0]) {
		return
	}
	from := q - unbrokenStart
	for from > 0 && q-from < f.reach-1 && sextet(f.text[from-1]) != 0xff {
		from--
	}
	if _, again := f.look(from, q, "", true); again {
		for _, how := range hows() {
			f.window(from, q, how)
		}
	}
}

// window tries those places from from to q that a needle may begin at, by their
// first four bytes. What stands before q is as it is. It reports whether there is
// more to undo behind q.
func (f *finder) window(from, q int, how string) (again bool) {
	broken, more := f.look(from, q, how, false)
	if broken {
		_, again = f.look(from, q, how, true)
	}
	return again || more
}

// look is window for a text with its line breaks, or without them where joined.
func (f *finder) look(from, q int, how string, joined bool) (broken, again bool) {
	var b [32]byte
	n := copy(b[:], f.text[from:q])
	last := n // of the places
	for p := q; n < last+gramSize; {
		u := f.unit(p, how)
		if joined {
			u = f.unbroken(p, how)
		}
		if u.n == 0 {
			break
		}
		c := u.b[0]
		broken = broken || c == '\n' || c == '\r'
		again = again || c == '\\' || c == '%'
		n += copy(b[n:], u.b[:u.n])
		p = u.next
	}
	for i := 0; i <= last; i++ {
		switch {
		case i+gramSize <= n:
			if f.starts.has(binary.LittleEndian.Uint32(b[i:])) {
				f.try(from + i)
			}
		case !f.final:
			f.try(from + i)
		}
	}
	return broken, again
}

// try looks whether values stand at p.
func (f *finder) try(p int) {
	f.tryAs(p, "")
	if f.escaped {
		for _, how := range hows() {
			f.tryAs(p, how)
		}
	}
}

func (f *finder) tryAs(p int, how string) {
	u := f.unit(p, how)
	if u.n == 0 {
		if p < len(f.text) {
			f.hold = min(f.hold, p)
		}
		return
	}
	for _, n := range f.first[u.b[0]] {
		end, s := n.at(&f.reader, p, how)
		if s == begun || s == wholeAndMore {
			f.hold = min(f.hold, p)
		}
		if s == whole || s == wholeAndMore {
			f.spans = append(f.spans, span{p, end, n.owner})
		}
	}
}

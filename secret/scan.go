package secret

import (
	"slices"
	"strings"
	"sync"
)

// scanner finds values in texts. It never changes.
//
// Four bytes at every fourth place of a text are compared with those that stand at
// the first places of the needles; what passes is compared with the needles
// themselves. So is the text with what is escaped in it undone.
type scanner struct {
	tables []*table
	first  *[256]bool        // what needles may begin with
	marks  map[string]string // that stand for the values of a name
	pool   *sync.Pool        // of finders
}

// newScanner looks for what is in the tables, which are of these names.
func newScanner(tables []*table, names []string, pool *sync.Pool) *scanner {
	s := &scanner{tables: tables, first: new([256]bool), marks: make(map[string]string, len(names)), pool: pool}
	for _, t := range tables {
		for c := range t.first {
			s.first[c] = s.first[c] || len(t.first[c]) > 0
		}
	}
	for _, name := range names {
		s.marks[name] = s.markOf(name)
	}
	return s
}

// span is where a value stands in a text, and the name of its secret.
type span struct {
	start, end int
	name       string
}

// finder is one look at a text.
type finder struct {
	tables []*table
	first  *[256]bool
	final  bool // nothing more is coming
	base   int  // of the block in the text
	spans  []span
	hold   int // from where on the block may be the beginning of a value
	begun  int // the same in the view that is looked at
	work   int // bytes that are left for comparing beyond the first few of needles
	text   view
	views  [maxWays]view
}

// blockSize is how much of a text is looked at in one go, unless what may be the
// beginning of a value needs more.
const blockSize = 16 << 10

// maxKept is how large a buffer is kept for the next text.
const maxKept = 1 << 20

// scan gives the places of values in a text, and from where on it may be the
// beginning of one; with final that is its end.
func (s *scanner) scan(text string, final bool) (spans []span, hold int) {
	f, _ := s.pool.Get().(*finder)
	if f == nil {
		f = new(finder)
	}
	f.tables, f.first, f.base = s.tables, s.first, 0
	for size := blockSize; ; {
		rest := text[f.base:]
		if len(rest) <= size+blockSize {
			f.block(rest, final)
			hold = f.base + f.hold
			break
		}
		f.block(rest[:size], false)
		if f.hold == 0 {
			size *= 2
			continue
		}
		f.base += f.hold
		size = blockSize
	}
	if len(f.spans) > 0 {
		spans = slices.Clone(f.spans)
		clear(f.spans)
		f.spans = f.spans[:0]
		for i := range f.views { // values stand in them
			clear(f.views[i].buffer[:cap(f.views[i].buffer)])
		}
	}
	f.text = view{}
	if cap(f.views[0].buffer) <= maxKept {
		s.pool.Put(f)
	}
	return spans, hold
}

// block looks at a part of the text. What begins at hold or later counts when more
// of it is there.
func (f *finder) block(text string, final bool) {
	const most = 8 // for each byte
	f.final, f.hold, f.work = final, len(text), most*(len(text)+blockSize/4)
	known := len(f.spans)
	f.text = view{text: text}
	f.look(&f.text, 0)
	if final {
		return
	}
	fresh := f.spans[known:]
	fresh = slices.DeleteFunc(fresh, func(s span) bool { return s.start >= f.base+f.hold })
	f.spans = f.spans[:known+len(fresh)]
}

// look finds values in a view, and in what it is with more ways undone. Where URL
// escapes were undone, those of JSON are only looked for if they came out of that:
// the other order has the rest.
func (f *finder) look(v *view, ways int) {
	for _, t := range f.tables {
		f.stepOver(t, v)
		f.overBreaks(t, v)
		f.fromStrays(t, v)
	}
	if ways == maxWays {
		return
	}
	next := &f.views[ways]
	if (v.way != '%' || v.slashes) && f.undo(next, v, '\\') {
		f.look(next, ways+1)
	}
	if f.undo(next, v, '%') {
		f.look(next, ways+1)
	}
}

// stepOver finds what begins with characters as they are.
func (f *finder) stepOver(t *table, v *view) {
	text, step := v.text, t.stride
	f.begun = len(text)
	if step == 1 {
		f.stepByOne(t, v)
	}
	for i := 0; step > 1 && i+gramSize <= len(text); i += step {
		if !t.grams.has(gramOf(text[i:])) {
			continue
		}
		for p := max(0, i-step+1); p <= i; p++ {
			if t.starts.has(gramOf(text[p:])) {
				f.try(t, v, p)
			}
		}
	}
	if f.final {
		return
	}
	for p := max(0, len(text)-t.reach()+1); p < len(text); p++ {
		f.try(t, v, p)
	}
}

// stepByOne is stepOver for needles that are so short that every place counts.
func (f *finder) stepByOne(t *table, v *view) {
	text := v.text
	if len(text) < gramSize {
		return
	}
	gram := gramOf(text) << 8
	for i := gramSize - 1; i < len(text); i++ {
		gram = gram>>8 | uint32(text[i])<<24
		if t.starts.has(gram) {
			f.try(t, v, i-gramSize+1)
		}
	}
}

// overBreaks finds what is encoded and begins a little before a line break.
func (f *finder) overBreaks(t *table, v *view) {
	for _, c := range []byte("\n\r") {
		for p := 0; p < len(v.text); p++ {
			i := strings.IndexByte(v.text[p:], c)
			if i < 0 {
				break
			}
			p += i
			if p >= unbrokenStart && sextet(v.text[p-1]) != 0xff && sextet(v.text[p-2]) != 0xff {
				f.overBreak(t, v, p)
			}
		}
	}
}

func (f *finder) overBreak(t *table, v *view, at int) {
	text := v.text
	var b [16]byte
	from := max(0, at-t.reach()+1)
	n := copy(b[:], text[from:at])
	last := n - unbrokenStart // of the places
	for p := at; n <= last+gramSize; n++ {
		p = unbroken(text, p)
		if p == len(text) || sextet(text[p]) == 0xff {
			break
		}
		b[n] = text[p]
		p++
	}
	for i := 0; i <= last; i++ {
		if i+gramSize <= n && t.starts.has(gramOf(asText(b[i:i+gramSize]))) || i+gramSize > n && !f.final {
			f.try(t, v, from+i)
		}
	}
}

// maxBreak is how many characters a line break within an encoded value has at
// most, with those that the next line is set in by.
const maxBreak = 32

// unbroken is p, or the place behind the line break at p.
func unbroken(text string, p int) int {
	if p == len(text) || text[p] != '\n' && text[p] != '\r' {
		return p
	}
	for end := min(len(text), p+maxBreak); p < end; p++ {
		if c := text[p]; c != '\n' && c != '\r' && c != ' ' && c != '\t' {
			break
		}
	}
	return p
}

// fromStrays finds what begins within an escape.
func (f *finder) fromStrays(t *table, v *view) {
	for i := range v.strays {
		s := &v.strays[i]
		var b [gramSize]byte
		n := copy(b[:], s.b[:s.n])
		n += copy(b[n:], v.text[s.at:])
		if n == gramSize && !t.starts.has(gramOf(asText(b[:]))) || n < gramSize && f.final {
			continue
		}
		for _, needle := range t.first[s.b[0]] {
			if s.n >= len(needle.text) || !needle.same(needle.text[:s.n], asText(s.b[:s.n])) {
				continue
			}
			start, _ := s.in.source(s.start)
			end, state := f.at(needle, v.text, s.at, s.n)
			f.note(needle, v, start, end, state)
		}
	}
}

// try looks whether values stand at p. Behind where one may have begun all is
// looked at again.
func (f *finder) try(t *table, v *view, p int) {
	if p > f.begun {
		return
	}
	for _, n := range t.first[v.text[p]] {
		if end, s := f.at(n, v.text, p, 0); s != absent {
			start, _ := v.source(p)
			if f.note(n, v, start, end, s); s != whole {
				f.begun = p
			}
		}
	}
}

// note keeps what was found.
func (f *finder) note(n *needle, v *view, start, end int, s state) {
	if s == begun || s == wholeAndMore {
		f.hold = min(f.hold, start)
	}
	if s != whole && s != wholeAndMore {
		return
	}
	_, end = v.source(end - 1)
	found := span{f.base + start, f.base + end, n.name}
	const lately = 4
	for i := len(f.spans) - 1; i >= max(0, len(f.spans)-lately); i-- {
		if old := &f.spans[i]; old.name == found.name && old.start <= found.start && found.start < old.end {
			old.end = max(old.end, found.end)
			return
		}
	}
	f.spans = append(f.spans, found)
}

package secret

import (
	"slices"
	"strings"
)

// A text may have been written down in ways that can be undone, one after
// another: the escapes of a JSON string (and those of Go and C), and those of a
// URL. Each is undone for the text as a whole, and the scan runs over what comes
// of it. That is as much work as there is text, for each way that changes it.

// maxWays is how many are undone one after another.
const maxWays = 3

// view is a text with one more way undone than in the view that it is from.
type view struct {
	text    string
	from    *view  // nil: it is the text itself
	way     byte   // '\\' or '%', which the escapes begin with
	slashes bool   // undoing made backslashes
	buffer  []byte // that text is in
	places  []place
	strays  []stray
}

// place is where an escape was.
type place struct {
	at, from uint32 // in this view, and in the one that it is from
	n, size  uint8  // how many bytes it is and was
}

// stray is where a value begins if what looks like an escape is none: with a few
// characters of that, and then what stands at a place of the view.
type stray struct {
	in    *view // where it begins, and at which place
	start int
	at    int // where it goes on
	n     int
	b     [maxStray]byte
}

// maxStray is how many characters of an escape may be the beginning of a value.
const maxStray = 9

// source is where in the text itself the unit begins and ends that the byte at a
// place of the view belongs to.
func (v *view) source(at int) (start, end int) {
	start, end = at, at+1
	if v.from == nil {
		return start, end
	}
	i, found := slices.BinarySearchFunc(v.places, at, func(p place, at int) int { return int(p.at) - at })
	if !found {
		i--
	}
	if i >= 0 {
		p := v.places[i]
		start, end = int(p.from), int(p.from)+int(p.size)
		if behind := at - int(p.at) - int(p.n); behind >= 0 {
			start = end + behind
			end = start + 1
		}
	}
	first, behind := v.from.source(start)
	if end > start+1 {
		_, behind = v.from.source(end - 1)
	}
	return first, behind
}

// place is where in the view a place of the one that it is from has come to;
// negative: into an escape.
func (v *view) place(from int) int {
	i, found := slices.BinarySearchFunc(v.places, from, func(p place, from int) int { return int(p.from) - from })
	if found {
		return int(v.places[i].at)
	}
	if i > 0 {
		p := v.places[i-1]
		if from < int(p.from)+int(p.size) {
			return -1
		}
		from += int(p.at) + int(p.n) - int(p.from) - int(p.size)
	}
	if from > len(v.text) { // which ends in what is not known
		return -1
	}
	return from
}

// undo makes v what from is without the escapes that begin with way. It reports
// whether that is another text.
func (f *finder) undo(v, from *view, way byte) (changed bool) {
	text, first := from.text, strings.IndexByte(from.text, way)
	if first < 0 {
		return false
	}
	*v = view{from: from, way: way, buffer: slices.Grow(v.buffer[:0], len(text)), places: v.places[:0], strays: v.strays[:0]}
	b := v.buffer[:len(text)]
	n, copied := 0, 0
	for p := first; p < len(text); {
		if text[p] != way {
			i := strings.IndexByte(text[p:], way)
			if i < 0 {
				break
			}
			p += i
		}
		if way == '%' && p+1 < len(text) && text[p+1] == way { // which is no digit
			p++
			continue
		}
		e := read(text[p:], way)
		if e.size < 0 {
			if !f.final {
				start, _ := from.source(p)
				f.hold = min(f.hold, start)
				text, changed = text[:p], true // what is behind it is not known
				break
			}
			e = endsOpen(text[p:])
		}
		if e.size == 0 {
			p++
			continue
		}
		n += copy(b[n:], text[copied:p])
		v.places = append(v.places, place{uint32(n), uint32(p), uint8(e.n), uint8(e.size)}) //nolint:gosec // of one block
		for i := range e.n {
			b[n] = e.byte(i)
			n++
		}
		v.slashes = v.slashes || e.byte(0) == '\\'
		if e.size > 2 || f.first[text[p+1]] {
			f.stray(v, p, e.size, n)
		}
		p += e.size
		copied = p
	}
	if len(v.places) == 0 && !changed {
		return false
	}
	n += copy(b[n:], text[copied:])
	v.buffer = b[:n]
	v.text = asText(v.buffer)
	for _, s := range from.strays {
		if s.at = v.place(s.at); s.at >= 0 {
			v.strays = append(v.strays, s)
		}
	}
	return true
}

// stray notes where values may begin within the escape at p of the view that v is
// being made from. It was just undone; what is behind it comes to the place at.
func (f *finder) stray(v *view, p, size, at int) {
	text, next := v.from.text, p+size
	for i := max(p+1, next-maxStray); i < next; i++ {
		if f.first[text[i]] && f.mayBegin(text[i:next], text[next:]) {
			s := stray{in: v.from, start: i, at: at, n: next - i}
			copy(s.b[:], text[i:next])
			v.strays = append(v.strays, s)
		}
	}
}

// mayBegin reports whether a needle may begin with some characters and what is
// behind them, perhaps when that is undone.
func (f *finder) mayBegin(start, behind string) bool {
	for _, t := range f.tables {
		switch {
		case len(t.first[start[0]]) == 0:
		case len(start) >= 2:
			if t.pairs.has(start[0], start[1]) {
				return true
			}
		case behind == "" || behind[0] == '\\' || behind[0] == '%' || t.pairs.has(start[0], behind[0]):
			return true
		}
	}
	return false
}

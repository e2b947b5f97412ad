package scan

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// Bounds of what one window may cost; what goes over them is Unfinished.
const (
	confirmed = 24  // times its own length that expressions read
	findings  = 512 // in one window
)

// budget is how many bytes expressions may read for a window.
func budget(size int) int { return confirmed*size + 8192 }

// stretch is where in the normalised text a rule is to be confirmed; hi 0: nowhere.
type stretch struct{ lo, hi int }

// scratch is what one scan works with.
type scratch struct {
	pass
	engine *engine
	due    []stretch // of each rule
	list   []int     // rules that have one
	budget int
	over   bool

	base, seen int // of the window in the whole, and where the window before ended
	found      []Finding
	before     int // found begins here for this window
	joined     []byte
	cutOff     bool // the window is no beginning, whatever its offset
}

func newScratch(e *engine) *scratch {
	return &scratch{pass: pass{auto: e.auto}, engine: e, due: make([]stretch, len(e.rules))}
}

// window finds in the window whose new part begins at at.
func (w *scratch) window(text []byte, at int, found []Finding) []Finding {
	w.found, w.before = found, len(found)
	w.base = at - min(at, overlap)
	w.seen = at
	w.goesOn = at > 0 || w.cutOff
	w.budget, w.over = budget(len(text)), false
	w.whole(text)
	if w.unseen {
		w.hide(text)
	}
	for _, r := range w.engine.always {
		w.confirm(r, stretch{0, len(w.text)})
	}
	for _, h := range w.hits {
		w.meet(h)
	}
	for _, r := range w.list {
		w.confirm(r, w.due[r])
		w.due[r] = stretch{}
	}
	w.list = w.list[:0]
	if len(w.found) > w.before {
		slices.SortFunc(w.found[w.before:], func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Rule, b.Rule))
		})
	}
	if w.over {
		w.found = append(w.found, Finding{Rule: "bounds", Family: Unfinished, Start: w.base, End: w.base + len(text)})
	}
	found, w.found = w.found, nil
	return found
}

// meet tells the ways that a word may be an anchor of.
func (w *scratch) meet(h hit) {
	words := w.engine.words[h.stem]
	for i := range words {
		at, ok := words[i].at(w.text, int(h.at))
		if !ok {
			continue
		}
		for _, o := range words[i].owners {
			if !o.border || at == len(w.text) || !letterOrDigit(w.text[at]) {
				w.consider(&w.engine.ways[o.way], at, o.spots)
			}
		}
	}
}

// consider looks for the other words of a rule around an anchor. What is near
// is confirmed together, so that hardly any text is read twice.
func (w *scratch) consider(v *way, at int, spots []spot) {
	if !w.may(v, at, spots, quickly) {
		return
	}
	before, behind := v.lists()
	for _, l := range before {
		if !l.auto().has(w.text[w.back(at, l.gap):at]) {
			return
		}
	}
	for _, l := range behind {
		if !l.auto().has(w.text[at:w.ahead(at, l.gap)]) {
			return
		}
	}
	if !w.may(v, at, spots, patiently) {
		return
	}
	near := stretch{w.back(at, v.head+1), w.ahead(at, v.tail+1)}
	d := &w.due[v.rule]
	switch {
	case d.hi == 0:
		*d = near
		w.list = append(w.list, v.rule)
	case near.lo <= d.hi && near.hi-d.lo <= 8*longest:
		d.lo, d.hi = min(d.lo, near.lo), max(d.hi, near.hi)
	default:
		w.confirm(v.rule, *d)
		*d = near
	}
}

// may reports whether a rule can match around an anchor that ends at an offset, as
// far as so many steps tell.
func (w *scratch) may(v *way, at int, spots []spot, steps int) bool {
	if len(spots) == 0 {
		return true
	}
	onwards, backwards := v.onwards(), v.backwards()
	for _, s := range spots {
		if lo, hi := at-s.before, at+s.behind; lo >= 0 && hi <= len(w.text) &&
			onwards.fits(w.text, hi) && backwards.fits(w.text, lo) && onwards.may(w.text, hi, steps) && backwards.may(w.text, lo, steps) {
			return true
		}
	}
	return false
}

// back is the offset n characters before at.
func (w *scratch) back(at, n int) int {
	if !w.foreignSeen {
		return max(0, at-n)
	}
	for ; n >= 8 && at >= 8 && binary.LittleEndian.Uint64(w.text[at-8:])&highest == 0; n -= 8 {
		at -= 8
	}
	for ; at > 0 && n > 0; n-- {
		for at--; at > 0 && !utf8.RuneStart(w.text[at]); at-- {
		}
	}
	return at
}

// ahead is the offset n characters behind at.
func (w *scratch) ahead(at, n int) int {
	if !w.foreignSeen {
		return min(len(w.text), at+n)
	}
	for ; n >= 8 && at+8 < len(w.text) && (binary.LittleEndian.Uint64(w.text[at:])|uint64(w.text[at+8]))&highest == 0; n -= 8 {
		at += 8
	}
	for ; at < len(w.text) && n > 0; n-- {
		for at++; at < len(w.text) && !utf8.RuneStart(w.text[at]); at++ {
		}
	}
	return at
}

// confirm runs one expression on a stretch of the normalised text.
func (w *scratch) confirm(rule int, s stretch) {
	r := &w.engine.rules[rule]
	if !r.own { // an operator's rules run whatever they cost, and cost no other its turn
		if w.budget -= s.hi - s.lo; w.budget < 0 {
			w.over = true
			return
		}
	}
	re := r.re()
	if !re.Match(w.text[s.lo:s.hi]) {
		return
	}
	for _, m := range re.FindAllIndex(w.text[s.lo:s.hi], findings+1) {
		if m[0] == 0 && s.lo > 0 || s.lo+m[1] == s.hi && s.hi < len(w.text) {
			// What stands beyond the stretch may have a say in it.
			w.confirm(rule, stretch{0, len(w.text)})
			return
		}
		w.report(r, s.lo+m[0], s.lo+m[1])
	}
}

func (w *scratch) report(r *checked, start, end int) {
	if end <= start {
		return
	}
	from, to := w.span(start, end)
	f := Finding{Rule: r.ID, Family: r.Family, Start: w.base + from, End: w.base + to}
	for _, d := range w.decoded {
		if start < d.end && end > d.start {
			f.Encoding = d.encoding
		}
	}
	w.add(f)
}

// add keeps a finding that the window before did not have.
func (w *scratch) add(f Finding) {
	if f.End <= f.Start || w.seen > 0 && f.End <= w.seen {
		return
	}
	if len(w.found)-w.before >= findings {
		w.over = true
		return
	}
	for i := len(w.found) - 1; i >= 0 && (i >= w.before || w.found[i].End > w.base); i-- {
		if old := w.found[i]; old.Rule == f.Rule && old.End > f.Start && old.Start < f.End {
			return
		}
	}
	w.found = append(w.found, f)
}

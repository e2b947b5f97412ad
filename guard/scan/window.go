package scan

// Bounds of what one window may cost; what goes over them is Unfinished.
const (
	confirmed = 200 // times its own length that expressions read
	findings  = 512 // in one window
)

// span is from where to where words of a rule end; last 0: none.
type span struct{ first, last int }

// scratch is what one scan works with.
type scratch struct {
	set    *set
	text   []byte // what words are looked for in: the window, or it normalised
	direct bool   // text is normalised
	normal normal
	last   [][conjuncts]int32 // of each rule: where a word of each list ended, plus 1
	due    []span             // of each rule: words at which to confirm it
	list   []int              // rules with such words
	budget int
	over   bool

	base, seen int // of the window in the whole, and where the window before ended
	found      []Finding
	before     int // found begins here for this window
}

// window finds in the window whose new part begins at at.
func (w *scratch) window(rules *set, text []byte, at int, found []Finding) []Finding {
	w.set, w.found, w.before = rules, found, len(found)
	w.base = at - min(at, overlap)
	w.seen = at
	w.budget, w.over = confirmed*len(text)+4096, false
	if cap(w.due) < len(rules.rules) {
		w.due, w.last = make([]span, len(rules.rules)), make([][conjuncts]int32, len(rules.rules))
	}
	w.due, w.last = w.due[:len(rules.rules)], w.last[:len(rules.rules)]
	deep := len(rules.always) > 0 || deepBytes(text)
	if !deep {
		w.text, w.direct = text, false
		deep = !w.pass()
	}
	if deep {
		w.hide(text)
		w.normal.whole(text, 0)
		w.text, w.direct = w.normal.text, true
		for _, r := range rules.always {
			w.confirm(r, w.text, 0)
		}
		w.pass()
	}
	if w.over {
		w.found = append(w.found, Finding{Rule: "bounds", Family: Unfinished, Start: w.base, End: w.base + len(text)})
	}
	found, w.found, w.text = w.found, nil, nil
	return found
}

// pass looks for words once; it gives up where the text must be normalised.
func (w *scratch) pass() bool {
	clear(w.last)
	w.drop()
	s := w.set
	state := uint32(0)
	for at := 0; at < len(w.text); {
		if at, state = s.auto.find(w.text, at, state); state == 0 {
			break
		}
		for _, word := range s.auto.at(state) {
			if s.deep[word] && !w.direct && deepAt(w.text, s.words[word], at) {
				w.drop()
				w.found = w.found[:w.before]
				return false
			}
			start := at - len(s.words[word])
			before, behind := alone(w.text, start, at, true, false), alone(w.text, start, at, false, true)
			for _, o := range s.owners[word] {
				if (before || !o.before) && (behind || !o.behind) {
					w.note(o, at)
				}
			}
		}
	}
	for _, r := range w.list {
		w.flush(r)
	}
	w.list = w.list[:0]
	return true
}

// note takes down that a word of a rule ends at at.
func (w *scratch) note(o slot, at int) {
	r := &w.set.rules[o.rule]
	last := &w.last[o.rule]
	if o.list > 0 {
		before, gap := int(last[o.list-1])-1, r.needs[o.list].gap
		if before < 0 || at-before > gap && !within(w.text, before, at, gap) {
			return
		}
	}
	last[o.list] = int32(at + 1) //nolint:gosec // windows are small
	if o.list < len(r.needs)-1 {
		return
	}
	// What is near is confirmed together, so that hardly any text is read twice.
	d := &w.due[o.rule]
	if d.last > 0 && at-d.first > 4*r.length {
		w.flush(o.rule)
	}
	if d.last == 0 {
		d.first = at
		w.list = append(w.list, o.rule)
	}
	d.last = at
}

// drop forgets what is to be confirmed.
func (w *scratch) drop() {
	for _, r := range w.list {
		w.due[r] = span{}
	}
	w.list = w.list[:0]
}

// flush confirms what was noted of a rule.
func (w *scratch) flush(rule int) {
	d := &w.due[rule]
	if d.last == 0 {
		return
	}
	r := &w.set.rules[rule]
	lo, hi := left(w.text, d.first, r.head), right(w.text, d.last, r.tail)
	*d = span{}
	if w.direct {
		w.confirm(rule, w.text[lo:hi], lo)
		return
	}
	w.normal.whole(w.text[lo:hi], lo)
	w.confirm(rule, w.normal.text, 0)
}

// confirm runs one expression on normalised text that begins at from.
func (w *scratch) confirm(rule int, text []byte, from int) {
	r := &w.set.rules[rule]
	if r.length > 0 && r.length <= longest {
		if w.budget -= len(text); w.budget < 0 {
			w.over = true
			return
		}
	}
	if !r.re.Match(text) {
		return
	}
	for _, m := range r.re.FindAllIndex(text, findings) {
		first, last := from+m[0], from+m[1]-1
		f := Finding{Rule: r.ID, Family: r.Family, Start: w.base + int(w.normal.from[first]), End: w.base + int(w.normal.to[last])}
		for _, d := range w.normal.decoded {
			if first < d.end && last >= d.start {
				f.Encoding = d.encoding
			}
		}
		w.add(f)
	}
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

// within reports whether a match of n bytes may reach from one offset to a
// later one. Far away in what weighs nothing it says so, to be on the safe side.
func within(text []byte, from, to, n int) bool {
	for steps := 0; to > from; steps++ {
		if n < 0 {
			return false
		}
		if steps > 4096 {
			return true
		}
		to--
		n -= int(weights[text[to]])
	}
	return true
}

// left is the offset of white space, or the start, such that at least n
// characters of normalised text stand between it and at.
func left(text []byte, at, n int) int {
	for at > 0 && n > 0 {
		at--
		n -= int(weights[text[at]])
	}
	for at > 0 && !blank(text[at-1]) {
		at--
	}
	for at > 0 && blank(text[at-1]) {
		at--
	}
	return at
}

// right is the same on the other side.
func right(text []byte, at, n int) int {
	for at < len(text) && n > 0 {
		n -= int(weights[text[at]])
		at++
	}
	for at < len(text) && !blank(text[at]) {
		at++
	}
	for at < len(text) && blank(text[at]) {
		at++
	}
	return at
}

// weights is how much normalised text a byte makes at least, with what of an
// escape it takes away from its neighbours.
var weights = byteWeights() //nolint:gochecknoglobals // a table that nothing changes, read for each byte

func byteWeights() (w [256]int8) {
	for b := range w {
		if c := byte(b); letterOrDigit(c) && c != '_' {
			w[b] = 1
		}
	}
	w['\\'], w['%'], w['&'] = -1, -2, -6
	return w
}

func blank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

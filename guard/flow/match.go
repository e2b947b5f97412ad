package flow

import (
	"slices"
	"strings"
	"time"
)

// hit is a part of an argument that came from a result.
type hit struct {
	from       *item
	how        Match
	start, end int
	coded      bool // it stands encoded in the argument
}

// The shortest values that say anything about where they came from: as they are,
// between borders of words, and in their form, which has no borders.
const (
	minExact  = 6
	minNormal = 8
	minToken  = 8
)

// How many parts of a call are found at most: in one argument of one result, so
// many that there is content among them, whatever they are; and in all, where what
// is beyond counts as found.
const (
	maxHits    = 32
	maxAllHits = 4096
)

// matcher looks for what came from earlier results in the arguments of one call.
type matcher struct {
	*index
	own    func(text string) bool // in its form: the person wrote it
	values int                    // that may still be looked for in all texts
	over   bool                   // there was more than is looked at
	told   bool                   // the call is told to reach outside
	joined bool                   // what is looked at was joined of pieces

	looks, scanned int // of parts, and bytes of results

	looked  map[string]bool // words of this argument
	repeats map[uint64]bool // fingerprints of this argument that stand in many places
	gone    int             // bytes of results that were gone through for them
	hits    map[*item]int   // of this argument
	all     int             // hits of all arguments
}

// match is where the parts of one argument came from.
func (m *matcher) match(arg string) []hit {
	if len(m.items) == 0 {
		return nil
	}
	if len(arg) > maxRead {
		arg, m.over = arg[:maxRead], true
	}
	clear(m.hits)
	clear(m.looked)
	clear(m.repeats)
	plain, _ := unescape(arg, false)
	f := fold(plain, nil)
	hits := m.whole(arg, f.text, len(arg))
	var runs []hit
	if hits == nil {
		hits, runs = m.tokens(arg), m.runs(f.text)
		if !m.joined {
			runs = append(runs, m.parts(plain, f.text)...)
		}
	}
	codes := encoded(plain, true)
	if len(runs)+len(codes) > 0 { // only then it matters what stands where
		var at []int32
		plain, at = unescape(arg, true)
		f = fold(plain, at)
		for _, h := range runs {
			h.start, h.end = f.span(h.start, h.end)
			hits = append(hits, h)
		}
		for _, h := range codes {
			hits = append(hits, m.inside(h.text, int(at[h.start]), int(at[h.end]), 1)...)
		}
	}
	return hits
}

// counts reports whether one more hit of a result counts.
func (m *matcher) counts(n *item) bool {
	if m.all >= maxAllHits {
		m.over = true
		return false
	}
	if m.hits[n] >= maxHits {
		return false
	}
	if m.hits == nil {
		m.hits = make(map[*item]int)
	}
	m.hits[n]++
	m.all++
	return true
}

// inside is match for text that stands encoded in an argument.
func (m *matcher) inside(text string, start, end, deeper int) []hit {
	plain, _ := unescape(text, false)
	f := fold(plain, nil)
	found := m.whole("", f.text, 0)
	if found == nil {
		found = append(m.runs(f.text), m.parts(plain, f.text)...)
	}
	for i := range found {
		found[i].start, found[i].end, found[i].coded = start, end, true
	}
	if deeper > 0 {
		for _, h := range encoded(plain, true) {
			found = append(found, m.inside(h.text, start, end, deeper-1)...)
		}
	}
	return found
}

// whole looks for a value as it stands, newest result first. Where a tool has said
// it more than once, the newest counts.
func (m *matcher) whole(value, text string, end int) []hit {
	signs := len(text) < minExact // it is long by its signs only, as 10.0.0.1 is
	if signs && len(value) < minExact || isDate(value) {
		return nil
	}
	if m.values--; m.values < 0 {
		m.over = true
		return nil // long ones are found by their fingerprints
	}
	var hits []hit
	for _, n := range slices.Backward(m.items) {
		h := hit{from: n, how: Exact, end: end}
		switch {
		case n.original == "" || !signs && !n.may(text):
			continue
		case len(value) >= minExact && wordIn(n.original, value):
		case len(text) >= minNormal && strings.Contains(n.text, text):
			h.how = Normalised
		default:
			continue
		}
		if hits == nil && m.own(text) {
			return nil
		}
		if !slices.ContainsFunc(hits, func(o hit) bool { return o.from.like(n) }) && m.counts(n) {
			hits = append(hits, h)
		}
	}
	return hits
}

// like reports whether it makes no difference which of two results something is
// copied from.
func (n *item) like(o *item) bool {
	return n.place == o.place && n.untrusted == o.untrusted && n.sensitive == o.sensitive && slices.Equal(n.at, o.at)
}

// tokens looks for the words of an argument that are made to be copied: addresses,
// links, numbers of accounts. A text that is put in other words still holds them.
// What a link asks for is looked for value by value.
func (m *matcher) tokens(arg string) []hit {
	var hits []hit
	look := func(word string, start int) {
		if m.looked[word] {
			return
		}
		if m.looked == nil {
			m.looked = make(map[string]bool)
		}
		m.looked[word] = true
		for _, h := range m.whole(word, formOf(word, false).text, len(word)) {
			h.start, h.end = start, start+len(word)
			hits = append(hits, h)
		}
	}
	for start := 0; start < len(arg) && m.values > 0; {
		end := 0
		for start+end < len(arg) && !endsWord(arg[start+end]) {
			end++
		}
		word := strings.TrimRight(arg[start:start+end], ".:!?")
		if len(word) >= minToken && len(word) < len(arg) && strings.ContainsAny(word, "@./0123456789") {
			look(word, start)
		}
		for at := strings.IndexByte(word, '?'); at >= 0 && at < len(word) && m.values > 0; {
			at++
			size := strings.IndexAny(word[at:], "=&#")
			if size < 0 {
				size = len(word) - at
			}
			if size >= minToken {
				look(word[at:at+size], start+at)
			}
			at += size
		}
		start += end + 1
	}
	m.over = m.over || m.values <= 0
	return hits
}

func endsWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '<', '>', '(', ')', '[', ']', '{', '}', ',', ';', '|', '`':
		return true
	}
	return false
}

// runs looks for long parts of a text in its form by their fingerprints. The hits
// say where they stand in it.
func (m *matcher) runs(text string) []hit {
	var hits []hit
	next := 0
	var h uint64
	for i := range len(text) {
		h = h*base + uint64(text[i]) + 1
		if i >= gram {
			h -= base16 * (uint64(text[i-gram]) + 1)
		}
		begin := i - gram + 1
		if begin < next {
			continue
		}
		key := mixed(h)
		at, ok := m.now.find(key)
		if !ok {
			at, ok = m.old.find(key)
		}
		if !ok {
			continue
		}
		n := m.of(at)
		if n == nil {
			continue
		}
		from, to := begin, begin+gram
		if at.place()+gram <= len(n.text) { // else the text is gone, and the print must do
			from, to = shared(text, n.text, begin, at.place())
			if to-from < minRun && at.at&repeated != 0 {
				n, from, to = m.elsewhere(text, begin, key)
			}
			if to-from < minRun {
				continue
			}
		}
		if m.own(text[from:to]) {
			next = to - gram + 1 // so is every part of it
			continue
		}
		if next = to; m.counts(n) {
			hits = append(hits, hit{from: n, how: Substring, start: from, end: to})
		}
	}
	return hits
}

// maxRepeats is how many bytes of results are gone through for fingerprints that
// stand in many places, for one call. What is beyond repeats itself, and says little.
const maxRepeats = 4 << 20

// elsewhere looks for a run at another place that has its fingerprint. It is tried
// once for each in an argument.
func (m *matcher) elsewhere(text string, begin int, key uint64) (n *item, from, to int) {
	if m.repeats[key] {
		return nil, 0, 0
	}
	if m.repeats == nil {
		m.repeats = make(map[uint64]bool)
	}
	m.repeats[key] = true
	for _, n := range slices.Backward(m.items) {
		for at := 0; m.gone <= maxRepeats; at++ {
			i := strings.Index(n.text[at:], text[begin:begin+gram])
			if i < 0 {
				m.gone += len(n.text) - at
				break
			}
			at += i
			m.gone += i + gram
			if from, to := shared(text, n.text, begin, at); to-from >= minRun {
				return n, from, to
			}
		}
	}
	return nil, 0, 0
}

// shared is the longest run around a[i] that equals the one around b[j].
func shared(a, b string, i, j int) (from, to int) {
	from, to = i, i
	for k := j; from > 0 && k > 0 && a[from-1] == b[k-1]; k-- {
		from--
	}
	for k := j; to < len(a) && k < len(b) && a[to] == b[k]; k++ {
		to++
	}
	return from, to
}

// wordIn reports whether a word stands in a text, with no letter or digit right
// before or behind it.
func wordIn(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		before := i > 0 && wordByte(text[i-1]) && wordByte(word[0])
		behind := end < len(text) && wordByte(text[end]) && wordByte(word[len(word)-1])
		if !before && !behind {
			return true
		}
		from = i + 1
	}
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// isDate reports whether a value is a day or a time: it is worked out from many
// things, and says nothing about where it came from.
func isDate(s string) bool {
	if len(s) < 8 || len(s) > 25 || s[0] < '0' || s[0] > '9' || strings.Trim(s, "0123456789-:./+TZ ") != "" {
		return false
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05", "02.01.2006", "01/02/2006"} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}

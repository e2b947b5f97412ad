package flow

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// What an index keeps of the results of a session, all together at most about
// 5 MB, whatever they hold. What is too much is forgotten in steps, strangers' before
// private, oldest first: the text goes, so that only copies of minRun and more are
// still found; then the fingerprints; then that there was a result. That untrusted
// content or private data stands in the session is never forgotten, nor that some of
// it can no longer be compared with: see [lost].
const (
	gram   = 16                // bytes that one fingerprint stands for
	stride = 17                // from one that is kept to the next
	minRun = gram + stride - 1 // the shortest copy that is always found

	maxRead  = 1 << 20   // bytes of one result that are looked at
	maxEach  = 128 << 10 // bytes of one result that are kept as text
	maxText  = 2 << 20   // bytes of all texts, in both forms, with their sieves
	maxMarks = 32 << 10  // fingerprints of a generation; there are two
	maxItems = 1024      // results

	maxWaiting = 256 << 10 // bytes of results that are not looked at yet

	// A result with more than this many is sampled more thinly: only longer copies
	// are always found.
	maxMarksEach = 8 << 10
)

// item is one result that arguments may be copied from.
type item struct {
	place
	number               uint32
	call                 string
	untrusted, sensitive bool
	at                   []string // hosts and addresses the call went to

	original, text string // as it was, and in its form; "": forgotten
	sieve          sieve  // of text; nil: nobody has needed it
	plain          bool   // original holds no escapes: what stands in it stands in text
	lost           bool   // copies of it may be missed
}

// mark is where a fingerprint stands.
type mark struct{ item, at uint32 }

// repeated is the bit of a mark's place that says that it stands elsewhere, too.
const repeated = 1 << 31

func (m mark) place() int { return int(m.at &^ repeated) }

// index finds what came from earlier results.
type index struct {
	items    []*item // by their numbers
	next     uint32  // number
	kept     int     // bytes of texts
	now, old marks
	lost     lost

	waits   []waiting
	waiting int // bytes of them
}

// lost are the tools whose results cannot be compared with in full any more, by
// what they were: whatever leaves may be a copy of them. Who wants a copy to go
// unseen could else fill the index first.
type lost struct{ untrusted, private []place }

// lose notes that copies of a result may be missed from now on.
func (x *index) lose(n *item) {
	if n.lost {
		return
	}
	n.lost = true
	if n.untrusted {
		x.lost.untrusted = withPlace(x.lost.untrusted, n.place)
	}
	if n.sensitive {
		x.lost.private = withPlace(x.lost.private, n.place)
	}
}

// waiting is a result that is not looked at yet, and the call that it is of: most
// sessions read more than they send.
type waiting struct {
	item
	of   *tool.Request
	text string
}

// add takes a result in.
func (x *index) add(n item, of *tool.Request, text string, f *Rules) {
	text = text[:min(len(text), maxRead)]
	x.waits = append(x.waits, waiting{n, of, text})
	if x.waiting += len(text) + len(of.Args.Text()); x.waiting > maxWaiting || len(x.waits) >= maxItems {
		x.settle(f)
	}
}

// settle looks at what waits.
func (x *index) settle(f *Rules) {
	for i := range x.waits {
		w := &x.waits[i]
		n := w.item
		for _, d := range destinations(w.of, f.label(w.of), leaves(w.of.Args.Text())) {
			if d.outside {
				n.at = append(n.at, d.value)
			}
		}
		x.read(&n, w.text)
	}
	x.waits, x.waiting = nil, 0
}

func (x *index) empty() bool { return len(x.items) == 0 && len(x.waits) == 0 }

// read makes a result's parts known.
func (x *index) read(n *item, text string) {
	if text == "" || x.again(n, text) {
		return
	}
	all := formsOf(text)
	n.original, n.text = keep(text), keep(all)
	n.plain = !escapes(text)
	n.number = x.next
	x.next++
	x.items = append(x.items, n)
	x.kept += n.size()
	x.room()
	step := max(stride, len(all)/maxMarksEach)
	if step > stride || len(n.original) < len(text) || len(n.text) < len(all) {
		x.lose(n)
	}
	x.now.grow(min(len(all)/step+1, maxMarks-x.now.n))
	for at := 0; at+gram <= len(all); at += step {
		if x.now.n >= maxMarks {
			x.turnOver()
			x.now.grow(min((len(all)-at)/step+1, maxMarks))
		}
		x.now.put(hashOf(all[at:at+gram]), mark{n.number, uint32(at)})
		x.now.last = n.number
	}
}

// again reports whether a result is known: the same tool has said the same of the
// same place. The newest call counts.
func (x *index) again(n *item, text string) bool {
	for _, o := range x.items {
		if len(o.original) == len(text) && o.place == n.place && o.untrusted == n.untrusted && o.sensitive == n.sensitive &&
			o.original == text && slices.Equal(o.at, n.at) {
			o.call = n.call
			return true
		}
	}
	return false
}

// turnOver drops the older generation of fingerprints.
func (x *index) turnOver() {
	for _, n := range x.items {
		if x.old.n > 0 && n.number <= x.old.last && (n.text == "" || len(n.text) >= minRun) {
			x.lose(n)
		}
	}
	x.old, x.now = x.now, marks{}
}

// room forgets what is too much, but nothing of the newest result.
func (x *index) room() {
	last := len(x.items) - 1
	if len(x.items) > maxItems {
		i := max(0, slices.IndexFunc(x.items[:last], func(n *item) bool { return !n.sensitive }))
		x.forget(x.items[i])
		x.items = slices.Delete(x.items, i, i+1)
		last--
	}
	for _, private := range []bool{false, true} {
		for _, n := range x.items[:last] {
			if x.kept <= maxText {
				return
			}
			if n.sensitive == private {
				x.forget(n)
			}
		}
	}
}

func (x *index) forget(n *item) {
	x.lose(n)
	if n.text == "" && n.original == "" {
		return
	}
	x.kept -= n.size()
	n.original, n.text, n.sieve = "", "", nil
}

// size is with the sieve, made or not.
func (n *item) size() int { return len(n.original) + len(n.text) + sieveBits(n.text)/8 }

// may reports whether the text may hold a value, in its form.
func (n *item) may(value string) bool {
	if n.sieve == nil {
		n.sieve = sieveOf(n.text)
	}
	return n.sieve.may(value)
}

// keep is as much of a text as is kept. It shares nothing with what was cut off.
func keep(s string) string {
	if len(s) > maxEach {
		return strings.Clone(s[:maxEach])
	}
	return s
}

// formsOf is a text in its form, then what stands encoded in it, each ended by a
// byte that no form has.
func formsOf(s string) string {
	plain, _ := unescape(s, false)
	f := fold(plain, nil)
	codes := encoded(plain, false)
	if len(codes) == 0 {
		return f.text
	}
	var b strings.Builder
	b.WriteString(f.text)
	for _, h := range codes {
		b.WriteByte(0)
		b.WriteString(formOf(h.text, false).text)
	}
	return b.String()
}

// of is the item of a mark; nil: forgotten.
func (x *index) of(m mark) *item {
	i, ok := slices.BinarySearchFunc(x.items, m.item, func(n *item, number uint32) int { return cmp.Compare(n.number, number) })
	if !ok {
		return nil
	}
	return x.items[i]
}

// Fingerprints are kept of a text at every stride, and looked for at every place of
// an argument: whatever run of minRun bytes both have, one of them begins in it.

const (
	base = 0x9E3779B97F4A7C15

	word64 = 1<<64 - 1
	base4  = base * base * base * base & word64
	base8  = base4 * base4 & word64
	base16 = base8 * base8 & word64 // what the first byte of gram counts for, once it leaves
)

// hashOf is the fingerprint of gram bytes, in four parts that do not wait for each
// other.
func hashOf(s string) uint64 {
	_ = s[gram-1]
	return mixed(part(s)*(base8*base4&word64) + part(s[4:])*base8 + part(s[8:])*base4 + part(s[12:]))
}

func part(s string) uint64 {
	_ = s[3]
	return (((uint64(s[0])+1)*base+uint64(s[1])+1)*base+uint64(s[2])+1)*base + uint64(s[3]) + 1
}

// mixed is never 0.
func mixed(h uint64) uint64 {
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>32 | 1
}

// marks are fingerprints and where they stand. The zero value is empty. A map would
// do; this is what a result costs most of.
type marks struct {
	all  []marked
	n    int
	last uint32 // the number of the newest item in them
}

// marked is one of them.
type marked struct {
	key uint64 // 0: free
	at  mark
}

// grow makes room for more, so that put does not.
func (m *marks) grow(more int) {
	want := max(256, len(m.all))
	for want < 2*(m.n+more) {
		want *= 2
	}
	if want == len(m.all) {
		return
	}
	old := m.all
	m.all, m.n = make([]marked, want), 0
	for _, o := range old {
		if o.key != 0 {
			m.put(o.key, o.at)
		}
	}
}

func (m *marks) put(key uint64, at mark) {
	if 2*m.n >= len(m.all) {
		m.grow(1)
	}
	slot := &m.all[m.slot(key)]
	if slot.key == 0 {
		slot.key = key
		m.n++
	} else {
		at.at |= repeated
	}
	slot.at = at
}

func (m *marks) find(key uint64) (mark, bool) {
	if m.n == 0 {
		return mark{}, false
	}
	slot := &m.all[m.slot(key)]
	return slot.at, slot.key != 0
}

// slot is where a key stands, or would.
func (m *marks) slot(key uint64) int {
	mask := len(m.all) - 1
	i := int(key>>1) & mask
	for m.all[i].key != 0 && m.all[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

// sieve says quickly that a text does not hold a value: it has a bit for each run
// of minExact bytes of the text, and some for others.
type sieve []uint64

// sieveBits is how many a text has, a power of two.
func sieveBits(s string) int {
	if len(s) <= 8 {
		return 64
	}
	return 1 << bits.Len(uint(8*len(s)-1))
}

func sieveOf(s string) sieve {
	v := make(sieve, sieveBits(s)/64)
	var run uint64
	for i := range len(s) {
		run = run>>8 | uint64(s[i])<<40
		if i >= minExact-1 {
			bit := shortOf(run) & v.mask()
			v[bit/64] |= 1 << (bit % 64)
		}
	}
	return v
}

// mask makes the number of a bit of any number: there is a power of two of them.
func (v sieve) mask() uint64 { return uint64(len(v))*64 - 1 }

// may reports whether the text may hold a value of minExact bytes or more.
func (v sieve) may(value string) bool {
	for i := range min(len(value)-minExact+1, 16) {
		if bit := short(value[i:]) & v.mask(); v[bit/64]&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

// short is the hash of the first minExact bytes.
func short(s string) uint64 {
	_ = s[minExact-1]
	return shortOf(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40)
}

// shortOf is short of the bytes, the first one lowest.
func shortOf(bytes uint64) uint64 {
	bytes *= base
	return bytes>>40 ^ bytes>>20
}

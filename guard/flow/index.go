package flow

import (
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// What an index keeps of the results of a session, all together at most about
// 3 MB, whatever they hold. What is too much is forgotten in steps, oldest first:
// the text goes, so that only copies of minRun and more are still found; then the
// fingerprints; then that there was a result. That untrusted content or private
// data stands in the session is never forgotten.
const (
	gram   = 16                // bytes that one fingerprint stands for
	window = 17                // fingerprints of which at least one is kept
	minRun = gram + window - 1 // the shortest copy that is always found

	maxRead  = 1 << 20   // bytes of one result that are looked at
	maxEach  = 128 << 10 // bytes of one result that are kept as text
	maxText  = 768 << 10 // bytes of all texts, in both forms, with their sieves
	maxMarks = 16 << 10  // fingerprints of a generation; there are two
	maxItems = 512       // results

	maxWaiting = 256 << 10 // bytes of results that are not looked at yet

	// A result with more than this many is sampled more thinly: only longer copies
	// are always found.
	maxMarksEach = 8 << 10
)

// item is one result that arguments may be copied from.
type item struct {
	place
	call                         string
	untrusted, sensitive, secret bool
	at                           []string // hosts and addresses the call went to

	original, text string // as it was, and in its form; "": forgotten
	sieve          sieve  // of text
}

// mark is where a fingerprint stands.
type mark struct{ item, at uint32 }

// index finds what came from earlier results.
type index struct {
	items    []*item
	gone     uint32 // items that are forgotten: the first one's number
	kept     int    // bytes of texts
	now, old map[uint64]mark

	waits   []waiting
	waiting int // bytes of them
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
	all := formsOf(text)
	n.original, n.text = keep(text), keep(all)
	n.sieve = sieveOf(n.text)
	x.items = append(x.items, n)
	if len(x.items) > maxItems {
		x.forget(x.items[0])
		x.items[0] = nil
		x.items = x.items[1:]
		x.gone++
	}
	x.kept += n.size()
	for i := 0; x.kept > maxText && i < len(x.items)-1; i++ {
		x.forget(x.items[i])
	}
	number := x.gone + uint32(len(x.items)) - 1 //nolint:gosec // 4 billion results of one session are not reached
	wide := max(window, 2*len(all)/maxMarksEach)
	winnow(all, wide, func(hash uint64, at int) {
		if x.now == nil {
			x.now = make(map[uint64]mark)
		}
		x.now[hash] = mark{number, uint32(at)} //nolint:gosec // below maxRead and what is decoded of it
		if len(x.now) >= maxMarks {
			x.old, x.now = x.now, nil
		}
	})
}

func (x *index) forget(n *item) {
	x.kept -= n.size()
	n.original, n.text, n.sieve = "", "", nil
}

func (n *item) size() int { return len(n.original) + len(n.text) + 8*len(n.sieve) }

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
	codes := encoded(plain)
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
	if m.item < x.gone {
		return nil
	}
	return x.items[m.item-x.gone]
}

// roll calls f with the hash of each run of gram bytes, and where it begins, until
// f says no.
func roll(s string, f func(hash uint64, at int) bool) {
	const base = 0x9E3779B97F4A7C15
	out := uint64(1)
	for range gram {
		out *= base
	}
	var h uint64
	for i := range len(s) {
		h = h*base + uint64(s[i]) + 1
		if i >= gram {
			h -= out * (uint64(s[i-gram]) + 1)
		}
		if i >= gram-1 {
			mixed := h ^ h>>29
			mixed *= 0xBF58476D1CE4E5B9
			if !f(mixed^mixed>>32, i-gram+1) {
				return
			}
		}
	}
}

// winnow picks fingerprints, at least one of each wide that follow each other: two
// texts with a common run of gram+wide-1 bytes have one in common.
func winnow(s string, wide int, pick func(hash uint64, at int)) {
	if len(s) < gram {
		return
	}
	hashes := make([]uint64, 0, len(s)-gram+1)
	roll(s, func(hash uint64, _ int) bool {
		hashes = append(hashes, hash)
		return true
	})
	// What may still be the least of a window: rising, from head on.
	queue := make([]int32, 0, len(hashes))
	head, last := 0, -1
	for at, hash := range hashes {
		for len(queue) > head && hashes[queue[len(queue)-1]] >= hash {
			queue = queue[:len(queue)-1]
		}
		queue = append(queue, int32(at))
		if int(queue[head]) <= at-wide {
			head++
		}
		if first := int(queue[head]); at >= wide-1 && first != last {
			last = first
			pick(hashes[first], first)
		}
	}
}

// sieve says quickly that a text does not hold a value: it has a bit for each run
// of minExact bytes of the text, and some for others.
type sieve []uint64

func sieveOf(s string) sieve {
	size := 64
	for size < 8*len(s) {
		size *= 2
	}
	v := make(sieve, size/64)
	for i := range len(s) - minExact + 1 {
		bit := short(s[i:]) & v.mask()
		v[bit/64] |= 1 << (bit % 64)
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
	h := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40
	h *= 0x9E3779B97F4A7C15
	return h>>40 ^ h>>20
}

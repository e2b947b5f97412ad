package search

import (
	"cmp"
	"slices"
)

// scratch is the memory of one search, kept for the next.
type scratch struct {
	tallies []tallied // by slot; all zero between searches
	wanted  []bool    // by slot: it is a candidate; all false between searches
	touched []uint32  // slots whose sum is not zero
	slots   []uint32
	counts  [buckets]uint32
	order   []weighed
	found   []candidate
	edge    []candidate
}

// tallied is what was counted for a document.
type tallied struct {
	sum   float32
	named uint8 // terms of its name
}

// candidate is a document that may be an answer.
type candidate struct {
	slot  uint32
	words float32 // its sum
	angle float32 // cosine of what it and the query mean
	score float32
	part  float32 // its score for the segment that it serves best
}

// weighed is a term with what it counts in the query.
type weighed struct {
	*queryTerm
	weight float64
}

// buckets are how finely sums are told apart when the best are taken.
const buckets = 256

func (x *Index) scratch() *scratch {
	s, ok := x.pool.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	if n := len(x.entries); len(s.tallies) < n {
		s.tallies, s.wanted = make([]tallied, n+n/8), make([]bool, n+n/8)
	}
	return s
}

func (x *Index) release(s *scratch) {
	s.forget()
	clear(s.order)
	x.pool.Put(s)
}

func (s *scratch) forget() {
	for _, slot := range s.touched {
		s.tallies[slot] = tallied{}
	}
	s.touched = s.touched[:0]
}

// saturation is what a length costs: a fixed part, and one for each word.
func (x *Index) saturation() (fixed, perWord float32) {
	average := max(float32(float64(x.total)/unit/float64(max(x.count, 1))), 1e-3)
	return float32(x.rank.Saturation * (1 - x.rank.Length)), float32(x.rank.Saturation*x.rank.Length) / average
}

// tallyAll counts all terms, the rare ones first. Once the terms that are left weigh
// less together than the worst of the n best has already, documents that have none
// of the others cannot be among these, and are passed over. It returns a sum that
// the n best have at least.
func (x *Index) tallyAll(s *scratch, p *parsed, n int, filtered bool) float32 {
	left := 0.0
	order := s.order[:0]
	for i := range p.terms {
		if t := &p.terms[i]; len(t.postings) > 0 {
			weight := t.weight * x.repeat(t.count)
			order = append(order, weighed{t, weight})
			left += weight
		}
	}
	s.order = order
	slices.SortStableFunc(order, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	least, next := 0.0, 4*n
	for _, t := range order {
		if !filtered && len(s.touched) >= next {
			scale, edge, _ := s.divide(s.touched, n)
			least, next = 0.999*float64(float32(edge)/scale), 2*len(s.touched) // sums are rounded
		}
		if left < least {
			x.tallyKnown(s, t.queryTerm, t.weight)
		} else {
			x.tally(s, t.queryTerm, t.weight)
		}
		left -= t.weight
	}
	return float32(least)
}

// tallyKnown counts a term for the documents that have another one.
func (x *Index) tallyKnown(s *scratch, t *queryTerm, weight float64) {
	fixed, perWord := x.saturation()
	w := float32(weight)
	tallies := s.tallies
	for i := range t.postings {
		p := &t.postings[i]
		if c := &tallies[p.slot]; c.sum != 0 {
			c.sum += w * p.weight / (p.weight + fixed + perWord*p.length)
			c.named += p.fields & (1 << InName)
		}
	}
}

// tally counts a term for all documents that have it.
func (x *Index) tally(s *scratch, t *queryTerm, weight float64) {
	fixed, perWord := x.saturation()
	w := float32(weight)
	tallies, touched := s.tallies, s.touched
	for i := range t.postings {
		p := &t.postings[i]
		c := &tallies[p.slot]
		if c.sum == 0 {
			touched = append(touched, p.slot)
		}
		c.sum += w * p.weight / (p.weight + fixed + perWord*p.length)
		c.named += p.fields & (1 << InName)
	}
	s.touched = touched
}

// tallyWanted counts a term for those that are candidates.
func (x *Index) tallyWanted(s *scratch, t *queryTerm, weight float64) {
	fixed, perWord := x.saturation()
	w := float32(weight)
	for i := range t.postings {
		if p := &t.postings[i]; s.wanted[p.slot] {
			c := &s.tallies[p.slot]
			c.sum += w * p.weight / (p.weight + fixed + perWord*p.length)
			c.named += p.fields & (1 << InName)
		}
	}
}

// covers is how much of a document's name the counted terms are.
func (x *Index) covers(s *scratch, slot uint32) float32 {
	return float32(s.tallies[slot].named) / float32(max(x.names[slot], 1))
}

// best are the documents with the highest sums, at most n, that only lets pass.
// Which they are does not depend on slots.
func (x *Index) best(s *scratch, n int, least float32, only func(*Document) bool) []candidate {
	if only != nil {
		kept := s.touched[:0]
		for _, slot := range s.touched {
			if only(&x.entries[slot].Document) {
				kept = append(kept, slot)
			} else {
				s.tallies[slot] = tallied{}
			}
		}
		s.touched = kept
	}
	found, last := s.found[:0], s.edge[:0]
	for _, slot := range s.touched {
		if sum := s.tallies[slot].sum; sum >= least {
			found = append(found, candidate{slot: slot, words: sum})
		}
	}
	s.found = found
	if len(found) <= n {
		return found
	}
	slots := s.slots[:0]
	for i := range found {
		slots = append(slots, found[i].slot)
	}
	s.slots = slots
	scale, edge, above := s.divide(slots, n)
	all := found
	found = found[:0]
	for _, c := range all {
		switch b := int(c.words * scale); {
		case b > edge:
			found = append(found, c)
		case b == edge:
			last = append(last, c)
		}
	}
	slices.SortFunc(last, func(a, b candidate) int { return x.compare(a.words, a.slot, b.words, b.slot) })
	found = append(found, last[:min(len(last), n-above)]...)
	s.found, s.edge = found, last
	return found
}

// divide finds the bucket of sums of which only a part belongs to the n best, and how
// many are above it.
func (s *scratch) divide(slots []uint32, n int) (scale float32, edge, above int) {
	most := float32(0)
	for _, slot := range slots {
		if sum := s.tallies[slot].sum; sum > most {
			most = sum
		}
	}
	clear(s.counts[:])
	scale = (buckets - 1) / most
	for _, slot := range slots {
		s.counts[uint8(s.tallies[slot].sum*scale)]++
	}
	for edge = buckets - 1; above+int(s.counts[edge]) <= n; edge-- {
		above += int(s.counts[edge])
	}
	return scale, edge, above
}

// compare orders documents by their scores, the best first, and those that are as
// good as each other by what they are called.
func (x *Index) compare(a float32, aSlot uint32, b float32, bSlot uint32) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	d, e := x.entries[aSlot], x.entries[bSlot]
	return cmp.Or(cmp.Compare(d.id(), e.id()), cmp.Compare(d.Source, e.Source))
}

// first is the n best candidates in order.
func (x *Index) first(found []candidate, n int) []candidate {
	found = x.take(found, n)
	slices.SortFunc(found, func(a, b candidate) int { return x.compare(a.score, a.slot, b.score, b.slot) })
	return found
}

// take is the n best candidates: a heap of the best so far, the worst of them at its
// top.
func (x *Index) take(found []candidate, n int) []candidate {
	if len(found) <= n {
		return found
	}
	top := found[:n]
	for i := n/2 - 1; i >= 0; i-- {
		x.sink(top, i)
	}
	for i := n; i < len(found); i++ {
		if x.compare(found[i].score, found[i].slot, top[0].score, top[0].slot) < 0 {
			top[0], found[i] = found[i], top[0]
			x.sink(top, 0)
		}
	}
	return top
}

func (x *Index) sink(heap []candidate, i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if x.compare(heap[child].score, heap[child].slot, heap[worst].score, heap[worst].slot) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}

package search

import (
	"cmp"
	"slices"
)

// scratch is the memory of one search, kept for the next.
type scratch struct {
	sums    []float32 // by slot; all zero between searches
	touched []uint32  // slots whose sum is not zero
	marked  []bool    // terms of the query, by place; all false between searches
	counts  []uint32
	found   []candidate
	parts   []candidate
}

// candidate is a document that may be an answer.
type candidate struct {
	entry *entry
	words float32 // its sum
	angle float64 // cosine of what it and the query mean
	part  float64 // its score for the segment that it serves best
	score float64
}

func (x *Index) scratch() *scratch {
	s, ok := x.pool.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	if n := len(x.entries); len(s.sums) < n {
		s.sums = make([]float32, n+n/8)
	}
	if n := len(x.lists); len(s.marked) < n {
		s.marked = make([]bool, n+n/8)
	}
	return s
}

func (x *Index) release(s *scratch) {
	s.forget()
	clear(s.found[:cap(s.found)])
	x.pool.Put(s)
}

func (s *scratch) forget() {
	for _, slot := range s.touched {
		s.sums[slot] = 0
	}
	s.touched = s.touched[:0]
}

// tally counts a term for all documents that have it.
func (x *Index) tally(s *scratch, t *queryTerm, weight float64) {
	average := float32(1)
	if x.count > 0 {
		average = max(float32(float64(x.total)/unit/float64(x.count)), 1e-3)
	}
	fixed := float32(x.rank.Saturation * (1 - x.rank.Length))
	perWord := float32(x.rank.Saturation*x.rank.Length) / average
	w := float32(weight)
	for _, p := range t.postings {
		sum := s.sums[p.slot]
		if sum == 0 {
			s.touched = append(s.touched, p.slot)
		}
		s.sums[p.slot] = sum + w*p.weight/(p.weight+fixed+perWord*x.lengths[p.slot])
	}
}

// best are the documents with the highest sums, at most n, that only lets pass.
// Which they are does not depend on slots.
func (x *Index) best(s *scratch, n int, only func(*Document) bool) []candidate {
	const buckets = 512
	most := float32(0)
	if only != nil {
		kept := s.touched[:0]
		for _, slot := range s.touched {
			if only(&x.entries[slot].Document) {
				kept = append(kept, slot)
			} else {
				s.sums[slot] = 0
			}
		}
		s.touched = kept
	}
	for _, slot := range s.touched {
		most = max(most, s.sums[slot])
	}
	found := s.found[:0]
	if len(s.touched) <= n {
		for _, slot := range s.touched {
			found = append(found, candidate{entry: x.entries[slot], words: s.sums[slot]})
		}
		s.found = found
		return found
	}
	if s.counts == nil {
		s.counts = make([]uint32, buckets)
	}
	clear(s.counts)
	scale := (buckets - 1) / most
	for _, slot := range s.touched {
		s.counts[uint32(s.sums[slot]*scale)]++
	}
	edge, above := buckets-1, 0 // the bucket that not all of can be taken of
	for above+int(s.counts[edge]) <= n {
		above += int(s.counts[edge])
		edge--
	}
	parts := s.parts[:0]
	for _, slot := range s.touched {
		c := candidate{entry: x.entries[slot], words: s.sums[slot]}
		switch b := int(c.words * scale); {
		case b > edge:
			found = append(found, c)
		case b == edge:
			parts = append(parts, c)
		}
	}
	slices.SortFunc(parts, func(a, b candidate) int {
		if n := cmp.Compare(b.words, a.words); n != 0 {
			return n
		}
		return compareEntries(a.entry, b.entry)
	})
	found = append(found, parts[:n-above]...)
	clear(parts)
	s.found, s.parts = found, parts
	return found
}

// compareEntries orders documents that are as good as each other.
func compareEntries(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.id(), b.id()), cmp.Compare(a.Source, b.Source))
}

// mark notes which terms the query has, or one of its segments.
func (s *scratch) mark(p *parsed, words []queryWord, on bool) {
	for _, w := range words {
		if t := &p.terms[w.term]; t.known {
			s.marked[t.at] = on
		}
	}
}

// covers is how much of a document's name the marked terms are.
func (s *scratch) covers(e *entry) float64 {
	if len(e.name) == 0 {
		return 0
	}
	n := 0
	for _, at := range e.name {
		if s.marked[at] {
			n++
		}
	}
	return float64(n) / float64(len(e.name))
}

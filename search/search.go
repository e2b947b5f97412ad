package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Query is what is looked for.
type Query struct {
	// Text is words, in any language; or select: and IDs with commas between.
	Text string
	// Limit is how many hits are wanted; 0: 10.
	Limit int
	// Only says which documents may be found; nil: all. It must not call the index.
	Only func(*Document) bool
}

// Answer is what was found.
type Answer struct {
	Hits []Hit // the best first
	// Fit is how sure it is that the first hit serves the query, from 0 to 1. Below
	// [Fits] it is likelier that none does.
	Fit float64
	// Missing are the IDs after select: that no document has.
	Missing []string
	// Fault is why meaning did not count; nil if it did, or no embedder is set.
	Fault error
}

// Bounds of an answer.
const (
	usualHits = 10
	maxHits   = 1_000
)

// How many documents are ordered by more than words, and when words find so little
// that all are.
const (
	reranked        = 400
	rerankedByWords = 100
	segmented       = 160
	smallIndex      = 1_000
	fewHits         = 20
	spare           = 20
)

// Search finds documents. It takes any text, and answers with no hits if there is
// nothing to look for.
func (x *Index) Search(ctx context.Context, q Query) Answer {
	x.start()
	if q.Limit <= 0 {
		q.Limit = usualHits
	}
	q.Limit = min(q.Limit, maxHits)
	if names, ok := strings.CutPrefix(strings.TrimSpace(q.Text), "select:"); ok {
		return x.selected(names, q)
	}
	p := parse(q.Text)
	if len(p.terms) == 0 {
		return Answer{}
	}
	var means []*vector
	var a Answer
	if x.Embedder != nil {
		texts := []string{p.text}
		for _, s := range p.segments {
			texts = append(texts, p.part(s))
		}
		means, a.Fault = x.means(ctx, texts)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.scratch()
	defer x.release(s)
	if meant(means) && x.vectors.dims > 0 && len(means[0].numbers) != x.vectors.dims {
		a.Fault, means = fmt.Errorf("got a vector of %d numbers for the query, want %d as tools have", len(means[0].numbers), x.vectors.dims), nil
	}
	found := x.rate(s, p, means, q)
	// Some more than are shown: near copies take no places.
	found = x.first(found, 2*q.Limit+spare)
	x.answer(&a, found, p, q)
	if len(found) > 0 {
		a.Fit = x.fit(p, &found[0], meant(means) && x.vectors.has(found[0].slot))
	}
	return a
}

// meant says that it is known what the query means: an embedder need not know its
// words.
func meant(means []*vector) bool { return len(means) > 0 && means[0] != nil }

// rate finds candidates and scores them. The lock is held.
func (x *Index) rate(s *scratch, p *parsed, means []*vector, q Query) []candidate {
	x.look(p)
	n := reranked
	if means == nil {
		n = rerankedByWords
	}
	n = max(n, 2*q.Limit+spare)
	found := x.best(s, n, x.tallyAll(s, p, n, false), nil)
	if refused := func(c candidate) bool { return !q.Only(&x.entries[c.slot].Document) }; q.Only != nil && slices.ContainsFunc(found, refused) {
		s.forget() // each that has a word must be asked about
		found = x.best(s, n, x.tallyAll(s, p, n, true), q.Only)
	}
	if meant(means) && (x.count <= smallIndex || len(found) < fewHits) {
		found = x.others(s, found, q.Only)
	}
	most := float32(0)
	for i := range found {
		most = max(most, found[i].words)
	}
	for i := range found {
		c := &found[i]
		c.score = x.score(s, c.slot, most)
		if means != nil {
			c.angle = float32(x.vectors.angle(means[0], c.slot))
			c.score += float32(x.rank.Meaning) * c.angle
		}
	}
	if len(p.segments) > 0 && x.rank.Segments > 0 {
		// What serves none of the whole hardly serves a part of it best.
		found = x.take(found, max(segmented, 2*q.Limit+spare))
		x.rateSegments(s, p, means, found)
	}
	return found
}

// score is that by words, compared with the most that any document has.
func (x *Index) score(s *scratch, slot uint32, most float32) float32 {
	if most == 0 {
		return 0
	}
	return s.tallies[slot].sum/most + float32(x.rank.Coverage)*x.covers(s, slot)
}

// rateSegments mixes into each score how well the document serves the segment that
// it serves best.
func (x *Index) rateSegments(s *scratch, p *parsed, means []*vector, found []candidate) {
	counts := make([]int, len(p.terms))
	s.forget()
	for i := range found {
		s.wanted[found[i].slot] = true
	}
	for n, part := range p.segments {
		clear(counts)
		for _, w := range part.words {
			counts[w.term]++
		}
		for i, count := range counts {
			if count > 0 {
				x.tallyWanted(s, &p.terms[i], p.terms[i].weight*x.repeat(count))
			}
		}
		most := float32(0)
		for i := range found {
			most = max(most, s.tallies[found[i].slot].sum)
		}
		for i := range found {
			c := &found[i]
			score := x.score(s, c.slot, most)
			if means != nil {
				score += float32(x.rank.Meaning * x.vectors.angle(means[n+1], c.slot))
			}
			c.part = max(c.part, score)
			s.tallies[c.slot] = tallied{}
		}
	}
	share := float32(x.rank.Segments)
	for i := range found {
		c := &found[i]
		c.score += share * (c.part - c.score)
		s.wanted[c.slot] = false
	}
}

// others adds the documents that have none of the words.
func (x *Index) others(s *scratch, found []candidate, only func(*Document) bool) []candidate {
	for slot, e := range x.entries {
		slot := uint32(slot)
		if e != nil && x.vectors.has(slot) && s.tallies[slot].sum == 0 && (only == nil || only(&e.Document)) {
			found = append(found, candidate{slot: slot})
		}
	}
	s.found = found
	return found
}

// answer takes the best of the candidates. Near copies stand with the one that is
// trusted most, or was first, instead of taking the places of others.
func (x *Index) answer(a *Answer, found []candidate, p *parsed, q Query) {
	shown := make([]*entry, 0, q.Limit)
	a.Hits = make([]Hit, 0, min(q.Limit, len(found)))
	var reasons []Reason // of all hits
	for i := range found {
		c := &found[i]
		e := x.entries[c.slot]
		of := slices.IndexFunc(shown, func(f *entry) bool { return alike(f, e) })
		if of >= 0 && shown[of].Standing >= e.Standing {
			a.Hits[of].add(&e.Document)
			continue
		}
		if of < 0 && len(a.Hits) == q.Limit {
			continue // copies of what is there may still come
		}
		from := len(reasons)
		reasons = p.reasons(reasons, c.slot)
		h := Hit{Document: &e.Document, Score: float64(c.score), Angle: float64(c.angle), Reasons: reasons[from:len(reasons):len(reasons)]}
		if of < 0 {
			shown, a.Hits = append(shown, e), append(a.Hits, h)
			continue
		}
		old := a.Hits[of] // what is trusted more takes its place
		h.Score, h.Alike = old.Score, old.Alike
		h.add(old.Document)
		shown[of], a.Hits[of] = e, h
	}
}

// selected finds documents by their IDs.
func (x *Index) selected(names string, q Query) Answer {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var a Answer
	n := 0
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if n++; n > q.Limit {
			break
		}
		had := len(a.Hits)
		for _, e := range x.ids[name] {
			if q.Only == nil || q.Only(&e.Document) {
				a.Hits = append(a.Hits, Hit{Document: &e.Document, Score: 1})
				a.Fit = 1
			}
		}
		if len(a.Hits) == had {
			a.Missing = append(a.Missing, name)
		}
	}
	return a
}

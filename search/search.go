package search

import (
	"cmp"
	"context"
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
	reranked   = 400
	smallIndex = 1_000
	fewHits    = 20
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
	found := x.rate(s, p, means, q)
	x.answer(&a, found, p, q)
	if len(found) > 0 {
		a.Fit = x.fit(s, p, &found[0], means != nil)
	}
	return a
}

// rate finds candidates and scores them. The lock is held.
func (x *Index) rate(s *scratch, p *parsed, means []*vector, q Query) []candidate {
	x.look(p)
	for i := range p.terms {
		x.tally(s, &p.terms[i], p.terms[i].weight*x.repeat(p.terms[i].count))
	}
	found := x.best(s, max(reranked, q.Limit), q.Only)
	if means != nil && (x.count <= smallIndex || len(found) < fewHits) {
		found = x.others(s, found, q.Only)
	}
	most := float32(0)
	for i := range found {
		most = max(most, found[i].words)
	}
	s.mark(p, p.words, true)
	for i := range found {
		c := &found[i]
		c.score = x.score(c.words, most, s.covers(c.entry))
		if means != nil {
			c.angle = angle(means[0], c.entry.vector)
			c.score += x.rank.Meaning * c.angle
		}
	}
	s.mark(p, p.words, false)
	if len(p.segments) > 0 && x.rank.Segments > 0 {
		x.rateSegments(s, p, means, found)
	}
	return found
}

func (x *Index) score(words, most float32, covers float64) float64 {
	if most == 0 {
		return 0
	}
	return float64(words/most) + x.rank.Coverage*covers
}

// rateSegments mixes into each score how well the document serves the segment that
// it serves best.
func (x *Index) rateSegments(s *scratch, p *parsed, means []*vector, found []candidate) {
	for i := range found {
		found[i].part = 0
	}
	for n, part := range p.segments {
		s.forget()
		counts := make(map[int]int, len(part.words))
		for _, w := range part.words {
			counts[w.term]++
		}
		for i := range p.terms { // in one order, so that sums are the same each time
			if c := counts[i]; c > 0 {
				x.tally(s, &p.terms[i], p.terms[i].weight*x.repeat(c))
			}
		}
		most := float32(0)
		for i := range found {
			most = max(most, s.sums[found[i].entry.slot])
		}
		s.mark(p, part.words, true)
		for i := range found {
			c := &found[i]
			score := x.score(s.sums[c.entry.slot], most, s.covers(c.entry))
			if means != nil {
				score += x.rank.Meaning * angle(means[n+1], c.entry.vector)
			}
			c.part = max(c.part, score)
		}
		s.mark(p, part.words, false)
	}
	for i := range found {
		c := &found[i]
		c.score += x.rank.Segments * (c.part - c.score)
	}
}

// others adds the documents that have none of the words.
func (x *Index) others(s *scratch, found []candidate, only func(*Document) bool) []candidate {
	for _, e := range x.entries {
		if e != nil && e.vector != nil && s.sums[e.slot] == 0 && (only == nil || only(&e.Document)) {
			found = append(found, candidate{entry: e})
		}
	}
	s.found = found
	return found
}

// answer takes the best of the candidates. Near copies of one that is there stand
// with it instead of taking the places of others.
func (x *Index) answer(a *Answer, found []candidate, p *parsed, q Query) {
	slices.SortFunc(found, func(a, b candidate) int {
		if n := cmp.Compare(b.score, a.score); n != 0 {
			return n
		}
		return compareEntries(a.entry, b.entry)
	})
	var shown []*entry
	for i := range found {
		c := &found[i]
		if of := slices.IndexFunc(shown, func(e *entry) bool { return alike(e, c.entry) }); of >= 0 {
			if len(a.Hits[of].Alike) < maxAlike {
				a.Hits[of].Alike = append(a.Hits[of].Alike, c.entry.Document)
			}
			continue
		}
		if len(a.Hits) == q.Limit {
			break
		}
		shown = append(shown, c.entry)
		a.Hits = append(a.Hits, Hit{Document: c.entry.Document, Score: c.score, Angle: c.angle, Reasons: p.reasons(c.entry)})
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
				a.Hits = append(a.Hits, Hit{Document: e.Document, Score: 1})
				a.Fit = 1
			}
		}
		if len(a.Hits) == had {
			a.Missing = append(a.Missing, name)
		}
	}
	return a
}

package search

import (
	"math"
	"slices"
	"strings"
)

// Bounds of a query: what is beyond is not looked for.
const (
	maxQuery     = 4 << 10 // bytes
	maxTerms     = 96      // different words
	maxSegments  = 8
	segmentWords = 4 // a segment has at least so many words that count
)

// parsed is a query taken apart.
type parsed struct {
	text     string
	terms    []queryTerm
	words    []queryWord
	segments []segment
}

// queryTerm is a word of the query, once.
type queryTerm struct {
	text     string
	word     string // as it was first written, in small letters
	count    int
	postings []posting
	weight   float64 // its idf
}

// queryWord is one place in the query.
type queryWord struct {
	term     int // in terms
	from, to int // in text
	gap      bool
}

// segment is a part of the query's words.
type segment struct {
	words []queryWord
}

func parse(text string) *parsed {
	q := &parsed{
		text:  strings.ToValidUTF8(text[:min(len(text), maxQuery)], " "),
		terms: make([]queryTerm, 0, 16), words: make([]queryWord, 0, 16),
	}
	s := scanner{text: q.text, join: true, word: make([]byte, 0, maxWord)}
	var plain [maxWord + 8]byte // the word before it is cut
	gap := false
	for s.next() {
		gap = gap || s.gap || joins(s.word)
		if stopped(s.word) {
			continue
		}
		word := append(plain[:0], s.word...)
		term := stem(s.word)
		i := slices.IndexFunc(q.terms, func(t queryTerm) bool { return t.text == string(term) })
		if i < 0 {
			if len(q.terms) == maxTerms {
				break
			}
			i = len(q.terms)
			t := queryTerm{word: string(word)}
			if t.text = t.word; t.text != string(term) {
				t.text = string(term)
			}
			q.terms = append(q.terms, t)
		}
		q.terms[i].count++
		q.words = append(q.words, queryWord{i, s.from, s.at, gap})
		gap = false
	}
	q.cut()
	return q
}

// joins says that a word often stands between two wishes.
func joins(w []byte) bool { return string(w) == "and" || string(w) == "then" || string(w) == "also" }

// cut finds the segments of the query, if it has more than one.
func (q *parsed) cut() {
	from := 0
	for i, w := range q.words {
		if w.gap && i-from >= segmentWords && len(q.segments) < maxSegments-1 {
			q.segments = append(q.segments, segment{q.words[from:i]})
			from = i
		}
	}
	switch {
	case len(q.segments) == 0:
		return
	case len(q.words)-from >= segmentWords:
		q.segments = append(q.segments, segment{q.words[from:]})
	default: // too little: it belongs to the one before
		last := &q.segments[len(q.segments)-1]
		last.words = q.words[from-len(last.words):]
	}
	if len(q.segments) == 1 {
		q.segments = nil
	}
}

func (q *parsed) part(s segment) string {
	return q.text[s.words[0].from:s.words[len(s.words)-1].to]
}

// look finds the lists of the terms and what they weigh. The lock is held.
func (x *Index) look(q *parsed) {
	n := float64(x.count)
	for i := range q.terms {
		t := &q.terms[i]
		t.weight = 0
		if at, ok := x.terms[t.text]; ok {
			t.postings = x.lists[at].postings
		}
		df := float64(len(t.postings))
		t.weight = math.Log(1 + (n-df+0.5)/(df+0.5))
		if x.rank.Rarity != 1 {
			t.weight = math.Pow(t.weight, x.rank.Rarity)
		}
	}
}

func (x *Index) repeat(count int) float64 {
	if count == 1 {
		return 1
	}
	return math.Pow(float64(count), x.rank.Repeat)
}

// has says whether the document of a slot has the term, and where.
func (t *queryTerm) has(slot uint32) (fields uint8, ok bool) {
	i, ok := slices.BinarySearchFunc(t.postings, slot, func(p posting, s uint32) int { return int(p.slot) - int(s) })
	if !ok {
		return 0, false
	}
	return t.postings[i].fields, true
}

package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// baseline is plain BM25 over names and descriptions, as anyone would write it in
// an afternoon. It never changes: what search gains is counted from it.
type baseline struct {
	postings map[string][]posting
	lengths  []float64
	average  float64
}

type posting struct {
	doc   int
	count float64
}

func newBaseline(tools []retrievalTool) *baseline {
	b := &baseline{postings: make(map[string][]posting)}
	for i, t := range tools {
		words := baselineWords(t.Name + " " + t.Description)
		counts := make(map[string]float64)
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			b.postings[w] = append(b.postings[w], posting{i, n})
		}
		b.lengths = append(b.lengths, float64(len(words)))
		b.average += float64(len(words)) / float64(len(tools))
	}
	return b
}

// rank is the tools that have any word of the query, the best first.
func (b *baseline) rank(query string) []int {
	const k1, length = 1.2, 0.75
	scores := make(map[int]float64)
	for _, w := range baselineWords(query) {
		list := b.postings[w]
		n, of := float64(len(list)), float64(len(b.lengths))
		idf := math.Log(1 + (of-n+0.5)/(n+0.5))
		for _, p := range list {
			scores[p.doc] += idf * p.count * (k1 + 1) / (p.count + k1*(1-length+length*b.lengths[p.doc]/b.average))
		}
	}
	ranked := make([]int, 0, len(scores))
	for doc := range scores {
		ranked = append(ranked, doc)
	}
	slices.SortFunc(ranked, func(x, y int) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y))
	})
	return ranked
}

const baselineStop = " a an the of to in for and or is are be with on by from this that it as at i you me my we can please "

func baselineWords(text string) []string {
	var split strings.Builder
	before := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && (before >= 'a' && before <= 'z' || before >= '0' && before <= '9') {
			split.WriteByte(' ')
		}
		split.WriteRune(r)
		before = r
	}
	words := strings.FieldsFunc(strings.ToLower(split.String()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	kept := words[:0]
	for _, w := range words {
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		if !strings.Contains(baselineStop, " "+w+" ") {
			kept = append(kept, w)
		}
	}
	return kept
}

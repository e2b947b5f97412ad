// Package vectors is what English words mean, as a table inside the program: it
// works offline and takes microseconds. A text means the weighted mean of its
// words; words that all texts have weigh little.
//
//	x := search.Index{Embedder: vectors.Embedder()}
//
// A program that does not import it does not carry the table of 7 MB. The table is
// made by search/vectors/generate; LICENSE says where the vectors are from.
package vectors

import (
	"context"
	_ "embed" // for the table
	"math"
	"sync"

	"github.com/ferrule-dev/ferrule/search"
)

//go:embed table.bin
var file string

// Embedder means what the words of a text mean. It never fails and only computes.
func Embedder() *search.Embedder {
	opened := sync.OnceValue(func() *table { return open(file) }) // who never searches does not wait for it
	return &search.Embedder{
		Documents: func(_ context.Context, docs []search.Document) ([][]float32, error) {
			t, all := opened(), make([][]float32, len(docs))
			for i := range docs {
				all[i] = t.document(&docs[i])
			}
			return all, nil
		},
		Queries: func(_ context.Context, texts []string) ([][]float32, error) {
			t, all := opened(), make([][]float32, len(texts))
			for i, text := range texts {
				all[i] = make([]float32, t.dims)
				t.add(all[i], text)
			}
			return all, nil
		},
		Batch: 256,
		Local: true,
	}
}

// document is the sum of what the parts of a document mean, each as long as it
// counts.
func (t *table) document(d *search.Document) []float32 {
	sum, part := make([]float32, t.dims), make([]float32, t.dims)
	put := func(weight float64) {
		squares := 0.0
		for _, f := range part {
			squares += float64(f) * float64(f)
		}
		if squares == 0 {
			return
		}
		scale := float32(weight / math.Sqrt(squares))
		for i, f := range part {
			sum[i] += scale * f
		}
		clear(part)
	}
	t.add(part, d.Name)
	put(1)
	t.add(part, d.Description)
	put(1)
	for _, a := range d.Arguments {
		t.add(part, a.Name)
	}
	put(0.3)
	for _, a := range d.Arguments {
		t.add(part, a.Description)
	}
	put(0.3)
	for _, tag := range d.Tags {
		t.add(part, tag)
	}
	put(0.3)
	for _, e := range d.Examples {
		t.add(part, e)
	}
	put(0.1)
	t.add(part, d.Source)
	put(0.1)
	t.add(part, d.About)
	put(0.1)
	return sum
}

// add adds what each word of a text means, by its weight.
func (t *table) add(sum []float32, text string) {
	for word := range search.Words(text) {
		at, ok := t.find(word)
		if !ok {
			continue
		}
		weight := t.weight(at)
		for i, n := range []byte(t.numbers[at*t.dims : (at+1)*t.dims]) {
			sum[i] += weight * float32(int8(n)) //nolint:gosec // its bits
		}
	}
}

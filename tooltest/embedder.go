package tooltest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/search"
)

// Embedder checks an embedder: what searches count on, not how much it knows. Each
// call of open gives one that is ready.
func Embedder(t *testing.T, open func(t *testing.T) *search.Embedder) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(e embedders)
	}{
		{"Q4 a vector for each text, all of one length", embedders.each},
		{"Q4 a text means the same, whatever stands beside it", embedders.same},
		{"Q4 any bytes have a meaning or none", embedders.any},
		{"Q4 a tool is nearest to what is said of it", embedders.near},
		{"Q4 a context that ended: it returns", embedders.ended},
		{"Q4 many at once", embedders.many},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(embedders{t, open(t)})
		})
	}
}

// embedders is an embedder under test.
type embedders struct {
	*testing.T
	*search.Embedder
}

// tools are some that mean different things.
func (e embedders) tools() []search.Document {
	return []search.Document{
		{ID: "w__forecast", Name: "forecast", Description: "The weather of the next days in a city.", Arguments: []search.Argument{{Name: "city", Description: "where"}}, Source: "w"},
		{Name: "send_mail", Description: "Send a message to a person by electronic mail.", Tags: []string{"mail"}, Examples: []string{`{"to":"ann"}`}, Source: "m", About: "Letters"},
		{Name: "sum", Description: "Add numbers.", Source: "c"},
	}
}

func (e embedders) documents(docs []search.Document) [][]float32 {
	e.Helper()
	got, err := e.Documents(e.Context(), docs)
	e.check(got, err, len(docs))
	return got
}

func (e embedders) queries(texts ...string) [][]float32 {
	e.Helper()
	got, err := e.Queries(e.Context(), texts)
	e.check(got, err, len(texts))
	return got
}

func (e embedders) check(got [][]float32, err error, want int) {
	e.Helper()
	if err != nil || len(got) != want {
		e.Fatalf("got %d vectors, %v, want %d", len(got), err, want)
	}
	for i, v := range got {
		for _, f := range v {
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				e.Fatalf("vector %d has %v in it, want numbers", i, f)
			}
		}
	}
}

func (e embedders) each() {
	tools := e.tools()
	before := fmt.Sprint(tools)
	all := slices.Concat(e.documents(tools), e.queries("rain", "a letter", "rain"))
	for i, v := range all {
		if len(v) != 0 && len(v) != len(all[0]) {
			e.Errorf("vector %d has %d numbers, the first %d", i, len(v), len(all[0]))
		}
	}
	if now := fmt.Sprint(tools); now != before {
		e.Errorf("it changed what it was given: %s, was %s", now, before)
	}
	e.documents(nil)
	e.queries()
}

func (e embedders) same() {
	tools := e.tools()
	alone, among := e.documents(tools[1:2])[0], e.documents(tools)[1]
	if got := cosine(alone, among); got < 0.999 {
		e.Errorf("a tool alone and among others: %.3f, want the same", got)
	}
	q := e.queries("a letter", "rain tomorrow", "a letter")
	for _, other := range [][]float32{q[2], e.queries("a letter")[0]} {
		if got := cosine(q[0], other); got < 0.999 {
			e.Errorf("the same text twice: %.3f, want the same", got)
		}
	}
}

func (e embedders) any() {
	texts := []string{"", " ", "\x00", "\xff\xfe", "天気予報", "🌧", strings.Repeat("rain ", 20_000), strings.Repeat("x", 100_000)}
	e.queries(texts...)
	var docs []search.Document
	for _, text := range texts {
		docs = append(docs, search.Document{Name: text, Description: text, Arguments: []search.Argument{{Name: text}}, Tags: []string{text}, Examples: []string{text}})
	}
	e.documents(docs)
}

func (e embedders) near() {
	tools := e.tools()
	means := e.documents(tools)
	for i, d := range tools {
		said := e.queries(d.Description)[0]
		for j := range tools {
			if own, other := cosine(said, means[i]), cosine(said, means[j]); own < other {
				e.Errorf("what is said of %s is at %.3f of it, and at %.3f of %s", d.Name, own, other, tools[j].Name)
			}
		}
	}
}

func (e embedders) ended() {
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	for _, err := range []error{
		second(e.Queries(ctx, []string{"rain"})),
		second(e.Documents(ctx, e.tools())),
	} {
		e.Logf("it returned: %v", err)
	}
	e.queries("rain") // and goes on
}

func second[T any](_ T, err error) error { return err }

func (e embedders) many() {
	want := e.queries("rain tomorrow")[0]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 4 {
				got, err := e.Queries(e.Context(), []string{"rain tomorrow"})
				if err != nil || len(got) != 1 || cosine(got[0], want) < 0.999 {
					e.Errorf("got %v, %v, want the same as alone", got, err)
				}
				if _, err := e.Documents(e.Context(), e.tools()); err != nil {
					e.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// cosine is that of the angle between two vectors; of two that mean nothing it is 1.
func cosine(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 && bb == 0 {
		return 1
	}
	return ab / math.Sqrt(max(aa*bb, 1e-12))
}

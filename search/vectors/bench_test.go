package vectors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/vectors"
)

// many makes n tools of the words that tools are made of, some far more common than
// others.
func many(n int) []search.Document {
	verbs := strings.Fields("get list create update delete search send convert calculate find analyze fetch generate book check")
	nouns := strings.Fields("weather forecast issue repository message calendar event file folder image video song playlist flight hotel ticket " +
		"price stock currency account payment invoice customer order product review recipe restaurant route map location address phone contact " +
		"email document table database query report chart user group permission password token server container cluster log metric alert " +
		"translation language text summary article news paper book author movie actor game score team player match league temperature pressure " +
		"volume area distance speed energy force molecule protein gene patient doctor drug symptom disease hospital court case law contract")
	others := strings.Fields("the of a in for given by with name id number type date time list value current new optional format default result " +
		"city country range maximum minimum limit filter sort page size start end unit status key description title content source target")
	r := rand.New(rand.NewPCG(1, 1))
	some := func(from []string) string { return from[int(float64(len(from))*r.Float64()*r.Float64())] }
	docs := make([]search.Document, n)
	for i := range docs {
		verb, noun := some(verbs), some(nouns)
		d := search.Document{
			ID: fmt.Sprint(i), Name: fmt.Sprintf("%s_%s_%s", verb, noun, some(nouns)),
			Description: fmt.Sprintf("%s the %s %s of a %s %s %s %s.", verb, noun, some(others), some(nouns), some(others), some(nouns), some(others)),
		}
		for range 1 + r.IntN(5) {
			d.Arguments = append(d.Arguments, search.Argument{
				Name:        some(others) + "_" + some(nouns),
				Description: fmt.Sprintf("The %s %s of the %s %s, %s%d", some(others), some(others), some(nouns), some(others), some(nouns), r.IntN(2_000)),
			})
		}
		docs[i] = d
	}
	return docs
}

func questions() []string {
	return []string{
		"what will the weather be in Paris tomorrow?", "create an issue in my repository", "convert a currency amount", "find cheap hotel near the airport",
		"send the invoice to a customer", "which player has the best score in the league?", "list open alerts of the cluster", "translate this article",
		"delete old log files in a folder and send a report", "who wrote the book?", "book a flight, then add an event to my calendar", "side effects of a drug",
	}
}

func benchmarkSearch(b *testing.B, x *search.Index) {
	if err := x.Set(b.Context(), "bench", many(10_000)...); err != nil {
		b.Fatal(err)
	}
	all := questions()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if a := x.Search(b.Context(), search.Query{Text: all[i%len(all)]}); len(a.Hits) == 0 {
			b.Fatalf("%q: no hits", all[i%len(all)])
		}
		i++
	}
}

func BenchmarkWords(b *testing.B)   { benchmarkSearch(b, new(search.Index)) }
func BenchmarkMeaning(b *testing.B) { benchmarkSearch(b, &search.Index{Embedder: vectors.Embedder()}) }

func BenchmarkBuild(b *testing.B) {
	e := vectors.Embedder()
	docs := many(10_000)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := search.Index{Embedder: e}
		if err := x.Set(context.Background(), "bench", docs...); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(&x)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(docs)), "B/tool")
}

func BenchmarkChange(b *testing.B) {
	x := search.Index{Embedder: vectors.Embedder()}
	docs := many(10_000)
	if err := x.Set(b.Context(), "stays", docs[:9_000]...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, of := range [][]search.Document{docs[9_000:], nil} {
			if err := x.Set(b.Context(), "goes", of...); err != nil {
				b.Fatal(err)
			}
		}
	}
}

package vectors_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/vectors"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func Example() {
	x := search.Index{Embedder: vectors.Embedder()}
	ctx := context.Background()
	err := x.Set(ctx, "home",
		search.Document{Name: "forecast", Description: "The weather of the next days in a city."},
		search.Document{Name: "send_mail", Description: "Send a message to somebody."})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(x.Search(ctx, search.Query{Text: "will it rain?"}).Hits[0].Document.Name)
	// Output: forecast
}

func TestEmbedder(t *testing.T) {
	t.Parallel()
	e := vectors.Embedder()
	angle := func(a, b string) float64 {
		t.Helper()
		v, err := e.Queries(t.Context(), []string{a, b})
		if err != nil {
			t.Fatal(err)
		}
		ab, aa, bb := 0.0, 0.0, 0.0
		for i := range v[0] {
			x, y := float64(v[0][i]), float64(v[1][i])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		return ab / math.Sqrt(max(aa*bb, 1e-9))
	}
	for _, tt := range []struct{ text, near, far string }{
		{"buy", "purchase", "weather"},
		{"rain tomorrow", "weather forecast", "bank account"},
		{"the repositories", "repository", "guitar"},
		{"movie", "film cinema", "fraction"},
		{"delete", "remove", "violin"},
	} {
		if near, far := angle(tt.text, tt.near), angle(tt.text, tt.far); near < far+0.2 {
			t.Errorf("%q: %q is at %.2f, %q at %.2f", tt.text, tt.near, near, tt.far, far)
		}
	}
	for _, text := range []string{"", "\xff\x00", "zzqqxxv", "天気予報", "the of and"} {
		if got := angle(text, "weather"); got != 0 {
			t.Errorf("%q means something: %v", text, got)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	tooltest.Embedder(t, func(*testing.T) *search.Embedder { return vectors.Embedder() })
}

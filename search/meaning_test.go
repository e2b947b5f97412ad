package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/search"
)

// senses is an embedder that knows two meanings: of weather, and of mail.
func senses() *search.Embedder {
	mean := func(text string) []float32 {
		v := make([]float32, 2)
		for w := range search.Words(text) {
			switch w {
			case "weather", "forecast", "rain", "umbrella":
				v[0]++
			case "mail", "message", "letter", "postman":
				v[1]++
			}
		}
		return v
	}
	return &search.Embedder{
		Batch: 2,
		Documents: func(_ context.Context, docs []search.Document) ([][]float32, error) {
			if len(docs) > 2 {
				return nil, errors.New("got more than 2 at once")
			}
			var all [][]float32
			for _, d := range docs {
				all = append(all, mean(d.Name+" "+d.Description))
			}
			return all, nil
		},
		Queries: func(_ context.Context, texts []string) ([][]float32, error) {
			var all [][]float32
			for _, text := range texts {
				all = append(all, mean(text))
			}
			return all, nil
		},
	}
}

func meaningful(t *testing.T, e *search.Embedder) *search.Index {
	t.Helper()
	x := &search.Index{Embedder: e}
	set(t, x, "all", doc("forecast", "The weather of the next days."), doc("send", "Send a message."), doc("sum", "Add numbers."))
	return x
}

func TestMeaning(t *testing.T) {
	t.Parallel()
	t.Run("Q2 what is meant and not said", func(t *testing.T) {
		t.Parallel()
		x := meaningful(t, senses())
		a := x.Search(t.Context(), search.Query{Text: "do I take an umbrella?", Limit: 1})
		if got, want := names(a), "forecast"; got != want || a.Fault != nil {
			t.Errorf("got %q, %v, want %q", got, a.Fault, want)
		}
		if got, want := a.Hits[0].Why(), "meaning 1.00"; got != want {
			t.Errorf("Why() = %q, want %q", got, want)
		}
	})
	t.Run("Q4 an embedder that fails leaves words", func(t *testing.T) {
		t.Parallel()
		e := senses()
		x := meaningful(t, e)
		e.Queries = func(context.Context, []string) ([][]float32, error) { return nil, errors.New("no network") }
		a := x.Search(t.Context(), search.Query{Text: "send a message", Limit: 1})
		if got, want := names(a), "send"; got != want || a.Fault == nil {
			t.Errorf("got %q, %v, want %q and a fault", got, a.Fault, want)
		}
	})
	t.Run("Q4 documents that cannot be embedded are found by words", func(t *testing.T) {
		t.Parallel()
		e := senses()
		e.Documents = func(context.Context, []search.Document) ([][]float32, error) { return nil, nil }
		x := &search.Index{Embedder: e}
		err := x.Set(t.Context(), "all", doc("send", "Send a message."))
		if err == nil || !strings.Contains(err.Error(), "got 0 vectors, want 1") {
			t.Errorf("got %v, want how many vectors are missing", err)
		}
		if got, want := names(x.Search(t.Context(), search.Query{Text: "message"})), "send"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("Q4 a document that is not taken costs no other its meaning", func(t *testing.T) {
		t.Parallel()
		e := senses()
		e.Batch = 64
		e.Documents = func(ctx context.Context, docs []search.Document) (all [][]float32, err error) {
			for _, d := range docs {
				if d.Name == "odd" {
					return nil, errors.New("odd is too long")
				}
				one, err := senses().Documents(ctx, []search.Document{d})
				if err != nil {
					return nil, err
				}
				all = append(all, one...)
			}
			return all, nil
		}
		x := &search.Index{Embedder: e}
		docs := []search.Document{doc("odd", "Odd.")}
		for i := range 40 {
			docs = append(docs, doc(fmt.Sprintf("sum_%d", i), "Add numbers."))
		}
		docs = append(docs, doc("odd", "Odd again."), doc("forecast", "The weather."))
		docs[1].Name, docs[1].ID = "odd", "odd2"
		set(t, x, "all", docs...)
		asked := 0
		e.Documents = func(context.Context, []search.Document) ([][]float32, error) {
			asked++
			return nil, errors.New("asked again")
		}
		if err := x.Embed(t.Context()); err != nil || asked > 0 {
			t.Errorf("got %v, asked %d times again, want none: it was refused", err, asked)
		}
		if a := x.Search(t.Context(), search.Query{Text: "umbrella", Limit: 1}); names(a) != "forecast" {
			t.Errorf("got %q, want forecast", names(a))
		}
	})
	t.Run("Q4 one that is down is not tried for each document", func(t *testing.T) {
		t.Parallel()
		e, asked := senses(), 0
		e.Documents = func(context.Context, []search.Document) ([][]float32, error) {
			asked++
			return nil, errors.New("down")
		}
		x := &search.Index{Embedder: e}
		var docs []search.Document
		for i := range 100 {
			docs = append(docs, doc(fmt.Sprintf("sum_%d", i), "Add numbers."))
		}
		if err := x.Set(t.Context(), "all", docs...); err == nil || asked > 3 {
			t.Errorf("got %v after %d times, want a few", err, asked)
		}
	})
	t.Run("Q4 many searches at once all know what is meant", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := senses()
			x := meaningful(t, e)
			means := e.Queries
			e.Queries = func(ctx context.Context, texts []string) ([][]float32, error) {
				time.Sleep(time.Millisecond) // so that all ask at once
				return means(ctx, texts)
			}
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					if a := x.Search(t.Context(), search.Query{Text: "umbrella"}); a.Fault != nil || names(a) != "forecast send" {
						t.Errorf("got %q, %v", names(a), a.Fault)
					}
				})
			}
			all.Wait()
		})
	})
	t.Run("Q4 who stops searching says nothing about the embedder", func(t *testing.T) {
		t.Parallel()
		x := meaningful(t, senses())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // which of the two is seen first is a matter of luck
			x.Search(ctx, search.Query{Text: "umbrella"})
		}
		if a := x.Search(t.Context(), search.Query{Text: "umbrella", Limit: 1}); a.Fault != nil || names(a) != "forecast" {
			t.Errorf("got %q, %v, want forecast", names(a), a.Fault)
		}
	})
	t.Run("Q4 vectors of another length and without a number mean nothing", func(t *testing.T) {
		t.Parallel()
		e := senses()
		x := meaningful(t, e)
		zero := float32(0)
		for _, v := range [][]float32{nil, {1}, {zero / zero, 1}, {0, 0}} {
			e.Queries = func(_ context.Context, texts []string) ([][]float32, error) {
				all := make([][]float32, len(texts))
				for i := range all {
					all[i] = v
				}
				return all, nil
			}
			if got, want := names(x.Search(t.Context(), search.Query{Text: "message", Limit: 1})), "send"; got != want {
				t.Errorf("with %v: got %q, want %q", v, got, want)
			}
		}
	})
}

// A source whose documents take long to embed does not keep those of others from
// being found by words.
func TestSlowDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := senses()
		wake := make(chan struct{})
		quick := e.Documents
		e.Documents = func(ctx context.Context, docs []search.Document) ([][]float32, error) {
			<-wake
			return quick(ctx, docs)
		}
		x := &search.Index{Embedder: e}
		var sets sync.WaitGroup
		for _, name := range []string{"forecast", "umbrella"} {
			sets.Go(func() { set(t, x, name, doc(name, "")) })
		}
		synctest.Wait()
		if got, want := names(x.Search(t.Context(), search.Query{Text: "forecast umbrella"})), "forecast umbrella"; got != want {
			t.Errorf("while vectors are made: got %q, want %q", got, want)
		}
		set2 := make(chan struct{})
		go func() { defer close(set2); set(t, x, "umbrella") }() // it goes while its vector is made
		synctest.Wait()
		close(wake)
		sets.Wait()
		<-set2
		a := x.Search(t.Context(), search.Query{Text: "rain"})
		if got, want := names(a), "forecast"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestSlowEmbedder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := senses()
		e.Wait = 200 * time.Millisecond
		x := meaningful(t, e)
		var asked atomic.Int32
		wake := make(chan struct{})
		e.Queries = func(context.Context, []string) ([][]float32, error) {
			asked.Add(1)
			<-wake // it does not heed its context
			return nil, nil
		}
		for range 3 {
			begun := time.Now()
			a := x.Search(t.Context(), search.Query{Text: "message", Limit: 1})
			if got := names(a); got != "send" || a.Fault == nil || time.Since(begun) > e.Wait {
				t.Errorf("got %q, %v after %v, want words to answer within %v", got, a.Fault, time.Since(begun), e.Wait)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once: it was left alone after that", n)
		}
		for range 40 {
			time.Sleep(time.Minute) // of the bubble
			x.Search(t.Context(), search.Query{Text: "message"})
		}
		if n := asked.Load(); n != 32 {
			t.Errorf("asked %d times while none was answered, want 32", n)
		}
		close(wake)
		synctest.Wait()
	})
}

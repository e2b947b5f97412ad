package store_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// heard collects ids.
type heard struct {
	mu   sync.Mutex
	ids  []string
	each chan string
}

func newHeard() *heard { return &heard{each: make(chan string, 1000)} }

func (h *heard) hear(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = append(h.ids, id)
	h.each <- id
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}

func (h *heard) wait(t *testing.T) string {
	t.Helper()
	select {
	case id := <-h.each:
		return id
	case <-time.After(10 * time.Second):
		t.Fatal("heard of no answer")
		return ""
	}
}

func TestStoreWatch(t *testing.T) {
	t.Parallel()
	askAll := func(t *testing.T, s *store.Store, ids ...string) {
		t.Helper()
		for _, id := range ids {
			ask(t, s, id, time.Now(), time.Hour)
		}
	}
	t.Run("P6 own answers are told before Answer returns, others soon, each once", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		one, two := open(t, path), open(t, path)
		h := newHeard()
		defer one.Watch(h.hear)()
		var want []string
		for i := range 5 {
			own, other := "own"+strconv.Itoa(i), "other"+strconv.Itoa(i)
			askAll(t, one, own, other)
			answer(t, two, other)
			answer(t, one, own)
			if got := h.all(); !slices.Contains(got, own) {
				t.Errorf("heard %q, want %s to be among them", got, own)
			}
			want = append(want, other, own)
			h.wait(t)
			h.wait(t)
		}
		askAll(t, one, "last")
		answer(t, two, "last")
		for h.wait(t) != "last" {
		}
		got, want := h.all(), append(want, "last")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	})
	t.Run("P6 nothing is lost between watching and looking", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		one, two := open(t, path), open(t, path)
		for i := range 10 {
			id := strconv.Itoa(i)
			askAll(t, one, id, "before"+id)
			answer(t, two, "before"+id)
			h := newHeard()
			stop := one.Watch(h.hear)
			answer(t, two, id) // at once
			if got := h.wait(t); got != id {
				t.Errorf("heard of %q, want %q", got, id)
			}
			stop()
		}
	})
	t.Run("P6 one who comes later hears only of later ones", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		one, two := open(t, path), open(t, path)
		askAll(t, one, "a", "b")
		early, late := newHeard(), newHeard()
		defer one.Watch(early.hear)()
		answer(t, two, "a")
		defer one.Watch(late.hear)()
		answer(t, two, "b")
		if got := late.wait(t); got != "b" {
			t.Errorf("heard of %q, want b", got)
		}
		early.wait(t)
		early.wait(t)
		if got := early.all(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("heard %q, want a b", got)
		}
	})
	t.Run("P6 nobody looks while nobody watches", func(t *testing.T) {
		t.Parallel()
		s := open(t, newPath(t))
		looks := func(want bool) {
			t.Helper()
			if s.Looking() != want {
				t.Errorf("looking: got %v, want %v", !want, want)
			}
		}
		looks(false)
		one := s.Watch(func(string) {})
		two := s.Watch(func(string) {})
		looks(true)
		one()
		looks(true)
		two()
		looks(false)
		s.Watch(func(string) {})
		looks(true)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		looks(false)
	})
	t.Run("P6 a watcher may stop, watch and answer while it is told", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		one, two := open(t, path), open(t, path)
		askAll(t, one, "a", "b")
		h := newHeard()
		ready := make(chan struct{})
		var stop func()
		stop = one.Watch(func(id string) {
			<-ready
			stop()
			_ = one.Watch(h.hear)
			if err := one.Answer(t.Context(), "b", policy.Answer{}); err != nil {
				t.Error(err)
			}
		})
		close(ready)
		answer(t, two, "a") // told by who looks
		if got := h.wait(t); got != "b" {
			t.Errorf("heard of %q, want b", got)
		}
	})
}

package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

func openedAt(t *testing.T, path string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.OpenAt(t.Context(), path, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSweepKeepsWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	t.Run("J2 a call of which it is not known is not forgotten, however old it is", func(t *testing.T) {
		t.Parallel()
		path, now := newPath(t), time.Now()
		clock := func() time.Time { return now }
		s := openedAt(t, path, clock)
		if _, err := s.Begin(t.Context(), call("a", 0)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil { // it ends, and nobody knows
			t.Fatal(err)
		}
		now = now.Add(91 * 24 * time.Hour)
		s = openedAt(t, path, clock)
		other := call("b", 0)
		other.Place.Session = "another"
		if _, err := s.Begin(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begin(t.Context(), call("a2", 0)); !errors.Is(err, durable.ErrBegun) {
			t.Errorf("the call begins a second time: %v, want %v", err, durable.ErrBegun)
		}
	})
	t.Run("J2 a call that runs keeps its record when the clock is set right", func(t *testing.T) {
		t.Parallel()
		now := time.Unix(0, 0)
		s := openedAt(t, newPath(t), func() time.Time { return now })
		if _, err := s.Begin(t.Context(), call("a", 0)); err != nil {
			t.Fatal(err)
		}
		now = time.Now() // a machine without a clock has asked for the time
		if _, err := s.Begin(t.Context(), call("b", 1)); err != nil {
			t.Fatal(err)
		}
		if err := s.End(t.Context(), durable.Ending{ID: "a", Attempt: 1, Result: &tool.Result{}}); err != nil {
			t.Errorf("its end: %v", err)
		}
	})
}

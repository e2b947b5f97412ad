package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestAskerGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	asks, other := open(t, path), open(t, path)
	now := time.Now()
	for _, q := range []policy.Question{
		{ID: "here", Here: true, Asked: now, Expires: now.Add(time.Hour)},
		{ID: "answered", Here: true, Asked: now, Expires: now.Add(time.Hour)},
		{ID: "anywhere", Asked: now, Expires: now.Add(time.Hour)},
	} {
		if err := asks.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	pending := func(want ...string) {
		t.Helper()
		list, err := other.Pending(t.Context())
		if err != nil || len(list) != len(want) {
			t.Fatalf("got %v, %v, want %v", list, err, want)
		}
		for i, q := range list {
			if q.ID != want[i] {
				t.Errorf("got %s, want %s", q.ID, want[i])
			}
		}
	}
	t.Run("P6 while who asked is there, others can answer", func(t *testing.T) {
		pending("here", "answered", "anywhere")
		answer(t, other, "answered")
		if a, err := asks.Use(t.Context(), "answered", ""); err != nil || !a.Allow {
			t.Errorf("got %v, %v, want the yes", a, err)
		}
	})
	if err := asks.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("P6 what nobody goes on with is over with who asked", func(t *testing.T) {
		pending("anywhere")
		if err := other.Answer(t.Context(), "here", policy.Answer{Allow: true, By: "ada"}); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("got %v, want %v", err, policy.ErrExpired)
		}
		if _, err := other.Find(t.Context(), "here"); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("got %v, want %v", err, policy.ErrExpired)
		}
	})
	t.Run("P6 what others go on with stays", func(t *testing.T) {
		answer(t, other, "anywhere")
		if _, err := other.Use(t.Context(), "anywhere", ""); err != nil {
			t.Error(err)
		}
	})
}

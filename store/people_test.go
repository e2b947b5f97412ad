package store_test

import (
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/store"
)

func TestJournalOdd(t *testing.T) {
	t.Parallel()
	t.Run("U1 what a person says of a call is on the record", func(t *testing.T) {
		t.Parallel()
		for _, done := range []bool{true, false} {
			path := newPath(t)
			s := open(t, path)
			if _, err := s.Begin(t.Context(), call("a", 0)); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path)
			if err := s.Resolve(t.Context(), "a", done, "ada", "I looked"); err != nil {
				t.Fatal(err)
			}
			found := false
			for l, err := range s.Entries(t.Context(), store.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(l.Line, "ada")
			}
			if !found {
				t.Errorf("done %t: the log does not say who said so", done)
			}
		}
	})
}

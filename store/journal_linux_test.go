package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
)

func TestJournalDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("J4 a full disk: no call begins or is done; then it goes on", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		mount(t, "tmpfs", dir, "tmpfs", 0, "size=1m")
		s, err := store.Open(t.Context(), filepath.Join(dir, "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		r := begin(t, s, call("a", 0))
		filler := stuff(t, dir)
		wantNot(t, s, r, "the disk is full: make room in "+dir)
		var wait sync.WaitGroup
		for i := range 20 { // together
			wait.Go(func() {
				if _, err := s.Begin(t.Context(), call(fmt.Sprint("many", i), 100+i)); err == nil || !strings.Contains(err.Error(), "the disk is full") {
					t.Errorf("got %v, want that the disk is full", err)
				}
			})
		}
		wait.Wait()
		if !live(t, s, "a") {
			t.Error("it is gone, though it runs")
		}
		if err := os.Truncate(filler, 0); err != nil {
			t.Fatal(err)
		}
		end(t, s, r)
		end(t, s, begin(t, s, call("b", 1)))
		if list, err := s.Open(t.Context(), durable.Place{}); err != nil || len(list) != 0 {
			t.Errorf("got %+v, %v, want nothing that runs", list, err)
		}
	})
}

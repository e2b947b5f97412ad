package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
)

// childJournals has the journal of a store. For each line it is told it says what
// became of it: "begin ID PLACE" begins a call and leaves it, "run KEY PLACE" makes
// a call whose effect is a line in a file.
func childJournals(ctx context.Context, path string) error {
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	err = commands(func(text string) error {
		var what, name string
		var place int
		if _, err := fmt.Sscan(text, &what, &name, &place); err != nil {
			return err
		}
		if what == "begin" {
			_, err := s.Begin(ctx, call(name, place))
			fmt.Println("begun", err)
			return nil
		}
		said, err := run(ctx, s, path+".effects", name, place)
		fmt.Println(said)
		return err
	})
	return errors.Join(err, s.Close())
}

// run makes a call with a key, as a runtime does.
func run(ctx context.Context, s *store.Store, effects, key string, place int) (string, error) {
	r := keyed(fmt.Sprint(os.Getenv(childName), "-", key, "-", place), place)
	r.Key = key
	for {
		had, err := s.Begin(ctx, r)
		switch {
		case err == nil:
			f, err := os.OpenFile(effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return "", err
			}
			_, err = fmt.Fprintln(f, key)
			err = errors.Join(err, f.Close(), s.End(ctx, durable.Ending{ID: r.ID, Attempt: had.Attempt, Result: said("sent")}))
			return "ran", err
		case !errors.Is(err, durable.ErrBegun):
			return "", err
		case had.State == durable.Done:
			return "joined", nil
		}
		if _, err := s.Wait(ctx, had.ID); err != nil && !errors.Is(err, durable.ErrNotFound) {
			return "", err
		}
	}
}

func TestJournalOfManyProcesses(t *testing.T) {
	t.Parallel()
	t.Run("J1 of two processes one runs each key", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		const calls = 40
		all := []*process{start(t, "journal", path, "first"), start(t, "journal", path, "second")}
		for i := range calls {
			for n, p := range all {
				p.say(t, fmt.Sprintf("run key%d %d", i, 2*i+n))
			}
		}
		words := make(map[string]int)
		for _, p := range all {
			for range calls {
				words[p.line()]++
			}
			p.end(t)
		}
		text, err := os.ReadFile(path + ".effects")
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if n := strings.Count("\n"+string(text), fmt.Sprintf("\nkey%d\n", i)); n != 1 {
				t.Errorf("key%d ran %d times, want 1", i, n)
			}
		}
		if words["ran"] != calls || words["joined"] != calls {
			t.Errorf("got %v, want %d that ran and as many that joined", words, calls)
		}
	})
}

// live is whether the one call that is open has its process.
func live(t *testing.T, s *store.Store, id string) bool {
	t.Helper()
	list, err := s.Open(t.Context(), durable.Place{})
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].State != durable.Running {
		t.Fatalf("got %+v, %v, want %s alone", list, err, id)
	}
	return list[0].Live
}

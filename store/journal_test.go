package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		tooltest.Journal(t, func(t *testing.T) (durable.Journal, func() durable.Journal) {
			path := newPath(t)
			s := open(t, path)
			return s, func() durable.Journal {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, path)
				return s
			}
		})
	})
	t.Run("taken for gone", func(t *testing.T) {
		t.Parallel()
		tooltest.Journal(t, func(t *testing.T) (durable.Journal, func() durable.Journal) {
			path := newPath(t)
			return open(t, path), func() durable.Journal {
				removeOwners(t, path)
				return open(t, path)
			}
		})
	})
}

// owners are the files of who has begun calls.
func owners(t *testing.T, path string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(path+"-owners", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func removeOwners(t *testing.T, path string) {
	t.Helper()
	for _, name := range owners(t, path) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// call is a record of a turn.
func call(id string, index int) durable.Record {
	return durable.Record{Place: durable.Place{Principal: "ada", Session: "s", Turn: 1, Index: index}, ID: id, Tool: "send", Given: "given", Began: time.Now()}
}

func keyed(id string, index int) durable.Record {
	r := call(id, index)
	r.Key, r.Digest, r.Repeats = "key", "digest", true
	return r
}

func begin(t *testing.T, s *store.Store, r durable.Record) durable.Record {
	t.Helper()
	got, err := s.Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func said(text string) *tool.Result { return &tool.Result{Content: []tool.Content{tool.Text(text)}} }

func end(t *testing.T, s *store.Store, r durable.Record) {
	t.Helper()
	if err := s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: r.Attempt, Result: said("sent")}); err != nil {
		t.Fatal(err)
	}
}

func TestJournalStale(t *testing.T) {
	t.Parallel()
	t.Run("J2 who was taken for gone is refused everything", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		r := begin(t, s, keyed("a", 0))
		removeOwners(t, path)
		for name, err := range map[string]error{
			"end":        s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: r.Attempt}),
			"begin":      func() error { _, err := s.Begin(t.Context(), call("b", 1)); return err }(),
			"synced end": s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: r.Attempt, Sync: true}),
		} {
			if !errors.Is(err, durable.ErrStale) {
				t.Errorf("%s: got %v, want %v", name, err, durable.ErrStale)
			}
		}
		other := open(t, path)
		list, err := other.Open(t.Context(), durable.Place{})
		if err != nil || len(list) != 1 || list[0].Live || list[0].State != durable.Running {
			t.Errorf("got %+v, %v, want a as it was, left behind", list, err)
		}
	})
	t.Run("J2 one whose file is another's is refused", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		r := begin(t, s, call("a", 0))
		name := owners(t, path)[0]
		if err := errors.Join(os.Rename(name, name+"x"), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: r.Attempt}); !errors.Is(err, durable.ErrStale) {
			t.Errorf("got %v, want %v", err, durable.ErrStale)
		}
	})
	t.Run("J2 one whose call was taken over is refused", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, other := open(t, path), open(t, path)
		r := begin(t, s, keyed("a", 0))
		name := owners(t, path)[0]
		if err := os.Rename(name, name+"x"); err != nil {
			t.Fatal(err)
		}
		second := begin(t, other, keyed("b", 0))
		if err := os.Rename(name+"x", name); err != nil { // as if it had never been away
			t.Fatal(err)
		}
		if err := s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: r.Attempt}); !errors.Is(err, durable.ErrStale) {
			t.Errorf("got %v, want %v", err, durable.ErrStale)
		}
		end(t, other, second)
	})
	t.Run("J2 files of who is gone are removed, those of who is there are not", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		begin(t, s, call("a", 0))
		left := owners(t, path)[0]
		dead := left[:len(left)-26] + strings.Repeat("A", 26)
		strange := left[:len(left)-26] + "notes"
		if err := errors.Join(os.WriteFile(dead, nil, 0o600), os.WriteFile(strange, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		other := open(t, path)
		begin(t, other, call("b", 1))
		got := owners(t, path)
		if len(got) != 3 || !reflect.DeepEqual(got[:1], []string{left}) && !reflect.DeepEqual(got[1:2], []string{left}) {
			t.Errorf("got %q, want %q, the other's and %q", got, left, strange)
		}
		if err := errors.Join(s.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
		if got := owners(t, path); len(got) != 1 || got[0] != strange {
			t.Errorf("got %q, want them to be gone", got)
		}
	})
}

func TestJournalTime(t *testing.T) {
	t.Parallel()
	t.Run("J1 a key answers for a day, whatever the clock does", func(t *testing.T) {
		t.Parallel()
		s, c := openAt(t, newPath(t))
		end(t, s, begin(t, s, keyed("a", 0)))
		for i, by := range []time.Duration{0, 23*time.Hour + 59*time.Minute, -100 * day, 100 * day} {
			c.move(by)
			if got, err := s.Begin(t.Context(), keyed("again", 1+i)); !errors.Is(err, durable.ErrBegun) || got.ID != "a" {
				t.Errorf("after %s: got %+v, %v, want a", by, got, err)
			}
		}
		c.move(time.Minute)
		begin(t, s, keyed("b", 100))
		if got, err := s.Begin(t.Context(), keyed("c", 101)); !errors.Is(err, durable.ErrBegun) || got.ID != "b" {
			t.Errorf("got %+v, %v, want b", got, err)
		}
	})
	t.Run("J2 a clock that goes back kills nobody", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, c := openAt(t, path)
		r := begin(t, s, call("a", 0))
		for _, by := range []time.Duration{-1000 * day, 2000 * day} {
			c.move(by)
			if list, err := open(t, path).Open(t.Context(), durable.Place{}); err != nil || len(list) != 1 || !list[0].Live {
				t.Errorf("after %s: got %+v, %v, want it to be live", by, list, err)
			}
		}
		end(t, s, r)
	})
	t.Run("J2 a call is forgotten after 90 days, but not one that nobody has said what became of", func(t *testing.T) {
		t.Parallel()
		s, c := openAt(t, newPath(t))
		end(t, s, begin(t, s, call("done", 0)))
		begin(t, s, call("running", 1))
		c.move(60 * day)
		end(t, s, begin(t, s, call("later", 2)))
		kept := func() string {
			t.Helper()
			got, err := s.RawText(t.Context(), "SELECT group_concat(id) FROM (SELECT id FROM calls ORDER BY number)")
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := kept(); got != "done,running,later" {
			t.Errorf("within 90 days: got %s", got)
		}
		c.move(31 * day)
		begin(t, s, call("last", 3)) // sweeps
		if got := kept(); got != "running,later,last" {
			t.Errorf("after 90 days: got %s", got)
		}
	})
}

func TestJournalLarge(t *testing.T) {
	t.Parallel()
	t.Run("J1 a result that is too large is done, not kept", func(t *testing.T) {
		t.Parallel()
		s := open(t, newPath(t))
		for i, tt := range []struct {
			size int
			kept bool
		}{{1 << 20, true}, {16<<20 + 1, false}} {
			r := begin(t, s, call(strings.Repeat("x", i+1), i))
			big := &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("y", tt.size))}}
			if err := s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: 1, Result: big}); err != nil {
				t.Fatal(err)
			}
			got, err := s.Wait(t.Context(), r.ID)
			if err != nil || got.State != durable.Done || (got.Result != nil) != tt.kept {
				t.Errorf("%d MiB: got %s, kept %v, %v, want it done, kept %v", tt.size>>20, got.State, got.Result != nil, err, tt.kept)
			}
		}
	})
}

func TestJournalDamage(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"J2 another argument":  `UPDATE calls SET call = replace(call, '"given"', '"Given"')`,
		"J2 another result":    `UPDATE calls SET outcome = replace(outcome, 'sent', 'lost')`,
		"J2 another place":     `UPDATE calls SET place = 7 WHERE id = 'b'`,
		"J2 another session":   `UPDATE calls SET session = 'S'`,
		"J2 another owner":     `UPDATE calls SET owner = '!' || substr(owner, 2)`,
		"J2 another attempt":   `UPDATE calls SET attempt = 9`,
		"J2 another id":        `UPDATE calls SET id = 'A' WHERE id = 'a'`,
		"J2 another key":       `UPDATE calls SET key = 'x' || substr(key, 2) WHERE key <> ''`,
		"J2 another's outcome": `UPDATE calls SET outcome = (SELECT outcome FROM calls WHERE id = 'b')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			end(t, s, begin(t, s, keyed("a", 0)))
			end(t, s, begin(t, s, call("b", 1)))
			if err := s.Raw(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path)
			if list, err := s.Calls(t.Context(), time.Time{}); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %+v, %v, want that it is damaged", list, err)
			}
			if _, err := s.Begin(t.Context(), call("c", 2)); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("from then on: got %v, want that it is damaged", err)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	begin(t, s, keyed("left", 0))
	begin(t, s, call("undone", 1))
	end(t, s, begin(t, s, call("done", 2)))
	removeOwners(t, path)
	s = open(t, path)
	begin(t, s, call("live", 3))
	for _, tt := range []struct{ name, id, by, want string }{
		{"J2 a call that nobody knows", "nobody", "ada", durable.ErrNotFound.Error()},
		{"J2 a call that is done", "done", "ada", "it is done since"},
		{"J2 a call whose process is there", "live", "ada", "its process is there"},
		{"J2 nobody says so", "left", " ", "want the name of the person"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, done := range []bool{true, false} {
				if err := s.Resolve(t.Context(), tt.id, done, tt.by, ""); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want it to say %q", err, tt.want)
				}
			}
		})
	}
	t.Run("J2 a call that was not done may run", func(t *testing.T) {
		if err := s.Resolve(t.Context(), "undone", false, "ada", "no mail"); err != nil {
			t.Fatal(err)
		}
		begin(t, s, call("again", 1))
	})
	t.Run("J2 a call that was done answers for its place and its key", func(t *testing.T) {
		if err := s.Resolve(t.Context(), "left", true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		for _, place := range []int{0, 10} {
			got, err := s.Begin(t.Context(), keyed("again", place))
			if !errors.Is(err, durable.ErrBegun) || got.ID != "left" || got.Result.String() != "A person says that this call was done." {
				t.Errorf("place %d: got %+v, %v, want what the person said", place, got, err)
			}
		}
	})
	t.Run("U1 what a person said is on the record, and nothing that was refused", func(t *testing.T) {
		var got []string
		for l, err := range s.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s by %s: %s", l.Entry.Kind, l.Entry.ID, l.Entry.By, l.Entry.Text))
		}
		if want := []string{"resolved undone by ada: it was not done: no mail", "resolved left by ada: it was done"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("J2 all are listed in their order", func(t *testing.T) {
		list, err := s.Calls(t.Context(), time.Now().Add(-time.Hour))
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != "left done live again again" {
			t.Errorf("got %q, %v", got, err)
		}
		if list, err := s.Calls(t.Context(), time.Now().Add(time.Hour)); err != nil || len(list) != 0 {
			t.Errorf("of the future: got %+v, %v", list, err)
		}
	})
}

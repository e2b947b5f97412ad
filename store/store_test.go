package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	tooltest.Inbox(t, func(t *testing.T) policy.Inbox { return open(t, newPath(t)) })
	tooltest.Ledger(t, func(t *testing.T) policy.Ledger { return open(t, newPath(t)) })
}

// newPath has every character in it that could be taken for something else.
func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "a store?mode=memory#%41&.db") }

// blank is the file of a new store, and the name of its log: to make one costs more
// than most tests do.
var blank = sync.OnceValues(func() (file, name []byte) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, nil
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "store.db")
	s, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, nil
	}
	text, err := s.RawText(context.Background(), "SELECT name FROM log_name")
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, nil
	}
	file, _ = os.ReadFile(path)
	return file, []byte(text)
})

// lay puts a new store where no file is, with a log of its own.
func lay(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	file, name := blank()
	if len(name) == 0 || bytes.Count(file, name) != 1 {
		t.Fatal("there is no new store to be copied")
	}
	own := make([]byte, len(name)/2)
	_, _ = rand.Read(own)
	if err := os.WriteFile(path, bytes.Replace(file, name, []byte(hex.EncodeToString(own)), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	lay(t, path)
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

func openAt(t *testing.T, path string) (*store.Store, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	lay(t, path)
	s, err := store.OpenAt(t.Context(), path, c.read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, c
}

// ask puts a question at a time. Its digest is that of its id.
func ask(t *testing.T, s *store.Store, id string, now time.Time, lasts time.Duration) {
	t.Helper()
	q := policy.Question{ID: id, Digest: "digest of " + id, Tool: "send", Input: `{"to":"` + id + `"}`, Asked: now}
	if lasts != 0 {
		q.Expires = now.Add(lasts)
	}
	if err := s.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func answer(t *testing.T, s *store.Store, id string) {
	t.Helper()
	if err := s.Answer(t.Context(), id, policy.Answer{Allow: true, By: "ada"}); err != nil {
		t.Fatal(err)
	}
}

func use(t *testing.T, s *store.Store, id string) {
	t.Helper()
	if a, err := s.Use(t.Context(), id, "digest of "+id); err != nil || !a.Allow {
		t.Fatalf("got %+v, %v", a, err)
	}
}

func TestStoreFile(t *testing.T) {
	t.Parallel()
	modes := func(t *testing.T, dir string, want int) {
		t.Helper()
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != want {
			t.Errorf("got the files %v, %v, want %d", names, err, want)
		}
		for _, name := range names {
			if info, err := name.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: got %v, %v, want mode 0600", name, info.Mode(), err)
			}
		}
	}
	t.Run("P6 only its user can read it", func(t *testing.T) {
		path := newPath(t)
		s := open(t, path)
		ask(t, s, "a", time.Now(), time.Hour)
		modes(t, filepath.Dir(path), 3) // with its log and its shared memory
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		modes(t, filepath.Dir(path), 1)
	})
	t.Run("P6 what others could read they can no longer", func(t *testing.T) {
		path := newPath(t)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		ask(t, open(t, path), "a", time.Now(), time.Hour)
		modes(t, filepath.Dir(path), 3)
	})
	t.Run("P6 everything survives a restart", func(t *testing.T) {
		path := newPath(t)
		s := open(t, path)
		for _, id := range []string{"open", "answered", "used"} {
			ask(t, s, id, time.Now(), time.Hour)
		}
		answer(t, s, "answered")
		answer(t, s, "used")
		use(t, s, "used")
		charge := []policy.Charge{{Key: "k", Calls: 1}}
		if full, _, err := s.Take(t.Context(), charge); full != -1 || err != nil {
			t.Fatal(full, err)
		}
		ada := policy.Asker{Principal: "ada", Session: "s"}
		if _, err := s.Grant(t.Context(), policy.Grant{Rule: "send", Caller: ada}); err != nil {
			t.Fatal(err)
		}
		state, err := s.Update(t.Context(), ada, func(s *policy.SessionState) error { s.Mode = policy.ModeRead; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		s = open(t, path)
		list, err := s.Pending(t.Context())
		if err != nil || len(list) != 1 || list[0].ID != "open" {
			t.Errorf("pending: got %+v, %v", list, err)
		}
		use(t, s, "answered")
		if _, err := s.Use(t.Context(), "used", "digest of used"); !errors.Is(err, policy.ErrUsed) {
			t.Errorf("used: got %v", err)
		}
		if full, _, err := s.Take(t.Context(), charge); full != 0 || err != nil {
			t.Errorf("take: got %d, %v, want no room", full, err)
		}
		if all, err := s.Grants(t.Context(), ada); err != nil || len(all) != 1 {
			t.Errorf("grants: got %+v, %v", all, err)
		}
		if all, err := s.Sessions(t.Context()); err != nil || !slices.Equal(all, []policy.SessionState{state}) {
			t.Errorf("sessions: got %+v, %v, want %+v", all, err, state)
		}
	})
	t.Run("P6 two in one process", func(t *testing.T) {
		path := newPath(t)
		one, two := open(t, path), open(t, path)
		ask(t, one, "a", time.Now(), time.Hour)
		answer(t, two, "a")
		use(t, one, "a")
		if _, err := two.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrUsed) {
			t.Errorf("got %v, want %v", err, policy.ErrUsed)
		}
	})
	t.Run("P6 many open a new one at once", func(t *testing.T) {
		path := newPath(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := store.Open(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Pending(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Run("P6 after Close every method is an error", func(t *testing.T) {
		s := open(t, newPath(t))
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		refusesAll(t, s, "closed")
		s.Watch(func(string) {})()
	})
	t.Run("P6 a context that ended: an error, and nothing was done", func(t *testing.T) {
		s := open(t, newPath(t))
		ask(t, s, "a", time.Now(), time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Answer(ctx, "a", policy.Answer{Allow: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("answer: got %v, want %v", err, context.Canceled)
		}
		if _, err := s.Pending(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("pending: got %v, want %v", err, context.Canceled)
		}
		answer(t, s, "a")
	})
}

// refusesAll wants every method to be an error that says something, and no
// method to give anything away.
func refusesAll(t *testing.T, s *store.Store, says string) {
	t.Helper()
	ctx := t.Context()
	changed := false
	for name, f := range map[string]func() (any, error){
		"Ask": func() (any, error) { return nil, s.Ask(ctx, policy.Question{ID: "new"}) },
		"Answer": func() (any, error) {
			return nil, s.Answer(ctx, "open", policy.Answer{Allow: true})
		},
		"Use":     func() (any, error) { return s.Use(ctx, "answered", "digest of answered") },
		"Find":    func() (any, error) { return s.Find(ctx, "open") },
		"Pending": func() (any, error) { return s.Pending(ctx) },
		"Update": func() (any, error) {
			return s.Update(ctx, policy.Asker{}, func(*policy.SessionState) error { changed = true; return nil })
		},
		"Update, a look": func() (any, error) { return s.Update(ctx, policy.Asker{}, nil) },
		"Take": func() (any, error) {
			full, _, err := s.Take(ctx, []policy.Charge{{Key: "k", Calls: 10}})
			if full == -1 {
				return "room", err
			}
			return nil, err
		},
		"Take of nothing": func() (any, error) { _, _, err := s.Take(ctx, nil); return nil, err },
		"Grant":           func() (any, error) { return s.Grant(ctx, policy.Grant{Rule: "send"}) },
		"Grants":          func() (any, error) { return s.Grants(ctx, policy.Asker{}) },
		"Revoke":          func() (any, error) { return nil, s.Revoke(ctx, "r") },
		"Sessions":        func() (any, error) { return s.Sessions(ctx) },
		"Answered":        func() (any, error) { return s.Answered(ctx, time.Time{}) },
		"Begin":           func() (any, error) { return s.Begin(ctx, call("new", 100)) },
		"Wait":            func() (any, error) { return s.Wait(ctx, "running") },
		"Open":            func() (any, error) { return s.Open(ctx, durable.Place{}) },
		"Calls":           func() (any, error) { return s.Calls(ctx, time.Time{}) },
		"Call":            func() (any, error) { return s.Call(ctx, "running") },
		"Resolve":         func() (any, error) { return nil, s.Resolve(ctx, "running", true, "ada", "") },
	} {
		got, err := f()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, says)
		}
		if got != nil && !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: got %+v with the error", name, got)
		}
	}
	if changed {
		t.Error("Update has called change")
	}
}

func TestStoreForgets(t *testing.T) {
	t.Parallel()
	t.Run("P5 a late answer hears why for a day, then it is forgotten", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		for _, id := range []string{"expired", "answered"} {
			ask(t, s, id, c.read(), time.Hour)
		}
		answer(t, s, "answered")
		for _, id := range []string{"used", "withdrawn", "open"} { // those never expire
			ask(t, s, id, c.read(), 0)
		}
		answer(t, s, "used")
		use(t, s, "used")
		if err := s.Answer(t.Context(), "withdrawn", policy.Answer{Withdrawn: true}); err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct {
			move                  time.Duration
			expired, used, useOld error
		}{
			{time.Hour, policy.ErrExpired, policy.ErrAnswered, policy.ErrExpired},
			{22 * time.Hour, policy.ErrExpired, policy.ErrAnswered, policy.ErrExpired},
			{2*time.Hour + time.Second, policy.ErrNotAsked, policy.ErrNotAsked, policy.ErrNotAsked},
		} {
			c.move(at.move)
			ask(t, s, "at "+c.read().String(), c.read(), time.Minute) // sweeps
			for id, want := range map[string]error{"expired": at.expired, "used": at.used, "withdrawn": at.used} {
				if err := s.Answer(t.Context(), id, policy.Answer{Allow: true}); !errors.Is(err, want) {
					t.Errorf("at %s: answer to %s: got %v, want %v", c.read(), id, err, want)
				}
			}
			if _, err := s.Use(t.Context(), "answered", "digest of answered"); !errors.Is(err, at.useOld) {
				t.Errorf("at %s: use: got %v, want %v", c.read(), err, at.useOld)
			}
		}
		answer(t, s, "open")
	})
	t.Run("P5 what was found to have expired stays so when the clock goes back", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		ask(t, s, "open", c.read(), time.Hour)
		ask(t, s, "answered", c.read(), time.Hour)
		answer(t, s, "answered")
		c.move(2 * time.Hour)
		ask(t, s, "later", c.read(), time.Hour) // sweeps
		c.move(-90 * time.Minute)
		if err := s.Answer(t.Context(), "open", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("answer: got %v, want %v", err, policy.ErrExpired)
		}
		if _, err := s.Use(t.Context(), "answered", "digest of answered"); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("use: got %v, want %v", err, policy.ErrExpired)
		}
		if _, err := s.Find(t.Context(), "open"); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("find: got %v, want %v", err, policy.ErrExpired)
		}
		if list, err := s.Pending(t.Context()); err != nil || len(list) != 0 && list[0].ID == "open" {
			t.Errorf("pending: got %+v, %v", list, err)
		}
	})
	t.Run("P5 a clock that went back to before the asking: refused", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		ask(t, s, "open", c.read(), time.Hour)
		ask(t, s, "answered", c.read(), time.Hour)
		answer(t, s, "answered")
		hourly := []policy.Charge{{Key: "k", Calls: 1, Per: time.Hour}}
		if full, _, err := s.Take(t.Context(), hourly); full != -1 || err != nil {
			t.Fatal(full, err)
		}
		c.move(-time.Minute)
		if err := s.Answer(t.Context(), "open", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrClock) {
			t.Errorf("answer: got %v, want %v", err, policy.ErrClock)
		}
		if a, err := s.Use(t.Context(), "answered", "digest of answered"); !errors.Is(err, policy.ErrClock) || a.Allow {
			t.Errorf("use: got %+v, %v, want %v", a, err, policy.ErrClock)
		}
		if full, _, err := s.Take(t.Context(), hourly); !errors.Is(err, policy.ErrClock) || full == -1 {
			t.Errorf("take: got %d, %v, want %v", full, err, policy.ErrClock)
		}
		c.move(time.Minute)
		answer(t, s, "open")
		use(t, s, "answered")
	})
	t.Run("P6 nothing of a question that is over stays where it waited", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		for _, id := range []string{"used", "withdrawn", "expired"} {
			ask(t, s, id, c.read(), time.Minute)
		}
		answer(t, s, "used")
		use(t, s, "used")
		if err := s.Answer(t.Context(), "withdrawn", policy.Answer{Withdrawn: true}); err != nil {
			t.Fatal(err)
		}
		c.move(2 * time.Minute)
		ask(t, s, "new", c.read(), time.Minute) // sweeps
		if got, err := s.RawText(t.Context(), `SELECT group_concat(id) FROM questions WHERE body <> ''`); err != nil || got != "new" {
			t.Errorf("kept whole: got %q, %v, want new", got, err)
		}
		if got, err := s.RawText(t.Context(), `SELECT group_concat(id) FROM answers WHERE question <> ''`); err != nil || got != "used" {
			t.Errorf("kept for history: got %q, %v, want used", got, err)
		}
	})
	t.Run("P9 counters that are empty again are forgotten, budgets are not", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		for range 2 {
			if _, _, err := s.Take(t.Context(), []policy.Charge{{Key: "rate", Calls: 9, Per: time.Minute}, {Key: "budget", Calls: 9}}); err != nil {
				t.Fatal(err)
			}
		}
		c.move(time.Hour)
		if _, _, err := s.Take(t.Context(), nil); err != nil { // sweeps
			t.Fatal(err)
		}
		if got, err := s.RawText(t.Context(), `SELECT group_concat(key || calls) FROM counters`); err != nil || got != "budget2" {
			t.Errorf("got %q, %v, want budget2", got, err)
		}
	})
}

func TestStoreAnswered(t *testing.T) {
	t.Parallel()
	t.Run("P5 what people answered is kept for thirty days", func(t *testing.T) {
		s, c := openAt(t, newPath(t))
		for _, id := range []string{"b", "a", "withdrawn", "open", "no"} {
			ask(t, s, id, c.read(), 0)
		}
		answer(t, s, "b")
		c.move(time.Hour)
		answer(t, s, "a")
		edited := policy.Answer{By: "bob", Reason: "no", Input: []byte(`{"to": "c"}`)}
		if err := errors.Join(s.Answer(t.Context(), "no", edited), s.Answer(t.Context(), "withdrawn", policy.Answer{Withdrawn: true})); err != nil {
			t.Fatal(err)
		}
		use(t, s, "a")
		ids := func(since time.Time) (list []string) {
			t.Helper()
			all, err := s.Answered(t.Context(), since)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range all {
				list = append(list, a.Question.ID)
				if a.Question.Input != `{"to":"`+a.Question.ID+`"}` || a.Used != (a.Question.ID == "a") || a.At.Location() != time.UTC {
					t.Errorf("got %+v", a)
				}
				if a.Question.ID == "no" && !reflect.DeepEqual(a.Answer, edited) {
					t.Errorf("got %+v, want %+v", a.Answer, edited)
				}
			}
			return list
		}
		if got := ids(time.Time{}); !slices.Equal(got, []string{"b", "a", "no"}) {
			t.Errorf("got %q, want b a no", got)
		}
		if got := ids(c.read()); !slices.Equal(got, []string{"a", "no"}) {
			t.Errorf("since the second: got %q, want a no", got)
		}
		c.move(30*24*time.Hour - time.Hour + time.Second)
		for range 2 { // shown no more, then swept
			if got := ids(time.Time{}); !slices.Equal(got, []string{"a", "no"}) {
				t.Errorf("after thirty days: got %q, want a no", got)
			}
			ask(t, s, "new", c.read(), time.Minute)
		}
		c.move(30 * 24 * time.Hour)
		ask(t, s, "newer", c.read(), time.Minute)
		// The answers that nobody has used yet, and which have no end, stay.
		if got, err := s.RawText(t.Context(), `SELECT group_concat(id) FROM (SELECT id FROM answers ORDER BY id)`); err != nil || got != "b,no" {
			t.Errorf("kept: got %q, %v, want b,no", got, err)
		}
		use(t, s, "b")
	})
}

func TestStoreDirectory(t *testing.T) {
	t.Parallel()
	t.Run("P6 a directory is not made for it", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "no", "such")
		_, err := store.Open(t.Context(), filepath.Join(dir, "store.db"))
		if err == nil || !strings.Contains(err.Error(), "there is no directory "+dir) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want none", err)
		}
	})
}

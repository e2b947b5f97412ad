package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// lab is a world in this process whose disk fails. What its tools do is written
// somewhere else.
type lab struct {
	*world
	path   string // of the store
	did    effects
	n      int
	during func() // what happens while the next tool runs
}

func newLab(t *testing.T, dir string) *lab {
	t.Helper()
	l := &lab{path: filepath.Join(dir, storeFile)}
	l.did = effects{path: filepath.Join(t.TempDir(), effectsFile), meet: func(string) {
		if f := l.during; f != nil {
			l.during = nil
			f()
		}
	}}
	l.open(t)
	t.Cleanup(func() { _ = l.close(context.Background()) })
	return l
}

// open opens the store, as a process does that starts.
func (l *lab) open(t *testing.T) {
	t.Helper()
	var err error
	l.did.life++
	if l.world, err = openWorld(t.Context(), l.path, l.did); err != nil {
		t.Fatal(err)
	}
}

// kinds is one call of each kind, with names that nobody had before.
func (l *lab) kinds() []step {
	var all []step
	for _, name := range slices.Sorted(maps.Keys(traits())) {
		all = append(all, l.one(name))
	}
	return all
}

func (l *lab) one(name string) step {
	l.n++
	return step{ID: fmt.Sprint("call", l.n), Tool: name, input: input{Line: fmt.Sprint("line", l.n), On: "a"}}
}

// do runs calls in one turn; number 0: a new one.
func (l *lab) do(t *testing.T, number int, steps ...step) (turn int, results []tool.Result) {
	t.Helper()
	began := l.runtime.Session(session()).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{Number: number})
	for _, s := range steps {
		began.Add(s.call())
	}
	results = began.Wait()
	if len(results) != len(steps) {
		t.Fatalf("got %d results, want %d", len(results), len(steps))
	}
	for i, s := range steps {
		if results[i].CallID != s.ID {
			t.Errorf("%s %s: got the result of %q", s.Tool, s.ID, results[i].CallID)
		}
	}
	return began.Number(), results
}

// ran is the runs of a call.
func (l *lab) ran(t *testing.T, s step) (of []*ran) {
	t.Helper()
	runs, _, err := readEffects(l.did.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.line == s.effect() {
			of = append(of, r)
		}
	}
	return of
}

// works wants every kind of call to run as ever.
func (l *lab) works(t *testing.T) {
	t.Helper()
	steps := l.kinds()
	_, results := l.do(t, 0, steps...)
	for i, s := range steps {
		if n := len(l.ran(t, s)); results[i].Err != nil || n != 1 {
			t.Errorf("%s: ran %d times and got %v", s.Tool, n, results[i].Err)
		}
	}
}

// refuses wants calls to fail, and no tool to run whose begin could not be kept.
// Each error says why to the operator.
func (l *lab) refuses(t *testing.T, why ...string) {
	t.Helper()
	for _, steps := range [][]step{l.kinds(), {l.one("mark")}, {l.one("order")}} {
		_, results := l.do(t, 0, steps...)
		for i, s := range steps {
			n, err := len(l.ran(t, s)), results[i].Err
			switch {
			case s.trait().reads: // it has no record; what it found may be withheld
				if err == nil && n != 1 {
					t.Errorf("%s: ran %d times and got %v", s.Tool, n, err)
				}
			case err == nil || n > 0:
				t.Errorf("%s: ran %d times and got %v, want it refused", s.Tool, n, err)
			case !slices.ContainsFunc(why, func(w string) bool { return strings.Contains(err.Error(), w) }):
				t.Errorf("%s: got %v, want it to say one of %q", s.Tool, err, why)
			case slices.ContainsFunc(append(why, l.path), func(w string) bool { return strings.Contains(results[i].String(), w) }):
				t.Errorf("%s: the model reads %q, which is for the operator", s.Tool, results[i])
			}
		}
	}
}

// keeps wants what is said of a call whose end could not be kept to be what is
// kept: not done, and not known.
func (l *lab) cut(t *testing.T, what string, fault func()) (turn int, s step) {
	t.Helper()
	s = l.one(what)
	l.during = fault
	turn, results := l.do(t, 0, s)
	if n := len(l.ran(t, s)); n != 1 {
		t.Fatalf("%s: ran %d times, want once", what, n)
	}
	if err := results[0].Err; err == nil || err.Kind != tool.OutcomeUnknown {
		t.Errorf("%s: its end could not be kept, and got %v %v, want %s", what, results[0], err, tool.OutcomeUnknown)
	}
	return turn, s
}

func TestStoreRemoved(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"the store": "", "its log": "-wal"} {
		t.Run("J4 "+name+" is removed while it is in use: nothing runs", func(t *testing.T) {
			t.Parallel()
			l := newLab(t, t.TempDir())
			l.works(t)
			if err := os.Remove(l.path + end); err != nil {
				t.Fatal(err)
			}
			l.refuses(t, "gone", "removed")
		})
	}
	t.Run("J4 the store is removed while a tool runs: nothing is said to be done", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, t.TempDir())
		l.works(t)
		l.cut(t, "mark", func() {
			if err := os.Remove(l.path); err != nil {
				t.Error(err)
			}
		})
		l.refuses(t, "gone", "removed")
	})
	t.Run("J4 the store is closed: nothing runs", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, t.TempDir())
		l.works(t)
		if err := l.store.Close(); err != nil {
			t.Fatal(err)
		}
		l.refuses(t, "closed")
	})
}

// A call that was done is never run again because the file that says so is
// damaged, and no result is another's.
func TestStoreDamaged(t *testing.T) {
	t.Parallel()
	const page = 4096
	l := newLab(t, t.TempDir())
	steps := append(l.kinds(), l.kinds()...)
	number, want := l.do(t, 0, steps...)
	l.works(t)
	if err := l.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	// resume starts with a damaged file, and goes on with the turn if it can.
	resume := func(t *testing.T, damaged []byte) (refused bool) {
		t.Helper()
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(l.path + end)
		}
		if err := os.WriteFile(l.path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		l.did.life++
		w, err := openWorld(t.Context(), l.path, l.did)
		if err != nil {
			if !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "no database") {
				t.Errorf("got %v, want it to say what is wrong", err)
			}
			return true
		}
		l.world = w
		_, results := l.do(t, number, steps...)
		_ = l.close(t.Context())
		for i, s := range steps {
			got := results[i]
			if s.trait().reads {
				continue
			}
			if n := len(l.ran(t, s)); n != 1 {
				t.Fatalf("%s was done, and ran %d times; now it got %v", s.Tool, n, got)
			}
			if got.Err == nil && got.String() != want[i].String() {
				t.Errorf("%s: got %q, want %q or an error", s.Tool, got, want[i])
			}
			refused = refused || got.Err != nil
		}
		return refused
	}
	t.Run("J2 the file is whole", func(t *testing.T) {
		if resume(t, whole) {
			t.Error("refused")
		}
	})
	t.Run("J2 a page is damaged, whichever it is", func(t *testing.T) {
		for at := 0; at < len(whole); at += page {
			damaged := slices.Clone(whole)
			for i := range 200 {
				damaged[at+i] = 0xa5
			}
			if !resume(t, damaged) {
				t.Logf("page %d: nobody noticed, and nothing was wrong", at/page+1)
			}
		}
	})
	t.Run("J4 pages are damaged while they are in use", func(t *testing.T) {
		if resume(t, whole) {
			t.Fatal("refused")
		}
		l.open(t)
		f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for at := page; at < len(whole); at += page {
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 200), int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		// Closing a file takes the locks of the process on it away: it stays open.
		t.Cleanup(func() { f.Close() })
		for range 3 {
			calls := l.kinds()
			_, results := l.do(t, 0, calls...)
			for i, s := range calls {
				n, err := len(l.ran(t, s)), results[i].Err
				switch {
				case s.trait().reads:
				case err == nil && n != 1, err != nil && n != 0 && err.Kind != tool.OutcomeUnknown:
					t.Errorf("%s: ran %d times and got %v", s.Tool, n, err)
				}
			}
		}
		_ = l.close(t.Context())
		if w, err := openWorld(t.Context(), l.path, l.did); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("opened again: got %v, want it to be found", err)
			if err == nil {
				_ = w.close(t.Context())
			}
		}
	})
	t.Run("J2 a byte of a record is another", func(t *testing.T) {
		var places []int
		for _, word := range []string{session().Session, "mark", "call3", steps[0].ID} {
			for at := strings.Index(string(whole), word); at >= 0; {
				places = append(places, at)
				next := strings.Index(string(whole[at+1:]), word)
				if at += next + 1; next < 0 {
					break
				}
			}
		}
		rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		// Most places are of pages that are free, or of what need not be read: of a few
		// it may by chance be all.
		refused, tried := 0, min(len(places), max(80, 4**rounds))
		for _, at := range places[:tried] {
			damaged := slices.Clone(whole)
			damaged[at] ^= 1
			if resume(t, damaged) {
				refused++
			}
		}
		t.Logf("%d changed bytes, %d refused", tried, refused)
		if refused == 0 {
			t.Error("no change was noticed")
		}
	})
}

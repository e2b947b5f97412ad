package tooltest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/memory"
)

// Region checks a region of memory, and its operations if it is a [memory.Store].
// Each call of open gives a region that holds something, and a function that
// changes what it holds as a stranger would: for numbers from 0 to 9, each time to
// something that it has not held before.
func Region(t *testing.T, open func(t *testing.T) (r memory.Region, change func(n int))) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(r regions)
	}{
		{"G7 the fingerprint tells of every change", regions.hash},
		{"G7 a snapshot names what is changed", regions.changed},
		{"G7 a snapshot is restored whole", regions.restore},
		{"G7 of two snapshots each is what it was", regions.two},
		{"G7 a context that ended: an error", regions.ended},
		{"G7 many at once", regions.many},
		{"G7 operations: values come back", regions.values},
		{"G7 operations: each changes its key alone", regions.keys},
		{"G7 operations: what is not there", regions.nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, change := open(t)
			tt.test(regions{t, r, change})
		})
	}
}

// regions is a region under test.
type regions struct {
	*testing.T
	memory.Region
	change func(n int)
}

func (r regions) now() string {
	r.Helper()
	hash, err := r.Hash(r.Context())
	if err != nil {
		r.Fatalf("Hash: %v", err)
	}
	return hash
}

func (r regions) snapshot() memory.Snapshot {
	r.Helper()
	s, err := r.Snapshot(r.Context())
	if err != nil {
		r.Fatalf("Snapshot: %v", err)
	}
	r.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.Errorf("Close: %v", err)
		}
	})
	if now := r.now(); s.Hash() != now {
		r.Errorf("hash of the snapshot = %q, that of the region %q", s.Hash(), now)
	}
	return s
}

// wantChanged wants a snapshot to name something, or nothing.
func (r regions) wantChanged(s memory.Snapshot, want bool) (names []string) {
	r.Helper()
	names, err := s.Changed(r.Context())
	if err != nil || (len(names) > 0) != want || !slices.IsSorted(names) {
		r.Errorf("Changed = %q, %v, want something: %v, sorted", names, err, want)
	}
	return names
}

func (r regions) wantRestored(s memory.Snapshot) {
	r.Helper()
	if err := s.Restore(r.Context()); err != nil {
		r.Fatalf("Restore: %v", err)
	}
	r.wantChanged(s, false)
	if now := r.now(); now != s.Hash() {
		r.Errorf("hash = %q when it was put back, want %q", now, s.Hash())
	}
}

func (r regions) hash() {
	seen := []string{r.now()}
	if again := r.now(); again != seen[0] {
		r.Errorf("hash = %q, want %q: nothing was changed", again, seen[0])
	}
	for n := range 10 {
		r.change(n)
		now := r.now()
		if slices.Contains(seen, now) {
			r.Errorf("hash = %q after change %d: it was that before", now, n)
		}
		seen = append(seen, now)
	}
}

func (r regions) changed() {
	s := r.snapshot()
	r.wantChanged(s, false)
	r.change(0)
	first := r.wantChanged(s, true)
	if again := r.wantChanged(s, true); !slices.Equal(first, again) {
		r.Errorf("Changed = %q, want %q again", again, first)
	}
	if len(slices.Compact(slices.Clone(first))) != len(first) {
		r.Errorf("Changed = %q, want each once", first)
	}
}

func (r regions) restore() {
	s := r.snapshot()
	r.wantRestored(s)
	for n := range 10 {
		r.change(n)
		r.wantRestored(s)
	}
	for n := range 10 {
		r.change(n)
	}
	r.wantRestored(s)
}

func (r regions) two() {
	first := r.snapshot()
	r.change(0)
	second := r.snapshot()
	r.change(1)
	r.wantRestored(first)
	r.wantChanged(second, true)
	r.wantRestored(second)
	r.wantChanged(first, true)
}

func (r regions) ended() {
	s := r.snapshot()
	r.change(0)
	was := r.now()
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	_, hash := r.Hash(ctx)
	other, snap := r.Snapshot(ctx)
	_, changed := s.Changed(ctx)
	for what, err := range map[string]error{"Hash": hash, "Snapshot": snap, "Changed": changed, "Restore": s.Restore(ctx)} {
		if err == nil {
			r.Errorf("%s: want an error", what)
		}
	}
	if other != nil && snap != nil {
		r.Error("Snapshot: got one with the error")
	}
	if now := r.now(); now != was {
		r.Error("it was restored though the context had ended")
	}
	r.wantRestored(s)
}

func (r regions) many() {
	s := r.snapshot()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			hash, err := r.Hash(r.Context())
			if err != nil || hash != s.Hash() {
				r.Errorf("Hash = %q, %v, want %q", hash, err, s.Hash())
			}
			other, err := r.Snapshot(r.Context())
			if err != nil {
				r.Errorf("Snapshot: %v", err)
				return
			}
			if names, err := other.Changed(r.Context()); err != nil || len(names) > 0 {
				r.Errorf("Changed = %q, %v, want nothing", names, err)
			}
			if err := other.Close(); err != nil {
				r.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
}

// store is the region with its operations.
func (r regions) store() memory.Store {
	s, ok := r.Region.(memory.Store)
	if !ok {
		r.Skip("it has no operations")
	}
	return s
}

func (r regions) values() {
	s := r.store()
	for _, value := range []string{"a", "", "\x00\xff", strings.Repeat("long ", 1000), "a"} {
		given := []byte(value)
		if err := s.Write(r.Context(), "suite-key", given); err != nil {
			r.Fatalf("Write: %v", err)
		}
		clear(given) // it is the caller's
		for range 2 {
			got, err := s.Read(r.Context(), "suite-key")
			if err != nil || string(got) != value {
				r.Errorf("Read = %s, %v, want %s", brief(string(got)), err, brief(value))
			}
			clear(got)
		}
	}
	if keys, err := s.Keys(r.Context()); err != nil || !slices.Contains(keys, "suite-key") || !slices.IsSorted(keys) {
		r.Errorf("Keys = %q, %v, want suite-key among them, sorted", keys, err)
	}
}

func (r regions) keys() {
	s := r.store()
	for _, key := range []string{"suite-key", "suite/in/a/key"} {
		was := r.snapshot()
		within := func(name string) bool { return name == key || name == "." || strings.HasPrefix(key, name+"/") }
		if err := s.Write(r.Context(), key, []byte("v")); err != nil {
			r.Fatalf("Write: %v", err)
		}
		names := r.wantChanged(was, true)
		if !slices.Contains(names, key) || slices.ContainsFunc(names, func(name string) bool { return !within(name) }) {
			r.Errorf("Write of %q changed %q, want that and what it is in", key, names)
		}
		there := r.snapshot()
		if err := s.Delete(r.Context(), key); err != nil {
			r.Fatalf("Delete: %v", err)
		}
		if names := r.wantChanged(there, true); !slices.Equal(names, []string{key}) {
			r.Errorf("Delete of %q changed %q, want that alone", key, names)
		}
		r.wantRestored(there)
		if got, err := s.Read(r.Context(), key); err != nil || string(got) != "v" {
			r.Errorf("Read = %q, %v, want v again", got, err)
		}
		r.wantRestored(was)
		if _, err := s.Read(r.Context(), key); !errors.Is(err, memory.ErrNotFound) {
			r.Errorf("Read: got error %v, want ErrNotFound", err)
		}
	}
}

func (r regions) nothing() {
	s := r.store()
	was := r.now()
	if _, err := s.Read(r.Context(), "suite/missing"); !errors.Is(err, memory.ErrNotFound) {
		r.Errorf("Read: got error %v, want ErrNotFound", err)
	}
	if err := s.Delete(r.Context(), "suite/missing"); err != nil {
		r.Errorf("Delete: %v, want none", err)
	}
	if now := r.now(); now != was {
		r.Error("Delete of what is not there has changed something")
	}
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	if s.Write(ctx, "suite-key", []byte("v")) == nil || s.Delete(ctx, "suite-key") == nil || r.now() != was {
		r.Error("Write and Delete after the end of the context: want errors, and no change")
	}
}

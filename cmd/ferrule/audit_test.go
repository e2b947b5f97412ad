package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// logged opens the store of a directory, with some entries on the record.
func logged(t *testing.T, dir string, names ...string) *store.Store {
	t.Helper()
	home := filepath.Join(dir, ".ferrule")
	if _, err := store.Home(home); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(home, "ferrule.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		happens(t, s, name)
	}
	return s
}

func happens(t *testing.T, s *store.Store, name string) {
	t.Helper()
	if _, err := s.Append(audit.Event{Kind: audit.Found, Time: time.Now(), Name: name}); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	t.Run("U1 what is exported can be verified with a head and its key", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := logged(t, dir, "a", "b\u202e", "c")
		all, _, code := try(t.Context(), dir, "audit", "export")
		if code != 0 || strings.ContainsRune(all, '\u202e') {
			t.Fatalf("got %d and %q", code, all)
		}
		write(t, filepath.Join(dir, "all"), all)
		if stdout, stderr, code := try(t.Context(), dir, "audit", "head", "--out", "head"); code != 0 {
			t.Fatalf("got %d, %s%s", code, stdout, stderr)
		}
		key, err := s.Key()
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]int{"all": statusDone, "cut": statusFailed} {
			write(t, filepath.Join(dir, "cut"), all[:strings.LastIndex(strings.TrimSpace(all), "\n")+1])
			stdout, stderr, code := try(t.Context(), dir, "audit", "verify", "--file", file, "--head", "head", "--key", key.String(), "--json")
			var v verdictJSON
			if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != want || v.Good != (want == statusDone) || len(v.Writers) != 1 {
				t.Errorf("%s: got %d and %s%s, want %d", file, code, stdout, stderr, want)
			}
		}
	})
	t.Run("U1 a store that is gone is missed by its head", func(t *testing.T) {
		t.Parallel()
		dir, other := t.TempDir(), t.TempDir()
		logged(t, dir, "a")
		if _, stderr, code := try(t.Context(), dir, "audit", "head", "--out", filepath.Join(other, "head")); code != 0 {
			t.Fatal(stderr)
		}
		_, stderr, code := try(t.Context(), other, "audit", "verify", "--head", "head")
		if code != statusUsage || !strings.Contains(stderr, "--key") {
			t.Errorf("got %d, %s, want that the key is to be named", code, stderr)
		}
		text, err := os.ReadFile(filepath.Join(other, "head"))
		if err != nil {
			t.Fatal(err)
		}
		head, err := audit.ParseHead(text)
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := try(t.Context(), other, "audit", "verify", "--head", "head", "--key", head.Key.String())
		if code != statusFailed || !strings.Contains(stdout, "nothing of it is there") {
			t.Errorf("got %d, %s%s, want that all is missing", code, stdout, stderr)
		}
	})
	t.Run("Y4 what happens and is wanted is printed as it happens, until the interrupt", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := logged(t, dir, "wanted 0", "wanted 1", "other")
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out, in := io.Pipe()
		p := &program{stdout: in, stderr: io.Discard, dir: dir, now: time.Now}
		ended := make(chan int, 1)
		go func() {
			ended <- p.run(ctx, []string{"audit", "follow", "--last", "1", "--text", "wanted", "--json"})
			_ = in.Close()
		}()
		lines := json.NewDecoder(out)
		for _, want := range []string{"wanted 1", "wanted 2", "wanted 3"} {
			if want != "wanted 1" {
				happens(t, s, "other")
				happens(t, s, want)
			}
			var e printed
			if err := lines.Decode(&e); err != nil || e.Tool != want {
				t.Errorf("got %+v, %v, want %s", e, err, want)
			}
		}
		interrupt()
		_ = out.Close() // nobody reads what it may still say
		if code := <-ended; code != statusInterrupted {
			t.Errorf("got %d, want %d", code, statusInterrupted)
		}
	})
	t.Run("U1 a call that is shown for programs", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := logged(t, dir, "x")
		if _, err := s.Append(audit.Event{Kind: audit.Started, Time: time.Now(), Request: &tool.Request{ID: "a-1.0", Name: "send"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		stdout, _, code := try(t.Context(), dir, "audit", "show", "a-1.0", "--json")
		var list []printed
		if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 || len(list) != 1 || list[0].Tool != "send" || list[0].Place != 2 {
			t.Errorf("got %d, %s, %v", code, stdout, err)
		}
	})
}

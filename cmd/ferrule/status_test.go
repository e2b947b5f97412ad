package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/store"

	"github.com/ferrule-dev/ferrule/policy"
)

// act does something when it is read from or written to.
type act struct {
	text bytes.Buffer
	do   func()
	err  error
}

func (a *act) Read([]byte) (int, error) {
	a.do()
	return 0, a.err
}

func (a *act) Write(b []byte) (int, error) {
	a.do()
	if a.err != nil {
		return 0, a.err
	}
	return a.text.Write(b)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	t.Run("Y4 interrupted before it began is 130", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, stderr, code := try(ctx, t.TempDir(), "approvals"); code != statusInterrupted || stderr != "ferrule: interrupted\n" {
			t.Errorf("got %d and %q, want 130", code, stderr)
		}
	})
	t.Run("Y4 interrupted while it looks at the store is 130", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		ctx, cancel := context.WithCancel(t.Context())
		var out, errs bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: func() time.Time {
			cancel() // doctor looks at the clock first
			return time.Now()
		}}
		if code := p.run(ctx, []string{"doctor"}); code != statusInterrupted || errs.String() != "ferrule: interrupted\n" {
			t.Errorf("got %d and %s%q, want 130", code, &out, errs.String())
		}
	})
	t.Run("Y4 interrupted while it reads standard input is 130", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		in, forever := io.Pipe()
		defer func() { _ = forever.Close() }()
		var out, errs bytes.Buffer
		began := &act{do: cancel, err: io.EOF}
		p := &program{stdin: io.MultiReader(began, in), stdout: &out, stderr: &errs, dir: t.TempDir(), now: time.Now}
		if code := p.run(ctx, []string{"policy", "explain", "--tool", "x", "--args", "-"}); code != statusInterrupted {
			t.Errorf("got %d and %s%s, want 130", code, &out, &errs)
		}
	})
	t.Run("Y4 interrupted when the answer is given already is 0", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		ctx, cancel := context.WithCancel(t.Context())
		var errs bytes.Buffer
		p := &program{stdout: &act{do: cancel}, stderr: &errs, dir: dir, now: time.Now}
		code := p.run(ctx, []string{"approvals", "allow", "q1"})
		if a, err := s.Use(t.Context(), "q1", "d"); code != 0 || err != nil || !a.Allow {
			t.Errorf("got %d, %+v, %v, %s, want it done", code, a, err, &errs)
		}
	})
	t.Run("Y4 what cannot be printed is 1", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"version"}, {"version", "--json"}, {"approvals"}, {"rules", "--json"}, {"completion", "bash"}, {"--help"}, {"policy", "show"}, {"tools"}, {"undo"}, {"call", "think", `{"thought":"x"}`}} {
			var errs bytes.Buffer
			p := &program{stdout: &act{do: func() {}, err: errors.New("no space left")}, stderr: &errs, dir: t.TempDir(), now: time.Now, helper: helper}
			if code := p.run(t.Context(), args); code != statusFailed || !strings.Contains(errs.String(), "no space left") {
				t.Errorf("%v: got %d and %q, want 1 and why", args, code, errs.String())
			}
		}
	})
}

func TestHome(t *testing.T) {
	t.Parallel()
	t.Run("Y2 a home that others can write is refused, also where the store is there", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" {
			t.Skip("there are no such rights")
		}
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		home := filepath.Join(dir, ".ferrule")
		for _, mode := range []os.FileMode{0o777, 0o750, 0o701} {
			if err := os.Chmod(home, mode); err != nil {
				t.Fatal(err)
			}
			if _, stderr, code := try(t.Context(), dir, "approvals", "allow", "q1"); code != statusFailed || !strings.Contains(stderr, "then chmod 700 it") {
				t.Errorf("%s: got %d and %q, want 1 and what to do", mode, code, stderr)
			}
			if _, err := store.Home(home); err == nil {
				t.Errorf("%s: got no error", mode)
			}
		}
		if _, err := s.Use(t.Context(), "q1", "d"); !errors.Is(err, policy.ErrWaiting) {
			t.Errorf("got %v, want that nobody has answered", err)
		}
	})
	t.Run("Y2 a home and another place for the store are not both meant", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ferrule.yaml"), "store: {path: one.db}\n")
		if _, stderr, code := try(t.Context(), dir, "approvals", "--home", "other"); code != statusUsage || !strings.Contains(stderr, "leave one of them out") {
			t.Errorf("got %d and %q, want 2", code, stderr)
		}
		if _, stderr, code := try(t.Context(), dir, "approvals"); code != 0 {
			t.Errorf("got %d and %q", code, stderr)
		}
	})
	t.Run("Y1 a configuration without an end is 2", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat("/dev/zero"); err != nil {
			t.Skip(err)
		}
		for _, args := range [][]string{{"approvals"}, {"policy", "check"}, {"policy", "check", "/dev/zero"}} {
			if _, stderr, code := try(t.Context(), t.TempDir(), append(args, "--config", "/dev/zero")...); code != statusUsage || stderr == "" {
				t.Errorf("%v: got %d and %q, want 2", args, code, stderr)
			}
		}
	})
}

func TestDanglingConfiguration(t *testing.T) {
	t.Run("Y1 a ferrule.yaml that leads nowhere is an error, not the defaults", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink("gone.yaml", filepath.Join(dir, "ferrule.yaml")); err != nil {
			t.Skipf("no links here: %v", err)
		}
		for _, args := range [][]string{{"policy", "check"}, {"policy", "show"}, {"approvals"}} {
			out, errs, code := try(t.Context(), dir, args...)
			if code != 2 || !strings.Contains(errs, "leads nowhere") {
				t.Errorf("%q: got %d, %q, %q, want 2 and why", args, code, out, errs)
			}
		}
	})
}

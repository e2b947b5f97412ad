package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct{ pkg, name string }

// fuzz finds every fuzz target of the module and runs one after the other for
// the given time. The first finding ends it: go has then written the input
// into testdata, and the tests fail until it is mended.
func fuzz(ctx context.Context, out io.Writer, each time.Duration) error {
	list, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", "./...").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -list: %w\n%s", err, list)
	}
	targets, err := readTargets(bytes.NewReader(list))
	if err != nil {
		return err
	}
	for _, t := range targets {
		start := time.Now()
		text, err := t.run(ctx, each)
		tried, ok := effort(text)
		if err == nil && !ok {
			err = errors.New("tried no input")
		}
		if err != nil {
			fmt.Fprintln(out, text)
			return fmt.Errorf("%s in %s: %w", t.name, t.pkg, err)
		}
		fmt.Fprintf(out, "ok  %6.1f s  %s  %s: %s\n", time.Since(start).Seconds(), t.pkg, t.name, tried)
	}
	fmt.Fprintf(out, "%d targets, no finding\n", len(targets))
	return nil
}

// readTargets reads the output of go test -list: the names of a package's
// functions, one a line, then the line of the package itself. No target at all
// is an error, because a search that finds nothing to run always succeeds.
func readTargets(r io.Reader) ([]target, error) {
	var (
		all   []target
		names []string
	)
	in := bufio.NewScanner(r)
	for in.Scan() {
		f := strings.Fields(in.Text())
		switch {
		case len(f) == 1 && strings.HasPrefix(f[0], "Fuzz"):
			names = append(names, f[0])
		case len(f) >= 2 && f[0] == "ok":
			for _, n := range names {
				all = append(all, target{f[1], n})
			}
			names = nil
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("go test -list: %s belongs to no package", strings.Join(names, ", "))
	}
	if len(all) == 0 {
		return nil, errors.New("got no fuzz target, want at least one")
	}
	return all, nil
}

// run fuzzes one target. It tries again, twice at most, when only the clock of
// the fuzzing engine failed.
func (t target) run(ctx context.Context, each time.Duration) (string, error) {
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$",
			"-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), t.pkg)
		text, err := cmd.CombinedOutput()
		if err == nil || try == 3 || ctx.Err() != nil || !clockOnly(string(text)) {
			return string(text), err
		}
	}
}

// clockOnly reports whether a run failed without a finding: up to Go 1.26 the
// engine sometimes takes the end of its own time for an error of the target
// (go.dev/issue/75804). A finding always says where its input was written, and
// a failing seed prints more than this one line.
func clockOnly(text string) bool {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "--- FAIL: Fuzz") {
			continue
		}
		return i+2 < len(lines) &&
			strings.TrimSpace(lines[i+1]) == "context deadline exceeded" &&
			strings.TrimSpace(lines[i+2]) == "FAIL" &&
			!strings.Contains(text, "Failing input written")
	}
	return false
}

// effort is what the engine said last about how much it tried, if it tried
// anything: a target that skips itself passes and says nothing. Where many
// inputs are kept from earlier runs, a short one may not get beyond trying these
// again, which the engine calls gathering baseline coverage.
func effort(text string) (tried string, ok bool) {
	for line := range strings.Lines(text) {
		if n := numberAfter(line, "gathering baseline coverage: "); n > 0 {
			tried, ok = fmt.Sprintf("%d known inputs", n), true
		}
		if n := numberAfter(line, "execs: "); n > 0 {
			tried, ok = fmt.Sprintf("%d inputs", n), true
		}
	}
	return tried, ok
}

// numberAfter is the number that stands behind mark in line; 0: none.
func numberAfter(line, mark string) int {
	_, after, _ := strings.Cut(line, mark)
	end := len(after) - len(strings.TrimLeft(after, "0123456789"))
	n, err := strconv.Atoi(after[:end])
	if err != nil {
		return 0
	}
	return n
}

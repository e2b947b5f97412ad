package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct{ pkg, name string }

// fuzz finds every fuzz target of the module and runs one after the other for
// the given time. The first finding ends it: go has then written the input
// into testdata, and the tests fail until it is mended. A target that did too
// little is a failure too: it would be taken for one that found nothing.
//
// With report a finding is printed with its input, and the run goes on: what a
// random search finds says nothing about the change at hand. Targets that do not
// build, or whose seeds fail, end it all the same.
//
// Each run begins with the seeds. What earlier runs have kept is not read: it
// grows, and trying it again would in the end take all of the time.
func fuzz(ctx context.Context, out io.Writer, each time.Duration, report bool) error {
	list, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", "./...").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -list: %w\n%s", err, list)
	}
	targets, err := readTargets(bytes.NewReader(list))
	if err != nil {
		return err
	}
	kept, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(kept) }()
	found := 0
	for _, t := range targets {
		start := time.Now()
		text, tried, err := t.run(ctx, each, filepath.Join(kept, t.pkg))
		switch path := finding(text); {
		case err == nil:
			fmt.Fprintf(out, "ok  %6.1f s  %s  %s: %d inputs\n", time.Since(start).Seconds(), t.pkg, t.name, tried)
		case report && path != "" && ctx.Err() == nil:
			found++
			fmt.Fprintln(out, text)
			fmt.Fprintln(out, t.tell(ctx, path))
		default:
			fmt.Fprintln(out, text)
			return fmt.Errorf("%s in %s: %w", t.name, t.pkg, err)
		}
	}
	if found > 0 {
		fmt.Fprintf(out, "%d targets, FOUND IN %d, NOT GATING: keep each input as a seed and mend it\n", len(targets), found)
		return nil
	}
	fmt.Fprintf(out, "%d targets, no finding\n", len(targets))
	return nil
}

// finding is where go has written an input that it found, from the package's
// folder; "": it found none, and what failed is a seed or the build.
func finding(text string) string {
	for line := range strings.Lines(text) {
		if _, path, ok := strings.Cut(line, "Failing input written to "); ok {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// tell says what was found, with the input itself: the folder of a CI run is gone
// before anybody looks.
func (t target) tell(ctx context.Context, path string) string {
	input := "(its file cannot be read)"
	if dir, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", t.pkg).Output(); err == nil {
		if b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path)); err == nil {
			input = string(b)
		}
	}
	return fmt.Sprintf("#### %s in %s: found, not gating: keep it as a seed and mend it\n#### %s:\n%s\n####", t.name, t.pkg, path, strings.TrimSpace(input))
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

// run fuzzes one target, and counts what it tried beyond the seeds. It tries
// again, twice at most and for twice as long, when only the clock of the fuzzing
// engine failed or too little was done: a busy machine may take long for the seeds.
func (t target) run(ctx context.Context, each time.Duration, kept string) (text string, tried int, err error) {
	for try := 1; ; each, try = 2*each, try+1 {
		// An input that reaches something new is not made smaller, beyond one try:
		// the engine may spend all of its time on that.
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$",
			"-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), "-fuzzminimizetime", "1x", t.pkg, "-args", "-test.fuzzcachedir="+kept)
		out, err := cmd.CombinedOutput()
		text = string(out)
		again := clockOnly(text)
		if err == nil {
			tried, err = effort(text, each)
			again = err != nil
		}
		if !again || try == 3 || ctx.Err() != nil {
			return text, tried, err
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

// leastTried is how many inputs beyond its seeds a target has to try.
const leastTried = 100

// effort is how many inputs were tried beyond the known ones, by what the engine
// said. It is an error where they are too few, or where the engine stood still for
// half of the time at the end: a target that skips itself, or that hangs, passes.
func effort(text string, each time.Duration) (tried int, err error) {
	var known, all int
	var grew, end time.Duration // when it tried something for the last time, and said something
	for line := range strings.Lines(text) {
		known = max(known, numberAfter(line, "gathering baseline coverage: "))
		if at, ok := elapsed(line); ok {
			end = at
		}
		if n := numberAfter(line, "execs: "); n > all {
			all, grew = n, end
		}
	}
	tried = max(all-known, 0)
	switch {
	case tried < leastTried:
		return tried, fmt.Errorf("tried %d inputs beyond %d known ones in %s, want %d at least", tried, known, each, leastTried)
	case end-grew >= each/2:
		return tried, fmt.Errorf("tried nothing for the last %s of %s", end-grew, each)
	}
	return tried, nil
}

// elapsed is the time that a line of the engine begins with.
func elapsed(line string) (time.Duration, bool) {
	_, after, ok := strings.Cut(line, "elapsed: ")
	word, _, comma := strings.Cut(after, ",")
	d, err := time.ParseDuration(word)
	return d, ok && comma && err == nil
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

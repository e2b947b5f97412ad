package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// test runs the tests in dir, prints a line for each package as it ends, and
// fails when a test fails, a package takes longer than limit, or there was no
// test at all. The arguments in more are passed on to go test.
func test(ctx context.Context, out io.Writer, dir string, limit time.Duration, more []string) (*suite, error) {
	if err := compile(ctx, dir); err != nil {
		return nil, err
	}
	var slow []string
	s, err := goTest(ctx, dir, more, func(s *suite, p *report) {
		p.print(out, s.builds)
		if p.slow(limit) {
			slow = append(slow, p.name)
		}
	})
	if err != nil {
		return nil, err
	}
	c := s.count()
	fmt.Fprintln(out, c)
	for _, name := range s.failures(mostNamed) {
		fmt.Fprintf(out, "  %s\n", name)
	}
	return s, judge(c, slow, limit)
}

// packageLimit is the most that a package's tests may take. In CI other work
// runs on the same cores.
func packageLimit(ci string) time.Duration {
	if ci == "true" {
		return 120 * time.Second
	}
	return 45 * time.Second
}

// compile builds all tests without running them: what a compiler takes from the
// cores is not the time of the tests that run beside it. Its faults are told by
// the run of the tests, which says more.
func compile(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"list", "-test", "-export", "-deps"}, raced(), []string{"./..."})...)
	cmd.Dir = dir
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return fmt.Errorf("go list: %w", err)
	}
	return nil
}

// mostNamed is how many failures are named again at the end: what each printed
// stands above, perhaps far above.
const mostNamed = 20

// failures names what failed or did not end, with its package, n at most.
func (s *suite) failures(n int) []string {
	var names []string
	for _, p := range s.packages {
		if p.verdict != failed {
			continue
		}
		before := len(names)
		for _, t := range p.tests {
			switch t.verdict {
			case failed:
				names = append(names, "failed: "+p.name+" "+t.name)
			case unfinished:
				names = append(names, "did not end: "+p.name+" "+t.name)
			case passed, skipped:
			}
		}
		if len(names) == before {
			names = append(names, "failed: "+p.name)
		}
	}
	if more := len(names) - n; more > 0 {
		names = append(names[:n], fmt.Sprintf("and %d more", more))
	}
	return names
}

// judge says why a run is not good, or nil.
func judge(c counts, slow []string, limit time.Duration) error {
	switch {
	case c.failed > 0:
		return fmt.Errorf("%d failed", c.failed)
	case len(slow) > 0:
		return fmt.Errorf("over %s: %s", limit, strings.Join(slow, ", "))
	case c.passed == 0:
		return fmt.Errorf("got no passing test, want at least one")
	}
	return nil
}

// slow reports whether the package took longer than limit in this run. The
// time of a cached one is that of an earlier day and perhaps other load.
func (p *report) slow(limit time.Duration) bool {
	return !p.cached && p.elapsed > limit
}

// print writes one line for the package, then what was skipped and why, then
// what failed with everything that it printed.
func (p *report) print(out io.Writer, builds map[string][]string) {
	state, took := "ok  ", fmt.Sprintf("%.1f s", p.elapsed.Seconds())
	switch {
	case p.verdict == failed:
		state = "FAIL"
	case len(p.tests) == 0:
		state, took = "none", "no tests"
	case p.cached:
		took = "cached"
	}
	fmt.Fprintf(out, "%s  %8s  %s\n", state, took, p.name)
	for _, t := range p.tests {
		if t.verdict == skipped {
			fmt.Fprintf(out, "      skipped: %s: %s\n", t.name, reason(t.output))
		}
	}
	if p.verdict != failed {
		return
	}
	for _, t := range p.tests {
		switch t.verdict {
		case failed:
			fmt.Fprintf(out, "      failed: %s\n", t.name)
		case unfinished:
			fmt.Fprintf(out, "      did not end: %s\n", t.name)
		default:
			continue
		}
		writeLines(out, t.output)
	}
	writeLines(out, p.output)
	writeLines(out, builds[p.build])
}

// reason is the text given to t.Skip: all that a skipped test printed.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		if line = strings.TrimSpace(line); line != "" && !frame(line) {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// mostLines is how much of what one test printed is shown. A test that timed out
// prints where each goroutine was, the ones that matter first.
const mostLines = 500

func writeLines(out io.Writer, lines []string) {
	if more := len(lines) - mostLines; more > 0 {
		defer fmt.Fprintf(out, "        … and %d more lines\n", more)
		lines = lines[:mostLines]
	}
	for _, line := range lines {
		if !frame(strings.TrimSpace(line)) {
			fmt.Fprintf(out, "        %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

// frame reports whether go wrote the line to say that a test began, went on or
// ended, which is printed here in another form.
func frame(line string) bool {
	for _, start := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// test runs the tests in dir, prints a line for each package as it ends, and
// fails when a test fails, a package takes longer than limit, or there was no
// test at all. The arguments in more are passed on to go test.
func test(ctx context.Context, out io.Writer, dir string, limit time.Duration, more []string) error {
	var slow []string
	s, err := goTest(ctx, dir, more, func(s *suite, p *report) {
		p.print(out, s.builds)
		if p.slow(limit) {
			slow = append(slow, p.name)
		}
	})
	if err != nil {
		return err
	}
	c := s.count()
	fmt.Fprintln(out, c)
	return judge(c, slow, limit)
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

func writeLines(out io.Writer, lines []string) {
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

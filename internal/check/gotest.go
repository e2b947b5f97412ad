package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64 // seconds
	ImportPath  string  // of build-output
	FailedBuild string  // the import path whose build-output explains a failure
}

// verdict is what became of a test or a package. The zero value is the strict
// one: what did not end did not pass.
type verdict string

const (
	unfinished verdict = ""
	passed     verdict = "pass"
	failed     verdict = "fail"
	skipped    verdict = "skip"
)

// result is a test or subtest, or a package with what it printed outside any
// test.
type result struct {
	name    string // of a test: TestX/sub; of a package: its import path
	verdict verdict
	elapsed time.Duration
	output  []string
}

// report is one package of a test run.
type report struct {
	result
	tests  []*result // in the order in which they started
	byName map[string]*result
	cached bool
	build  string // the import path that did not build, if that is why it failed
}

// suite is a whole test run.
type suite struct {
	packages []*report // in the order in which they ended
	builds   map[string][]string
}

// raced are the flags of a build with the race detector, which checks each
// pointer, too. It does not look inside SQLite and the C library below it: they
// are C in the shape of Go, take half of the time of all tests that open a store,
// and are not ours to mend. The driver around them is watched as all else is.
func raced() []string {
	return []string{
		"-race",
		"-gcflags=modernc.org/...=-d=checkptr=0",
		"-gcflags=modernc.org/sqlite/lib=-d=checkptr=0 -race=false",
		"-gcflags=modernc.org/libc/...=-d=checkptr=0 -race=false",
	}
}

// raceEnv has a program with the race detector end soon. By itself it waits a
// second, for races that are seen while it ends: in each package, and in each
// child of a test. What GORACE says already stands.
func raceEnv(environ []string) []string {
	for _, e := range environ {
		if strings.HasPrefix(e, "GORACE=") {
			return environ
		}
	}
	return append(environ, "GORACE=atexit_sleep_ms=50")
}

// goTest runs the tests with the race detector. All commands use this one, so
// that the second run is served from go's test cache. The error of a run with
// failing tests is not returned: the suite says it better.
func goTest(ctx context.Context, dir string, more []string, ended func(*suite, *report)) (*suite, error) {
	// A test that hangs is told long before go's own ten minutes are over.
	// And more tests of a package run at once than there are cores: many wait for a
	// child or a clock.
	args := slices.Concat([]string{"test", "-json", "-timeout", "4m", "-parallel", strconv.Itoa(2 * runtime.GOMAXPROCS(0))}, raced(), more)
	cmd := exec.CommandContext(ctx, "go", append(args, "./...")...)
	cmd.Dir = dir
	cmd.Env = raceEnv(os.Environ())
	cmd.Stderr = os.Stderr
	// Interrupted, not killed: go test then removes what it has built.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s, readErr := readEvents(pipe, ended)
	waitErr := cmd.Wait()
	if readErr != nil {
		return nil, readErr
	}
	var exit *exec.ExitError
	if waitErr != nil && (!errors.As(waitErr, &exit) || s.count().failed == 0) {
		return nil, fmt.Errorf("go test: %w", waitErr)
	}
	return s, nil
}

// readEvents reads the output of go test -json and calls ended, if it is not
// nil, for each package as it ends. Lines that are not events are an error:
// they would be results that nobody counts.
func readEvents(r io.Reader, ended func(*suite, *report)) (*suite, error) {
	s := &suite{builds: make(map[string][]string)}
	open := make(map[string]*report)
	in := bufio.NewReader(r) // not a Scanner: one line of output may be long
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if jsonErr := json.Unmarshal(line, &e); jsonErr != nil {
				return nil, fmt.Errorf("go test -json: got %q, want an event", line)
			}
			if p := s.add(open, e); p != nil && ended != nil {
				ended(s, p)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	for _, p := range open {
		return nil, fmt.Errorf("go test -json: %s did not end", p.name)
	}
	return s, nil
}

// add takes one event and returns the package that it ended, if it did.
func (s *suite) add(open map[string]*report, e event) *report {
	switch {
	case e.Action == "build-output":
		s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		return nil
	case e.Package == "":
		return nil
	}
	p := open[e.Package]
	if p == nil {
		p = &report{result: result{name: e.Package}, byName: make(map[string]*result)}
		open[e.Package] = p
	}
	to := &p.result
	if e.Test != "" {
		if to = p.byName[e.Test]; to == nil {
			to = &result{name: e.Test}
			p.byName[e.Test] = to
			p.tests = append(p.tests, to)
		}
	}
	switch e.Action {
	case "output":
		to.output = append(to.output, e.Output)
		if e.Test == "" && strings.HasPrefix(e.Output, "ok ") && strings.Contains(e.Output, "(cached)") {
			p.cached = true
		}
	case "pass", "fail", "skip":
		to.verdict = verdict(e.Action)
		to.elapsed = time.Duration(e.Elapsed * float64(time.Second))
		if e.Test == "" {
			p.build = e.FailedBuild
			delete(open, e.Package)
			s.packages = append(s.packages, p)
			return p
		}
	}
	return nil
}

// counts are tests and subtests together.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// count counts a package that failed without a failing test (it did not build,
// or something exited) as one failure, so that no failure has the number 0.
func (s *suite) count() counts {
	var sum counts
	for _, p := range s.packages {
		before := sum.failed
		for _, t := range p.tests {
			switch t.verdict {
			case passed:
				sum.passed++
			case skipped:
				sum.skipped++
			default:
				sum.failed++
			}
		}
		if p.verdict == failed && sum.failed == before {
			sum.failed++
		}
	}
	return sum
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// program is a package's tests, built to be fuzzed.
type program struct {
	pkg     string
	dir     string // where its files are, and where it runs
	targets []string
}

// fuzz finds every fuzz target of the module and runs one after the other for
// the given time. The first finding ends it: go has then written the input
// into testdata, and the tests fail until it is mended. A target that did too
// little is a failure too: it would be taken for one that found nothing.
//
// With report a finding is printed with its input, and the run goes on: what a
// random search finds says nothing about the change at hand. So it does where a
// target did not end in time. Targets that do not build, or whose seeds fail, end
// it all the same.
//
// Each run begins with the seeds. What earlier runs have kept is not read: it
// grows, and trying it again would in the end take all of the time.
func fuzz(ctx context.Context, out io.Writer, each time.Duration, report bool) error {
	list, err := exec.CommandContext(ctx, "go", "list", "-f", listFormat, "./...").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, list)
	}
	programs, err := readPrograms(bytes.NewReader(list))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	count, found := 0, 0
	for i, p := range programs {
		binary := filepath.Join(temp, strconv.Itoa(i)+".exe")
		start := time.Now()
		if text, err := p.build(ctx, binary); err != nil {
			fmt.Fprintln(out, text)
			return fmt.Errorf("%s: %w", p.pkg, err)
		}
		fmt.Fprintf(out, "    %6.1f s  %s  built\n", time.Since(start).Seconds(), p.pkg)
		for _, name := range p.targets {
			count++
			start := time.Now()
			text, tried, err := p.run(ctx, binary, name, each, filepath.Join(temp, "kept", strconv.Itoa(i)))
			switch path := finding(text); {
			case err == nil:
				fmt.Fprintf(out, "ok  %6.1f s  %s  %s: %d inputs\n", time.Since(start).Seconds(), p.pkg, name, tried)
			case report && ctx.Err() == nil && (path != "" || errors.Is(err, errEndless)):
				found++
				fmt.Fprintln(out, text)
				fmt.Fprintln(out, p.tell(name, path, err))
			default:
				fmt.Fprintln(out, text)
				return fmt.Errorf("%s in %s: %w", name, p.pkg, err)
			}
		}
		_ = os.Remove(binary) // each is large
	}
	if found > 0 {
		fmt.Fprintf(out, "%d targets, FOUND IN %d, NOT GATING: keep each input as a seed and mend it\n", count, found)
		return nil
	}
	fmt.Fprintf(out, "%d targets, no finding\n", count)
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
func (p program) tell(name, path string, err error) string {
	if path == "" {
		return fmt.Sprintf("#### %s in %s: %v: not gating: see what takes so long", name, p.pkg, err)
	}
	input := "(its file cannot be read)"
	if b, err := os.ReadFile(filepath.Join(p.dir, path)); err == nil {
		input = string(b)
	}
	return fmt.Sprintf("#### %s in %s: found, not gating: keep it as a seed and mend it\n#### %s:\n%s\n####", name, p.pkg, path, strings.TrimSpace(input))
}

// listFormat has go list print a package, its folder, and its test files.
const listFormat = "{{.ImportPath}}\t{{.Dir}}{{range .TestGoFiles}}\t{{.}}{{end}}{{range .XTestGoFiles}}\t{{.}}{{end}}"

// readPrograms reads what go list printed and finds the targets in the files: to
// ask go test for them would link the tests of every package. No target at all is
// an error, because a search that finds nothing to run always succeeds.
func readPrograms(r io.Reader) ([]program, error) {
	var all []program
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20) // a package may have many files
	for in.Scan() {
		f := strings.Split(in.Text(), "\t")
		if len(f) < 3 {
			continue
		}
		p := program{pkg: f[0], dir: f[1]}
		for _, file := range f[2:] {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range parsed.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fuzzes(fn) {
					p.targets = append(p.targets, fn.Name.Name)
				}
			}
		}
		if len(p.targets) > 0 {
			all = append(all, p)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("got no fuzz target, want at least one")
	}
	return all, nil
}

// fuzzes reports whether go takes a function for a fuzz target.
func fuzzes(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Fuzz") || len(fn.Type.Params.List) != 1 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	f, ok := star.X.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "F"
}

// build builds the tests once for all targets: to link them takes as long as to
// fuzz one.
func (p program) build(ctx context.Context, binary string) (text string, err error) {
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz", ".", "-o", binary, p.pkg).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("go test -c: %w", err)
	}
	return "", nil
}

// errEndless marks a target that was killed.
var errEndless = errors.New("it did not end in time and was killed")

// patience is how long a target may run beyond its time: an input that is tried is
// not interrupted.
const patience = 20 * time.Second

// run fuzzes one target, and counts what it tried beyond the seeds. It tries
// again, twice at most and for twice as long, when only the clock of the fuzzing
// engine failed or too little was done: a busy machine may take long for the seeds.
func (p program) run(ctx context.Context, binary, name string, each time.Duration, kept string) (text string, tried int, err error) {
	for try := 1; ; each, try = 2*each, try+1 {
		text, err = p.once(ctx, binary, name, each, each+patience, kept)
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

// once fuzzes one target one time, and kills it with its workers when it has not
// ended after most.
func (p program) once(ctx context.Context, binary, name string, each, most time.Duration, kept string) (text string, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, most, errEndless)
	defer cancel()
	// An input that reaches something new is not made smaller, beyond one try: the
	// engine may spend all of its time on that.
	cmd := exec.CommandContext(limited, binary, "-test.run", "^$", "-test.paniconexit0",
		"-test.fuzz", "^"+name+"$", "-test.fuzztime", each.String(), "-test.fuzzminimizetime", "1x", "-test.fuzzcachedir", kept)
	cmd.Dir = p.dir
	killTogether(cmd)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && errors.Is(context.Cause(limited), errEndless) {
		err = fmt.Errorf("%w, after %s", errEndless, most)
	}
	return string(out), err
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

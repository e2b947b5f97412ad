// Browser opens the console of a `ferrule up` in a real browser, does there what people
// do, and looks whether it is so.
//
//	go run . -ferrule PROGRAM -axe FILE [-shots DIR]
//
// It prints what it checked as JSON lines, the last one a summary, and exits with 1
// where something does not hold. With -shots it takes pictures of every page instead,
// light and dark, wide and narrow, empty and full, and looks at those.
//
// It is a module of its own: what drives the browser is no dependency of Ferrule, and
// takes long to compile.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

// world is what is looked at, and with what.
type world struct {
	program, chromium, axe, shots string
	dir                           string // removed at the end
	ends                          []func()
	score
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	w := &world{score: score{out: out}}
	flags := flag.NewFlagSet("browser", flag.ContinueOnError)
	flags.StringVar(&w.program, "ferrule", "", "the program")
	flags.StringVar(&w.axe, "axe", "", "axe.min.js of axe-core")
	flags.StringVar(&w.shots, "shots", "", "the folder that pictures are put into; none: the checks are run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		path *string
	}{{"-ferrule", &w.program}, {"-axe", &w.axe}} {
		if _, err := os.Stat(*f.path); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if *f.path, err = filepath.Abs(*f.path); err != nil {
			return err
		}
	}
	if w.chromium, err = exec.LookPath("chromium"); err != nil {
		return fmt.Errorf("chromium is missing: `make needs` installs it: %w", err)
	}
	if w.dir, err = os.MkdirTemp("", "ferrule-browser"); err != nil {
		return err
	}
	defer func() {
		w.rest()
		_ = os.RemoveAll(w.dir)
	}()
	start := time.Now()
	do := w.check
	if w.shots != "" {
		do = w.picture
	}
	if err := do(ctx); err != nil {
		w.hold("it ran to its end", false, err.Error())
	}
	w.print(map[string]any{"summary": map[string]any{"passed": w.passed, "failed": w.failed, "seconds": time.Since(start).Seconds()}})
	if w.failed > 0 {
		return fmt.Errorf("%d checks do not hold", w.failed)
	}
	return nil
}

// rest ends what still runs, and takes away what was made outside of the folder.
func (w *world) rest() {
	for _, end := range slices.Backward(w.ends) {
		end()
	}
	w.ends = nil
}

// score is what held.
type score struct {
	out            io.Writer
	passed, failed int
}

func (s *score) print(line map[string]any) {
	line["part"] = "console"
	text, err := json.Marshal(line)
	if err != nil {
		text = []byte(err.Error())
	}
	fmt.Fprintf(s.out, "%s\n", text)
}

// hold says whether something does, and what was seen.
func (s *score) hold(check string, ok bool, got any) {
	result := "passed"
	if ok {
		s.passed++
	} else {
		s.failed++
		result = "failed"
	}
	s.print(map[string]any{"check": check, "result": result, "got": got})
}

// within says whether a figure keeps its bound.
func (s *score) within(check string, got, most float64, unit string) {
	s.hold(check, got <= most, map[string]any{"got": got, "at most": most, "unit": unit})
}

// Command bench measures Ferrule as ratios to a floor: encoding/json decode,
// call and encode of the same six-field argument, in the same run, by CPU time.
//
//	go run . writes report.json and the tables in README.md
//	go run . -check only measures, and exits with 1 on a missed bound
//	go run . -only TEXT prints what works cost whose name has the text
//
// Without -check it also measures peers, Ferrule and other runtimes by the same
// turns, and observes what they do when something goes wrong. Nothing is
// required of them there.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/sandbox"
)

func main() {
	helper := sandbox.Enter()
	if task := os.Getenv(childEnv); task != "" {
		os.Exit(runChild(context.Background(), task, os.Stdout, os.Stderr))
	}
	os.Exit(run(os.Args[1:], helper, os.Stdout, os.Stderr))
}

// run reads the command line before anything is measured or written.
func run(args []string, helper sandbox.Helper, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing; exit with 1 when a bound is missed")
	only := flags.String("only", "", "write nothing; measure only works whose name has this `text`")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run . [-check] [-only text]")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "bench: got %q, want no arguments\n", flags.Args())
		flags.Usage()
		return 2
	}
	measure := func() error { return bench(context.Background(), helper, stdout, *check) }
	if *only != "" {
		measure = func() error { return some(context.Background(), stdout, *only) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// some measures works whose name has a text, next to the floor.
func some(ctx context.Context, out io.Writer, text string) error {
	list, err := allWorks(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, w := range list {
		if strings.Contains(w.name, text) {
			names = append(names, w.name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("only: got %q, want a part of the name of a work", text)
	}
	rows, err := measure(chosen(list, names), rounds, slice)
	if err == nil {
		fmt.Fprint(out, table(rows))
	}
	return err
}

func bench(ctx context.Context, helper sandbox.Helper, out io.Writer, check bool) error {
	s := newSuite(ctx, helper)
	if check {
		return checkBounds(out, s.measure)
	}
	own, err := s.measure(nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, own)
	others, err := measurePeers(ctx)
	if err != nil {
		return err
	}
	peers := peerTable(others)
	fmt.Fprintln(out, peers)
	behaviour, err := behaviourTable(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, behaviour)

	all := slices.Concat(own.rows, own.compared, own.refused, own.handled)
	for _, m := range others {
		all = append(append(all, m.one, m.ten), m.alone...)
	}
	report, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile("report.json", append(report, '\n'), 0o600); err != nil {
		return err
	}
	where := fmt.Sprintf("%s, %s/%s, %d cores.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, t := range []struct{ name, text string }{
		{"bench", where + own.String()}, {"peers", where + peers}, {"behaviour", behaviour},
	} {
		if err := updateReadme("README.md", t.name, t.text); err != nil {
			return err
		}
	}
	return nil
}

func comparisonTable(rows []row) string {
	var b strings.Builder
	b.WriteString("| compared | ratio | at most |\n|---|---|---|\n")
	for _, r := range rows {
		most := ""
		if r.most > 0 {
			most = fmt.Sprintf("%.2f", r.most)
		}
		fmt.Fprintf(&b, "| %s | %.3f | %s |\n", r.Name, r.Ratio, most)
	}
	return b.String()
}

func hostileTable(what string, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| hostile %s | ms (CPU) | at most | slowest |\n|---|---|---|---|\n", what)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.2f | %d | %s |\n", r.Name, r.NS/1e6, r.mostTime.Milliseconds(), r.step)
	}
	return b.String()
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| work | ns (CPU) | allocations | bytes | ratio to floor | at most |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		most := ""
		if r.most > 0 {
			most = fmt.Sprintf("%.2f", r.most)
		}
		if r.mostAllocs >= 0 {
			most += fmt.Sprintf(", %d allocations", r.mostAllocs)
		}
		fmt.Fprintf(&b, "| %s | %.0f | %d | %d | %.3f | %s |\n", r.Name, r.NS, r.Allocs, r.Bytes, r.Ratio, most)
	}
	return b.String()
}

// marks are the lines between which a table stands.
func marks(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->\n", "<!-- " + name + ": end -->"
}

// updateReadme puts the text between the marks of that name.
func updateReadme(path, name, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := marks(name)
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s: want the marks %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+text+end+tail), 0o600)
}

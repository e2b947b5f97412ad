// Command bench measures Ferrule as ratios to a floor: encoding/json decode,
// call and encode of the same six-field argument, in the same run, by CPU time.
//
//	go run . writes report.json and the tables in README.md
//	go run . -check only measures, and exits with 1 on a missed bound
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
	"time"
)

func main() {
	if task := os.Getenv(childEnv); task != "" {
		os.Exit(runChild(context.Background(), task, os.Stdout, os.Stderr))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run reads the command line before anything is measured or written.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing; exit with 1 when a bound is missed")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run . [-check]")
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
	if err := bench(context.Background(), stdout, *check); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func bench(ctx context.Context, out io.Writer, check bool) error {
	if check {
		return checkBounds(ctx, out)
	}
	own, err := measureOwn(ctx)
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

// checkBounds measures Ferrule, and once more what a busy moment of the machine
// may have made late: a bound is missed when it is missed twice.
func checkBounds(ctx context.Context, out io.Writer) error {
	var last []string
	for try := range 2 {
		own, err := measureOwn(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, own)
		missed := own.missed()
		if try > 0 {
			missed = slices.DeleteFunc(missed, func(m string) bool { return !slices.ContainsFunc(last, func(l string) bool { return sameBound(l, m) }) })
		}
		if len(missed) == 0 {
			return nil
		}
		last = missed
		fmt.Fprintf(out, "missed: %s\n\n", strings.Join(missed, "; "))
	}
	return fmt.Errorf("missed twice: %s", strings.Join(last, "; "))
}

// sameBound reports whether two lines are about one bound: they begin with its
// name.
func sameBound(a, b string) bool {
	a, _, _ = strings.Cut(a, ": ")
	b, _, _ = strings.Cut(b, ": ")
	return a == b
}

// ownFigures are all figures of Ferrule itself.
type ownFigures struct{ rows, compared, refused, handled []row }

func measureOwn(ctx context.Context) (f ownFigures, err error) {
	if f.rows, f.compared, err = figures(ctx); err != nil {
		return f, err
	}
	if f.refused, err = refusals(); err != nil {
		return f, err
	}
	f.handled, err = handlings()
	return f, err
}

func (f ownFigures) String() string {
	return table(f.rows) + "\n" + comparisonTable(f.compared) + "\n" + hostileTable("schema", f.refused) + "\n" + hostileTable("schema and value", f.handled)
}

// missed names every bound that does not hold.
func (f ownFigures) missed() []string {
	return slices.Concat(missed(f.rows), missed(f.compared), slow(f.refused), slow(f.handled))
}

// figures measures Ferrule: works against the floor, and works against each
// other.
func figures(ctx context.Context) (rows, compared []row, err error) {
	list, err := works(ctx)
	if err != nil {
		return nil, nil, err
	}
	more, err := runtimeWorks(ctx)
	if err != nil {
		return nil, nil, err
	}
	deciding, err := policyWorks(ctx)
	if err != nil {
		return nil, nil, err
	}
	scrubs, err := secretWorks(ctx)
	if err != nil {
		return nil, nil, err
	}
	if rows, err = measure(slices.Concat(list, more, deciding, scrubs), 12, 100*time.Millisecond); err != nil {
		return nil, nil, err
	}
	if compared, err = compare(rows); err != nil {
		return nil, nil, err
	}
	started, err := goroutines(ctx)
	if err != nil {
		return nil, nil, err
	}
	waited, err := wall(ctx)
	if err != nil {
		return nil, nil, err
	}
	kept, err := results(ctx)
	return rows, slices.Concat(compared, []row{started}, waited, kept, scrubbingTimes(rows)), err
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

// missed names every bound that does not hold.
func missed(rows []row) []string {
	var all []string
	for _, r := range rows {
		if r.most > 0 && r.Ratio > r.most {
			all = append(all, fmt.Sprintf("%s: ratio %.3f, want at most %.2f", r.Name, r.Ratio, r.most))
		}
		if r.mostAllocs >= 0 && r.Allocs > r.mostAllocs {
			all = append(all, fmt.Sprintf("%s: %d allocations, want at most %d", r.Name, r.Allocs, r.mostAllocs))
		}
	}
	return all
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

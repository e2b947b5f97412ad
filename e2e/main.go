// E2e runs the gateway as people do: real servers behind it, real clients and the
// official conformance suites in front of it.
//
//	go run ./e2e [-direct] [-runs N] [-calls N] [-every] [-only SERVER] [-by CLIENT]
//		[-minutes N] [-rate N] [-ferrule PROGRAM] [-data DIR] [install|PART...]
//
// The parts are conformance, guarded, client, elicit, approvals, servers, http, find, hour, losses, crowd,
// hostile, killed, soak, fast and first; without one all are run. Each prints what it checked as JSON lines, the last one a summary,
// and the program exits with 1 where something does not hold that must. What is
// known not to hold yet is printed as missed and counts for neither.
//
// The soak is a gateway that lives for -minutes with all that can happen to it at once;
// it is told apart from the rest, as only a long one shows what grows slowly: in the list
// of all parts it takes 40 s.
//
// -direct takes the gateway out: the same suites and clients, straight to the
// servers. That must hold by itself, or the harness is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is one thing that is tried.
type part struct {
	name string
	run  func(context.Context, *world, *score) error
}

func parts() []part {
	return []part{
		{"conformance", conformance},
		{"guarded", guarded},
		{"client", clientSuite},
		{"elicit", elicit},
		{"approvals", approvals},
		{"servers", servers},
		{"http", httpServers},
		{"find", find},
		{"hour", hour},
		{"losses", losses},
		{"crowd", crowd},
		{"hostile", hostile},
		{"killed", killed},
		{"soak", soak},
		{"fast", fast},
		{"first", firstMinutes},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	w := &world{log: log, tools: tools{dir: ".tools"}}
	flags := flag.NewFlagSet("e2e", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.BoolVar(&w.direct, "direct", false, "straight to the servers, without the gateway")
	flags.IntVar(&w.runs, "runs", 2, "how often each suite is run")
	flags.IntVar(&w.calls, "calls", 2000, "how many calls are measured; ten times that by a crowd, and a tenth of it is lost")
	flags.BoolVar(&w.every, "every", false, "the inspector makes every call, not only some of each server")
	flags.Float64Var(&w.minutes, "minutes", 0, "how long the soak lasts; 0: 40 s, which shows that it works and no more")
	flags.Float64Var(&w.rate, "rate", 16, "how many calls clients of the soak make a second")
	flags.StringVar(&w.only, "only", "", "of servers, http and hostile: only this server")
	flags.StringVar(&w.by, "by", "", "of servers and http: only this client: 2025, 2026 or inspector")
	flags.StringVar(&w.program, "ferrule", "", "the program; default: it is built")
	flags.StringVar(&w.data, "data", "../shared/data", "the folder of data sets")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, install, err := choose(flags.Args())
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.FromSlash("e2e/calls.mjs")); err != nil {
		return errors.New("run it in the root of the repository: that is where .tools is")
	}
	if w.tools.dir, err = filepath.Abs(w.tools.dir); err != nil {
		return err
	}
	if len(chosen) != 1 || chosen[0].name != "first" { // who has nothing but Go
		if err := w.tools.install(ctx, log); err != nil {
			return fmt.Errorf("install: what is missing:\n%w", err)
		}
	}
	if install {
		return nil
	}
	defer w.close() // also of a world that did not open
	if err := w.open(ctx); err != nil {
		return err
	}
	var faults []string
	for _, p := range chosen {
		start := time.Now()
		s := &score{part: p.name, out: out}
		if err := p.run(ctx, w, s); err != nil {
			s.fail("it ran to its end", err.Error())
		}
		w.rest() // what a part has left running
		s.summary(time.Since(start))
		for _, check := range s.faults {
			faults = append(faults, p.name+": "+check)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if len(faults) > 0 { // once more: they are far up in the output
		return fmt.Errorf("what does not hold:\n%s", strings.Join(faults, "\n"))
	}
	return nil
}

// choose finds the parts that are named; none: all.
func choose(names []string) (chosen []part, install bool, err error) {
	if len(names) == 1 && names[0] == "install" {
		return nil, true, nil
	}
	all := parts()
	if len(names) == 0 {
		return all, false, nil
	}
	var known []string
	for _, p := range all {
		known = append(known, p.name)
	}
	for _, n := range names {
		i := slices.Index(known, n)
		if i < 0 {
			return nil, false, fmt.Errorf("part: got %q, want install or some of %s", n, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, false, nil
}

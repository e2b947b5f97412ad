// Check runs the tests of this repository and judges what they say.
//
//	go run ./internal/check test [-C dir] [-limit 45s] [-rules] [-- go test flags]
//	go run ./internal/check rules
//	go run ./internal/check fuzz [-time 6s] [-report]
//
// It exists because the output of go test answers too few questions: which
// package is slow, what was skipped and why, which rule of docs/spec.md has a
// test. It uses the standard library only, so that it runs on a fresh clone
// before anything is downloaded. The Makefile calls it from the root of the
// repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

const usage = `usage: check test [-C dir] [-limit 45s] [-rules] [-- go test flags]
       check rules
       check fuzz [-time 6s] [-report]`

// errUsage marks a wrong command line, which exits with 2 instead of 1.
var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted:
		fmt.Fprintln(os.Stderr, "check: interrupted")
		os.Exit(130)
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "check:", err)
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// run reads the command line and writes what a person should see to out. Its
// error says in one line why the check did not hold.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: got no command, want test, rules or fuzz", errUsage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error below says it once
	switch args[0] {
	case "test":
		dir := flags.String("C", ".", "run in this directory")
		limit := flags.Duration("limit", packageLimit(os.Getenv("CI")), "the most a package may take")
		withRules := flags.Bool("rules", false, "fail, too, when a rule that is built has no test")
		if err := flags.Parse(args[1:]); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		s, err := test(ctx, out, *dir, *limit, flags.Args())
		if err != nil || !*withRules {
			return err
		}
		r, err := readRules(*dir)
		if err != nil {
			return err
		}
		return r.check(out, s)
	case "rules":
		if err := noMore(flags, args[1:]); err != nil {
			return err
		}
		return listRules(ctx, out, ".")
	case "fuzz":
		each := flags.Duration("time", 6*time.Second, "how long each target runs")
		report := flags.Bool("report", false, "print what is found, and go on")
		if err := noMore(flags, args[1:]); err != nil {
			return err
		}
		return fuzz(ctx, out, *each, *report)
	}
	return fmt.Errorf("%w: got command %q, want test, rules or fuzz", errUsage, args[0])
}

// noMore parses flags of a command that takes no other arguments.
func noMore(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: %s takes no argument, got %q", errUsage, flags.Name(), flags.Arg(0))
	}
	return nil
}

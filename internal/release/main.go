// Release builds what is published: for each system and processor an archive with
// the program, its manual pages, completions, licences and a list of what it is made
// of (SPDX 2.3), and SHA256SUMS over all.
//
//	go run ./internal/release [-o dist] [-version v1.2.3] [-targets linux/amd64,…] [-check]
//
// The same commit and the same release of Go give the same bytes, on any machine, in any
// folder, for any user and at any time: all times are that of the commit (or
// SOURCE_DATE_EPOCH). With -check it builds twice, the second time from a copy elsewhere
// with nothing compiled before, and compares. docs/release.md says how one releases.
//
// It uses the standard library, the go command and git. The Makefile calls it from the
// root of the repository.
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// errUsage marks a wrong command line, which exits with 2 instead of 1.
var errUsage = errors.New("usage: release [-o dist] [-version v1.2.3] [-targets os/arch,…] [-check]")

// targets are what is published.
func targets() []target {
	var all []target
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, target{system, arch})
		}
	}
	return all
}

// chosen reads a list of targets; "": all.
func chosen(list string) (of []target, err error) {
	if list == "" {
		return targets(), nil
	}
	for word := range strings.SplitSeq(list, ",") {
		system, arch, _ := strings.Cut(word, "/")
		t := target{system, arch}
		if !slices.Contains(targets(), t) {
			return nil, fmt.Errorf("-targets: got %q, want some of %v: %w", word, targets(), errUsage)
		}
		of = append(of, t)
	}
	return of, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it once
	to := flags.String("o", "dist", "the folder to write")
	name := flags.String("version", "", "the version; else what git says")
	list := flags.String("targets", "", "some of the targets; else all")
	check := flags.Bool("check", false, "build twice and compare; nothing is kept")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return fmt.Errorf("%w: %w", errUsage, errors.Join(err, more(flags.Args())))
	}
	of, err := chosen(*list)
	if err != nil {
		return err
	}
	s, err := stampOf(ctx, *name, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if s.dirty {
		fmt.Fprintln(out, "note: files differ from the commit: this is no release, and its version says so")
	}
	began := time.Now()
	b := &builder{dir: ".", stamp: s, targets: of, out: out}
	if *check {
		err = b.twice(ctx)
	} else {
		err = b.replace(ctx, *to)
	}
	if err == nil {
		fmt.Fprintf(out, "%s of %s, %s\n", s.version, s.time().Format(time.RFC3339), time.Since(began).Round(time.Second))
	}
	return err
}

func more(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("got %q, want no argument", args[0])
}

// replace builds beside the folder and puts the whole in its place. Only a folder that
// was a release before is replaced.
func (b *builder) replace(ctx context.Context, to string) error {
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(to, sumsName)); err != nil && len(entries) > 0 {
		return fmt.Errorf("-o: %s has files and no %s: it is no release, and is not replaced", to, sumsName)
	}
	draft, err := os.MkdirTemp(filepath.Dir(filepath.Clean(to)), ".dist-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }() // it is gone where all went well
	if err := b.all(ctx, draft); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return errors.Join(os.Rename(draft, to), os.Chmod(to, 0o755)) //nolint:gosec // it is for others
}

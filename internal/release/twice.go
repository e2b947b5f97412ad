package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// twice builds a release here, and again from a copy in another folder, with another
// home, in another time zone and with nothing that was compiled before, and compares
// every byte. What differs has leaked in.
func (b *builder) twice(ctx context.Context) error {
	work, err := os.MkdirTemp("", "ferrule-twice-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // nothing in it is kept
	at := func(name string) string { return filepath.Join(work, name) }
	for _, name := range []string{"one", "two", "home", "tree"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			return err
		}
	}
	if err := b.copyTree(ctx, at("tree")); err != nil {
		return err
	}
	modules, err := b.goCommand(ctx, target{}, "env", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	again := &builder{
		dir: at("tree"), stamp: b.stamp, targets: b.targets, out: io.Discard,
		environ: []string{"HOME=" + at("home"), "USER=somebody", "TZ=Pacific/Auckland", "GOCACHE=" + at("cache"), "GOMODCACHE=" + strings.TrimSpace(string(modules))},
	}
	if err := b.all(ctx, at("one")); err != nil {
		return err
	}
	if err := again.all(ctx, at("two")); err != nil {
		return fmt.Errorf("the second time: %w", err)
	}
	n, err := same(at("one"), at("two"))
	if err == nil {
		fmt.Fprintf(b.out, "built twice: all %d files are the same, byte for byte\n", n)
	}
	return err
}

// copyTree copies what git knows of, and what it would not ignore.
func (b *builder) copyTree(ctx context.Context, to string) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = b.dir
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(b.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // it was removed
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700), os.WriteFile(filepath.Join(to, name), text, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// same compares the files of two folders, and gives their number.
func same(one, two string) (int, error) {
	names := func(dir string) (list []string) {
		entries, _ := os.ReadDir(dir) // of none: the other has more
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	list := names(one)
	if others := names(two); !slices.Equal(list, others) {
		return 0, fmt.Errorf("the second build has other files: got %v and %v", list, others)
	}
	var faults []error
	for _, name := range list {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			return 0, err
		}
		b, err := os.ReadFile(filepath.Join(two, name))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(a, b) {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			faults = append(faults, fmt.Errorf("%s: the second build differs: %d and %d bytes, from byte %d on", name, len(a), len(b), at))
		}
	}
	return len(list), errors.Join(faults...)
}

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// every gives all commands that help shows, by their path.
func every(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	p := &program{dir: t.TempDir()}
	p.out, p.errs = &shown{to: &strings.Builder{}}, &shown{to: &strings.Builder{}}
	all := make(map[string]*cobra.Command)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		all[cmd.CommandPath()] = cmd
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(p.root())
	return all
}

func TestHelp(t *testing.T) {
	t.Parallel()
	all := every(t)
	if len(all) < 60 {
		t.Errorf("got %d commands, want 60 or more: else not all are looked at", len(all))
	}
	sentence := regexp.MustCompile(`^[A-Z].*[^.\s]$`)
	// How a value is called: in capitals, as in the line that says how a command is used.
	value := regexp.MustCompile(`^[A-Z][A-Z=]*$`)
	for path, cmd := range all {
		t.Run("Y4 "+path+" says how it is used", func(t *testing.T) { //nolint:paralleltest // commands share their flags
			if !sentence.MatchString(cmd.Short) {
				t.Errorf("short: got %q, want one sentence with a capital and without a full stop", cmd.Short)
			}
			if cmd.Long != "" && !strings.HasSuffix(cmd.Long, ".") && !strings.Contains(cmd.Long, "\n  ") && !strings.HasSuffix(cmd.Long, ".svg") {
				t.Errorf("long: got %q, want sentences", cmd.Long)
			}
			wantExample(t, path, cmd, all)
			if cmd.GroupID == "" && cmd.Parent() != nil && !cmd.Parent().HasParent() {
				t.Error("got no group, want one")
			}
			cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
				name, text := pflag.UnquoteUsage(f)
				first, _, _ := strings.Cut(text, " ")
				switch {
				case text == "":
					t.Errorf("--%s: got no description", f.Name)
				case strings.HasSuffix(text, ".") || strings.ToUpper(first[:1]) == first[:1] && !value.MatchString(first) && first[0] != '-':
					t.Errorf("--%s: got %q, want a phrase that begins small and has no full stop", f.Name, text)
				case f.Value.Type() == "bool" && name != "":
					t.Errorf("--%s: got the value %q, want none", f.Name, name)
				case f.Value.Type() != "bool" && !value.MatchString(name):
					t.Errorf("--%s: got the value %q, want a word in capitals between backquotes", f.Name, name)
				}
			})
		})
		t.Run("Y4 help of "+path+" is the same however it is asked for, and 80 columns wide", func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(path)[1:]
			want, stderr, code := try(t.Context(), t.TempDir(), append(slices.Clone(words), "--help")...)
			if code != statusDone || stderr != "" || !strings.Contains(want, "Usage:\n  "+path) {
				t.Fatalf("got %d, %s%s, want how it is used on standard output", code, want, stderr)
			}
			for line := range strings.Lines(want) {
				if line = strings.TrimSuffix(line, "\n"); terminal.Columns(line) > 80 || strings.TrimRight(line, " \t") != line {
					t.Errorf("got %q, want at most 80 columns and no space at its end", line)
				}
			}
			for _, args := range [][]string{append(slices.Clone(words), "-h"), append([]string{"help"}, words...)} {
				if got, stderr, code := try(t.Context(), t.TempDir(), args...); code != statusDone || got != want || stderr != "" {
					t.Errorf("%q: got %d, %s%s, want\n%s", args, code, got, stderr, want)
				}
			}
		})
	}
	t.Run("Y4 ferrule alone shows what to begin with, and all commands", func(t *testing.T) {
		t.Parallel()
		got, stderr, code := try(t.Context(), t.TempDir())
		if want, _, _ := try(t.Context(), t.TempDir(), "help"); code != statusDone || stderr != "" || got != want || !strings.Contains(got, "Begin with:\n  ferrule up ") {
			t.Errorf("got %d, %s%s, want\n%s", code, got, stderr, want)
		}
	})
}

// wantExample wants examples of commands and flags that there are.
func wantExample(t *testing.T, path string, cmd *cobra.Command, all map[string]*cobra.Command) {
	t.Helper()
	if !strings.Contains(cmd.Example, path) {
		t.Errorf("example: got %q, want one with %s", cmd.Example, path)
	}
	for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
		at := strings.Index(line, "ferrule ")
		if !strings.HasPrefix(line, "  ") || at < 0 {
			t.Errorf("example: got %q, want a command, two spaces from the left", line)
			continue
		}
		words := strings.Fields(line[at:])
		called := all["ferrule"]
		for _, word := range words[1:] {
			below, ok := all[called.CommandPath()+" "+word]
			if !ok {
				break
			}
			called = below
		}
		if !called.HasParent() && len(words) > 1 && line[at-1] == ' ' && !strings.Contains(line[:at], "mcp add") {
			t.Errorf("example: got %q, want a command that there is", line)
		}
		for _, word := range words {
			if word == "--" || word == "|" {
				break
			}
			if name, ok := strings.CutPrefix(word, "--"); ok && called.Flags().Lookup(name) == nil && called.InheritedFlags().Lookup(name) == nil {
				t.Errorf("example: got %q, want a flag that %s has", word, called.CommandPath())
			}
		}
	}
}

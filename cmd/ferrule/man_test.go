package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// needs wants a program that not every machine has. In CI, where make needs has brought
// it, it must be there.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("%v: make needs installs it", err)
	case err != nil:
		t.Skip(err)
	}
	return path
}

func TestManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if stdout, stderr, code := try(t.Context(), dir, "man", "pages/man1"); code != 0 || !strings.HasPrefix(stdout, "wrote ") {
		t.Fatalf("got %d, %s%s", code, stdout, stderr)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "pages", "man1", "*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("got %d pages, %v, want one for each command", len(pages), err)
	}
	t.Run("Y4 each command has a page", func(t *testing.T) {
		t.Parallel()
		var walk func(cmd *cobra.Command)
		walk = func(cmd *cobra.Command) {
			text, err := os.ReadFile(filepath.Join(dir, "pages", "man1", pageName(cmd)+".1"))
			if err != nil || !strings.Contains(string(text), ".SH \"NAME\"") || strings.Contains(string(text), "@") && strings.Contains(string(text), dir) {
				t.Errorf("%s: got %v, %s", cmd.CommandPath(), err, text)
			}
			for _, sub := range shownCommands(cmd) {
				walk(sub)
			}
		}
		walk((&program{out: &shown{}, errs: &shown{}}).root())
	})
	t.Run("Y4 they are written the same each time", func(t *testing.T) {
		t.Parallel()
		again := t.TempDir()
		if _, stderr, code := try(t.Context(), again, "man", "."); code != 0 {
			t.Fatalf("got %d, %s", code, stderr)
		}
		for _, page := range pages {
			one, _ := os.ReadFile(page)
			if two, err := os.ReadFile(filepath.Join(again, filepath.Base(page))); err != nil || !bytes.Equal(one, two) {
				t.Errorf("%s: got %v, and another text", filepath.Base(page), err)
			}
		}
	})
	t.Run("Y4 groff has nothing to say of them", func(t *testing.T) {
		t.Parallel()
		out, err := exec.CommandContext(t.Context(), needs(t, "groff"), append([]string{"-ww", "-man", "-Tutf8", "-z"}, pages...)...).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("got %v, %s", err, out)
		}
	})
	t.Run("Y4 man shows one", func(t *testing.T) {
		t.Parallel()
		cmd := exec.CommandContext(t.Context(), needs(t, "man"), "--warnings", "-l", filepath.Join(dir, "pages", "man1", "ferrule.1"))
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "MANPAGER=cat", "LC_ALL=C.UTF-8")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 || !strings.Contains(stdout.String(), "EXIT STATUS") || !strings.Contains(stdout.String(), "ferrule-approvals(1)") {
			t.Errorf("got %v, %s%s", err, &stdout, &stderr)
		}
	})
}

func TestRoff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain\n"},
		{".SH a request", "\\&.SH a request\n"},
		{"'it", "\\(aqit\n"},
		{`a\b --flag`, "a\\eb \\-\\-flag\n"},
		{"run `ferrule up` now", "run \\fBferrule up\\fR now\n"},
		{"one ` alone", "one \\(ga alone\n"},
		{"A…, ä", "A..., \\[u00E4]\n"},
		{"one\nparagraph\n\nand another", "one\nparagraph\n.PP\nand another\n"},
		{"see\n\n\tferrule up\n\nthen", "see\n.PP\n.nf\n.RS 4\nferrule up\n.RE\n.fi\n.PP\nthen\n"},
	} {
		var r roff
		r.text(tt.text)
		if r.String() != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, r.String(), tt.want)
		}
	}
}

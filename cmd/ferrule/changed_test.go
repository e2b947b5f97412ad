package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiffers(t *testing.T) {
	t.Parallel()
	const base = "tools: {shell: false}\nservers: {a: {command: x, args: [\"1\"]}}\nlimits: {rates: [{calls: 5}]}\nhooks: [{name: no, command: [x]}]\npolicy:\n  allow: [\"fs_*\"]\n  always: [keep]\n"
	for _, c := range []struct {
		name, was, now string
		want           bool
	}{
		{"Y1 a comment", base, "# a comment\n" + base, false},
		{"Y1 a rule more that was made of a yes", base, strings.Replace(base, "[keep]", "[keep, more]", 1), false},
		{"Y1 the first such rule", "", "policy: {always: [keep]}\n", false},
		{"Y1 one that was taken back", base, strings.Replace(base, "[keep]", "[]", 1), true},
		{"Y1 a server that is gone", base, strings.Replace(base, "servers: {a: {command: x, args: [\"1\"]}}", "", 1), true},
		{"Y1 other arguments", base, strings.Replace(base, `"1"`, `"2"`, 1), true},
		{"Y1 a rule that somebody wrote", base, strings.Replace(base, "allow", "deny", 1), true},
		{"Y1 what is wrong", base, base + "oops: 1\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			was, now := reading{path: path, text: c.was}, reading{path: path, text: c.now}
			if c.was == "" {
				was = readingOf(path)
			}
			if got := was.differs(now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestChangedWhileUp(t *testing.T) {
	t.Parallel()
	t.Run("Y1 it says what it serves, and that it goes on with what it has read", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("rates", "Say a rate.", readsOnly), toolNamed("pay", "Pay.", ""))
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 0 { // its tools are noted from now on
			t.Fatalf("got %d, %s", code, errs)
		}
		r := up(t, dir, nil)
		if want := "those of 1 server; --builtin adds the program's own\n"; !strings.Contains(r.out.String(), want) {
			t.Errorf("got %s, want %s", r.out, want)
		}
		rules := func() string {
			out, errs, code := try(t.Context(), dir, "rules")
			if code != 0 || !strings.Contains(out, "bank__rates") {
				t.Fatalf("got %d, %s%s", code, out, errs)
			}
			return out
		}
		if got := rules(); strings.Contains(got, "no longer counts") {
			t.Errorf("got %s, want a rule that counts", got)
		}
		path := filepath.Join(dir, "ferrule.yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.Replace(string(text), "{command", "{args: [more], command", 1))
		r.errs.find(t, `ferrule.yaml has changed: what was read at the start counts until this is started again\n`)
		if got := rules(); !strings.Contains(got, "no longer counts: its server is reached in another way now") {
			t.Errorf("got %s, want that the rule is for another server", got)
		}
	})
}

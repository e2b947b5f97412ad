package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/tool"
)

const secretText = "SECRET-OUTSIDE"

// Every way out that has a name is refused by every tool, and nothing outside is
// told or changed.
func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte(secretText), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newFiles(t, map[string]string{"in/file": "text\n", "in/deep/x": "x\n"})
	b.link(outside, "out")
	b.link(secret, "file-out")
	b.link("../"+filepath.Base(outside), "up-out")
	b.link("in", "way")
	b.link("in/file", "file-way")
	b.link("out", "twice")
	b.link("nowhere", "dangling")
	b.link("/proc/self/root", "proc")
	b.link("loop", "loop")

	paths := []string{
		secret, outside, outside + "/", "/etc/passwd", "/proc/self/root" + secret, "/proc/self/cwd", "/dev/null", "/",
		"..", "../x", "in/../../x", "in/../..", "./../x", "../" + filepath.Base(b.work) + "x", b.work + "/../x", b.work + "x", "//etc/passwd",
		"out", "out/secret", "out/../out/secret", "file-out", "up-out/secret", "twice/secret", "proc" + secret, "proc/etc/passwd",
		"way", "way/file", "way/deep/x", "file-way", "dangling", "dangling/x", "loop", "loop/x", "in/file/", "in/file/..x",
		"~", "~/x", "~root/.ssh/id", `in\file`, `..\x`, "in/fi\u200ble", "in/\u202efile", "\u0000", "in/\nfile", strings.Repeat("a/", 3000) + "x", strings.Repeat("n", 300),
	}
	inputs := map[string]string{
		"fs_read": `{"path":%s}`, "fs_list": `{"path":%s}`, "fs_write": `{"path":%s,"content":"X","parents":true}`,
		"fs_edit": `{"path":%s,"edits":[{"old":"e","new":"X","all":true}]}`, "fs_glob": `{"path":%s,"pattern":"**"}`, "fs_grep": `{"path":%s,"pattern":"."}`,
	}
	for _, p := range paths {
		t.Run("I1 inside: "+fmt.Sprintf("%.40q", strings.NewReplacer(outside, "$O", b.work, "$W").Replace(p)), func(t *testing.T) {
			quoted, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			for name, input := range inputs {
				write := name == "fs_write"
				if write && (p == "~root/.ssh/id") {
					continue // a folder of that name could be made
				}
				if (name == "fs_glob" || name == "fs_grep" || name == "fs_list") && p == "in/file/" {
					continue // it is what it says
				}
				r := b.on(t).do(name, fmt.Sprintf(input, quoted))
				if r.Err == nil {
					t.Errorf("%s: got %.100q, want a refusal", name, r)
				}
				if text := r.String(); strings.Contains(text, secretText) || !strings.Contains(p, outside) && strings.Contains(text, outside) {
					t.Errorf("%s: got %q, want nothing told of outside", name, text)
				}
			}
		})
	}
	t.Run("I1 inside: nothing was changed", func(t *testing.T) {
		if text, err := os.ReadFile(secret); err != nil || string(text) != secretText {
			t.Errorf("outside: got %q, %v", text, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("outside: got %v, %v", entries, err)
		}
		if b.content("in/file") != "text\n" || b.content("in/deep/x") != "x\n" {
			t.Error("a file was changed through a link")
		}
	})
	t.Run("I1 inside: a walk follows no link", func(t *testing.T) {
		check(t, b.on(t).do("fs_glob", `{"pattern":"**","all":true}`), "in/deep/x\nin/file")
		check(t, b.on(t).do("fs_grep", `{"pattern":".","all":true}`), "in/deep/x:1:x\nin/file:1:text")
	})
	t.Run("I1 inside: where a link leads is told where it is inside", func(t *testing.T) {
		check(t, b.on(t).do("fs_read", `{"path":"way/deep/x"}`), "!way is a symbolic link, and links are not followed. Use in/deep/x.")
		check(t, b.on(t).do("fs_read", `{"path":"file-way"}`), "!file-way is a symbolic link, and links are not followed. Use in/file.")
		check(t, b.on(t).do("fs_read", `{"path":"out/secret"}`), "!out is a symbolic link, and links are not followed. It leads out of the workspace.")
	})
}

// A goroutine swaps a folder, and a file, for a link that leads out or elsewhere,
// between any check and any use. Whoever looks finds what is there, or an error.
func TestFilesRace(t *testing.T) {
	t.Parallel()
	const tries = fsRaceTries // of each tool
	calls := []struct{ tool, input string }{
		{"fs_read", `{"path":"d/f"}`},
		{"fs_list", `{"path":"d"}`},
		{"fs_grep", `{"path":"d","pattern":"."}`},
		{"fs_write", `{"path":"d/f","content":"inside %d"}`},
		{"fs_edit", `{"path":"d/f","edits":[{"old":"inside","new":"inside %d"}]}`},
	}
	top := memory(t)
	work, outside, other := filepath.Join(top, "work"), filepath.Join(top, "outside"), filepath.Join(top, "work", "other")
	for _, dir := range []string{filepath.Join(work, "d"), outside, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(outside, "f"), filepath.Join(other, "f"), filepath.Join(outside, secretText), filepath.Join(other, secretText)} {
		if err := os.WriteFile(file, []byte(secretText+" inside"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const sibling = "sibling inside"
	for name, text := range map[string]string{"f": "inside", "sibling": sibling} {
		if err := os.WriteFile(filepath.Join(work, "d", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := &fsBench{TB: t, work: work, files: builtin.Files{Roots: []string{work}}}
	b.open()
	var stop atomic.Bool
	var swaps atomic.Int64
	var wait sync.WaitGroup
	wait.Go(func() { swap(work, outside, &stop, &swaps) })
	good, told := make([]int, len(calls)), make([]string, len(calls))
	for i := range tries {
		for k, c := range calls {
			r, err := b.tools[c.tool].Run(t.Context(), b.args(c.tool, strings.Replace(c.input, "%d", fmt.Sprint(i), 1)))
			if err == nil {
				good[k]++
			}
			if err != nil {
				r.Err = tool.AsError(err)
			}
			if text := r.String(); strings.Contains(text, secretText) || c.tool == "fs_read" && strings.Contains(text, sibling) {
				told[k] = text
			}
		}
	}
	stop.Store(true)
	wait.Wait()
	for k, c := range calls {
		t.Run("I1 race: "+c.tool, func(t *testing.T) {
			if told[k] != "" {
				t.Errorf("got %q, want nothing from elsewhere", told[k])
			}
			if swaps.Load() < 100 || good[k] == 0 || good[k] == tries {
				t.Errorf("got %d swaps, and %d of %d calls that went well: it was no race", swaps.Load(), good[k], tries)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(work, "d", "f")); err != nil || strings.Contains(string(text), sibling) {
		t.Errorf("got %q, %v, want nothing of its sibling in the file", text, err)
	}
	for _, dir := range []string{outside, other} {
		t.Run("I1 race: nothing was changed in "+filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "f"))
			entries, err2 := os.ReadDir(dir)
			if errors.Join(err, err2) != nil || string(text) != secretText+" inside" || len(entries) != 2 {
				t.Errorf("got %q, %v, %v, want it untouched", text, entries, err)
			}
		})
	}
}

// swap exchanges the folder d, and the file in it, for links and back. It ends
// with all as it began.
func swap(work, outside string, stop *atomic.Bool, swaps *atomic.Int64) {
	d, aside := filepath.Join(work, "d"), filepath.Join(work, "aside")
	f, kept := filepath.Join(d, "f"), filepath.Join(d, "kept")
	for i := 0; !stop.Load(); i++ {
		target, file := outside, filepath.Join(outside, "f")
		if i%2 == 0 { // such links stay within, and os.Root follows them
			target, file = "other", "sibling"
		}
		if i%4 < 2 {
			_ = os.Rename(d, aside)
			_ = os.Symlink(target, d)
			_ = os.Remove(d)
			_ = os.Rename(aside, d)
		} else {
			_ = os.Rename(f, kept)
			_ = os.Symlink(file, f)
			_ = os.Remove(f)
			_ = os.Rename(kept, f)
		}
		swaps.Add(1)
	}
}

// memory is a folder in memory where there is one: syncing costs nothing there.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ferrule-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFilesProtected(t *testing.T) {
	t.Parallel()
	t.Run("I1 protected: by name, below it, and relative to the first root", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"rules/a": "a", "hide/b": "needle", "c": "needle"}, func(f *builtin.Files) {
			f.Protected, f.Hidden = []string{"rules"}, []string{"hide"}
		})
		for tool, input := range map[string]string{
			"fs_write": `{"path":"rules/a","content":"x"}`, "fs_edit": `{"path":"rules/a","edits":[{"old":"a","new":"b"}]}`, "fs_read": `{"path":"hide/b"}`, "fs_list": `{"path":"hide"}`,
			"fs_glob": `{"path":"hide","pattern":"*"}`, "fs_grep": `{"path":"hide/b","pattern":"needle"}`,
		} {
			if r := b.do(tool, input); r.Err == nil {
				t.Errorf("%s: got %q, want a refusal", tool, r)
			}
		}
		check(t, b.do("fs_read", `{"path":"rules/a"}`), "a")
		check(t, b.do("fs_list", `{}`), "c  6 bytes\nrules/")
		check(t, b.do("fs_glob", `{"pattern":"**"}`), "c\nrules/a")
		check(t, b.do("fs_grep", `{"pattern":"needle"}`), "c:1:needle")
		if r := b.do("fs_read", `{"path":"hid/b"}`); strings.Contains(r.String(), "hide") {
			t.Errorf("got %q, want it not told", r)
		}
	})
	t.Run("I1 protected: the same file under another name", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"keep": "k", "hide": "needle"}, func(f *builtin.Files) {
			f.Protected, f.Hidden = []string{"keep"}, []string{"hide"}
		})
		for from, to := range map[string]string{"keep": "other", "hide": "seen"} {
			if err := os.Link(filepath.Join(b.work, from), filepath.Join(b.work, to)); err != nil {
				t.Skip(err)
			}
		}
		if r := b.do("fs_write", `{"path":"other","content":"x"}`); r.Err == nil || !strings.Contains(r.String(), "protected") {
			t.Errorf("got %q, want a refusal", r)
		}
		if r := b.do("fs_read", `{"path":"seen"}`); r.Err == nil || strings.Contains(r.String(), "needle") {
			t.Errorf("got %q, want a refusal", r)
		}
		check(t, b.do("fs_grep", `{"pattern":"needle"}`), "(no match for needle in .)")
		check(t, b.do("fs_glob", `{"pattern":"*"}`), "keep\nother")
	})
	t.Run("I1 protected: a root inside something protected", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "a"}, func(f *builtin.Files) { f.Protected = []string{filepath.Dir(f.Roots[0])} })
		if r := b.do("fs_write", `{"path":"a","content":"x"}`); r.Err == nil || b.content("a") != "a" {
			t.Errorf("got %q, want a refusal", r)
		}
		check(t, b.do("fs_read", `{"path":"a"}`), "a")
	})
	t.Run("I1 protected: through a link that the host gave", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"real/a": "a"}, func(f *builtin.Files) { f.Protected = []string{"alias"} })
		b.link("real", "alias")
		b.open()
		if r := b.do("fs_write", `{"path":"real/a","content":"x"}`); r.Err == nil || b.content("real/a") != "a" {
			t.Errorf("got %q, want a refusal", r)
		}
	})
}

func TestFilesRoots(t *testing.T) {
	t.Parallel()
	a, err1 := filepath.EvalSymlinks(t.TempDir())
	c, err2 := filepath.EvalSymlinks(t.TempDir())
	if err := errors.Join(err1, err2, os.Mkdir(filepath.Join(a, "in"), 0o755), os.WriteFile(filepath.Join(a, "file"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		roots []string
		good  bool
	}{
		{"I1 roots: one", []string{a}, true},
		{"I1 roots: two", []string{a, c}, true},
		{"I1 roots: none", nil, false},
		{"I1 roots: empty", []string{""}, false},
		{"I1 roots: all", []string{"/"}, false},
		{"I1 roots: proc", []string{"/proc/self"}, false},
		{"I1 roots: a file", []string{filepath.Join(a, "file")}, false},
		{"I1 roots: not there", []string{filepath.Join(a, "nothing")}, false},
		{"I1 roots: one in another", []string{a, filepath.Join(a, "in")}, false},
		{"I1 roots: one twice", []string{a, a}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := builtin.Files{Roots: tt.roots}.Tools()
			if (err == nil) != tt.good || tt.good && len(tools) != 6 {
				t.Errorf("got %d tools, %v", len(tools), err)
			}
		})
	}
	t.Run("I1 roots: the second one by absolute paths", func(t *testing.T) {
		b := newFiles(t, nil, func(f *builtin.Files) { f.Roots = append(f.Roots, c) })
		path := filepath.ToSlash(c) + "/new"
		check(t, b.do("fs_write", `{"path":"`+path+`","content":"x"}`), "Created "+path+": 1 line.")
		check(t, b.do("fs_glob", `{"path":"`+filepath.ToSlash(c)+`","pattern":"*"}`), path)
		check(t, b.do("fs_list", `{}`), "(. is empty)")
	})
}

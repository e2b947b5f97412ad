package builtin_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/undo"
)

func TestFilesWrite(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, input, want, file, holds string }{
		{"I1 write: a new file", `{"path":"new","content":"a\nb\n"}`, "Created new: 2 lines.", "new", "a\nb\n"},
		{"I1 write: an empty file", `{"path":"new","content":""}`, "Created new: 0 lines.", "new", ""},
		{"I1 write: replaces the whole", `{"path":"sub/a","content":"x"}`, "Replaced sub/a: 1 line.", "sub/a", "x"},
		{"I1 write: the same again", `{"path":"sub/a","content":"old\n"}`, "sub/a holds exactly that already: nothing was written.", "sub/a", "old\n"},
		{"I1 write: folders only where asked", `{"path":"x/y/new","content":""}`, "!The folder x/y is not there. Set parents to make it, or mend the path.", "", ""},
		{"I1 write: folders where asked", `{"path":"x/y/new","content":"n","parents":true}`, "Created x/y/new: 1 line.", "x/y/new", "n"},
		{"I1 write: a folder is not replaced", `{"path":"sub","content":""}`, "!sub is a folder: fs_list shows what is in it.", "sub/a", "old\n"},
		{"I1 write: below a file", `{"path":"sub/a/b","content":"","parents":true}`, "!sub/a/b: a part of the path is a file and not a folder.", "sub/a", "old\n"},
		{"I1 write: write-protected", `{"path":"locked","content":""}`, "!locked is write-protected (mode 0444).", "locked", "l"},
		{"I1 write: not the configuration", `{"path":"ferrule.yaml","content":""}`, "!ValidationError: ferrule.yaml is protected: it is not changed by tools. Say what should be changed, and a person can do it.", "", ""},
		{"I1 write: nor in another case", `{"path":"Ferrule.YAML","content":""}`, "!ValidationError: Ferrule.YAML is protected: it is not changed by tools. Say what should be changed, and a person can do it.", "", ""},
		{"I1 write: not the state", `{"path":"sub/../.ferrule/x","content":"","parents":true}`, "!ValidationError: .ferrule/x belongs to the program that runs you or was hidden from you: it is not read or changed.", "", ""},
		{"I1 write: not git's files", `{"path":"sub/.git/hooks/pre-commit","content":"","parents":true}`, "!ValidationError: sub/.git/hooks/pre-commit belongs to git and is not changed by hand: git runs what stands there.", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newFiles(t, map[string]string{"sub/a": "old\n", "locked": "l"})
			if err := os.Chmod(filepath.Join(b.work, "locked"), 0o444); err != nil {
				t.Fatal(err)
			}
			check(t, b.do("fs_write", tt.input), tt.want)
			if tt.file != "" && b.content(tt.file) != tt.holds {
				t.Errorf("%s: got %q, want %q", tt.file, b.content(tt.file), tt.holds)
			}
			b.nothingLeft()
		})
	}
	t.Run("I1 write: mode and owner are kept", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		file := filepath.Join(b.work, "a")
		if err := os.Chmod(file, 0o751); err != nil {
			t.Fatal(err)
		}
		root := os.Chown(file, 1234, 2345) == nil // only root may
		check(t, b.do("fs_write", `{"path":"a","content":"new"}`), "Replaced a: 1 line.")
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("got %v, %v, want 0751", info.Mode(), err)
		}
		if uid, gid := ownerOf(info); root && (uid != 1234 || gid != 2345) {
			t.Errorf("got owner %d:%d, want 1234:2345", uid, gid)
		}
	})
	t.Run("I1 write: a new file is as the umask wants it", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, nil)
		b.put("plain", "")
		b.do("fs_write", `{"path":"new","content":""}`)
		want, err1 := os.Stat(filepath.Join(b.work, "plain"))
		got, err2 := os.Stat(filepath.Join(b.work, "new"))
		if err := errors.Join(err1, err2); err != nil || got.Mode() != want.Mode() {
			t.Errorf("got %v, want %v (%v)", got, want, err)
		}
	})
	t.Run("I1 write: the other name of a file keeps its content", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		outside := filepath.Join(t.TempDir(), "outside")
		if err := os.Link(filepath.Join(b.work, "a"), outside); err != nil {
			t.Skip(err)
		}
		check(t, b.do("fs_write", `{"path":"a","content":"new"}`), "Replaced a: 1 line.")
		check(t, b.do("fs_edit", `{"path":"a","edits":[{"old":"new","new":"newer"}]}`), "Edited a: 1 replacement, at line 1.")
		if text, err := os.ReadFile(outside); err != nil || string(text) != "old" {
			t.Errorf("outside: got %q, %v, want it untouched", text, err)
		}
	})
	t.Run("I1 write: undone", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		b.do("fs_write", `{"path":"a","content":"new"}`)
		b.do("fs_write", `{"path":"x/y/b","content":"new","parents":true}`)
		list, err := b.history.List(t.Context())
		if err != nil || len(list) != 2 || list[0].Tool != "fs_write" || list[0].Call == "" || list[0].Session == "" {
			t.Fatalf("got %+v, %v, want two changes of fs_write", list, err)
		}
		for _, e := range list {
			if _, err := b.history.Restore(t.Context(), e.ID, false); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Join(b.work, "x")); !errors.Is(err, fs.ErrNotExist) || b.content("a") != "old" {
			t.Errorf("got %q and %v, want all as it was", b.content("a"), err)
		}
	})
}

// nothingLeft wants no file that was only written on the way.
func (b *fsBench) nothingLeft() {
	b.Helper()
	err := filepath.WalkDir(b.work, func(name string, _ fs.DirEntry, err error) error {
		if strings.Contains(name, "ferrule-tmp") {
			b.Errorf("left behind: %s", name)
		}
		return err
	})
	if err != nil {
		b.Error(err)
	}
}

func TestFilesEdit(t *testing.T) {
	t.Parallel()
	le := "\xFF\xFE" + string(encode16(binary.LittleEndian, "hé\r\nho\r\n"))
	le2 := "\xFF\xFE" + string(encode16(binary.LittleEndian, "hé\r\nhu\r\n"))
	tests := []struct{ name, file, edits, want, holds string }{
		{"I1 edit: one place", "one\ntwo\n", `{"old":"two","new":"2"}`, "Edited f: 1 replacement, at line 2.", "one\n2\n"},
		{"I1 edit: several, one after another", "a b c", `{"old":"a","new":"b b"},{"old":"b b b","new":"x"}`, "Edited f: 2 replacements, at lines 1, 1.", "x c"},
		{"I1 edit: all", "a\nb\na\n", `{"old":"a","new":"c","all":true}`, "Edited f: 2 replacements, at lines 1, 3.", "c\nb\nc\n"},
		{"I1 edit: not unique", "a\nb\na\n", `{"old":"a","new":"c"}`, "!f: edits[0]: old stands there 2 times, at lines 1, 3: make it longer, so that it is the only one, or set all. Nothing was changed.", ""},
		{"I1 edit: overlapping is not unique", "aaa", `{"old":"aa","new":"b"}`, "!f: edits[0]: old stands there 2 times, at lines 1, 1: make it longer, so that it is the only one, or set all. Nothing was changed.", ""},
		{"I1 edit: none where one fails", "a\nb\n", `{"old":"a","new":"c"},{"old":"zzz","new":""}`, "!f: edits[1]: old was not found. Nothing in the file is like it: read it again. Nothing was changed.", ""},
		{"I1 edit: other white space is pointed out", "if x {\n\treturn 1\n}\n", `{"old":"if x {\n    return 1\n}","new":"y"}`, "!f: edits[0]: old was not found. The same words with other white space stand at line 1:\nif x {\n\treturn 1\n}\n Nothing was changed.", ""},
		{"I1 edit: the nearest line is shown", "alpha\nfunc read(name string) error {\nomega\n", `{"old":"func read(name string) (int, error) {","new":"y"}`, "!f: edits[0]: old was not found. The nearest is at line 2:\nfunc read(name string) error {\n Nothing was changed.", ""},
		{"I1 edit: the same text", "a", `{"old":"a","new":"a"}`, "!ValidationError: edits[0]: old and new are the same text", ""},
		{"I1 edit: edits that undo each other", "a", `{"old":"a","new":"b"},{"old":"b","new":"a"}`, "!f: the edits undo each other. Nothing was changed.", ""},
		{"I1 edit: CRLF is kept", "a\r\nb\r\n", `{"old":"a\nb","new":"x\ny\nz"}`, "Edited f: 1 replacement, at line 1.", "x\r\ny\r\nz\r\n"},
		{"I1 edit: mixed line ends are exact", "a\r\nb\nc", `{"old":"b\nc","new":"d"}`, "Edited f: 1 replacement, at line 2.", "a\r\nd"},
		{"I1 edit: a byte order mark is kept", "\xEF\xBB\xBFa", `{"old":"a","new":"b"}`, "Edited f: 1 replacement, at line 1.", "\xEF\xBB\xBFb"},
		{"I1 edit: UTF-16 is kept", le, `{"old":"ho\n","new":"hu\n"}`, "Edited f: 1 replacement, at line 2.", le2},
		{"I1 edit: bytes that are no text stay", "caf\xe9 a", `{"old":"a","new":"b","all":true}`, "Edited f: 2 replacements, at lines 1, 1.", "cbf\xe9 b"},
		{"I1 edit: binary", "a\x00b", `{"old":"a","new":"b"}`, "!f is binary (application/octet-stream, 3 bytes). Only text and images (PNG, JPEG, GIF, WebP) can be read; programs such as file, strings or xxd say more.", ""},
		{"I1 edit: unsound UTF-16", "\xFF\xFEa\x00\x00\xd8", `{"old":"a","new":"b"}`, "!f is not sound UTF-16 (little endian): editing would change more than was asked.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newFiles(t, map[string]string{"f": tt.file})
			check(t, b.do("fs_edit", `{"path":"f","edits":[`+tt.edits+`]}`), tt.want)
			if tt.holds == "" {
				tt.holds = tt.file
			}
			if got := b.content("f"); got != tt.holds {
				t.Errorf("got %q, want %q", got, tt.holds)
			}
			b.nothingLeft()
		})
	}
	t.Run("I1 edit: no file", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"main.go": ""})
		check(t, b.do("fs_edit", `{"path":"mian.go","edits":[{"old":"a","new":"b"}]}`), "!There is no mian.go. Did you mean main.go?")
	})
}

func TestFilesPreview(t *testing.T) {
	t.Parallel()
	b := newFiles(t, map[string]string{"a": "one\ntwo\nthree\n", "crlf": "a\r\nb\r\n", "bin": "\x00", "locked": "l", "large": ""})
	if err := errors.Join(os.Chmod(filepath.Join(b.work, "locked"), 0o444), os.Truncate(filepath.Join(b.work, "large"), 17<<20)); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for range 5000 {
		lines.WriteString("0123456789\n")
	}
	big, err := json.Marshal(map[string]string{"path": "big", "content": lines.String()})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, tool, input, want string }{
		{"I1 preview: an edit is a unified diff", "fs_edit", `{"path":"a","edits":[{"old":"two","new":"2"}]}`, "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
		{"I1 preview: a new file is additions", "fs_write", `{"path":"n","content":"x\ny\n"}`, "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n"},
		{"I1 preview: a replaced file", "fs_write", `{"path":"a","content":"one\nthree\n"}`, "--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n one\n-two\n three\n"},
		{"I1 preview: nothing to change", "fs_write", `{"path":"a","content":"one\ntwo\nthree\n"}`, "a stays as it is."},
		{"I1 preview: what is write-protected is not promised", "fs_write", `{"path":"locked","content":"x"}`, "It would fail: locked is write-protected (mode 0444)."},
		{"I1 preview: nor an edit of it", "fs_edit", `{"path":"locked","edits":[{"old":"l","new":"x"}]}`, "It would fail: locked is write-protected (mode 0444)."},
		{"I1 preview: nor a folder that nobody makes", "fs_write", `{"path":"x/y/a","content":"x"}`, "It would fail: The folder x/y is not there. Set parents to make it, or mend the path."},
		{"I1 preview: folders that are made", "fs_write", `{"path":"x/y/a","content":"x\n","parents":true}`, "--- /dev/null\n+++ b/x/y/a\n@@ -0,0 +1 @@\n+x\n"},
		{"I1 preview: what is too large to show is replaced all the same", "fs_write", `{"path":"large","content":"x"}`, "large: all of it is replaced by 1 line; what it holds now cannot be shown."},
		{"I1 preview: bytes", "fs_write", `{"path":"bin","content":"x"}`, "bin: 1 bytes become 1 bytes, not all of them text."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.tools[tt.tool].Preview(t.Context(), b.args(tt.tool, tt.input))
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	t.Run("I1 preview: bounded", func(t *testing.T) {
		got, err := b.tools["fs_write"].Preview(t.Context(), b.args("fs_write", string(big)))
		if err != nil || len(got) > 33<<10 || !strings.HasSuffix(got, "more lines of the diff]\n") {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
	t.Run("I1 preview: of a file of one long line both sides are seen", func(t *testing.T) {
		long := `{"path":"a","content":"` + strings.Repeat("ä", 40_000) + `"}`
		got, err := b.tools["fs_write"].Preview(t.Context(), b.args("fs_write", long))
		if err != nil || len(got) > 33<<10 || !utf8.ValidString(got) || !strings.Contains(got, "-two\n") || !strings.Contains(got, "+ää") || !strings.Contains(got, "more bytes of this line]") {
			t.Errorf("got %.200q, %v", got, err)
		}
	})
	t.Run("I1 preview: has no effect", func(t *testing.T) {
		if entries, err := os.ReadDir(b.work); err != nil || len(entries) != 5 || b.content("a") != "one\ntwo\nthree\n" {
			t.Errorf("got %v, %v, want the five files as they were", entries, err)
		}
	})
}

func TestFilesBeforeAnythingIsChanged(t *testing.T) {
	t.Parallel()
	t.Run("I1 write: what cannot be undone is not changed", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" {
			t.Skip("a directory cannot be exchanged while it is used")
		}
		dir := t.TempDir()
		broken := newFiles(t, map[string]string{"a": "old"}, func(f *builtin.Files) { f.Undo = brokenHistory(t, dir) })
		r := broken.do("fs_write", `{"path":"a","content":"new"}`)
		if r.Err == nil || broken.content("a") != "old" {
			t.Errorf("got %v and %q, want a refusal and the file as it was", r, broken.content("a"))
		}
		if want := "a: no copy of it could be kept by which the change could be undone. Nothing was changed."; !strings.Contains(r.String(), want) {
			t.Errorf("got %q, want %q", r, want)
		}
		if strings.Contains(r.String(), dir) {
			t.Errorf("got %q, want no path outside of the workspace", r)
		}
		r = broken.do("fs_write", `{"path":"x/y/z","content":"new","parents":true}`)
		if _, err := os.Stat(filepath.Join(broken.work, "x")); r.Err == nil || err == nil {
			t.Errorf("got %v, %v, want no folder made", r, err)
		}
	})
}

func TestFilesPreviewOfWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	const size = 257 << 20
	const input = `{"path":"huge","content":"x"}`
	huge := func(t *testing.T, set ...func(*builtin.Files)) (*fsBench, string) {
		b := newFiles(t, map[string]string{"huge": ""}, set...)
		if err := os.Truncate(filepath.Join(b.work, "huge"), size); err != nil {
			t.Fatal(err)
		}
		preview, err := b.tools["fs_write"].Preview(t.Context(), b.args("fs_write", input))
		if err != nil {
			t.Fatal(err)
		}
		return b, preview
	}
	t.Run("I1 preview: a file that is too large for a copy is not promised", func(t *testing.T) {
		t.Parallel()
		b, preview := huge(t)
		const want = "huge has 269484032 bytes; copies by which a change can be undone are kept of files up to 268435456."
		if preview != "It would fail: "+want {
			t.Errorf("got %q, want that it fails: %q", preview, want)
		}
		check(t, b.do("fs_write", input), "!"+want)
		if info, err := os.Stat(filepath.Join(b.work, "huge")); err != nil || info.Size() != size {
			t.Errorf("got %v, %v, want the file as it was", info, err)
		}
	})
	t.Run("I1 preview: without copies it is, and kept", func(t *testing.T) {
		t.Parallel()
		b, preview := huge(t, func(f *builtin.Files) { f.Undo = nil })
		if want := "huge: all of it is replaced by 1 line; what it holds now cannot be shown."; preview != want {
			t.Errorf("got %q, want %q", preview, want)
		}
		check(t, b.do("fs_write", input), "Replaced huge: 1 line.")
	})
}

// brokenHistory is one whose directory was taken away.
func brokenHistory(t *testing.T, dir string) *undo.History {
	t.Helper()
	h, err := undo.Open(t.Context(), filepath.Join(dir, "undo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "undo")); err != nil {
		t.Fatal(err)
	}
	return h
}

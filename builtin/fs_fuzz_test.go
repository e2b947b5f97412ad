package builtin

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/undo"
)

// Between reading a file and replacing it somebody else may change it.
func TestFilesEditMeanwhile(t *testing.T) {
	t.Parallel()
	for _, undone := range []bool{true, false} {
		t.Run(fmt.Sprintf("I1 edit: what somebody else wrote meanwhile is not lost (undo %v)", undone), func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			f := Files{Roots: []string{work}}
			if undone {
				h, err := undo.Open(t.Context(), filepath.Join(t.TempDir(), "undo"))
				if err != nil {
					t.Fatal(err)
				}
				f.Undo = h
			}
			s, err := f.check()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(work, "a")
			if err := os.WriteFile(file, []byte("theirs"), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := s.file("a")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.change(t.Context(), p, []byte("ours"), inside.Digest([]byte("as it was read")), false)
			text, err2 := os.ReadFile(file)
			if err == nil || !strings.Contains(err.Error(), "changed by somebody else meanwhile") || err2 != nil || string(text) != "theirs" {
				t.Errorf("got %v and %q, want a refusal and the file of the other", err, text)
			}
		})
	}
}

// Edits do what strings.Replace does, where there is one way to read them.
func TestFilesEditProperty(t *testing.T) {
	t.Parallel()
	t.Run("I1 edit: as strings.Replace", rapid.MakeCheck(func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "é", " "})
		join := func(name string, least, most int) string {
			return strings.Join(rapid.SliceOfN(letters, least, most).Draw(t, name), "")
		}
		text := join("text", 0, 12)
		x := fsExchange{Old: join("old", 1, 3), New: join("new", 0, 3), All: rapid.Bool().Draw(t, "all")}
		crlf := strings.Count(text, "\r\n")
		old, with := x.Old, x.New
		if crlf > 0 && crlf == strings.Count(text, "\n") {
			old, with = fsWindows(old), fsWindows(with)
		}
		e := fsEdited{was: text}
		got, err := e.apply([]fsExchange{x})
		n := strings.Count(text, old)
		first, last := strings.Index(text, old), strings.LastIndex(text, old)
		want, good := strings.Replace(text, old, with, 1), n > 0 && first == last
		if x.All {
			want, good = strings.ReplaceAll(text, old, with), n > 0
		}
		good = good && want != text
		if good != (err == nil) || good && got != want {
			t.Fatalf("got %q, %v, want %q (%v)", got, err, want, good)
		}
		if good && len(e.lines) != e.places {
			t.Fatalf("got %d lines for %d places", len(e.lines), e.places)
		}
	}))
	t.Run("I1 edit: UTF-16 there and back", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.StringN(1, 20, -1).Draw(t, "text")
		for _, enc := range []fsEncoding{fsUTF8, fsUTF16BE, fsUTF16LE, fsPlain} {
			if got, err := fsDecode(fsEncode(text, enc), enc); err != nil || got != text {
				t.Fatalf("%s: got %q, %v, want %q", enc, got, err, text)
			}
		}
	}))
}

// What is found is what each line alone says, whatever shortcuts are taken.
func FuzzFilesSearch(f *testing.F) {
	for _, p := range []string{"a", "a|b", "(?i)Ks", "[0-9]{3,}", "^a", "b$", `\bx\b`, `\s+`, "[^a]b", "a.b", "(?s)a.b", `\Aa`, `a\z`, "", "x*", "(ab|cd)+e", `[a-z]+_[0-9]{2}`, "é", "(?i)É", `a\r`, `\r`, "b\r", "[[:space:]]", `\x{10FFFF}`, "(?i)straße", "(?i)skip", `^$`} {
		f.Add(p, "a\nb\r\nks KS \u212a\u017f\nabcde 12345\n\n a b x\nab_12 éÉ", false)
		f.Add(p, "A\r\naXb", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(text) > 2000 || len(pattern) > 100 {
			return
		}
		s, err := fsNewSearch(pattern, fold)
		if err != nil {
			return
		}
		flags := "(?m)"
		if fold {
			flags = "(?mi)"
		}
		plain, err := regexp.Compile(flags + "(?:" + pattern + ")")
		if err != nil {
			return
		}
		var want []int
		at := 0
		for line := range bytes.Lines([]byte(text)) {
			bare := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if plain.Match(bare) {
				want = append(want, at)
			}
			at += len(line)
		}
		for _, bite := range []int{s.bite, 2} {
			s.bite = bite
			var got []int
			var h fsHunt
			s.hunt(t.Context(), []byte(text), &h)
			for at := 0; ; {
				start, end, ok := h.from(at)
				if !ok {
					break
				}
				got = append(got, start)
				at = end + 1
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q (fold %v) in %q, %d bytes at a time: got lines at %v, want %v", pattern, fold, text, bite, got, want)
			}
		}
	})
}

// A path that is taken is inside, in one spelling.
func FuzzFilesPath(f *testing.F) {
	for _, p := range []string{"", ".", "..", "a", "a/../b", "/w", "/w/a", "/w/../x", "/wx", "//w/a", "/w//a/./b/", "a\x00", `a\b`, "~", "./a", "a/..", "/W/a", "…", "/real/x"} {
		f.Add(p)
	}
	s := &fsSet{roots: []fsRoot{{given: "/w", real: "/w", path: "/w"}, {given: "/link", real: "/real/x", path: "/real/x"}}}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := s.place(text)
		if err != nil {
			return
		}
		full := p.path()
		if full != path.Clean(full) || !fsBelow(full, p.root.path) || strings.ContainsAny(full, "\x00\\") || !utf8.ValidString(full) {
			t.Errorf("%q: got %q", text, full)
		}
		again, err := s.place(full)
		if err != nil || again.path() != full {
			t.Errorf("%q: got %q, then %q, %v", text, full, again.rootPath(), err)
		}
		if shown, err := s.place(p.String()); err != nil || shown.path() != full {
			t.Errorf("%q: shown as %q, which is %q, %v", text, p, shown.rootPath(), err)
		}
	})
}

// A pattern fits what path.Match says, and enters every folder that holds it.
func FuzzFilesPattern(f *testing.F) {
	for _, p := range []string{"**", "*.go", "a/**/b", "{a,b}/c", "**/x/**", "[a-c]", `\*`, "a/{b,c/**}/d", "{a,{b,c}}", "{}", "a**b"} {
		f.Add(p, "a/b/c")
		f.Add(p, "x.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(name) > 200 {
			return
		}
		p, err := fsParsePattern(pattern)
		if err != nil {
			return
		}
		if name == "" || path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") {
			return
		}
		fits := p.matches(name)
		if !strings.ContainsAny(pattern, "{}") && !strings.Contains(pattern, "**") && !strings.HasPrefix(pattern, "./") {
			if want, err := path.Match(pattern, name); err == nil && want != fits {
				t.Errorf("%q, %q: got %v, want %v", pattern, name, fits, want)
			}
		}
		for dir := path.Dir(name); fits && dir != "."; dir = path.Dir(dir) {
			if !p.reaches(dir) {
				t.Errorf("%q fits %q, but does not reach %q", pattern, name, dir)
			}
		}
		g := fsParseIgnore([]byte(pattern), ".")
		_ = fsIgnored([]*fsIgnore{g}, name, true)
	})
}

package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// soon fails where something that should take no time takes long. What it guards
// against takes minutes, so a slow machine is no reason.
func soon(t *testing.T, do func()) {
	t.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A small call on a plain file must not keep the machine busy, or fill it.
func TestFilesEditIsBounded(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&words, "w%d ", i)
	}
	tests := []struct {
		name, text string
		edits      []fsExchange
		want       string // beginning of the error; "": none
	}{
		{"I1 edit: a text that overlaps itself everywhere", strings.Repeat("a", 8<<20), []fsExchange{{Old: strings.Repeat("a", 1<<18), New: "b"}}, "edits[0]: old stands there 100 or more times, at lines 1, 1"},
		{"I1 edit: a file that would grow beyond all bounds", strings.Repeat("a", 1<<20), []fsExchange{{Old: "a", New: strings.Repeat("b", 1<<20), All: true}}, "edits[0]: the file would have more than"},
		{"I1 edit: lines that are all alike", strings.Repeat("x\n", 1<<18), []fsExchange{{Old: strings.Repeat("x\n", 20_000) + "y", New: ""}}, "edits[0]: old was not found."},
		{"I1 edit: many words", strings.Repeat("lorem ipsum\n", 80_000), []fsExchange{{Old: words.String(), New: ""}}, "edits[0]: old was not found."},
		{"I1 edit: a long file is not searched for what was meant", strings.Repeat("lorem ipsum\n", 200_000), []fsExchange{{Old: "lorem x", New: ""}}, "edits[0]: old was not found. Nothing like it was looked for in so long a file"},
		{"I1 edit: many places", strings.Repeat("a", 1<<20), []fsExchange{{Old: "a", New: "b", All: true}, {Old: "b", New: "c", All: true}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := fsEdited{was: tt.text}
			soon(t, func() {
				_, err := e.apply(tt.edits)
				if got := fmt.Sprint(err); tt.want != "" && !strings.HasPrefix(got, tt.want) || tt.want == "" && err != nil {
					t.Errorf("got %.200q, want %q", got, tt.want)
				}
			})
			if len(e.lines) > fsMostPlaces {
				t.Errorf("got %d lines remembered, want at most %d", len(e.lines), fsMostPlaces)
			}
		})
	}
	t.Run("I1 edit: many places are said in a few words", func(t *testing.T) {
		if got := fsNumbersOf("line", []int{1, 1, 2}, 3); got != "lines 1, 1, 2" {
			t.Errorf("got %q", got)
		}
		if got := fsNumbersOf("line", make([]int, 100), 5000); !strings.HasSuffix(got, " and 4990 more") {
			t.Errorf("got %q", got)
		}
	})
}

func TestFilesWalkIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, strings.Repeat("d/", fsDeepest+2))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Files{Roots: []string{dir}}.check()
	if err != nil {
		t.Fatal(err)
	}
	walk := func(ctx context.Context, most int) (n int, note string, err error) {
		w := &fsWalk{most: most}
		w.files = func(b fsBatch) bool { n += len(b.names); b.at.release(); return true }
		err = s.walk(ctx, fsPlace{&s.roots[0], true, "."}, w)
		return n, w.note(), err
	}
	t.Run("I1 walk: what is too deep is said", func(t *testing.T) {
		n, note, err := walk(t.Context(), 0)
		if want := "[1 folder more than 200 deep not looked at: begin further down with path]\n"; err != nil || n != 3 || note != want {
			t.Errorf("got %d files, %q, %v, want 3 and %q", n, note, err, want)
		}
	})
	t.Run("I1 walk: names that were left out are said", func(t *testing.T) {
		n, note, err := walk(t.Context(), 3)
		if want := "[in 1 folder only 3 names were looked at; there are more]\n"; err != nil || n > 3 || !strings.HasPrefix(note, want) {
			t.Errorf("got %d files, %q, %v, want 3 and %q", n, note, err, want)
		}
	})
	t.Run("I1 walk: as many as there may be are all", func(t *testing.T) {
		if _, note, err := walk(t.Context(), 4); err != nil || strings.Contains(note, "there are more") {
			t.Errorf("got %q, %v, want all four looked at", note, err)
		}
	})
	t.Run("T10 walk: stopped in a folder", func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		w := &fsWalk{files: func(b fsBatch) bool { b.at.release(); return true }}
		w.enters = func(string) bool { stop(enough); return true }
		if err := s.walk(ctx, fsPlace{&s.roots[0], true, "."}, w); !errors.Is(err, enough) || w.deep > 0 {
			t.Errorf("got %v, want %v", err, enough)
		}
	})
}

func TestFilesReadIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "endless")
	if err := errors.Join(os.WriteFile(file, []byte(strings.Repeat("0123456789\n", 1000)+"x"), 0o600), os.Truncate(file, 100<<30)); err != nil {
		t.Skip(err) // no files with holes here
	}
	tools, err := Files{Roots: []string{dir}}.Tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, input, want string }{
		{"I1 read: a line of 100 GB", `{"path":"endless"}`, "[line 1001 has more than 268435456 bytes; what is behind it is not read]"},
		{"I1 read: behind it", `{"path":"endless","offset":1002}`, "endless has more than 268435456 bytes in line 1001; what is behind it is not read."},
		{"I1 read: before it", `{"path":"endless","limit":2}`, "[lines 1 to 2 of a file of 107374182400 bytes; read on with offset 3]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, err := tools[0].Admit(json.RawMessage(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			soon(t, func() {
				r, err := tools[0].Run(t.Context(), args)
				if got := fmt.Sprint(r.Content, err); !strings.Contains(got, tt.want) {
					t.Errorf("got %q, want %q", got[max(0, len(got)-200):], tt.want)
				}
			})
		})
	}
}

func TestFilesReadIsStopped(t *testing.T) {
	t.Parallel()
	t.Run("T10 read: stopped for a reason is no fault of the file", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tools, err := Files{Roots: []string{dir}}.Tools()
		if err != nil {
			t.Fatal(err)
		}
		args, err := tools[0].Admit(json.RawMessage(`{"path":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		stop(enough)
		_, err = tools[0].Run(ctx, args)
		if failed := (*tool.Error)(nil); errors.As(err, &failed) || !errors.Is(err, context.Canceled) || !errors.Is(err, enough) {
			t.Errorf("got %v (%T), want %v and %v", err, err, context.Canceled, enough)
		}
	})
}

func TestFilesGrepIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("I1 grep: a pattern of too many states", func(t *testing.T) {
		if _, err := fsNewSearch(strings.Repeat("(.?){500}", 100)+"[yz]", false); err == nil || !strings.Contains(err.Error(), "want at most 10000") {
			t.Errorf("got %v, want it refused", err)
		}
	})
	slow := strings.Repeat(".{0,900}", 5) + "[yz]"
	for name, text := range map[string]string{
		"a long line":               strings.Repeat("x", 8<<20),
		"many lines":                strings.Repeat(strings.Repeat("x", 500)+"\n", 16<<10),
		"many lines that end in \r": strings.Repeat(strings.Repeat("x", 500)+"\r\n", 16<<10),
		"a long line with a match":  strings.Repeat("x", 8<<20) + "y",
	} {
		t.Run("T10 grep: stopped in "+name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			tools, err := Files{Roots: []string{dir}}.Tools()
			if err != nil {
				t.Fatal(err)
			}
			input, err := json.Marshal(map[string]any{"pattern": slow, "context": 1})
			if err != nil {
				t.Fatal(err)
			}
			args, err := tools[5].Admit(input)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer stop()
			soon(t, func() {
				if r, err := tools[5].Run(ctx, args); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %.100v, %v, want it stopped", r, err)
				}
			})
		})
	}
}

func TestFilesNamed(t *testing.T) {
	t.Parallel()
	s, err := Files{Roots: []string{t.TempDir()}, Hidden: []string{"keys/secret"}, Protected: []string{"mask"}}.check()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, rel string
		free      bool
	}{
		{"I1 hidden: as it is written", "keys/secret", false},
		{"I1 hidden: and below", "keys/secret/x", false},
		{"I1 hidden: in other letters of as many bytes", "KEYS/Secret", false},
		{"I1 hidden: in other letters of more bytes", "\u212aey\u017f/\u017fecret/x", false},
		{"I1 hidden: not what only begins so", "keys/secrets", true},
		{"I1 protected: in other letters of more bytes", "ma\u017f\u212a", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.named(fsPlace{&s.roots[0], true, tt.rel}, true); (err == nil) != tt.free {
				t.Errorf("%s: got %v, want it free: %t", tt.rel, err, tt.free)
			}
		})
	}
}

func TestFilesGrepHoldsLittle(t *testing.T) {
	t.Parallel()
	t.Run("O3 grep: what one file gives is bounded before it is put together", func(t *testing.T) {
		g, err := fsNewGrep(fsGrepIn{Pattern: "x", Context: fsGrepContext, Limit: fsGrepMost})
		if err != nil {
			t.Fatal(err)
		}
		g.p = fsPlace{&fsRoot{path: "/w"}, true, "."}
		text := strings.Repeat(strings.Repeat("y", 400)+"\n", 20)
		var found fsFound
		g.lines(t.Context(), new(fsHunt), []byte(strings.Repeat(text+"x\n", 5000)), "a", &found)
		if n := found.text.Len(); !found.full || n < fsGrepText || n > 2*fsGrepText {
			t.Errorf("got %d bytes and full: %t, want a little more than %d", n, found.full, fsGrepText)
		}
	})
	t.Run("O3 grep: a gap counts, and files without a match need none", func(t *testing.T) {
		g, err := fsNewGrep(fsGrepIn{Pattern: "x", Context: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			more string
			room int
			full bool
		}{{"", 0, false}, {"a:1:x\n", len("--\na:1:x\n"), false}, {"a:1:x\n", len("a:1:x\n"), true}} {
			var total, more fsFound
			total.text.WriteString(strings.Repeat("y", fsGrepText-tt.room))
			if more.text.WriteString(tt.more); tt.more != "" {
				more.matches++
				more.mark()
			}
			g.join(&total, &more)
			if n := total.text.Len(); total.full != tt.full || n > fsGrepText {
				t.Errorf("%q where there is room for %d: got full: %t with %d bytes, want %t and at most %d", tt.more, tt.room, total.full, n, tt.full, fsGrepText)
			}
		}
	})
}

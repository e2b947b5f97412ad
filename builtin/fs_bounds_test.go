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
)

// soon fails where something that should take no time takes long. What it guards
// against takes minutes, so a slow machine is no reason.
func soon(t *testing.T, do func()) {
	t.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > 5*time.Second {
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

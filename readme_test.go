package ferrule_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a page.
type block struct {
	at     string // page:line of the fence
	lang   string // what stands behind the fence
	text   string
	prints bool   // the line before says "prints:"
	output *block // of a program: what it must print, if the page says so
}

// program reports whether the block is a whole program.
func (b *block) program() bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", b.text, parser.PackageClauseOnly)
	return err == nil && f.Name.Name == "main"
}

// What a page shows must work: programs are built, and run where the page says
// what they print; fragments must at least parse.
func TestPages(t *testing.T) {
	t.Parallel()
	tree(t) // programs import packages of this module: see tree about the cache
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Errorf("%s: every page is checked: %v", page, err)
			continue
		}
		blocks, err := readBlocks(filepath.ToSlash(page), string(text))
		if err != nil {
			t.Error(err)
		}
		for _, b := range blocks {
			switch {
			case b.lang != "go":
			case b.program():
				if page == "README.md" {
					programs++
				}
				if err := try(t.Context(), t.TempDir(), b); err != nil {
					t.Errorf("%s: %v", b.at, err)
				}
			default:
				if err := parseFragment(b.text); err != nil {
					t.Errorf("%s: %v", b.at, err)
				}
			}
		}
	}
	if programs == 0 {
		t.Error("README.md: got no program, want a go block that begins with package main")
	}
}

// readBlocks finds the fenced blocks of a page and gives programs their output:
// a block "output" that comes next, or a block "text" after a line that ends in
// "prints:".
func readBlocks(page, text string) ([]*block, error) {
	var (
		all  []*block
		open *block
		last string // the last line with something on it
	)
	in := bufio.NewScanner(strings.NewReader(text))
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		lang, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case open == nil && fence:
			open = &block{at: fmt.Sprintf("%s:%d", page, n), lang: lang, prints: strings.HasSuffix(last, "prints:")}
			last = ""
		case open != nil && fence && lang == "":
			all = append(all, open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.TrimSpace(line) != "":
			last = strings.TrimSpace(line)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block does not end", open.at)
	}
	var faults []error
	for i, b := range all {
		if b.lang != "output" && (b.lang != "text" || !b.prints) {
			continue
		}
		if i == 0 || all[i-1].lang != "go" || !all[i-1].program() {
			faults = append(faults, fmt.Errorf("%s: output of no program", b.at))
			continue
		}
		all[i-1].output = b
	}
	return all, errors.Join(faults...)
}

// parseFragment takes a file, declarations, or statements.
func parseFragment(text string) error {
	var last error
	for _, whole := range []string{text, "package p\n" + text, "package p\nfunc _() {\n" + text + "\n}\n"} {
		_, err := parser.ParseFile(token.NewFileSet(), "fragment", whole, parser.SkipObjectResolution)
		if err == nil {
			return nil
		}
		last = err // the last way is the one most fragments mean
	}
	return last
}

// try builds a program as if it were a package of this module, without writing
// into it: an overlay shows the go command a file that is not there. So it has
// the versions of go.mod and needs no network. It runs the program if its
// output is known.
func try(ctx context.Context, dir string, b *block) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	code, list, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "pageprogram", "main.go"): code},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(code, []byte(b.text), 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list, "-o", binary, "./pageprogram")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("does not build: %w\n%s", err, out)
	}
	if b.output == nil {
		return nil
	}
	run := exec.CommandContext(ctx, binary)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		return fmt.Errorf("does not run: %w\n%s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), strings.TrimSpace(b.output.text); got != want {
		return fmt.Errorf("prints other than the page says:\ngot:\n%s\nwant:\n%s", got, want)
	}
	return nil
}

func TestReadBlocks(t *testing.T) {
	t.Parallel()
	const program = "```go\npackage main\n```\n"
	tests := []struct{ name, page, want string }{
		{"none", "Just words.\n", ""},
		{"program", program, "p:1 go program"},
		{"with output", program + "\n```output\nhi\n```\n", `p:1 go program "hi\n"; p:5 output`},
		{"with text", program + "It prints:\n\n```text\nhi\n```\n", `p:1 go program "hi\n"; p:6 text`},
		{"text that is no output", program + "A tree:\n```text\nhi\n```\n", "p:1 go program; p:5 text"},
		{"a comment first", "```go\n// Hello.\n\npackage main\n```\n", "p:1 go program"},
		{"fragments", "```go\nx := 1\n```\n\n```sh\nmake\n```\n", "p:1 go; p:5 sh"},
		{"stray output", "```go\nx := 1\n```\n```output\n1\n```\n", "p:4: output of no program"},
		{"open", "\n```go\nx := 1\n", "p:2: the block does not end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			blocks, err := readBlocks("p", tt.page)
			var said []string
			for _, b := range blocks {
				s := b.at + " " + b.lang
				if b.program() {
					s += " program"
				}
				if b.output != nil {
					s += fmt.Sprintf(" %q", b.output.text)
				}
				said = append(said, s)
			}
			got := strings.Join(said, "; ")
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseFragment(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"package p\nvar x = 1\n":     true,
		"type T struct{ A int }\n":   true,
		"x := f()\nif x { return }":  true,
		"x := {\n":                   false,
		"}\nfunc f() {\n} and more ": false,
	} {
		if err := parseFragment(text); (err == nil) != ok {
			t.Errorf("parseFragment(%q): got %v, want ok %v", text, err, ok)
		}
	}
}

func TestTry(t *testing.T) {
	t.Parallel()
	const hello = "package main\n\nimport (\n\t\"fmt\"\n\t_ \"" + module + "\"\n)\n\nfunc main() { fmt.Println(\"hello\") }\n"
	tests := []struct{ name, text, output, want string }{
		{"as the page says", hello, "hello\n", ""},
		{"other output", hello, "goodbye\n", "prints other than the page says:\ngot:\nhello\nwant:\ngoodbye"},
		{"does not build", "package main\n\nfunc main() { x }\n", "", "undefined: x"},
		{"does not run", "package main\n\nfunc main() { panic(\"oh\") }\n", "hello\n", "panic: oh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := try(t.Context(), t.TempDir(), &block{text: tt.text, output: &block{text: tt.output}})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

package adopt

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostLines is how long an example is at most, from func to its closing brace.
const mostLines = 30

// What the page shows is what is compiled and tested here, and short.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			shown++
			from, to := set.Position(f.Pos()), set.Position(f.End())
			if lines := to.Line - from.Line + 1; lines >= mostLines {
				t.Errorf("%s: %s has %d lines, want less than %d", file, f.Name.Name, lines, mostLines)
			}
			if code := string(text[from.Offset:to.Offset]); !strings.Contains(string(page), "```go\n"+code+"\n```\n") {
				t.Errorf("README.md: want a block that is %s as it is in %s", f.Name.Name, file)
			}
		}
	}
	if shown == 0 {
		t.Error("got no example")
	}
}

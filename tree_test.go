package ferrule_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module is the path in go.mod.
const module = "github.com/ferrule-dev/ferrule"

// pkg is one folder with Go files, as the tests of this folder judge it.
type pkg struct {
	path  string // from the root, with slashes; "." is the root
	files []*ast.File
	tests []*ast.File // names that end in _test.go
}

// tree parses every Go file of the module, whatever system it is for. It reads
// them in this process and not through the go command, because go's test cache
// knows only what the test itself opened: a new import anywhere must run these
// tests again.
func tree(t *testing.T) (*token.FileSet, []*pkg) {
	t.Helper()
	read, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	return read.fset, read.all
}

// read is every Go file of the module.
type read struct {
	fset *token.FileSet
	all  []*pkg
}

// readTree reads it once: each test only looks.
var readTree = sync.OnceValues(func() (*read, error) {
	fset := token.NewFileSet()
	byPath := make(map[string]*pkg)
	var all []*pkg
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(name)
		}
		if !strings.HasSuffix(name, ".go") || hidden(d.Name()) {
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(name))
		p := byPath[dir]
		if p == nil {
			p = &pkg{path: dir}
			byPath[dir] = p
			all = append(all, p)
		}
		if strings.HasSuffix(name, "_test.go") {
			p.tests = append(p.tests, f)
		} else {
			p.files = append(p.files, f)
		}
		return nil
	})
	return &read{fset, all}, err
})

// enter returns fs.SkipDir for what the go command does not count as part of
// this module: hidden folders, test data, modules of their own.
func enter(dir string) error {
	if dir == "." {
		return nil
	}
	if base := filepath.Base(dir); hidden(base) || base == "testdata" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// parseText parses a made-up file for the tests of the checks themselves.
func parseText(t *testing.T, fset *token.FileSet, name, text string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

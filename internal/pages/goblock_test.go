package pages_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/pages"
)

const module = "github.com/ferrule-dev/ferrule"

// build makes every program of the pages, ferrule, and what pages run with go run ./X.
// An overlay shows the go command files that are not there: programs are built as if
// they were packages of this module, with its versions, and the tree is not written to.
func build(t *testing.T, all []*page) (bin string) {
	t.Helper()
	bin = t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	replace := make(map[string]string)
	packages := []string{"./cmd/ferrule"}
	for _, p := range all {
		for _, b := range p.blocks {
			if b.Program() {
				code := filepath.Join(t.TempDir(), "main.go")
				line := fmt.Sprintf("//line %s:%d\n", filepath.Join(top, b.Page), b.Line+1) // so that errors name the page
				write(t, code, line+b.Text)
				replace[filepath.Join(top, binary(b), "main.go")] = code
				packages = append(packages, "./"+binary(b))
			}
			if b.Lang == "sh" && !b.Shown {
				for _, m := range goRun.FindAllStringSubmatch(b.Text, -1) {
					if _, err := os.Stat(filepath.Join(top, m[1])); err == nil {
						packages = append(packages, m[1])
					}
				}
			}
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	write(t, list, string(overlay))
	slices.Sort(packages)
	args := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list, "-o", bin + "/"}, slices.Compact(packages)...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

var goRun = regexp.MustCompile(`go run (\./[a-z0-9/]+)`)

// binary is the name of a built program: that of its folder.
func binary(b *pages.Block) string {
	if b.File != "" {
		return path.Base(path.Dir(b.File))
	}
	return fmt.Sprintf("%s%d", strings.TrimSuffix(path.Base(b.Page), ".md"), b.Line)
}

// usual are names that fragments use without saying where they come from. A page
// declares others, or the same ones otherwise, in a comment that begins with <!-- go.
const usual = `package p
var ctx     context.Context
var rt      *ferrule.Runtime
var session *ferrule.Session
var view    *ferrule.View
var calls   []tool.Call
var kept    *store.Store
var rules   *cedar.Set
var text    string
var path    string
`

var declarations = regexp.MustCompile(`(?s)<!-- go\n(.*?)-->`)

// declared is what a page declares for its fragments, beside what is usual.
func declared(page string) string {
	var all string
	for _, m := range declarations.FindAllStringSubmatch(page, -1) {
		all += m[1]
	}
	return all
}

// checker checks the types of fragments.
type checker struct {
	paths    map[string]string // of packages, by name
	mu       sync.Mutex
	fset     *token.FileSet
	importer types.Importer
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Export}}", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	c := &checker{paths: make(map[string]string), fset: token.NewFileSet()}
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue
		}
		files[f[0]] = f[2]
		ours := f[0] == module || strings.HasPrefix(f[0], module+"/")
		hidden := strings.Contains(f[0], "/internal/") || strings.Contains(f[0], "vendor/") || f[1] == "main"
		if known := c.paths[f[1]]; !hidden && (ours || !strings.Contains(f[0], ".")) && (known == "" || ours || len(f[0]) < len(known)) {
			c.paths[f[1]] = f[0]
		}
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	return c
}

// fragment checks a block that is a file, declarations, or statements.
func (c *checker) fragment(b *pages.Block, declared string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf("//line %s:%d\n", b.Page, b.Line+1)
	whole := "package p\n" + line + b.Text
	f, err := parser.ParseFile(c.fset, "", whole, parser.SkipObjectResolution)
	if err != nil {
		whole = "package p\nfunc _() error {\n" + line + b.Text + "\nreturn nil\n}\n"
		if f, err = parser.ParseFile(c.fset, "", whole, parser.SkipObjectResolution); err != nil {
			return err
		}
	}
	around, err := parser.ParseFile(c.fset, "declared", "package p\n"+declared, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("%s: what the page declares: %w", b, err)
	}
	more, err := parser.ParseFile(c.fset, "usual", usual, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	leave(more, names(f), names(around))
	files := []*ast.File{f, around, more}
	for _, f := range files {
		c.addImports(f)
	}
	var faults []error
	conf := types.Config{Importer: c.importer, Error: func(err error) {
		// Soft: a name or an import that is not used.
		if te := (types.Error{}); errors.As(err, &te) && !te.Soft {
			faults = append(faults, err)
		}
	}}
	_, _ = conf.Check("p", c.fset, files, nil) // faults has what is wrong
	return errors.Join(faults...)
}

// names are what a file declares.
func names(f *ast.File) map[string]bool {
	all := make(map[string]bool)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						all[n.Name] = true
					}
				case *ast.TypeSpec:
					all[s.Name.Name] = true
				}
			}
		}
	}
	return all
}

// leave takes out of a file what others declare.
func leave(f *ast.File, others ...map[string]bool) {
	f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
		for name := range names(&ast.File{Decls: []ast.Decl{d}}) {
			for _, o := range others {
				if o[name] {
					return true
				}
			}
		}
		return false
	})
}

// addImports adds the imports that a file uses and does not have: X of X.Name, where X
// is a package of ours or of the standard library.
func (c *checker) addImports(f *ast.File) {
	has := make(map[string]bool)
	for _, s := range f.Imports {
		has[path.Base(strings.Trim(s.Path.Value, `"`))] = true
	}
	add := &ast.GenDecl{Tok: token.IMPORT, Lparen: 1}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && !has[x.Name] && c.paths[x.Name] != "" {
			has[x.Name] = true
			spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: `"` + c.paths[x.Name] + `"`}}
			add.Specs = append(add.Specs, spec)
			f.Imports = append(f.Imports, spec)
		}
		return true
	})
	if len(add.Specs) > 0 {
		f.Decls = append([]ast.Decl{add}, f.Decls...)
	}
}

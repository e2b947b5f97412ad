package ferrule_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// blind are the packages that decide, record or translate, with all below
// them. They see tool.Info and tool.Request, which are data; a tool.Tool has
// functions, and what decides must not be able to run.
var blind = []string{"policy", "audit", "guard", "search", "provider", "store", "internal/web"}

func TestDecidersCannotRun(t *testing.T) {
	t.Parallel()
	fset, all := tree(t)
	for _, name := range blind {
		t.Run(name, func(t *testing.T) {
			below := slices.DeleteFunc(slices.Clone(all), func(p *pkg) bool {
				return p.path != name && !strings.HasPrefix(p.path, name+"/")
			})
			if len(below) == 0 {
				t.Skip("there is no such package yet")
			}
			for _, p := range below {
				for _, fault := range holdTool(t, fset, p) {
					t.Error(fault)
				}
			}
		})
	}
}

// Package tool itself holds tools, so the check must find some there: this
// tries the way from the files to the verdict, which the packages above go.
func TestToolHoldsTool(t *testing.T) {
	t.Parallel()
	fset, all := tree(t)
	i := slices.IndexFunc(all, func(p *pkg) bool { return p.path == "tool" })
	if i < 0 {
		t.Fatal("there is no package tool")
	}
	if len(holdTool(t, fset, all[i])) == 0 {
		t.Error("package tool: got no tool.Tool, want some")
	}
}

// holdTool checks the files of p that are for this system.
func holdTool(t *testing.T, fset *token.FileSet, p *pkg) []string {
	t.Helper()
	var files []*ast.File
	for _, f := range p.files {
		dir, base := filepath.Split(fset.Position(f.Package).Filename)
		ok, err := build.Default.MatchFile(dir, base)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			files = append(files, f)
		}
	}
	faults, err := findTool(fset, module+"/"+p.path, files, compiled(t, fset))
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// compiled imports packages from what the compiler wrote for the go command.
func compiled(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	files, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(files[path])
	})
}

// exports are the files that the compiler wrote, by import path. The go command is
// asked once, for all packages that are looked at.
var exports = sync.OnceValues(func() (map[string]string, error) {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./tool"}
	for _, name := range blind {
		if _, err := os.Stat(name); err == nil {
			args = append(args, "./"+name+"/...")
		}
	}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return files, nil
})

// findTool names every line with an expression whose type is or contains
// tool.Tool. It asks for types and not for names: a tool that comes out of a
// function call is held without being named.
func findTool(fset *token.FileSet, path string, files []*ast.File, from types.Importer) ([]string, error) {
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}
	conf := types.Config{Importer: from}
	if _, err := conf.Check(path, fset, files, info); err != nil {
		return nil, err
	}
	var faults []string
	for expr, tv := range info.Types {
		if containsTool(tv.Type) {
			at := fset.Position(expr.Pos())
			faults = append(faults, fmt.Sprintf("%s:%d: holds a tool.Tool, want tool.Info at most", filepath.ToSlash(at.Filename), at.Line))
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults), nil
}

// containsTool looks into composed types. It does not look into named types of
// others: what they hide cannot be reached from outside without an expression
// of type tool.Tool.
func containsTool(typ types.Type) bool {
	switch typ := types.Unalias(typ).(type) {
	case *types.Named:
		if o := typ.Obj(); o.Name() == "Tool" && o.Pkg() != nil && o.Pkg().Path() == module+"/tool" {
			return true
		}
		for arg := range typ.TypeArgs().Types() {
			if containsTool(arg) {
				return true
			}
		}
	case *types.Map:
		return containsTool(typ.Key()) || containsTool(typ.Elem())
	case *types.Signature:
		return containsTool(typ.Params()) || containsTool(typ.Results())
	case *types.Tuple:
		for v := range typ.Variables() {
			if containsTool(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range typ.Fields() {
			if containsTool(f.Type()) {
				return true
			}
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return containsTool(typ.Elem())
	}
	return false
}

// oneImport imports a single package that was made for a test.
type oneImport struct{ pkg *types.Package }

func (o oneImport) Import(path string) (*types.Package, error) {
	if path != o.pkg.Path() {
		return nil, errors.New("not made for this test: " + path)
	}
	return o.pkg, nil
}

func TestFindTool(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	made, err := new(types.Config).Check(module+"/tool", fset, []*ast.File{parseText(t, fset, "tool.go", `package tool
type Info struct{ Name string }
type Tool struct { Info; Run func() }
func New() (*Tool, error) { return nil, nil }
func Infos() []Info { return nil }
`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const line = "p.go:3: holds a tool.Tool, want tool.Info at most"
	tests := []struct{ name, code, want string }{
		{"data only", "func f(i *tool.Info) string { return i.Name + tool.Infos()[0].Name }", ""},
		{"own type of the same name", "type Tool struct{ tool.Info }; var x Tool", ""},
		{"named", "func f(t *tool.Tool) {}", line},
		{"never named", "func f() { if t, err := tool.New(); err == nil { t.Run() } }", line},
		{"a list", "type s struct { all map[string][]tool.Tool }", line},
		{"an alias", "type T = tool.Tool", line},
		{"a channel in a function", "type f func(chan *tool.Tool)", line},
		{"a type argument", "type box[T any] struct{ v T }; var b box[tool.Tool]", line},
		{"the function that makes them", "var f = tool.New", line},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := parseText(t, fset, "p.go", "package p\nimport \""+module+"/tool\"\n"+tt.code+"\nvar _ tool.Info\n")
			faults, err := findTool(fset, module+"/policy", []*ast.File{f}, oneImport{made})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(faults, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

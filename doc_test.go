package ferrule_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// screen is how many lines a package's doc may have: what is longer is not
// read.
const screen = 60

// maxNames is how many exported names a package may have. Fields, methods and
// the further constants of a closed set do not count.
func maxNames(path string) int {
	if path == "." || path == "tool" {
		return 45 // the two that every user reads
	}
	return 30
}

func TestDocs(t *testing.T) {
	t.Parallel()
	fset, all := tree(t)
	for _, p := range all {
		if len(p.files) == 0 {
			continue // only tests
		}
		for _, fault := range checkDocs(fset, p, maxNames(p.path)) {
			t.Error(fault)
		}
	}
}

// checkDocs says what in a package has no comment and what is too long.
func checkDocs(fset *token.FileSet, p *pkg, most int) []string {
	var faults []string
	var doc strings.Builder
	var names []string
	for _, f := range p.files {
		doc.WriteString(f.Doc.Text())
		for _, decl := range f.Decls {
			found, bare := exported(decl)
			names = append(names, found...)
			for _, n := range bare {
				at := fset.Position(n.Pos())
				faults = append(faults, fmt.Sprintf("%s:%d: %s: no doc comment", at.Filename, at.Line, n.Name))
			}
		}
	}
	switch n := strings.Count(doc.String(), "\n"); {
	case n == 0:
		faults = append(faults, fmt.Sprintf("%s: no package doc", title(p.path)))
	case n > screen:
		faults = append(faults, fmt.Sprintf("%s: package doc: got %d lines, want at most %d", title(p.path), n, screen))
	}
	if len(names) > most {
		faults = append(faults, fmt.Sprintf("%s: got %d exported names, want at most %d: %s",
			title(p.path), len(names), most, strings.Join(names, " ")))
	}
	return faults
}

// exported returns the exported names of a declaration that count, and those
// that have no comment.
func exported(decl ast.Decl) (names []string, bare []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil, nil
		}
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
		if d.Doc.Text() == "" {
			bare = append(bare, d.Name)
		}
	case *ast.GenDecl:
		// One comment above a group serves its constants or variables: they
		// belong together. Types each need their own.
		var types []string // of constants already counted in this group
		var last string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if !s.Name.IsExported() {
					continue
				}
				names = append(names, s.Name.Name)
				if s.Doc.Text() == "" && s.Comment.Text() == "" && (d.Doc.Text() == "" || d.Lparen.IsValid()) {
					bare = append(bare, s.Name)
				}
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 { // else the constant repeats the one above
					last = constType(s)
				}
				for _, n := range s.Names {
					if !n.IsExported() {
						continue
					}
					if s.Doc.Text() == "" && s.Comment.Text() == "" && d.Doc.Text() == "" {
						bare = append(bare, n)
					}
					if d.Tok == token.CONST && last != "" {
						if slices.Contains(types, last) {
							continue
						}
						types = append(types, last)
					}
					names = append(names, n.Name)
				}
			}
		}
	}
	return names, bare
}

// constType is the type a constant names, in front or as a conversion; nothing
// if it names none.
func constType(s *ast.ValueSpec) string {
	if id, ok := s.Type.(*ast.Ident); ok {
		return id.Name
	}
	if len(s.Values) > 0 {
		if call, ok := s.Values[0].(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok {
				return id.Name
			}
		}
	}
	return ""
}

// receiver is the name of a method's type, without pointer and parameters.
func receiver(typ ast.Expr) string {
	switch t := typ.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func TestCheckDocs(t *testing.T) {
	t.Parallel()
	const doc = "// Package p is a test.\npackage p\n"
	tests := []struct{ name, text, want string }{
		{"all said", doc + "// A is.\ntype A int\n// F does.\nfunc F() {}\n// M does.\nfunc (a *A) M() {}\n", ""},
		{"no package doc", "package p\n", "p: no package doc"},
		{"a long package doc", "// Package p\n" + strings.Repeat("// and so on\n", screen) + "package p\n", "p: package doc: got 61 lines, want at most 60"},
		{"type", doc + "type A int\n", "p.go:3: A: no doc comment"},
		{"types in a group", doc + "// These are.\ntype (\n\t// A is.\n\tA int\n\tB int\n)\n", "p.go:7: B: no doc comment"},
		{"function", doc + "func F() {}\n", "p.go:3: F: no doc comment"},
		{"a directive is no doc", doc + "//go:noinline\nfunc F() {}\n", "p.go:4: F: no doc comment"},
		{"method", doc + "// A is.\ntype A[T any] int\nfunc (A[T]) M() {}\n", "p.go:5: M: no doc comment"},
		{"method of a hidden type", doc + "type a int\nfunc (a) M() {}\n", ""},
		{"variable", doc + "var V int\n", "p.go:3: V: no doc comment"},
		{"a group", doc + "// Kinds.\nconst (\n\tA = 1\n\tB = 2\n)\n", ""},
		{"comment behind", doc + "const (\n\tA = 1 // one\n\tB = 2\n)\n", "p.go:5: B: no doc comment"},
		{"hidden", doc + "type a int\nfunc f() {}\nvar v int\n", ""},
		{"too many", doc + "// They.\nvar A, B, C, D int\n", "p: got 4 exported names, want at most 3: A B C D"},
		{"a closed set counts once", doc + "// They.\nconst (\n\tA K = iota\n\tB\n\tC\n\tD\n)\n// K is.\ntype K int\n", ""},
		{"a closed set by conversion", doc + "// They.\nconst (\n\tA = K(1)\n\tB = K(2)\n\tC = K(3)\n\tD = K(4)\n)\n", ""},
		{"two sets", doc + "// They.\nconst (\n\tA K = 1\n\tB K = 2\n\tC L = 1\n\tD = 4\n\tE = 5\n)\n", "p: got 4 exported names, want at most 3: A C D E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			p := &pkg{path: "p", files: []*ast.File{parseText(t, fset, "p.go", tt.text)}}
			if got := strings.Join(checkDocs(fset, p, 3), "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

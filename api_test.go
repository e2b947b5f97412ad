package ferrule_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the exported API to docs/api.txt")

// apiFile is the exported API as it was last reviewed: a line for each thing that
// somebody can depend on. docs/api.md says what is promised of it.
const apiFile = "docs/api.txt"

// A change of the API is seen in a review, or not made: what is gone breaks who
// uses it, and what is new must be kept.
func TestAPI(t *testing.T) {
	t.Parallel()
	_, all := tree(t) // see there about the cache
	got, err := exportedAPI(t, all)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(apiFile, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	if changes := compareAPI(strings.Split(strings.TrimSpace(string(text)), "\n"), got); len(changes) > 0 {
		t.Errorf("the exported API is not what %s says:\n%s\nif all of this is meant: go test -run TestAPI . -update, and look at the diff; docs/api.md says what may change", apiFile, strings.Join(changes, "\n"))
	}
}

// compareAPI says what is gone and what is new.
func compareAPI(was, is []string) (changes []string) {
	for _, line := range was {
		if !slices.Contains(is, line) {
			changes = append(changes, "gone: "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			changes = append(changes, "new:  "+line)
		}
	}
	return changes
}

// public reports whether others can import a package, and are meant to.
func (p *pkg) public() bool {
	return len(p.files) > 0 && p.files[0].Name.Name != "main" && !slices.Contains(strings.Split(p.path, "/"), "internal") && p.path != "examples"
}

// exportedAPI lists the API of all public packages, sorted. It reads what the
// compiler has written for those who import them.
func exportedAPI(t *testing.T, all []*pkg) ([]string, error) {
	t.Helper()
	var paths []string
	for _, p := range all {
		if p.public() {
			paths = append(paths, strings.TrimSuffix(module+"/"+p.path, "/."))
		}
	}
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}, paths...)...)
	var errs bytes.Buffer
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &errs)
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, errors.New(path + ": go list has no export data")
		}
		return os.Open(filepath.Clean(files[path]))
	})
	var lines []string
	for _, path := range paths {
		p, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		lines = append(lines, apiOf(p)...)
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil
}

// api collects lines about one package.
type api struct {
	prefix string
	lines  []string
}

// apiOf lists what a package exports: "tool, func New(…) …".
func apiOf(p *types.Package) []string {
	a := &api{prefix: shortPath(p) + ", "}
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			a.object(o)
		}
	}
	return a.lines
}

// shortPath is how a line names a package: ours from the root, others whole.
func shortPath(p *types.Package) string {
	if p.Path() == module {
		return "ferrule"
	}
	return strings.TrimPrefix(p.Path(), module+"/")
}

func (a *api) add(format string, args ...any) {
	a.lines = append(a.lines, a.prefix+fmt.Sprintf(format, args...))
}

func (a *api) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		value := o.Val().ExactString()
		if o.Val().Kind() == constant.Float {
			value = o.Val().String() // a fraction would be exact, and nobody could read it
		}
		a.add("const %s %s = %s", o.Name(), typeText(o.Type()), value)
	case *types.Var:
		a.add("var %s %s", o.Name(), typeText(o.Type()))
	case *types.Func:
		a.add("func %s%s", o.Name(), signature(o.Signature()))
	case *types.TypeName:
		a.typeName(o)
	}
}

func (a *api) typeName(o *types.TypeName) {
	name := o.Name()
	if o.IsAlias() {
		a.add("type %s = %s", name, typeText(types.Unalias(o.Type())))
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	if params := named.TypeParams(); params.Len() > 0 {
		name += typeParams(params)
	}
	switch under := named.Underlying().(type) {
	case *types.Struct:
		a.structure(name, under)
	case *types.Interface:
		a.iface(name, under)
	default:
		a.add("type %s %s", name, typeText(under))
	}
	if types.IsInterface(named) {
		return
	}
	// The methods of a pointer are all that there are; which of them a value has, too,
	// is part of what others depend on.
	values := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f, ok := m.Obj().(*types.Func)
		if !ok || !f.Exported() {
			continue
		}
		receiver := "*" + o.Name()
		if values.Lookup(f.Pkg(), f.Name()) != nil {
			receiver = o.Name()
		}
		a.add("method (%s) %s%s", receiver, f.Name(), signature(f.Signature()))
	}
}

// structure lists fields. That others are hidden is said: then nobody outside can
// write its literal without names, and it may not be comparable.
func (a *api) structure(name string, s *types.Struct) {
	hidden := ""
	if slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return !f.Exported() }) {
		hidden = ", with hidden fields"
	}
	if t := types.Type(s); !types.Comparable(t) {
		hidden += ", not comparable"
	}
	a.add("type %s struct%s", name, hidden)
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() {
			continue
		}
		tag := ""
		if s.Tag(i) != "" {
			tag = " `" + s.Tag(i) + "`"
		}
		what := f.Name() + " " + typeText(f.Type())
		if f.Embedded() {
			what = "embeds " + typeText(f.Type())
		}
		a.add("type %s struct, %s%s", name, what, tag)
	}
}

// iface lists methods. A further one breaks those who implement it, unless they cannot.
func (a *api) iface(name string, i *types.Interface) {
	sealed := ""
	for m := range i.Methods() {
		if !m.Exported() {
			sealed = ", which others cannot implement"
		}
	}
	if !i.IsMethodSet() {
		a.add("type %s %s", name, typeText(i)) // a constraint
		return
	}
	a.add("type %s interface%s", name, sealed)
	for m := range i.Methods() {
		if m.Exported() {
			a.add("type %s interface, %s%s", name, m.Name(), signature(m.Signature()))
		}
	}
}

func typeText(t types.Type) string { return types.TypeString(t, shortPath) }

// signature is what a function takes and gives. The names of parameters are left out:
// nobody depends on them.
func signature(s *types.Signature) string {
	nameless := func(t *types.Tuple) *types.Tuple {
		vars := make([]*types.Var, t.Len())
		for i := range vars {
			vars[i] = types.NewParam(token.NoPos, nil, "", t.At(i).Type())
		}
		return types.NewTuple(vars...)
	}
	plain := types.NewSignatureType(nil, nil, nil, nameless(s.Params()), nameless(s.Results()), s.Variadic())
	text := strings.TrimPrefix(typeText(plain), "func")
	if s.TypeParams().Len() > 0 {
		text = typeParams(s.TypeParams()) + text
	}
	return text
}

func typeParams(list *types.TypeParamList) string {
	var params []string
	for p := range list.TypeParams() {
		params = append(params, p.Obj().Name()+" "+typeText(p.Constraint()))
	}
	return "[" + strings.Join(params, ", ") + "]"
}

func TestAPIOf(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"hidden", "type a int\nfunc f() {}\nvar v, _ int\nconst c = 1\n", ""},
		{"constants", "type K string\nconst (\n\tA K = \"a\"\n\tB = 1 << 3\n\tC = 0.5\n)\n", `p, const A p.K = "a"; p, const B untyped int = 8; p, const C untyped float = 0.5; p, type K string`},
		{"a variable", "var V []error\n", "p, var V []error"},
		{"names of parameters", "func F(a int, b ...string) (n int, err error) { return }\n", "p, func F(int, ...string) (int, error)"},
		{"generics", "type A[T any] struct{ X T }\nfunc F[K comparable](map[K]A[int]) {}\nfunc (A[T]) M(T) {}\n", "p, func F[K comparable](map[K]p.A[int]); p, method (A) M(T); p, type A[T any] struct, X T; p, type A[T any] struct, not comparable"},
		{"fields", "type A struct {\n\tX int `json:\"x\"`\n\ty []int\n}\n", "p, type A struct, X int `json:\"x\"`; p, type A struct, with hidden fields, not comparable"},
		{"methods of a pointer", "type A int\nfunc (A) V() {}\nfunc (*A) P() {}\nfunc (A) h() {}\n", "p, method (*A) P(); p, method (A) V(); p, type A int"},
		{"methods of what is embedded", "type b struct{}\nfunc (b) M() {}\ntype A struct{ b }\n", "p, method (A) M(); p, type A struct, with hidden fields"},
		{"an interface", "type I interface{ M(x int) error }\n", "p, type I interface; p, type I interface, M(int) error"},
		{"a sealed interface", "type I interface{ M(); n() }\n", "p, type I interface, M(); p, type I interface, which others cannot implement"},
		{"a constraint", "type N interface{ ~int | ~string }\n", "p, type N interface{~int | ~string}"},
		{"an alias", "type b = []int\ntype A = b\n", "p, type A = []int"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			p, err := new(types.Config).Check("p", fset, []*ast.File{parseText(t, fset, "p.go", "package p\n"+tt.text)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := apiOf(p)
			slices.Sort(lines)
			if got := strings.Join(lines, "; "); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestCompareAPI(t *testing.T) {
	t.Parallel()
	if got := compareAPI([]string{"a", "b"}, []string{"b", "c"}); !slices.Equal(got, []string{"gone: a", "new:  c"}) {
		t.Errorf("got %q", got)
	}
	if got := compareAPI([]string{"a"}, []string{"a"}); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

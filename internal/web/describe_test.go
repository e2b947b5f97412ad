package web

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
)

// described is the description of a console.
func described(t *testing.T, c *Console) map[string]any {
	t.Helper()
	w := get(t, c, "/api/openapi.json")
	var d map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != http.StatusOK {
		t.Fatalf("got %d, %v, want JSON", w.Code, err)
	}
	return d
}

func TestDescription(t *testing.T) {
	t.Parallel()
	c := filled("x")
	d := described(t, c)
	t.Run("P6 it is OpenAPI 3.1, and every reference leads somewhere", func(t *testing.T) {
		t.Parallel()
		if d["openapi"] != "3.1.0" {
			t.Errorf("got %v, want 3.1.0", d["openapi"])
		}
		schemas := d["components"].(map[string]any)["schemas"].(map[string]any)
		text, _ := json.Marshal(d)
		refs := regexp.MustCompile(`"\$ref":"([^"]+)"`).FindAllStringSubmatch(string(text), -1)
		if len(refs) < 10 {
			t.Errorf("got %d references, want those of all types", len(refs))
		}
		for _, ref := range refs {
			if s, ok := schemas[strings.TrimPrefix(ref[1], "#/components/schemas/")].(map[string]any); !ok || s["type"] != "object" {
				t.Errorf("%s leads nowhere", ref[1])
			}
		}
	})
	t.Run("P6 it has the routes that there are, and no others", func(t *testing.T) {
		t.Parallel()
		var has, want []string
		for path, at := range d["paths"].(map[string]any) {
			for method := range at.(map[string]any) {
				has = append(has, strings.ToUpper(method)+" "+path)
			}
		}
		for _, o := range c.book.operations {
			want = append(want, o.method+" "+o.path)
		}
		slices.Sort(has)
		slices.Sort(want)
		if !slices.Equal(has, want) {
			t.Errorf("got %q, want %q", has, want)
		}
		for _, route := range has {
			method, path, _ := strings.Cut(route, " ")
			r, err := http.NewRequestWithContext(t.Context(), method, pageOf(path, "x"), http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			mux, ok := c.mux.(*http.ServeMux)
			if !ok {
				t.Fatalf("got %T, want a mux", c.mux)
			}
			if _, pattern := mux.Handler(r); pattern != route {
				t.Errorf("%s is described, and %q answers it", route, pattern)
			}
		}
		for _, route := range literalRoutes(t) {
			if !slices.Contains(has, route) {
				t.Errorf("%s is served, and not described: register it through pair, give, act or tell, or add it to the book", route)
			}
		}
	})
	for name, console := range map[string]*Console{"all": c, "nothing": empty()} {
		d := described(t, console)
		for _, o := range console.book.operations {
			if o.method != http.MethodGet || o.kind != "" || strings.Contains(o.path, "openapi") {
				continue
			}
			t.Run("P6 "+o.path+" answers as it is described, of a host that has "+name, func(t *testing.T) {
				t.Parallel()
				w := get(t, console, pageOf(o.path, "x"))
				if w.Code == http.StatusNotFound && name == "nothing" {
					return
				}
				fits(t, d, d["paths"].(map[string]any)[o.path].(map[string]any)["get"], w.Code, w.Body.Bytes())
			})
		}
	}
}

// empty is a console over a host that has nothing.
func empty() *Console {
	c := &Console{Key: testKey}
	hollow(c)
	return c
}

// literalRoutes are the routes of the API that are registered by hand.
func literalRoutes(t *testing.T) (all []string) {
	t.Helper()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			to, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(to.Sel.Name, "Handle") {
				return true
			}
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				if route, _ := strconv.Unquote(lit.Value); strings.Contains(route, " /api/") {
					all = append(all, route)
				}
			}
			return true
		})
	}
	return all
}

// fits fails unless an answer is as an operation says, with nothing in it that is not
// described.
func fits(t *testing.T, description map[string]any, operation any, code int, answer []byte) {
	t.Helper()
	if code != http.StatusOK {
		t.Fatalf("got %d, %s", code, answer)
	}
	content := operation.(map[string]any)["responses"].(map[string]any)["200"].(map[string]any)["content"].(map[string]any)
	whole := map[string]any{"components": description["components"], "allOf": []any{content["application/json"].(map[string]any)["schema"]}}
	text, err := json.Marshal(closed(whole))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(text, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckBytes(answer); err != nil {
		t.Errorf("%v in %s", err, answer)
	}
}

// closed is a schema that takes no members but those that it names.
func closed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for k, of := range v {
			v[k] = closed(of)
		}
		if _, is := v["properties"]; is && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		return v
	case []any:
		all := make([]any, len(v))
		for i, of := range v {
			all[i] = closed(of)
		}
		return all
	}
	return v
}

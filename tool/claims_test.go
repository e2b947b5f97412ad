package tool_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

func touches(resources ...string) []tool.Access {
	list := []tool.Access{}
	for _, r := range resources {
		list = append(list, access(r))
	}
	return list
}

// access reads "w file:/a" as a write, anything else as a read.
func access(s string) tool.Access {
	if r, ok := strings.CutPrefix(s, "w "); ok {
		return tool.Access{Resource: r, Write: true}
	}
	return tool.Access{Resource: s}
}

func TestDerivedClaims(t *testing.T) {
	tests := []struct {
		name                  string
		claims                tool.Claims
		class, effect         string
		destructive, overlaps bool
	}{
		{"T4 nothing", tool.Claims{}, "unsafe", "external-stateful", true, false},
		{"T4 read-only", tool.Claims{ReadOnly: true}, "read-only", "read-only", false, true},
		{"T4 parallel", tool.Claims{Parallel: true}, "write", "external-stateful", true, true},
		{"T4 reversible", tool.Claims{Reversible: true}, "write", "external-stateful", false, false},
		{"T4 local", tool.Claims{Local: true}, "write", "side-effecting", true, false},
		{"T4 idempotent", tool.Claims{Idempotent: true}, "write", "external-stateful", true, false},
		{"T4 touches nothing", tool.Claims{Touches: touches()}, "write", "external-stateful", true, false},
		{"T4 touches a file", tool.Claims{Touches: touches("w file:/a")}, "write", "external-stateful", true, false},
		{"T4 read-only and local, touches not claimed", tool.Claims{ReadOnly: true, Local: true}, "read-only", "read-only", false, true},
		{"T4 read-only and local, touches nothing", tool.Claims{ReadOnly: true, Local: true, Touches: touches()}, "read-only", "pure", false, true},
		{"T4 read-only and local, touches a file", tool.Claims{ReadOnly: true, Local: true, Touches: touches("file:/a")}, "read-only", "read-only", false, true},
		{"T4 read-only, touches nothing, not local", tool.Claims{ReadOnly: true, Touches: touches()}, "read-only", "read-only", false, true},
		{"T4 local and reversible", tool.Claims{Local: true, Reversible: true}, "write", "side-effecting", false, false},
		{"T4 everything but read-only", tool.Claims{Parallel: true, Reversible: true, Local: true, Idempotent: true, Touches: touches()}, "write", "side-effecting", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.claims
			if c.Class() != tt.class || c.SideEffect() != tt.effect || c.Destructive() != tt.destructive || c.Overlaps() != tt.overlaps {
				t.Errorf("%+v: %s, %s, destructive %v, overlaps %v", c, c.Class(), c.SideEffect(), c.Destructive(), c.Overlaps())
			}
			if err := c.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClaimsCheck(t *testing.T) {
	const (
		unclean  = `: want a clean path, without . .. // or / at the end`
		kind     = `: the kind before the colon has small letters, digits and -`
		relative = `: want an absolute path with /`
		unseen   = `: want characters that can be seen`
	)
	t.Run("T3 a resource has one spelling", func(t *testing.T) {
		for resource, want := range map[string]string{
			"file:/a/b": "", "file:/": "", "file:": "", "table:orders": "", "mcp:server": "", "table:orders/1": "", "https:example.org/a": "",
			"file:/a b/ü": "", "file:/..a/b..": "", "file:/a:b": "",
			"my-kind2:x": "", `table:a\b`: "", "url:": "",

			"":              `claims: touches "": want kind:path, such as file:/a/b`,
			"/a":            `claims: touches "/a": want kind:path, such as file:/a/b`,
			"orders":        `claims: touches "orders": want kind:path, such as file:/a/b`,
			":/a":           `claims: touches ":/a": want kind:path, such as file:/a/b`,
			"a/b:c":         `claims: touches "a/b:c"` + kind,
			"my file:/a":    `claims: touches "my file:/a"` + kind,
			"file:/a/../b":  `claims: touches "file:/a/../b"` + unclean,
			"file:/a/./b":   `claims: touches "file:/a/./b"` + unclean,
			"file:/a/":      `claims: touches "file:/a/"` + unclean,
			"file:/a//b":    `claims: touches "file:/a//b"` + unclean,
			"file://a":      `claims: touches "file://a"` + unclean,
			"table:.":       `claims: touches "table:."` + unclean,
			"table:..":      `claims: touches "table:.."` + unclean,
			"file:.":        `claims: touches "file:."` + relative,
			"file:..":       `claims: touches "file:.."` + relative,
			"file:a/b":      `claims: touches "file:a/b"` + relative,
			`file:/a\b`:     `claims: touches "file:/a\\b"` + relative,
			"File:/a":       `claims: touches "File:/a"` + kind,
			"été:a":         `claims: touches "été:a"` + kind,
			"a_b:c":         `claims: touches "a_b:c"` + kind,
			"file:/a\nb":    `claims: touches "file:/a\nb"` + unseen,
			"file:/a\u200b": `claims: touches "file:/a\u200b"` + unseen,
			"file:/\xff":    `claims: touches "file:/\xff"` + unseen,
			"table:\u202ea": `claims: touches "table:\u202ea"` + unseen,
			"table:orders/": `claims: touches "table:orders/"` + unclean,
			"file:/a/..":    `claims: touches "file:/a/.."` + unclean,
			"file:/a\x00/b": `claims: touches "file:/a\x00/b"` + unseen,
		} {
			got := ""
			if err := (tool.Claims{Touches: touches(resource)}).Check(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("touches %q:\ngot  %s\nwant %s", resource, got, want)
			}
		}
	})
	t.Run("T4 read-only with a write contradicts itself", func(t *testing.T) {
		err := tool.Claims{ReadOnly: true, Touches: touches("file:/a", "w file:/b")}.Check()
		if err == nil || err.Error() != `claims: read-only, but writes "file:/b"` {
			t.Errorf("Check() = %v", err)
		}
	})
}

func TestClaimsOfOneCall(t *testing.T) {
	constant := tool.Claims{Local: true, Touches: touches("w file:/a")}
	tests := []struct {
		name string
		of   func(tool.Args) (tool.Claims, error)
		want tool.Claims
	}{
		{"T3 constants hold where there is no function", nil, constant},
		{"T3 a function says it for one call", func(tool.Args) (tool.Claims, error) {
			return tool.Claims{ReadOnly: true}, nil
		}, tool.Claims{ReadOnly: true}},
		{"T3 a function sees the input", func(a tool.Args) (tool.Claims, error) {
			var in search
			err := a.Decode(&in)
			return tool.Claims{Touches: touches("w file:" + in.Path)}, err
		}, tool.Claims{Touches: touches("w file:/x")}},
		{"T3 an error claims nothing", func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true}, errBroken }, tool.Claims{}},
		{"T3 a panic claims nothing", func(tool.Args) (tool.Claims, error) { panic("broken") }, tool.Claims{}},
		{"T3 a panic of the runtime claims nothing", func(a tool.Args) (tool.Claims, error) {
			return tool.Claims{ReadOnly: a.Mended()[3] == ""}, nil
		}, tool.Claims{}},
		{"T3 a contradiction claims nothing", func(tool.Args) (tool.Claims, error) {
			return tool.Claims{ReadOnly: true, Touches: touches("w file:/a")}, nil
		}, tool.Claims{}},
		{"T3 an unclean resource claims nothing", func(tool.Args) (tool.Claims, error) {
			return tool.Claims{Parallel: true, Touches: touches("file:/a/../b")}, nil
		}, tool.Claims{}},
		{"T3 touching nothing stays a claim", func(tool.Args) (tool.Claims, error) {
			return tool.Claims{Touches: touches()}, nil
		}, tool.Claims{Touches: touches()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := untyped(pathSchema)
			if def.ClaimsOf = tt.of; tt.of == nil {
				def.Claims = constant
			}
			tl := must(def.Check())(t)
			got, err := tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`))
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("claims = %+v, want %+v", got, tt.want)
			}
			// Nobody claims nothing on purpose here: the reason is said.
			if reflect.DeepEqual(tt.want, tool.Claims{}) != (err != nil) {
				t.Errorf("error = %v", err)
			}
		})
	}
	t.Run("T3 constants hold beside what a function says", func(t *testing.T) {
		def := untyped(pathSchema)
		def.Claims = tool.Claims{ReadOnly: true, Local: true}
		of := tool.Claims{Idempotent: true, Touches: touches("file:/a")}
		def.ClaimsOf = func(tool.Args) (tool.Claims, error) { return of, nil }
		tl := must(def.Check())(t)
		want := tool.Claims{ReadOnly: true, Local: true, Idempotent: true, Touches: touches("file:/a")}
		if got := must(tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`)))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		of.Touches = touches("w file:/a") // which the constants contradict
		if got, err := tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`)); !reflect.DeepEqual(got, tool.Claims{}) || err == nil {
			t.Errorf("got %+v, %v, want none and why", got, err)
		}
	})
	t.Run("T3 what a function returned is not shared with it", func(t *testing.T) {
		shared := touches("file:/a")
		def := untyped(pathSchema)
		def.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{Touches: shared}, nil }
		tl := must(def.Check())(t)
		got := must(tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`)))(t)
		shared[0].Resource = "file:/b"
		if got.Touches[0].Resource != "file:/a" {
			t.Errorf("claims changed to %+v", got)
		}
	})
	t.Run("T3 the constants of one call are not those of the tool", func(t *testing.T) {
		def := untyped(pathSchema)
		def.Claims = tool.Claims{Touches: touches("file:/a")}
		tl := must(def.Check())(t)
		must(tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`)))(t).Touches[0].Resource = "file:/b"
		if tl.Claims.Touches[0].Resource != "file:/a" {
			t.Errorf("who changed the claims of a call changed the tool: %+v", tl.Claims)
		}
	})

	typed := func(t *testing.T, of func(search) tool.Claims) *tool.Tool {
		t.Helper()
		s := tool.Spec[search, string]{Info: info(), ClaimsOf: of, Run: func(context.Context, search) (string, error) { return "", nil }}
		return must(s.Tool())(t)
	}
	t.Run("T3 a typed function sees the typed input", func(t *testing.T) {
		tl := typed(t, func(in search) tool.Claims { return tool.Claims{Touches: touches("file:" + in.Path)} })
		want := tool.Claims{Touches: touches("file:/x")}
		if got := must(tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`)))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("claims = %+v, want %+v", got, want)
		}
	})
	t.Run("T3 a typed function that panics claims nothing", func(t *testing.T) {
		tl := typed(t, func(in search) tool.Claims { return tool.Claims{ReadOnly: in.Tags[5] == ""} })
		got, err := tl.ClaimsFor(admit(t, tl, `{"path":"/x"}`))
		if !reflect.DeepEqual(got, tool.Claims{}) || err == nil || !strings.Contains(err.Error(), "panic: ") {
			t.Errorf("claims = %+v, %v, want none and the panic", got, err)
		}
	})
	t.Run("T3 a typed function without its input claims nothing", func(t *testing.T) {
		tl := typed(t, func(search) tool.Claims { return tool.Claims{ReadOnly: true} })
		if got, err := tl.ClaimsFor(tool.Args{}); !reflect.DeepEqual(got, tool.Claims{}) || err == nil {
			t.Errorf("claims = %+v, %v, want none and why", got, err)
		}
	})
}

func TestCovers(t *testing.T) {
	t.Run("D2 a resource covers what is below it", func(t *testing.T) {
		for _, tt := range []struct {
			above, below string
			want         bool
		}{
			{"file:/a", "file:/a", true},
			{"file:/a", "file:/a/b", true},
			{"file:/a", "file:/a/b/c", true},
			{"file:/a/b", "file:/a", false},
			{"file:/a", "file:/ab", false},
			{"file:/a", "file:/b", false},
			{"file:/", "file:/a", true},
			{"file:", "file:/a", true},
			{"file:", "file:/", true},
			{"file:/", "file:", false},
			{"file:", "table:a", false},
			{"file:/a", "table:/a", false},
			{"table:", "table:orders", true},
			{"table:orders", "table:orders/1", true},
			{"table:orders", "table:orders2", false},
			{"mcp:s", "mcp:s/tool", true},
			{"file:/a:", "file:/a:b", false}, // two files whose names have a colon
			{"file:/w:", "file:/w:/x", true},
			{"table:a:", "table:a:b", false},
		} {
			if got := access(tt.above).Covers(access(tt.below)); got != tt.want {
				t.Errorf("%s covers %s = %v, want %v", tt.above, tt.below, got, tt.want)
			}
		}
	})
}

func TestMeets(t *testing.T) {
	t.Run("D2 two accesses meet where one covers the other and one writes", func(t *testing.T) {
		for _, tt := range []struct {
			a, b string
			want bool
		}{
			{"file:/a", "file:/a", false},
			{"w file:/a", "file:/a", true},
			{"w file:/a", "w file:/a", true},
			{"w file:/a", "file:/a/b", true},
			{"file:/a", "w file:/a/b", true},
			{"w file:/a", "w file:/b", false},
			{"w file:/a", "w file:/ab", false},
			{"w file:", "file:/a", true},
			{"w file:/a", "w table:a", false},
		} {
			a, b := access(tt.a), access(tt.b)
			if a.Meets(b) != tt.want || b.Meets(a) != tt.want {
				t.Errorf("%s meets %s = %v, the other way %v, want %v", tt.a, tt.b, a.Meets(b), b.Meets(a), tt.want)
			}
		}
	})
}

// resources draws clean resources over few names, so that one often lies below
// another.
func resources() *rapid.Generator[tool.Access] {
	return rapid.Custom(func(t *rapid.T) tool.Access {
		r := rapid.SampledFrom([]string{"f:", "t:"}).Draw(t, "kind")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "a:", "a:b"}), 0, 2).Draw(t, "parts")
		if rapid.Bool().Draw(t, "rooted") {
			r += "/"
		}
		return tool.Access{Resource: r + strings.Join(parts, "/"), Write: rapid.Bool().Draw(t, "write")}
	}).Filter(func(a tool.Access) bool { return tool.Claims{Touches: []tool.Access{a}}.Check() == nil })
}

// below is the meaning of covering, said slowly: the parts of one are the first
// parts of the other. A kind alone covers all of its kind.
func below(above, under string) bool {
	aKind, aPath, _ := strings.Cut(above, ":")
	uKind, uPath, _ := strings.Cut(under, ":")
	if aKind != uKind || aPath == "" {
		return aKind == uKind
	}
	if aPath == "/" {
		return strings.HasPrefix(uPath, "/")
	}
	a, u := strings.Split(aPath, "/"), strings.Split(uPath, "/")
	return len(a) <= len(u) && reflect.DeepEqual(a, u[:len(a)])
}

func TestAccessProperties(t *testing.T) {
	t.Run("D2 covering is a partial order", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b, c := resources().Draw(t, "a"), resources().Draw(t, "b"), resources().Draw(t, "c")
			if !a.Covers(a) {
				t.Fatalf("%s does not cover itself", a.Resource)
			}
			if a.Covers(b) && b.Covers(a) && a.Resource != b.Resource {
				t.Fatalf("%s and %s cover each other", a.Resource, b.Resource)
			}
			if a.Covers(b) && b.Covers(c) && !a.Covers(c) {
				t.Fatalf("%s covers %s covers %s, but not the last", a.Resource, b.Resource, c.Resource)
			}
		})
	})
	t.Run("D2 covering goes by whole parts of a path", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a := resources().Draw(t, "a")
			b := access(a.Resource + rapid.SampledFrom([]string{"", "a", "/a", ":", ":a"}).Draw(t, "more"))
			if rapid.Bool().Draw(t, "other") || (tool.Claims{Touches: []tool.Access{b}}).Check() != nil {
				b = resources().Draw(t, "b")
			}
			if got, want := a.Covers(b), below(a.Resource, b.Resource); got != want {
				t.Fatalf("%s covers %s = %v, want %v", a.Resource, b.Resource, got, want)
			}
		})
	})
	t.Run("D2 meeting is symmetric and needs a write", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := resources().Draw(t, "a"), resources().Draw(t, "b")
			if a.Meets(b) != b.Meets(a) {
				t.Fatalf("%+v meets %+v = %v, the other way %v", a, b, a.Meets(b), b.Meets(a))
			}
			if a.Meets(b) && !a.Write && !b.Write {
				t.Fatalf("two reads meet: %+v, %+v", a, b)
			}
			if (a.Write || b.Write) && a.Covers(b) && !a.Meets(b) {
				t.Fatalf("%+v covers %+v, one writes, and they do not meet", a, b)
			}
		})
	})
}

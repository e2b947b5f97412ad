package ferrule

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestDefinitionDigest(t *testing.T) {
	t.Parallel()
	one := func(change func(*tool.Info)) string {
		i := tool.Info{Name: "a", Description: "Do a thing.", Claims: tool.Claims{Local: true}}
		change(&i)
		return definitionDigest(tool.Source{}, &i)
	}
	seen := make(map[string]string)
	for name, change := range map[string]func(*tool.Info){
		"P5 the plain definition":                   func(*tool.Info) {},
		"P5 one secret of two words":                func(i *tool.Info) { i.Secrets = []string{"a b"} },
		"P5 two secrets":                            func(i *tool.Info) { i.Secrets = []string{"a", "b"} },
		"P5 it claims to touch nothing":             func(i *tool.Info) { i.Claims.Touches = []tool.Access{} },
		"P5 it claims to touch a file":              func(i *tool.Info) { i.Claims.Touches = []tool.Access{{Resource: "file:/a"}} },
		"P5 it claims to write a file":              func(i *tool.Info) { i.Claims.Touches = []tool.Access{{Resource: "file:/a", Write: true}} },
		"P5 a word of approval":                     func(i *tool.Info) { i.Approval = tool.AskNever },
		"P5 another claim":                          func(i *tool.Info) { i.Claims.Reversible = true },
		"P5 a schema for input":                     func(i *tool.Info) { i.Input = json.RawMessage("{}") },
		"P5 the same schema for output":             func(i *tool.Info) { i.Output = json.RawMessage("{}") },
		"P5 arguments that the schema does not say": func(i *tool.Info) { i.Open = true },
	} {
		t.Run(name+" has a digest of its own", func(t *testing.T) {
			d := one(change)
			if d != one(change) {
				t.Error("it has two")
			}
			if other, taken := seen[d]; taken {
				t.Errorf("%q has it too", other)
			}
			seen[d] = name
		})
	}
}

func TestGatesOfFallbacks(t *testing.T) {
	t.Parallel()
	t.Run("D3 caps of tools with names that a fallback made up are forgotten", func(t *testing.T) {
		var rt Runtime
		rt.SetFallback(func(_ context.Context, _ tool.Caller, name string) (*tool.Tool, error) {
			return &tool.Tool{
				Info: tool.Info{Name: name, Description: "Do a thing.", Input: json.RawMessage(`{"type":"object"}`), AtOnce: 1, Claims: tool.Claims{ReadOnly: true, Local: true}},
				Run:  func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
			}, nil
		})
		s := rt.Session(tool.Caller{})
		for i := range 2 * maxSupplied {
			if res := s.Call(t.Context(), fmt.Sprint("made_up_", i), "{}"); res.Err != nil {
				t.Fatal(res.Err)
			}
		}
		if n := len(rt.set.tools); n > maxSupplied {
			t.Errorf("%d are kept, want at most %d", n, maxSupplied)
		}
	})
}

package ferrule

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// ledger is a state that calls share: named values, and a count that calls may
// raise in any order. Each step of a call is safe; what happens between two
// steps is the schedule's matter.
type ledger struct {
	mu     sync.Mutex
	values map[string]string
	count  int
	still  bool // calls take no time
}

func (l *ledger) below(path string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(l.values)) {
		if (tool.Access{Resource: path}).Covers(tool.Access{Resource: k}) {
			fmt.Fprintf(&b, "%s=%s ", k, l.values[k])
		}
	}
	return b.String()
}

func (l *ledger) set(path, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.values {
		if k != path && (tool.Access{Resource: path}).Covers(tool.Access{Resource: k}) {
			delete(l.values, k)
		}
	}
	l.values[path] = value
}

type ledgerIn struct {
	Path  string `json:"path"`
	To    string `json:"to,omitempty"`
	Value string `json:"value,omitempty"`
	MS    int    `json:"ms"`
	Loose bool   `json:"loose,omitempty"` // does not claim Parallel beside its touches
}

// ledgerTools read, write, copy, count and rewrite all: each with claims that
// are true.
func ledgerTools(t *testing.T, state func() *ledger) []*tool.Tool {
	t.Helper()
	type spec = tool.Spec[ledgerIn, string]
	pause := func(in ledgerIn) {
		if !state().still {
			time.Sleep(time.Duration(in.MS) * time.Millisecond)
		}
	}
	read := spec{
		Info: tool.Info{Name: "read"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: in.Path}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			return state().below(in.Path), nil
		},
	}
	write := spec{
		Info: tool.Info{Name: "write"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{Parallel: !in.Loose, Touches: []tool.Access{{Resource: in.Path, Write: true}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			was := state().below(in.Path)
			pause(in)
			state().set(in.Path, in.Value)
			return "was " + was, nil
		},
	}
	copies := spec{
		Info: tool.Info{Name: "copy"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{Parallel: !in.Loose, Touches: []tool.Access{{Resource: in.Path}, {Resource: in.To, Write: true}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			text := state().below(in.Path)
			pause(in)
			state().set(in.To, fmt.Sprint(len(text)))
			return text, nil
		},
	}
	count := spec{
		Info: tool.Info{Name: "count", Claims: tool.Claims{Parallel: true}},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			l := state()
			l.mu.Lock()
			defer l.mu.Unlock()
			l.count++
			return "counted", nil
		},
	}
	all := spec{
		Info: tool.Info{Name: "all"},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			l := state()
			text := l.below("kv:")
			l.mu.Lock()
			n := l.count
			l.mu.Unlock()
			pause(in)
			l.set(in.Path, fmt.Sprint(n, len(text)))
			return fmt.Sprint(n, text), nil
		},
	}
	nothing := spec{
		Info: tool.Info{Name: "nothing", Claims: tool.Claims{Touches: []tool.Access{}}},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			return "nothing", nil
		},
	}
	var list []*tool.Tool
	for _, s := range []spec{read, write, copies, count, all, nothing} {
		s.Description = "A tool of the test."
		made, err := s.Tool()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, made)
	}
	return list
}

func drawLedgerCalls(t *rapid.T) []tool.Call {
	paths := []string{"kv:", "kv:a", "kv:a/b", "kv:a/c", "kv:ab", "kv:d", "other:a"}
	n := rapid.IntRange(0, 20).Draw(t, "n")
	calls := make([]tool.Call, n)
	for i := range calls {
		in := ledgerIn{
			Path:  rapid.SampledFrom(paths).Draw(t, "path"),
			To:    rapid.SampledFrom(paths).Draw(t, "to"),
			Value: fmt.Sprint("v", i),
			MS:    rapid.IntRange(0, 5).Draw(t, "ms"),
			Loose: rapid.Bool().Draw(t, "loose"),
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"read", "read", "read", "write", "write", "copy", "count", "count", "all", "nothing"}
		calls[i] = tool.Call{ID: fmt.Sprint(i), Name: rapid.SampledFrom(names).Draw(t, "name"), Input: text}
	}
	return calls
}

func TestSameAsSerial(t *testing.T) {
	t.Parallel()
	t.Run("D2 as far as claims are true the outcome equals running the calls one by one in order", func(t *testing.T) {
		var state *ledger
		tools := ledgerTools(t, func() *ledger { return state })
		rt := &Runtime{Policy: policy.AllowOwn{}, Limit: 40}
		if err := rt.Add(tools...); err != nil {
			t.Fatal(err)
		}
		view := rt.Session(tool.Caller{Session: "s"}).View(t.Context())
		start := func(still bool) {
			state = &ledger{values: map[string]string{"kv:a/b": "1", "kv:d": "2"}, still: still}
		}
		end := func() string { return fmt.Sprint(state.below("kv:"), state.below("other:"), state.count) }
		// The reference is the tools themselves, called one by one.
		oneByOne := func(calls []tool.Call) (texts []string, _ string) {
			start(true)
			for _, c := range calls {
				made := tools[slices.IndexFunc(tools, func(t *tool.Tool) bool { return t.Name == c.Name })]
				args, err := made.Admit(c.Input)
				if err != nil {
					t.Fatal(err)
				}
				res, err := made.Run(t.Context(), args)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, c.ID+" "+res.String())
			}
			return texts, end()
		}
		sideBySide := func(calls []tool.Call) (texts []string, _ string) {
			start(false)
			synctest.Test(t, func(t *testing.T) {
				for _, r := range view.Do(t.Context(), calls...) {
					texts = append(texts, r.CallID+" "+r.String())
				}
			})
			return texts, end()
		}
		check(t, *cases/10, func(r *rapid.T) {
			calls := drawLedgerCalls(r)
			want, wantEnd := oneByOne(calls)
			got, gotEnd := sideBySide(calls)
			if !slices.Equal(got, want) || gotEnd != wantEnd {
				r.Fatalf("side by side: %q\n%s\none by one: %q\n%s", got, gotEnd, want, wantEnd)
			}
		})
	})
}

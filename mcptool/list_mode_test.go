package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// hasTools registers a source with so many tools, whose definitions take about so
// many tokens each. A tool says its name.
func hasTools(t *testing.T, rt *ferrule.Runtime, source string, n, tokens int) {
	t.Helper()
	var tools []*tool.Tool
	for i := range n {
		name := fmt.Sprintf("t%d", i)
		made, err := (&tool.Tool{
			Info: tool.Info{Name: name, Description: strings.Repeat("what it does ", max(1, tokens*4/len("what it does ")-5)), Input: json.RawMessage(`{"type":"object"}`)},
			Run: func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{Content: []tool.Content{tool.Text(source + " " + name)}}, nil
			},
		}).Check()
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, made)
	}
	if err := rt.Set(tool.Source{Name: source, Trust: tool.Own}, tools...); err != nil {
		t.Fatal(err)
	}
}

// tellsChanges is how a client hears that its list of tools has changed: it waits
// for that, once for each call.
func (k *talker) tellsChanges() (wait func()) {
	k.t.Helper()
	if k.era == oldEra {
		n := 0
		return func() {
			k.t.Helper()
			n++
			if got := k.hears(n)[n-1].method; got != "notifications/tools/list_changed" {
				k.t.Errorf("told %q", got)
			}
		}
	}
	told, ended := make(chan string, 8), make(chan struct{})
	ctx, stop := context.WithCancel(k.t.Context())
	go func() {
		defer close(ended)
		k.doAs(ctx, json.RawMessage(`"l"`), "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, func(m message) { told <- m.method })
	}()
	k.t.Cleanup(func() { stop(); <-ended })
	<-told // that it listens
	return func() {
		k.t.Helper()
		if got := <-told; got != "notifications/tools/list_changed" {
			k.t.Errorf("told %q", got)
		}
	}
}

// callsBothWays calls a tool by its own name and by what stands for it.
func (k *talker) callsBothWays(when, source string) {
	k.t.Helper()
	want := source + " t1"
	for what, params := range map[string]string{
		"by its name":    fmt.Sprintf(`{"name":"%s__t1","arguments":{}}`, source),
		"with tool_call": fmt.Sprintf(`{"name":"tool_call","arguments":{"name":"%s__t1","arguments":{}}}`, source),
	} {
		if got := callText(k.must("tools/call", params)); got != want {
			k.t.Errorf("%s, %s: got %q, want %q", when, what, got, want)
		}
	}
	for name, arguments := range map[string]string{
		"tool_search":   fmt.Sprintf(`{"query":"select:%s__t1"}`, source),
		"tool_describe": fmt.Sprintf(`{"name":"%s__t1"}`, source),
	} {
		if got := callText(k.must("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))); !strings.Contains(got, "what it does") {
			k.t.Errorf("%s, %s: got %q", when, name, got)
		}
	}
}

func TestGatewayAutoEdge(t *testing.T) {
	t.Parallel()
	finders := []string{"tool_search", "tool_describe", "tool_call"}
	for _, e := range []era{oldEra, newEra} {
		began := func(t *testing.T, r int) (g *Gateway, k *talker, names func(*talker) []string) {
			rt := allowing()
			hasTools(t, rt, "s", 15, 1000)
			hasTools(t, rt, "r", r, 1000)
			g = gatewayOf(t, rt, nil)
			return g, meet(t, g, e), func(k *talker) []string { return namesIn(k.must("tools/list", `{}`), "tools") }
		}
		t.Run("M3 a list that was deferred stays so where tools go, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			g, k, names := began(t, 10)
			if got := names(k); !slices.Equal(got, finders) {
				t.Fatalf("25,000 tokens: listed %q, want %q", got, finders)
			}
			k.tellsChanges()
			hasTools(t, g.Runtime, "r", 0, 0)
			k.c.changed(t.Context(), "tools") // it looks for a change
			k.callsBothWays("before it listed them again", "s")
			if got := names(k); !slices.Equal(got, finders) {
				t.Errorf("15,000 tokens: listed %q, want %q", got, finders)
			}
			k.callsBothWays("after that", "s")
			if e == newEra {
				k.can = `{}` // the same client says less of itself
				if got := names(k); !slices.Equal(got, finders) {
					t.Errorf("with other capabilities: listed %q, want %q", got, finders)
				}
			}
			if got := names(meet(t, g, e, func(k *talker) { k.name = "another" })); len(got) != 15 {
				t.Errorf("another client: listed %d tools, want 15", len(got))
			}
		})
		t.Run("Q1 a list of all is deferred where tools come, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			g, k, names := began(t, 0)
			if got := names(k); len(got) != 15 {
				t.Fatalf("15,000 tokens: listed %q, want all", got)
			}
			told := k.tellsChanges()
			hasTools(t, g.Runtime, "r", 10, 1000)
			g.house.note("tools")
			told()
			k.callsBothWays("before it listed them again", "r")
			if got := names(k); !slices.Equal(got, finders) {
				t.Errorf("25,000 tokens: listed %q, want %q", got, finders)
			}
			k.callsBothWays("after that", "r")
			hasTools(t, g.Runtime, "r", 0, 0)
			k.c.changed(t.Context(), "tools")
			if got := names(k); !slices.Equal(got, finders) {
				t.Errorf("15,000 tokens again: listed %q, want %q", got, finders)
			}
		})
		t.Run("M3 what the client was told of and did not list does not stay, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			g, k, names := began(t, 0)
			first := names(k)
			told := k.tellsChanges()
			for _, n := range []int{10, 0} { // and the client does not look
				hasTools(t, g.Runtime, "r", n, 1000)
				g.house.note("tools")
				told()
			}
			if got := names(k); !slices.Equal(got, first) {
				t.Errorf("listed %q, want %q", got, first)
			}
		})
	}
}

func TestGatewayAutoTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, client string
		n, tokens    int
		all          bool
	}{
		{"Q1 a few long definitions are deferred", "tester", 5, 5000, false},
		{"Q1 many short ones are not", "tester", 200, 50, true},
		{"Q1 a client that defers by itself gets all", "claude-code", 5, 5000, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := allowing()
			hasTools(t, rt, "s", tt.n, tt.tokens)
			k := meet(t, gatewayOf(t, rt, nil), newEra, func(k *talker) { k.name = tt.client })
			got := namesIn(k.must("tools/list", `{}`), "tools")
			if all := len(got) == tt.n && !slices.Contains(got, "tool_search"); all != tt.all {
				t.Errorf("listed %d tools, %q first; want all: %v", len(got), got[0], tt.all)
			}
		})
	}
}

func TestGatewayFindersUnlisted(t *testing.T) {
	t.Parallel()
	const inner = `{"name":"tool_call","arguments":{"name":"s__t1","arguments":{}}}`
	for _, tt := range []struct {
		name, client string
		mode         Mode
		own          bool   // the program has a tool_call
		want         string // "": there is no such tool
	}{
		{"M3 a stateless client that nobody remembers may have been listed them", "tester", Auto, false, "s t1"},
		{"M3 full never lists them", "tester", Full, false, ""},
		{"Q1 a client that defers by itself is never listed them", "claude-code", Auto, false, ""},
		{"M3 deferred always lists them", "claude-code", Deferred, false, "s t1"},
		{"M3 a tool of the program keeps its name", "tester", Auto, true, "own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := allowing()
			hasTools(t, rt, "s", 2, 10)
			if tt.own {
				if err := rt.Add(&tool.Tool{
					Info: tool.Info{Name: "tool_call", Description: "its own", Input: json.RawMessage(`{"type":"object"}`)},
					Run: func(context.Context, tool.Args) (tool.Result, error) {
						return tool.Result{Content: []tool.Content{tool.Text("own")}}, nil
					},
				}); err != nil {
					t.Fatal(err)
				}
			}
			k := meet(t, gatewayOf(t, rt, nil, func(g *Gateway) { g.Mode = func(string) Mode { return tt.mode } }), newEra, func(k *talker) { k.name = tt.client })
			for _, when := range []string{"never listed", "listed"} {
				if tt.want == "" {
					if f := k.fails("tools/call", inner); f.Code != codeInvalidParams {
						t.Errorf("%s: got %+v", when, f)
					}
				} else if got := callText(k.must("tools/call", inner)); got != tt.want {
					t.Errorf("%s: got %q, want %q", when, got, tt.want)
				}
				k.must("tools/list", `{}`)
			}
		})
	}
}

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// factsTool is a tool with this function, and a count of its calls.
func factsTool(t *testing.T, facts func(tool.Args) (tool.Facts, error)) (*tool.Tool, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	def := tool.Tool{
		Info: tool.Info{Name: "act", Description: "Act.", Input: json.RawMessage(`{"type":"object"}`)},
		Run:  func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}
	if facts != nil {
		def.Facts = func(a tool.Args) (tool.Facts, error) {
			asked.Add(1)
			return facts(a)
		}
	}
	return must(def.Check())(t), asked
}

func TestFacts(t *testing.T) {
	t.Parallel()
	errNoPath := errors.New("no path")
	some := tool.Facts{Paths: []string{"/a"}, Hosts: []string{}, Commands: [][]string{{"ls", "-l"}}}
	tests := []struct {
		name  string
		facts func(tool.Args) (tool.Facts, error)
		want  tool.Facts
		err   string
		asked int64
	}{
		{"T14 facts are what the tool's function says", func(tool.Args) (tool.Facts, error) { return some, nil }, some, "", 1},
		{"T14 what is known to be empty stays so", func(tool.Args) (tool.Facts, error) { return tool.Facts{Paths: []string{}}, nil }, tool.Facts{Paths: []string{}}, "", 1},
		{"T14 a function that knows nothing", func(tool.Args) (tool.Facts, error) { return tool.Facts{}, nil }, tool.Facts{}, "", 1},
		{"T14 no function: nothing is known", nil, tool.Facts{}, "", 0},
		{"T14 failing: nothing is known, not even what came with the error", func(tool.Args) (tool.Facts, error) { return some, errNoPath }, tool.Facts{}, `tool "act": facts: no path`, 1},
		{"T14 a panic is a failure", func(tool.Args) (tool.Facts, error) { panic("lost") }, tool.Facts{}, `tool "act": facts: panic: lost`, 1},
		{"T14 a panic with an error", func(tool.Args) (tool.Facts, error) { panic(errNoPath) }, tool.Facts{}, `tool "act": facts: panic: no path`, 1},
		{"T14 a panic of the runtime", func(a tool.Args) (tool.Facts, error) {
			return tool.Facts{Paths: strings.Fields("")[len(a.Text()):]}, nil
		}, tool.Facts{}, `tool "act": facts: panic: runtime error: slice bounds out of range [10:0]`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tl, asked := factsTool(t, tt.facts)
			args := must(tl.Admit(json.RawMessage(`{"a":"b" }`)))(t)
			for range 3 { // what it said stands
				got, err := args.Facts()
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("facts = %#v, want %#v", got, tt.want)
				}
				if text := errText(err); text != tt.err {
					t.Errorf("error = %q, want %q", text, tt.err)
				}
			}
			if asked.Load() != tt.asked {
				t.Errorf("the function was called %d times, want %d", asked.Load(), tt.asked)
			}
		})
	}
	t.Run("T14 the error of a failing function can be found", func(t *testing.T) {
		t.Parallel()
		tl, _ := factsTool(t, func(tool.Args) (tool.Facts, error) { return some, errNoPath })
		if _, err := must(tl.Admit(nil))(t).Facts(); !errors.Is(err, errNoPath) {
			t.Errorf("error = %v, want in it %v", err, errNoPath)
		}
	})
	t.Run("T14 arguments of no tool are about nothing", func(t *testing.T) {
		t.Parallel()
		if got, err := (tool.Args{}).Facts(); err != nil || !reflect.DeepEqual(got, tool.Facts{}) {
			t.Errorf("facts = %#v, %v", got, err)
		}
	})
	t.Run("T14 other arguments have facts of their own", func(t *testing.T) {
		t.Parallel()
		tl, asked := factsTool(t, func(a tool.Args) (tool.Facts, error) { return tool.Facts{Hosts: []string{a.Text()}}, nil })
		old := must(tl.Admit(json.RawMessage(`{"n":1}`)))(t)
		changed := must(tl.Readmit(old, json.RawMessage(`{"n":2}`)))(t)
		for _, a := range []tool.Args{old, changed, old, changed} {
			if got, err := a.Facts(); err != nil || len(got.Hosts) != 1 || got.Hosts[0] != a.Text() {
				t.Errorf("facts of %s = %#v, %v", a.Text(), got, err)
			}
		}
		if asked.Load() != 2 {
			t.Errorf("the function was called %d times, want once for each form", asked.Load())
		}
	})
	t.Run("T14 lists that the tool changes later do not change what it said", func(t *testing.T) {
		t.Parallel()
		own := tool.Facts{Paths: []string{"/a"}, Hosts: []string{"a.example"}, Commands: [][]string{{"ls", "-l"}}}
		tl, _ := factsTool(t, func(tool.Args) (tool.Facts, error) { return own, nil })
		args := must(tl.Admit(nil))(t)
		first := must(args.Facts())(t)
		own.Paths[0], own.Hosts[0], own.Commands[0][0] = "/b", "b.example", "rm"
		own.Commands[0] = []string{"rm"}
		want := tool.Facts{Paths: []string{"/a"}, Hosts: []string{"a.example"}, Commands: [][]string{{"ls", "-l"}}}
		if again := must(args.Facts())(t); !reflect.DeepEqual(first, want) || !reflect.DeepEqual(again, want) {
			t.Errorf("facts = %+v, then %+v, want %+v", first, again, want)
		}
	})
	t.Run("T14 readers at once all see one answer", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int64
		tl, _ := factsTool(t, func(tool.Args) (tool.Facts, error) {
			return tool.Facts{Paths: []string{strings.Repeat("/a", int(n.Add(1)))}}, nil
		})
		args := must(tl.Admit(nil))(t)
		seen := make([]string, 16)
		var all sync.WaitGroup
		for i := range seen {
			all.Go(func() {
				if f, err := args.Facts(); err == nil {
					seen[i] = strings.Join(f.Paths, " ")
				}
			})
		}
		all.Wait()
		for _, s := range seen {
			if s == "" || s != seen[0] {
				t.Errorf("one reader saw %q, another %q", s, seen[0])
			}
		}
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

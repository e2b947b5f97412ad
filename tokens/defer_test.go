package tokens_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tokens"
	"github.com/ferrule-dev/ferrule/tool"
)

// What a deferred view costs in a prompt, counted as models do.
func TestDeferredView(t *testing.T) {
	t.Parallel()
	verbs := strings.Fields("get list create update delete search add remove read write move copy fetch send check export validate")
	nouns := strings.Fields("issue pull_request branch commit file folder repository comment label milestone release user team project board card " +
		"webhook secret workflow artifact page message channel thread calendar_event stock_price chart document slide table weather_report")
	var all []*tool.Tool
	for _, v := range verbs {
		for _, n := range nouns {
			made, err := (&tool.Tool{
				Info: tool.Info{Name: v + "_" + n, Description: "One of many tools.", Input: json.RawMessage(`{"type":"object"}`)},
				Run:  func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
			}).Check()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, made)
		}
	}
	rt := new(ferrule.Runtime)
	if err := rt.Set(tool.Source{Name: "github", Trust: tool.MCP}, all...); err != nil {
		t.Fatal(err)
	}
	v := rt.Session(tool.Caller{}).View(t.Context())
	if n := len(v.Names()); n != 527 {
		t.Fatalf("got %d tools, want 527", n)
	}
	var count tokens.Counter
	for _, tt := range []struct {
		rule    string
		options ferrule.DeferOptions
		most    int
	}{
		{"Q1 527 tools of one source in at most 600 tokens", ferrule.DeferOptions{}, 600},
		{"Q1 with all names in at most 2,500", ferrule.DeferOptions{Names: true}, 2500},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			text, err := v.Defer(tt.options).Definitions(ferrule.JSON{})
			if n := count.Count(string(text)); err != nil || n > tt.most || n < 100 {
				t.Errorf("got %d tokens, %v", n, err)
			}
		})
	}
}

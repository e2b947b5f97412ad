package adopt

import (
	"context"
	"fmt"
	"strings"
	"testing"

	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestInEino(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tools, err := InEino(w.session.View(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	info, err := tools[0].Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	input, err := info.ToJSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	if city, ok := input.Properties.Get("city"); !ok || city.Description != "where" || info.Name != "weather" {
		t.Errorf("got the tool %+v with the input %+v, want weather of a city", info, input)
	}
	node, err := compose.NewToolNode(t.Context(), &compose.ToolsNodeConfig{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	message := schema.AssistantMessage("", nil)
	for i, c := range asked {
		message.ToolCalls = append(message.ToolCalls, schema.ToolCall{ID: fmt.Sprint("call_", i), Function: schema.FunctionCall{Name: c.name, Arguments: c.input}})
	}
	results, err := node.Invoke(t.Context(), message)
	if err != nil {
		t.Fatalf("got %v, want results whatever happens", err)
	}
	for i, c := range asked {
		if r := results[i]; r.ToolCallID != fmt.Sprint("call_", i) || !strings.Contains(r.Content, c.want) {
			t.Errorf("%s %s: got %q for %s, want %q", c.name, c.input, r.Content, r.ToolCallID, c.want)
		}
	}
	w.wantOnRecord(t)
}

// Eino starts all calls at once; those of a tool that claims nothing are alone.
func TestInEinoAlone(t *testing.T) {
	t.Parallel()
	inside := make(chan struct{}, 1)
	write, err := tool.New(tool.Info{Name: "write", Description: "Write a place."}, func(context.Context, place) (string, error) {
		select {
		case inside <- struct{}{}:
			<-inside
			return "alone", nil
		default:
			return "not alone", nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := InEino(ownSession(t, write).View(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	node, err := compose.NewToolNode(t.Context(), &compose.ToolsNodeConfig{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	message := schema.AssistantMessage("", nil)
	for i := range 20 {
		message.ToolCalls = append(message.ToolCalls, schema.ToolCall{ID: fmt.Sprint(i), Function: schema.FunctionCall{Name: "write", Arguments: fmt.Sprintf(`{"city":"%d"}`, i)}})
	}
	results, err := node.Invoke(t.Context(), message)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Content != "alone" {
			t.Errorf("call %s: got %q, want it alone", r.ToolCallID, r.Content)
		}
	}
}

func TestFromEino(t *testing.T) {
	t.Parallel()
	weather, err := utils.InferTool("weather", "What is there.", func(_ context.Context, p *place) (string, error) {
		if p.City == "Rome" {
			return "", fmt.Errorf("no forecast for %s", p.City)
		}
		return "sunny in " + p.City, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	now := utils.NewTool(&schema.ToolInfo{Name: "now", Desc: "What time it is."}, func(context.Context, map[string]any) (string, error) { return "noon", nil })
	tools, err := FromEino(t.Context(), tool.Claims{ReadOnly: true}, []einotool.InvokableTool{weather, now}...)
	if err != nil {
		t.Fatal(err)
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Set(tool.Source{Name: "eino", Trust: tool.Own}, tools...); err != nil {
		t.Fatal(err)
	}
	s := sessionWith(t, rt)
	for _, tt := range []struct {
		name, input, want string
		kind              tool.Kind
	}{
		{"eino__weather", `{"city":"Oslo"}`, "sunny in Oslo", ""},
		{"eino__weather", `{"city":"Rome"}`, "no forecast for Rome", tool.Failed},
		{"eino__weather", `{"town":"Oslo"}`, "InputValidationError: ", tool.InvalidInput},
		{"eino__weather", `{}`, "InputValidationError: ", tool.InvalidInput},
		{"eino__now", ``, "noon", ""},
	} {
		wantResult(t, tt.name+" "+tt.input, s.Call(t.Context(), tt.name, tt.input), tt.want, tt.kind)
	}
	if r, ok := rt.Find("eino__weather"); !ok || r.Class != "read-only" {
		t.Errorf("got %+v, want it to be read-only, as was said", r)
	}
}

func wantResult(t *testing.T, what string, got tool.Result, text string, kind tool.Kind) {
	t.Helper()
	var is tool.Kind
	if got.Err != nil {
		is = got.Err.Kind
	}
	if is != kind || !strings.Contains(got.String(), text) {
		t.Errorf("%s: got %q (%s), want %q (%s)", what, got.String(), is, text, kind)
	}
}

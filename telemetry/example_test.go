package telemetry_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

// Prometheus fetches what became of calls.
func Example() {
	ctx := context.Background()
	tells, err := telemetry.New(ctx, telemetry.Options{Prometheus: true})
	if err != nil {
		panic(err)
	}
	defer func() { _ = tells.Close(ctx) }()
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call}
	greet, err := tool.New(tool.Info{Name: "greet", Description: "Greet somebody."},
		func(_ context.Context, in note) (string, error) { return "hello " + in.Text, nil })
	if err != nil {
		panic(err)
	}
	if err := rt.Add(greet); err != nil {
		panic(err)
	}
	view := rt.Session(tool.Caller{}).View(ctx)
	view.Do(ctx, calling("greet", "you"), calling("great", "you"))

	page := httptest.NewRecorder()
	tells.Metrics().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "ferrule_call_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	// Unordered output:
	// ferrule_call_duration_seconds_count{ferrule_outcome="unknown_tool",ferrule_source="",gen_ai_tool_name="_OTHER"} 1
	// ferrule_call_duration_seconds_count{ferrule_outcome="ok",ferrule_source="",gen_ai_tool_name="greet"} 1
}

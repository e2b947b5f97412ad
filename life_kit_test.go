package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

var errBroken = errors.New("broken")

// readerTool is a tool that the zero Runtime lets run: it only reads, on this
// machine. It returns its arguments.
func readerTool(name string) tool.Tool {
	return tool.Tool{
		Info: tool.Info{
			Name: name, Description: "Give back what it was given.",
			Input:  json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
			Claims: tool.Claims{ReadOnly: true, Local: true},
		},
		Run: func(_ context.Context, a tool.Args) (tool.Result, error) { return sayText(a.Text()), nil },
	}
}

// writerTool claims nothing.
func writerTool(name string) tool.Tool {
	d := readerTool(name)
	d.Claims = tool.Claims{}
	return d
}

// slowTool reads for so long, whatever its context says, and may.
func slowTool(name string, d time.Duration) tool.Tool {
	def := readerTool(name)
	def.Timeout = 2 * d
	def.Run = func(context.Context, tool.Args) (tool.Result, error) {
		time.Sleep(d)
		return sayText("slept"), nil
	}
	return def
}

// counted counts the runs of a tool.
func counted(d tool.Tool) (tool.Tool, *atomic.Int64) {
	runs, run := new(atomic.Int64), d.Run
	d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
		runs.Add(1)
		return run(ctx, a)
	}
	return d, runs
}

func sayText(s string) tool.Result { return tool.Result{Content: []tool.Content{tool.Text(s)}} }

func sayJSON(s string) tool.Result {
	return tool.Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(s)}}}
}

// doing gives a tool its function.
func doing(d tool.Tool, run func(context.Context, tool.Args) (tool.Result, error)) tool.Tool {
	d.Run = run
	return d
}

var allowAll = policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Allow} })

// says is a host's answer to every question.
func says(a policy.Answer) func(context.Context, policy.Question) (policy.Answer, error) {
	return func(context.Context, policy.Question) (policy.Answer, error) { return a, nil }
}

func checkedTool(t testing.TB, d tool.Tool) *tool.Tool {
	t.Helper()
	c, err := d.Check()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// viewWith is what a new session sees of these tools of the program.
func viewWith(t testing.TB, rt *ferrule.Runtime, defs ...tool.Tool) *ferrule.View {
	t.Helper()
	for _, d := range defs {
		if err := rt.Add(checkedTool(t, d)); err != nil {
			t.Fatal(err)
		}
	}
	return rt.Session(tool.Caller{}).View(t.Context())
}

// callOne runs one call, which the provider names call_1.
func callOne(t testing.TB, rt *ferrule.Runtime, d tool.Tool, input string) tool.Result {
	t.Helper()
	return viewWith(t, rt, d).Do(t.Context(), tool.Call{ID: "call_1", Name: d.Name, Input: json.RawMessage(input)})[0]
}

// wantFailure wants a failure of that kind, with that text unless it is "".
func wantFailure(t testing.TB, res tool.Result, kind tool.Kind, text string) {
	t.Helper()
	switch {
	case res.Err == nil:
		t.Errorf("result = %q, want the failure %s", res, kind)
	case res.Err.Kind != kind:
		t.Errorf("result = %s %q (%.300s), want the kind %s", res.Err.Kind, res.Err.Text, res.Err.Detail, kind)
	case text != "" && res.Err.Text != text:
		t.Errorf("text = %q, want %q", res.Err.Text, text)
	}
}

// bubble is synctest.Test, except that calls which never end fail their test and
// not the whole program, and that what was given up has time to return.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%v", r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(2 * time.Hour)
	})
}

// recorder keeps what an observer may keep of events.
type recorder struct {
	mu     sync.Mutex
	events []recorded
}

type recorded struct {
	Kind       audit.Kind
	By, Text   string
	id, callID string
	text       string // of its result
}

func (r *recorder) observe(e audit.Event) {
	k := recorded{Kind: e.Kind, By: e.By, Text: e.Text}
	if e.Request != nil {
		k.id, k.callID = e.Request.ID, e.Request.CallID
	}
	if e.Result != nil {
		k.text = e.Result.String()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, k)
}

// of are the events of a kind.
func (r *recorder) of(kind audit.Kind) (all []recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// kinds are the kinds of a call's events in their order.
func (r *recorder) kinds(callID string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		if e.callID == callID {
			list = append(list, string(e.Kind))
		}
	}
	return strings.Join(list, " ")
}

// started is the id of the call that started last.
func (r *recorder) started() (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == audit.Started {
			id = e.id
		}
	}
	return id
}

func silent(context.Context, *tool.Request) (tool.Decision, error) {
	return tool.Decision{Verdict: tool.Silent}, nil
}

// sleepy does not return for an hour.
func sleepy[T any](context.Context, tool.Args) (v T, err error) {
	time.Sleep(time.Hour)
	return v, nil
}

func kindOf(res tool.Result) tool.Kind {
	if res.Err == nil {
		return ""
	}
	return res.Err.Kind
}

// textArg is an argument of the tools in these tests.
func textArg(s string) string { return fmt.Sprintf(`{"text":%q}`, s) }

// textIn is the other way.
func textIn(a tool.Args) string {
	var in struct {
		Text string `json:"text"`
	}
	_ = a.Decode(&in)
	return in.Text
}

// countTool is a tool whose output is {"n": a number}.
func countTool(json string) tool.Tool {
	d := readerTool("count")
	d.Output = []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	d.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayJSON(json), nil }
	return d
}

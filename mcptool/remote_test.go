package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// allowAll is a runtime that lets every call run.
func allowAll() *ferrule.Runtime {
	return &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Allow} })}
}

func TestRemote(t *testing.T) {
	ts := func() *testServer {
		return &testServer{methods: map[string]method{
			"tools/list": lists(plainTool("t"), `{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}`),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				switch arguments, _ := member(c.params, "arguments"); textMember(arguments, "do") {
				case "fail":
					return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`), nil
				case "fault":
					return nil, &Fault{Code: codeInvalidParams, Message: "bad arguments"}
				case "progress":
					c.progress(3)
				}
				return says(string(setMeta(c.params, pair{metaVersion, nil}, pair{metaClientInfo, nil}, pair{metaCapabilities, nil}, pair{"progressToken", nil}))), nil
			},
		}}
	}
	hub := func(t *testing.T, rt *ferrule.Runtime) *Hub {
		h := hubOf(t, map[string]*testServer{"s": ts()})
		h.Runtime = rt
		start(t, h)
		return h
	}
	t.Run("M1 what the client sent goes to the server as it was", func(t *testing.T) {
		h := hub(t, allowAll())
		session := h.Runtime.Session(tool.Caller{})
		tests := []struct{ params, input, want string }{
			{`{"name":"s__t","arguments":{"a": 1.0 },"extra":[ 1]}`, `{"a": 1.0 }`, `{"name":"t","arguments":{"a": 1.0 },"_meta":{}}`},
			{`{"name":"s__t"}`, ``, `{"name":"t","_meta":{}}`},
			{`{"name":"tool_call","arguments":{"name":"s__t","arguments":{"b":2}},"_meta":{"k":1}}`, `{"b":2}`, `{"name":"t","arguments":{"b":2},"_meta":{"k":1}}`},
		}
		for _, tt := range tests {
			x := &testExchange{a: &testAudience{version: newVersion}, raw: tt.params}
			got := session.Call(withExchange(t.Context(), x), "s__t", tt.input)
			if got.Err != nil || got.String() != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if string(x.result) != string(says(tt.want)) {
				t.Errorf("the gateway was given %s, want the server's bytes", x.result)
			}
		}
	})
	t.Run("M1 errors", func(t *testing.T) {
		h := hub(t, allowAll())
		session := h.Runtime.Session(tool.Caller{})
		for do, want := range map[string]string{"fail": "no such file", "fault": "bad arguments"} {
			x := &testExchange{a: &testAudience{version: oldVersion}, raw: `{}`}
			got := session.Call(withExchange(t.Context(), x), "s__t", fmt.Sprintf(`{"do":%q}`, do))
			if got.Err == nil || got.Err.Kind != tool.Failed || got.String() != want {
				t.Errorf("%s: got %v, want %q", do, got, want)
			}
			if (x.fault != nil) != (do == "fault") || (x.result != nil) != (do == "fail") {
				t.Errorf("%s: the gateway was given %s and %v", do, x.result, x.fault)
			}
		}
		if got := session.Call(t.Context(), "s__typed", `{}`); got.Err == nil || got.Err.Kind != tool.InvalidOutput {
			t.Errorf("got %v, want that the output does not fit", got)
		}
	})
	t.Run("M1 a call of no client has a connection that ends with its session", func(t *testing.T) {
		var seen []string
		rt := allowAll()
		rt.Observe = func(e audit.Event) {
			if e.Update != nil && e.Update.Progress {
				seen = append(seen, fmt.Sprint(e.Update.Current))
			}
		}
		h := hub(t, rt)
		session := rt.Session(tool.Caller{Session: "one"})
		for range 2 {
			if got := session.Call(t.Context(), "s__t", `{"do":"progress"}`); got.Err != nil {
				t.Fatal(got.Err)
			}
		}
		s := h.server("s")
		if n := len(s.lanes); n != 1 {
			t.Errorf("got connections for %d sessions, want 1", n)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(s.lanes); n != 0 || len(h.own) != 0 {
			t.Errorf("got connections for %d sessions, want none", n)
		}
		if strings.Join(seen, " ") != "3 3" {
			t.Errorf("progress: got %q, want 3 twice", seen)
		}
	})
	t.Run("M1 a call outside of a runtime leaves no connection", func(t *testing.T) {
		s := hub(t, allowAll()).server("s")
		made := s.tools.offered()[0]
		args, err := made.Admit(json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := made.Run(t.Context(), args); err != nil {
			t.Error(err)
		}
		if len(s.lanes) != 0 {
			t.Error("a connection was left")
		}
	})
	t.Run("M1 what fails is told to the model and to the operator", func(t *testing.T) {
		s := newServer(&Hub{}, Server{Name: "s"})
		for _, tt := range []struct {
			err  error
			kind tool.Kind
			want string
		}{
			{s.tooLong(), tool.Timeout, "did not answer within 50s"},
			{s.unreachable(errors.New("secret path")), tool.Failed, "cannot be reached now. Nothing was done."},
			{unsent(errors.New("x")), tool.Failed, "Nothing was done."},
			{errors.New("EOF"), tool.Failed, "The connection to server s broke while the call ran. It may or may not have happened."},
		} {
			e := tool.AsError(s.failure(t.Context(), tt.err))
			if e.Kind != tt.kind || !strings.Contains(e.Text, tt.want) || e.Detail != tt.err.Error() {
				t.Errorf("got %+v, want %s and %q", e, tt.kind, tt.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.failure(ctx, ctx.Err()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want it as it is", err)
		}
	})
}

// childLog is the variable that names a file to which a child writes a line for
// each call.
const childLog = "FERRULE_TEST_CALLS"

// childTools are the tools of a child.
func childTools() map[string]method {
	return map[string]method{
		"tools/list": lists(plainTool("pid"), plainTool("die"), plainTool("ask")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			f, err := os.OpenFile(os.Getenv(childLog), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return nil, err
			}
			fmt.Fprintln(f, textMember(c.params, "name"))
			f.Close()
			if textMember(c.params, "name") == "die" {
				fmt.Fprintln(os.Stderr, "out of luck")
				syscall.Exit(7)
			}
			return says(strconv.Itoa(os.Getpid())), nil
		},
	}
}

func TestRemoteChild(t *testing.T) {
	for name, version := range bothEras {
		t.Run("M6 a call is not sent again when its child dies, client of the "+name+" era", func(t *testing.T) {
			calls := t.TempDir() + "/calls"
			h := &Hub{Runtime: allowAll(), Servers: []Server{child(t, "old", childLog+"="+calls)}}
			start(t, h)
			session := h.Runtime.Session(tool.Caller{})
			x := &testExchange{a: &testAudience{version: version}, raw: `{}`}
			call := func(name string) tool.Result { return session.Call(withExchange(t.Context(), x), name, `{}`) }
			first := call("old__pid")
			if again := call("old__pid"); again.String() != first.String() {
				t.Errorf("got process %s, want that of the first call, %s", again, first)
			}
			got := call("old__die")
			if got.Err == nil || got.String() != "The connection to server old broke while the call ran. It may or may not have happened." {
				t.Errorf("got %s, want that it is not known", got)
			}
			if !strings.Contains(got.Err.Detail, "out of luck") {
				t.Errorf("operator: got %q, want what the child wrote last", got.Err.Detail)
			}
			if next := call("old__pid"); next.Err != nil || next.String() == first.String() {
				t.Errorf("got %s, want another process", next)
			}
			text, err := os.ReadFile(calls)
			if want := "pid\npid\ndie\npid\n"; err != nil || string(text) != want {
				t.Errorf("calls: got %q, want %q", text, want)
			}
		})
	}
	t.Run("M1 a child that dies at once says why", func(t *testing.T) {
		h := &Hub{Runtime: allowAll(), Servers: []Server{
			child(t, "failing"),
			{Name: "missing", Command: []string{"no-such-program"}},
			{Name: "folder", Command: []string{"go"}, Dir: "/no/such/folder"},
		}}
		start(t, h)
		for i, want := range []string{"DATABASE_URL is not set", "Is the program installed", "folder is not there: /no/such/folder"} {
			if st := h.Status()[i]; st.State != "waiting" || !strings.Contains(st.Why, want) {
				t.Errorf("got %+v, want it waiting because of %q", st, want)
			}
		}
	})
}

func TestBrokenCalls(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{
		"by a pipe":             syscall.EPIPE,
		"by its end":            io.ErrUnexpectedEOF,
		"by the other side":     syscall.ECONNRESET,
		"somewhere on the way":  &net.OpError{Op: "read", Err: errors.New("gone")},
		"by what was in a line": errors.New("garbage"),
	} {
		t.Run("M6 a call that only reads is not sent again where its connection broke "+name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int32
			s := &server{Server: Server{Name: "s"}}
			rt := allowAll()
			if err := rt.Add(&tool.Tool{
				Info: tool.Info{Name: "read", Description: "Reads.", Input: json.RawMessage(`{"type":"object"}`), Claims: tool.Claims{ReadOnly: true, Local: true, Idempotent: true}},
				Run: func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					sent.Add(1)
					return tool.Result{}, s.failure(ctx, fmt.Errorf("writing to the server: %w", why))
				},
			}); err != nil {
				t.Fatal(err)
			}
			res := rt.Session(tool.Caller{}).Call(t.Context(), "read", "{}")
			if res.Err == nil || !strings.Contains(res.Err.Error(), why.Error()) || sent.Load() != 1 {
				t.Errorf("got %v, sent %d times; want the cause, and once", res.Err, sent.Load())
			}
		})
	}
}

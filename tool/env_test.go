package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestEnv(t *testing.T) {
	t.Run("B1 a call streams text, progress and content, in order", func(t *testing.T) {
		var got []tool.Update
		env := envOf(t, tool.Host{Send: func(u tool.Update) { got = append(got, u) }})
		if n, err := fmt.Fprintf(env.Stdout(), "line %d\n", 1); n != 7 || err != nil {
			t.Errorf("Stdout wrote %d, %v", n, err)
		}
		if n, err := env.Stderr().Write([]byte("oh\xff")); n != 3 || err != nil {
			t.Errorf("Stderr wrote %d, %v", n, err)
		}
		env.Progress(1, 3, "one of three")
		env.Progress(2, 0, "")
		block := tool.Content{Type: tool.ImageContent, MediaType: "image/png"}
		env.Emit(block)
		want := []tool.Update{
			{Stream: "stdout", Text: "line 1\n"},
			{Stream: "stderr", Text: "oh\xff"},
			{Progress: true, Current: 1, Total: 3, Message: "one of three"},
			{Progress: true, Current: 2},
			{Content: &block},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	t.Run("B1 what was written may be overwritten after", func(t *testing.T) {
		var got tool.Update
		env := envOf(t, tool.Host{Send: func(u tool.Update) { got = u }})
		p := []byte("abc")
		if _, err := env.Stdout().Write(p); err != nil {
			t.Fatal(err)
		}
		copy(p, "xxx")
		if got.Text != "abc" {
			t.Errorf("the update became %q", got.Text)
		}
	})
	t.Run("B1 many may write at once", func(t *testing.T) {
		var mu sync.Mutex
		sent := map[string]int{}
		env := envOf(t, tool.Host{Send: func(u tool.Update) {
			mu.Lock()
			defer mu.Unlock()
			sent[u.Stream+u.Message]++
		}})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					_, _ = env.Stdout().Write([]byte("a"))
					_, _ = env.Stderr().Write([]byte("b"))
					env.Progress(1, 2, "half")
				}
			})
		}
		wg.Wait()
		if want := map[string]int{"stdout": 400, "stderr": 400, "half": 400}; !reflect.DeepEqual(sent, want) {
			t.Errorf("sent %v, want %v", sent, want)
		}
	})
	t.Run("T1 a tool runs without a runtime", func(t *testing.T) {
		for _, env := range []*tool.Env{nil, {}, tool.From(context.Background()), envOf(t, tool.Host{})} {
			if n, err := env.Stdout().Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("Stdout wrote %d, %v", n, err)
			}
			if n, err := env.Stderr().Write(nil); n != 0 || err != nil {
				t.Errorf("Stderr wrote %d, %v", n, err)
			}
			env.Progress(1, 2, "half")
			env.Emit(tool.Text("a"))
			if req := env.Request(); !reflect.DeepEqual(req, tool.Request{}) {
				t.Errorf("request = %+v", req)
			}
			if text, ok := env.Answer(); text != "" || ok {
				t.Errorf("answer = %q, %v", text, ok)
			}
		}
	})
	t.Run("K1 all secrets are refused by default", func(t *testing.T) {
		for _, env := range []*tool.Env{nil, {}, envOf(t, tool.Host{})} {
			err := env.Secret(t.Context(), "TOKEN", func([]byte) error { t.Error("a secret was given out"); return nil })
			if err == nil {
				t.Error("no error, and no secret")
			}
		}
	})
	t.Run("K2 a secret is used inside a function", func(t *testing.T) {
		env := envOf(t, tool.Host{UseSecret: func(_ context.Context, name string, use func([]byte) error) error {
			return use([]byte("value of " + name))
		}})
		var got string
		if err := env.Secret(t.Context(), "TOKEN", func(v []byte) error { got = string(v); return nil }); err != nil || got != "value of TOKEN" {
			t.Errorf("got %q, %v", got, err)
		}
		if err := env.Secret(t.Context(), "TOKEN", func([]byte) error { return errBroken }); !errors.Is(err, errBroken) {
			t.Errorf("the function's error became %v", err)
		}
	})
	t.Run("L7 a suspended call finds the answer when it runs anew", func(t *testing.T) {
		tl := must(tool.New(info(), func(ctx context.Context, in search) (string, error) {
			if folder, ok := tool.From(ctx).Answer(); ok {
				return "searched " + folder, nil
			}
			return "", &tool.Outcome{Suspend: "Which folder?"}
		}))(t)
		args := admit(t, tl, `{"path":"a"}`)
		_, err := tl.Run(t.Context(), args)
		var o *tool.Outcome
		if !errors.As(err, &o) || o.Suspend != "Which folder?" {
			t.Fatalf("first run: %v", err)
		}
		if e := tool.AsError(err); e.Kind != tool.Suspended || e.Text != "Which folder?" {
			t.Errorf("the first run becomes %+v", e)
		}
		for _, folder := range []string{"/b", ""} { // an empty answer is one too
			res := must(tl.Run(tool.Host{Answer: &folder}.Context(t.Context()), args))(t)
			if res.String() != "searched "+folder {
				t.Errorf("second run: %q", res)
			}
		}
	})
	t.Run("B1 what is streamed and what is returned go their own ways", func(t *testing.T) {
		streamed := ""
		tl := must(tool.New(info(), func(ctx context.Context, in search) (string, error) {
			_, err := tool.From(ctx).Stdout().Write([]byte("streamed"))
			return "returned", err
		}))(t)
		ctx := tool.Host{Send: func(u tool.Update) { streamed += u.Text }}.Context(t.Context())
		res := must(tl.Run(ctx, admit(t, tl, `{"path":"a"}`)))(t)
		if res.String() != "returned" || streamed != "streamed" {
			t.Errorf("returned %q, streamed %q", res, streamed)
		}
	})
}

func envOf(t *testing.T, h tool.Host) *tool.Env {
	t.Helper()
	return tool.From(h.Context(t.Context()))
}

func TestWhoseCall(t *testing.T) {
	// Every function of a typed tool that gets a context and the arguments
	// writes down what it sees of the call.
	seen := map[string]tool.Request{}
	s := reflect.New(reflect.TypeFor[tool.Spec[search, string]]()).Elem()
	for f, v := range s.Fields() {
		if f.Type.Kind() != reflect.Func || f.Type.In(0) != reflect.TypeFor[context.Context]() || f.Type.In(1) != reflect.TypeFor[search]() {
			continue
		}
		v.Set(reflect.MakeFunc(f.Type, func(args []reflect.Value) []reflect.Value {
			ctx, _ := reflect.TypeAssert[context.Context](args[0])
			inner, cancel := context.WithCancel(ctx)
			defer cancel()
			seen[f.Name] = tool.From(inner).Request()
			return zeros(f.Type)
		}))
	}
	spec := s.Interface().(tool.Spec[search, string])
	spec.Info = info()
	tl := must(spec.Tool())(t)
	args := must(tl.AdmitMended(json.RawMessage(`{"path":"a",}`), schema.Repair))(t)
	req := tool.Request{
		Caller: tool.Caller{Principal: "ann", Session: "s", Agent: "g", Run: "r", Values: map[string]any{"k": 1}},
		Source: tool.Source{Name: "src", Trust: tool.MCP},
		Tool:   &tl.Info, ID: "f1", CallID: "p1", Turn: 2, Index: 1, Args: args, Claims: tool.Claims{Local: true}, Key: "key",
	}
	all := calls(tool.Host{Request: &req}.Context(t.Context()), tl, args)
	if len(all) < 8 {
		t.Fatalf("only %d functions were called", len(all))
	}
	for name, call := range all {
		t.Run("T11 "+name+" can see whose call it is", func(t *testing.T) {
			call()
			got, ok := seen[name]
			if !ok || !reflect.DeepEqual(got, req) {
				t.Fatalf("got  %+v\nwant %+v", got, req)
			}
			if got.Args.Received() != `{"path":"a",}` || got.Args.Text() != `{"path":"a"}` {
				t.Errorf("arguments as received %s, as checked %s", got.Args.Received(), got.Args.Text())
			}
		})
	}
}

func TestRequestIsACopy(t *testing.T) {
	request := func() *tool.Request {
		def := full().Info
		return &tool.Request{
			ID: "f1", Tool: &def,
			Claims: tool.Claims{Touches: []tool.Access{{Resource: "file:/a"}}},
			Caller: tool.Caller{Values: map[string]any{"k": 1}},
		}
	}
	for name, change := range map[string]func(*tool.Request){
		"T11 its ids":           func(r *tool.Request) { r.ID, r.Turn, r.Args = "other", 9, tool.Args{} },
		"T11 its claims":        func(r *tool.Request) { r.Claims.Touches[0] = tool.Access{Resource: "file:/b", Write: true} },
		"T11 its tool":          func(r *tool.Request) { r.Tool.Name, r.Tool.Approval = "other", tool.AskNever },
		"T11 lists of its tool": func(r *tool.Request) { spoil(*r.Tool) },
		"T11 the host's values": func(r *tool.Request) { r.Caller.Values["k"] = 2 },
	} {
		t.Run(name+" cannot be changed by a tool", func(t *testing.T) {
			held := request()
			env := envOf(t, tool.Host{Request: held})
			got := env.Request()
			change(&got)
			if want := request(); !reflect.DeepEqual(held, want) {
				t.Errorf("the host's request became %+v, want %+v", held, want)
			}
			if again := env.Request(); !reflect.DeepEqual(again, *request()) {
				t.Errorf("the second look gives %+v", again)
			}
		})
	}
}

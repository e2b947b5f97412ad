package tool_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestEnv(t *testing.T) {
	t.Run("B1 a call streams text, progress and content, in order", func(t *testing.T) {
		var got []tool.Update
		env := tool.From((&tool.Env{Send: func(u tool.Update) { got = append(got, u) }}).Context(t.Context()))
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
		env := &tool.Env{Send: func(u tool.Update) { got = u }}
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
		env := &tool.Env{Send: func(u tool.Update) {
			mu.Lock()
			defer mu.Unlock()
			sent[u.Stream+u.Message]++
		}}
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
		for _, env := range []*tool.Env{nil, {}, tool.From(context.Background()), tool.From((*tool.Env)(nil).Context(t.Context()))} {
			if n, err := env.Stdout().Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("Stdout wrote %d, %v", n, err)
			}
			if n, err := env.Stderr().Write(nil); n != 0 || err != nil {
				t.Errorf("Stderr wrote %d, %v", n, err)
			}
			env.Progress(1, 2, "half")
			env.Emit(tool.Text("a"))
		}
	})
	t.Run("K1 all secrets are refused by default", func(t *testing.T) {
		for _, env := range []*tool.Env{nil, {}} {
			err := env.Secret(t.Context(), "TOKEN", func([]byte) error { t.Error("a secret was given out"); return nil })
			if err == nil {
				t.Error("no error, and no secret")
			}
		}
	})
	t.Run("K2 a secret is used inside a function", func(t *testing.T) {
		env := &tool.Env{UseSecret: func(_ context.Context, name string, use func([]byte) error) error {
			return use([]byte("value of " + name))
		}}
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
			if env := tool.From(ctx); env != nil && env.Answer != nil {
				return "searched " + *env.Answer, nil
			}
			return "", &tool.Outcome{Suspend: "Which folder?"}
		}))(t)
		args := admit(t, tl, `{"path":"a"}`)
		_, err := tl.Run(t.Context(), args)
		var o *tool.Outcome
		if !errors.As(err, &o) || o.Suspend != "Which folder?" {
			t.Fatalf("first run: %v", err)
		}
		folder := "/b"
		res := must(tl.Run((&tool.Env{Answer: &folder}).Context(t.Context()), args))(t)
		if res.String() != "searched /b" {
			t.Errorf("second run: %q", res)
		}
	})
	t.Run("T11 every function can see whose call it is", func(t *testing.T) {
		req := &tool.Request{ID: "f1", CallID: "p1", Turn: 2, Index: 1, Caller: tool.Caller{Principal: "ann", Session: "s", Values: map[string]any{"k": 1}}}
		ctx := (&tool.Env{Request: req}).Context(t.Context())
		if got := tool.From(ctx).Request; got != req {
			t.Errorf("request = %+v", got)
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		if got := tool.From(inner).Request; got != req {
			t.Errorf("request in an inner context = %+v", got)
		}
	})
	t.Run("O9 what is returned is returned whole, whatever was streamed", func(t *testing.T) {
		streamed := ""
		tl := must(tool.New(info(), func(ctx context.Context, in search) (string, error) {
			_, err := tool.From(ctx).Stdout().Write([]byte("streamed"))
			return "returned", err
		}))(t)
		ctx := (&tool.Env{Send: func(u tool.Update) { streamed += u.Text }}).Context(t.Context())
		res := must(tl.Run(ctx, admit(t, tl, `{"path":"a"}`)))(t)
		if res.String() != "returned" || streamed != "streamed" {
			t.Errorf("returned %q, streamed %q", res, streamed)
		}
	})
}

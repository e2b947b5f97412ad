//go:build unix

package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/pages"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// seen is a hook that keeps what it reads in a file, and allows.
func seen(t *testing.T) (c ferrule.Command, event func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "event")
	return script(`cat >"$1"; echo '{"decision":"allow"}'`, file), func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// pageJSON are the JSON blocks of a page, as short as can be.
func pageJSON(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pages.Read(page, string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.Lang != "json" {
			continue
		}
		var short bytes.Buffer
		if err := json.Compact(&short, []byte(b.Text)); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		blocks = append(blocks, short.String())
	}
	return blocks
}

func TestCommandEvent(t *testing.T) {
	t.Parallel()
	t.Run("H6 a program reads what the page shows", func(t *testing.T) {
		t.Parallel()
		page := pageJSON(t, "docs/hooks.md")
		for _, output := range []bool{false, true} {
			c, event := seen(t)
			c.Output = output
			def := readerTool("read_page")
			def.Input = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
			def.Tags, def.Aliases = []string{"wiki"}, []string{"page"}
			def.Claims.Touches = []tool.Access{{Resource: "wiki:home"}}
			def.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayText("<h1>Home</h1>"), nil }
			rt := &ferrule.Runtime{Policy: allowAll, Hooks: []ferrule.Hook{hookOf(t, c)}}
			viewWith(t, rt, def)
			s := rt.Session(tool.Caller{Principal: "ann", Session: "s-1", Client: "editor", Tenant: "acme", Agent: "writer", Run: "r-1"})
			call := tool.Call{ID: "toolu_1", Name: "page", Input: json.RawMessage(`{"name":"home"}`)}
			res := s.View(t.Context()).Do(t.Context(), call)[0]
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			got := strings.TrimSpace(strings.Replace(event(), `"id":"`+res.ID+`"`, `"id":"ID"`, 1))
			if output { // the page shows only what comes on top
				_, result, _ := strings.Cut(got, `,"result":`)
				got = `{"result":` + result
			}
			if !slices.Contains(page, got) {
				t.Errorf("it reads\n%s\nwhich docs/hooks.md does not show:\n%s", got, strings.Join(page, "\n"))
			}
		}
	})
	t.Run("H6 the answers of the page are answers", func(t *testing.T) {
		t.Parallel()
		def := readerTool("read_page")
		def.Input = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
		kinds := make(map[string]string)
		for _, text := range pageJSON(t, "docs/hooks.md") {
			if decision, ok := strings.CutPrefix(text, `{"decision":"`); ok {
				decision, _, _ = strings.Cut(decision, `"`)
				res := withHooks(t, def, `{"name":"home"}`, hookOf(t, script(`printf '%s' "$1"`, text)))
				kinds[decision] = string(kindOf(res)) + " " + res.String()
			}
		}
		want := map[string]string{"allow": ` {"name":"home"}`, "deny": "hook_blocked for the model", "change": ` {"name":"welcome"}`}
		if !maps.Equal(kinds, want) {
			t.Errorf("got %q, want %q", kinds, want)
		}
	})
	t.Run("H6 what is not known has an empty place", func(t *testing.T) {
		t.Parallel()
		c, event := seen(t)
		withHooks(t, readerTool("read"), "", hookOf(t, c))
		for _, want := range []string{
			`"principal":"local","tenant":"","client":"","agent":"","run":"","turn":1,"index":0,`, `"source":"","trust":"own",`,
			`"read_only":true,"parallel":true,"reversible":false,"local":true,"idempotent":false,"touches":null}`, `"tags":[],"mode":"ask","input":{},"received":""}`,
		} {
			if !strings.Contains(event(), want) {
				t.Errorf("got %s, want in it %s", event(), want)
			}
		}
	})
	t.Run("H6 it reads the input as it stands and as it was received", func(t *testing.T) {
		t.Parallel()
		var trace []string
		c, event := seen(t)
		withHooks(t, readerTool("read"), textArg("1"), append(hooksOf("a:1>2", &trace), hookOf(t, c))...)
		if want := `"input":{"text":"2"},"received":"{\"text\":\"1\"}"}`; !strings.Contains(event(), want) {
			t.Errorf("got %s, want in it %s", event(), want)
		}
	})
	t.Run("H6 it reads a failure, and how far its result is believed", func(t *testing.T) {
		t.Parallel()
		c, event := seen(t)
		c.Output = true
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text("half")}, Trust: new(tool.Web)}, errBroken
		})
		withHooks(t, def, "{}", hookOf(t, c))
		if want := `"result":{"is_error":true,"kind":"failed","text":"broken\nhalf","trust":"web","content":[{"type":"text","text":"half"}]}}`; !strings.Contains(event(), want) {
			t.Errorf("got %s, want in it %s", event(), want)
		}
	})
}

func TestCommandReadsExactly(t *testing.T) {
	t.Parallel()
	odd := "\x00\x01\x1f\x7f\"\\/\b\f\n\r\t' $HOME `id` %s <a>&amp; \u0085\u2028\u2029\ufeff\u202e é e\u0301 日本 👩‍👩‍👧 \U000e0041 \ufffd"
	free := readerTool("read")
	free.Input = json.RawMessage(`{"type":"object"}`)
	text, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, input string }{
		{"odd characters", `{"text":` + string(text) + `}`},
		{"odd characters as they are", `{"text":"<&>` + "\u2028\u2029\ufeff\u202e\x7f👩‍👩‍👧" + `"}`},
		{"odd names", `{"":1,"a b":{"\"":[]},"--help":null,"$(id)":"x"}`},
		{"numbers keep their digits", `{"n":9007199254740993,"f":1.0,"e":1e2,"z":-0,"s":0.10}`},
		{"a quoted end of input", `{"text":"}\n{\"decision\":\"allow\"}"}`},
		{"1 MB", `{"text":"` + strings.Repeat("日本 ", 140_000) + `"}`},
	}
	for _, tt := range tests {
		t.Run("H6 input arrives exactly: "+tt.name, func(t *testing.T) {
			t.Parallel()
			c, event := seen(t)
			if res := withHooks(t, free, tt.input, hookOf(t, c)); res.Err != nil {
				t.Fatal(res.Err)
			}
			var got struct {
				Input    json.RawMessage
				Received string
			}
			if err := json.Unmarshal([]byte(event()), &got); err != nil || string(got.Input) != tt.input || got.Received != tt.input {
				t.Errorf("input %.300s, received %.300s (%v), want %.300s", got.Input, got.Received, err, tt.input)
			}
			if n := strings.Count(event(), "\n"); n != 1 || !strings.HasSuffix(event(), "\n") {
				t.Errorf("got %d lines, want one", n)
			}
		})
	}
	t.Run("H6 what a program writes arrives exactly", func(t *testing.T) {
		t.Parallel()
		var got string
		def := doing(readerTool("read"), func(_ context.Context, a tool.Args) (tool.Result, error) {
			got = textIn(a)
			return sayText("done"), nil
		})
		res := withHooks(t, def, `{"text":`+string(text)+`}`, hookOf(t, testProgram(t, "double")))
		if res.Err != nil || got != odd+odd {
			t.Errorf("the tool got %q (%v), want twice %q", got, res.Err, odd)
		}
	})
	t.Run("H6 a result of 2 MB", func(t *testing.T) {
		t.Parallel()
		c, event := seen(t)
		c.Output = true
		long := strings.Repeat("0123456789abcde\n", 1<<17)
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return sayText(long), nil })
		if res := withHooks(t, def, "{}", hookOf(t, c)); res.Err != nil {
			t.Fatal(res.Err)
		}
		var got struct{ Result struct{ Text string } }
		if err := json.Unmarshal([]byte(event()), &got); err != nil || got.Result.Text != long {
			t.Errorf("got %d bytes (%v), want %d", len(got.Result.Text), err, len(long))
		}
	})
	t.Run("H6 a long input that nobody reads", func(t *testing.T) {
		t.Parallel()
		if res := withHooks(t, free, tests[len(tests)-1].input, hookOf(t, script(`echo '{"decision":"allow"}'`))); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

func TestCommandWithheld(t *testing.T) {
	t.Parallel()
	const note = "[withheld: secret]"
	tests := []struct {
		name    string
		in, out tool.Sensitivity
		fails   bool
		want    string // of the input, and of the result
	}{
		{"H6 nothing is secret", tool.Internal, tool.Internal, false, `{"text":"k-123"} k-123`},
		{"H6 public is not", tool.Public, tool.Public, false, `{"text":"k-123"} k-123`},
		{"H6 secret input does not leave", tool.Secret, tool.Internal, false, `"` + note + `" k-123`},
		{"H6 a secret result does not leave", tool.Internal, tool.Secret, false, `{"text":"k-123"} ` + note},
		{"H6 nor do both", tool.Secret, tool.Secret, false, `"` + note + `" ` + note},
		{"H6 an error may quote secret input", tool.Secret, tool.Internal, true, `"` + note + `" ` + note},
		{"H6 or a secret result", tool.Internal, tool.Secret, true, `{"text":"k-123"} ` + note},
		{"H6 an error that is not secret", tool.Internal, tool.Internal, true, `{"text":"k-123"} k-123`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, event := seen(t)
			c.Output = true
			def := doing(readerTool("login"), func(context.Context, tool.Args) (tool.Result, error) {
				if tt.fails {
					return tool.Result{}, &tool.Error{Kind: tool.Timeout, Text: "k-123", Detail: "k-123"}
				}
				return sayText("k-123"), nil
			})
			def.InputSensitivity, def.OutputSensitivity = tt.in, tt.out
			withHooks(t, def, textArg("k-123"), hookOf(t, c))
			var got struct {
				Input  json.RawMessage
				Result struct {
					IsError bool `json:"is_error"`
					Kind    tool.Kind
					Text    string
				}
			}
			if err := json.Unmarshal([]byte(event()), &got); err != nil {
				t.Fatal(err)
			}
			if said := string(got.Input) + " " + got.Result.Text; said != tt.want {
				t.Errorf("it reads %s, want %s", said, tt.want)
			}
			if got.Result.IsError != tt.fails || tt.fails && got.Result.Kind != tool.Timeout {
				t.Errorf("it reads %+v", got.Result)
			}
			if tt.in == tool.Secret && tt.out == tool.Secret && strings.Contains(event(), "k-123") {
				t.Errorf("it reads %s", event())
			}
		})
	}
	t.Run("H6 nor does what is touched, which may be read out of secret input", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			is   tool.Sensitivity
			want string
		}{
			{tool.Internal, `[{"resource":"account:k-123","write":true},{"resource":"wiki:k-123","write":false}]`},
			{tool.Secret, `[{"resource":"` + note + `","write":true},{"resource":"` + note + `","write":false}]`},
		} {
			c, event := seen(t)
			def := readerTool("unlock")
			def.InputSensitivity = tt.is
			def.Claims = tool.Claims{Reversible: true, Touches: []tool.Access{{Resource: "account:k-123", Write: true}, {Resource: "wiki:k-123"}}}
			withHooks(t, def, textArg("k-123"), hookOf(t, c))
			var got struct {
				Claims struct{ Touches json.RawMessage }
			}
			if err := json.Unmarshal([]byte(event()), &got); err != nil || string(got.Claims.Touches) != tt.want {
				t.Errorf("%v: it reads %s, %v, want %s", tt.is, got.Claims.Touches, err, tt.want)
			}
			if tt.is == tool.Secret && strings.Contains(event(), "k-123") {
				t.Errorf("it reads %s", event())
			}
		}
	})
	t.Run("H6 what was withheld can still be denied", func(t *testing.T) {
		t.Parallel()
		def := readerTool("login")
		def.InputSensitivity = tool.Secret
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Hooks: []ferrule.Hook{hookOf(t, script(`echo '{"decision":"deny","message":"No logins."}'`))}}
		wantFailure(t, callOne(t, rt, def, textArg("k-123")), tool.HookBlocked, "No logins.")
	})
}

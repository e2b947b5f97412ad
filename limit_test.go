package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// shownError is what an error text that was cut in its middle shows.
func shownError(t testing.TB, res tool.Result) string {
	t.Helper()
	if res.Err == nil {
		t.Fatalf("result = %.100q…, want an error", res)
	}
	begin, rest, cut := strings.Cut(res.Err.Text, "\n[Truncated: ")
	_, end, whole := strings.Cut(rest, "]\n")
	if !cut || !whole {
		t.Errorf("error = %.100q…, want it cut in its middle", res.Err.Text)
	}
	return begin + end
}

func TestLimitOfErrors(t *testing.T) {
	t.Parallel()
	bad := strings.Repeat("\xffa", 100_000) // two bytes for the model are four when they are mended
	text := &tool.Error{Kind: tool.Failed, Text: bad}
	refuses := readerTool("log")
	refuses.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, errors.New(bad) }
	for _, tt := range []struct {
		rule string
		def  tool.Tool
		hook ferrule.Hook
	}{
		{"O3 bytes of a tool's error that are no text", fixed("log", tool.Result{Err: text}), ferrule.Hook{}},
		{"O3 bytes of an error beside content", fixed("log", tool.Result{Content: []tool.Content{tool.Text("x")}, Err: text}), ferrule.Hook{}},
		{"O3 bytes of a refusal of meaning", refuses, ferrule.Hook{}},
		{"O3 bytes of an error that an output hook made", fixed("log", sayText("x")), ferrule.Hook{Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) {
			return &tool.Result{Err: text}, nil
		}}},
		{"O3 bytes of an error that a wrapper made", fixed("log", sayText("x")), ferrule.Hook{Around: func(context.Context, *tool.Request, ferrule.Next) tool.Result { return tool.Result{Err: text} }}},
		{"O3 bytes of what a hook blocks with", fixed("log", sayText("x")), ferrule.Hook{Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Block: bad}, nil
		}}},
	} {
		tt.hook.Name = "hook"
		t.Run(tt.rule+" are mended before they are counted", func(t *testing.T) {
			t.Parallel()
			d := tt.def
			d.Limit.Tokens = 1000
			res := callOne(t, &ferrule.Runtime{Hooks: []ferrule.Hook{tt.hook}}, d, "")
			if n := len(shownError(t, res)); n > 4000 || !utf8.ValidString(res.String()) {
				t.Errorf("%d bytes are shown, want at most 4,000, about 1,000 tokens; UTF-8: %v", n, utf8.ValidString(res.String()))
			}
		})
		t.Run(tt.rule+" stay so when the budget cuts again", func(t *testing.T) {
			t.Parallel()
			res := callOne(t, &ferrule.Runtime{Hooks: []ferrule.Hook{tt.hook}, TurnChars: 1000}, tt.def, "")
			if n := utf8.RuneCountInString(shownError(t, res)); n > 1000 || !utf8.ValidString(res.String()) {
				t.Errorf("%d characters are shown, want at most 1,000; UTF-8: %v", n, utf8.ValidString(res.String()))
			}
		})
	}
	t.Run("O5 a long error is kept, too", func(t *testing.T) {
		t.Parallel()
		long := logOf(10_000)
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, fixed("log", tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: long}}))
		res := v.Do(t.Context(), tool.Call{Name: "log"})[0]
		wantFailure(t, res, tool.Failed, "")
		if got := readAll(t, ferrule.SessionOf(v), handleIn(t, res)); got != long {
			t.Errorf("read %d bytes, want the %d of the error", len(got), len(long))
		}
	})
	t.Run("L1 a name that a model made up does not fill its context", func(t *testing.T) {
		t.Parallel()
		res := viewWith(t, new(ferrule.Runtime), readerTool("read")).Do(t.Context(), tool.Call{Name: strings.Repeat("n", 1_000_000)})[0]
		wantFailure(t, res, tool.UnknownTool, "")
		if n := len(res.String()); n > 1000 {
			t.Errorf("the result has %d bytes", n)
		}
	})
}

func TestLimitOfTokens(t *testing.T) {
	t.Parallel()
	bytes := func(s string) int { return len(s) } // a token each
	t.Run("O3 the newlines between blocks are counted", func(t *testing.T) {
		t.Parallel()
		var blocks []tool.Content
		for range 1000 {
			blocks = append(blocks, tool.Text("x"))
		}
		d := fixed("many", tool.Result{Content: blocks})
		d.Limit = tool.Limit{Tokens: 1000}
		res := callOne(t, &ferrule.Runtime{CountTokens: bytes}, d, "")
		begin, rest, _ := strings.Cut(res.String(), "\n[Truncated: 1999 chars total, ")
		_, end, cut := strings.Cut(rest, "]\n")
		if n := bytes(begin) + bytes(end); !cut || n > 1000 {
			t.Errorf("%d tokens are shown, want at most 1,000 of 1,999", n)
		}
	})
	t.Run("O3 a counter that hangs holds up a result for seconds, once", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var blocks []tool.Content
			for range 50 {
				blocks = append(blocks, tool.Text(strings.Repeat("x", 1000)))
			}
			v := viewWith(t, &ferrule.Runtime{CountTokens: func(string) int { hang(); return 1 }}, fixed("log", tool.Result{Content: blocks}))
			began := time.Now()
			got := v.Do(t.Context(), times(3, "log")...)
			if took := time.Since(began); took > 40*time.Second || !strings.Contains(got[2].String(), "Truncated") {
				t.Errorf("it took %s and gave %.60q…, want each byte counted as a token after 10 s", took, got[2])
			}
		})
	})
	t.Run("O5 a page has as many tokens as it may, as the host counts them", func(t *testing.T) {
		t.Parallel()
		counted := 0
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), CountTokens: func(s string) int {
			counted++
			return len(s) / 4
		}}, fixed("log", sayText(logOf(10_000))))
		s := ferrule.SessionOf(v)
		in := fmt.Sprintf(`{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", "")))
		counted = 0
		if n := len(s.Call(t.Context(), "read_result", in).Content[0].Text); n < 60_000 || counted > 3 {
			t.Errorf("a page has %d bytes and was counted %d times, want about 63,000 and a few", n, counted)
		}
	})
	t.Run("O7 a secret result is not given to who summarizes", func(t *testing.T) {
		t.Parallel()
		d := fixed("log", sayText(logOf(10_000)))
		d.OutputSensitivity, d.Limit.Cut = tool.Secret, "summarize"
		res := callOne(t, &ferrule.Runtime{Guard: unguarded(), Summarize: func(context.Context, *tool.Request, string) (string, error) {
			t.Error("it was")
			return "", nil
		}}, d, "")
		if !strings.Contains(res.String(), "showing first 32000 and last 32000]") {
			t.Errorf("result = %.60q…, want its middle cut", res)
		}
	})
}

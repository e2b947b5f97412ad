package mcptool

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// nobodysKey is what the scanner of these tests takes for a key.
const nobodysKey = "KEY-0123456789abcdef"

type oneKey struct{}

func (oneKey) Scan(text string) (found []redact.Span, err error) {
	for at := 0; ; {
		i := strings.Index(text[at:], nobodysKey)
		if i < 0 {
			return found, nil
		}
		at += i
		found = append(found, redact.Span{Start: at, End: at + len(nobodysKey), Kind: "key"})
		at += len(nobodysKey)
	}
}

func TestGatewayKeys(t *testing.T) {
	t.Parallel()
	const k, p = nobodysKey, "[SECRET:key:1]"
	for _, tt := range []struct{ name, method, params, answer, want string }{
		{"G5 in the text of a result", "tools/call", `{"name":"s__act"}`, `{"content":[{"type":"text","text":"a ` + k + `"}],"_meta":{"a":1}}`, `{"content":[{"type":"text","text":"a ` + p + `"}],"_meta":{"a":1}}`},
		{"G5 in structured content, and the text that repeats it", "tools/call", `{"name":"s__act"}`, `{"content":[{"type":"text","text":"{\"a\":\"` + k + `\"}"}],"structuredContent":{"a":"` + k + `"}}`, p},
		{"G5 beside the result", "tools/call", `{"name":"s__act"}`, `{"content":[{"type":"text","text":"a"}],"_meta":{"a":"` + k + `"}}`, `{"content":[{"type":"text","text":"a"}]}`},
		{"G5 beside a block", "tools/call", `{"name":"s__act"}`, `{"content":[{"type":"text","text":"a","annotations":{"x":"` + k + `"}}]}`, `{"content":[{"type":"text","text":"a"}]}`},
		{"G5 in a resource", "resources/read", `{"uri":"file:///k"}`, `{"contents":[{"uri":"file:///k","text":"` + k + `"}]}`, p},
		{"G5 what holds no key stays as it is", "tools/call", `{"name":"s__act"}`, `{"content":[{"type":"text","text":"a", "annotations":{ }}], "_meta": {"a":"b"}}`, `{"content":[{"type":"text","text":"a", "annotations":{ }}], "_meta": {"a":"b"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := unguarded()
			g.Keys = oneKey{}
			rt := &ferrule.Runtime{Guard: g, Policy: policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Allow} })}
			answer := func(*testCall) (json.RawMessage, error) { return json.RawMessage(tt.answer), nil }
			ts := resourcesOf(`[{"uri":"file:///k","name":"k"}]`, `[]`, answer)
			ts.methods["tools/list"], ts.methods["tools/call"] = lists(plainTool("act")), answer
			client := meet(t, gatewayOf(t, rt, map[string]*testServer{"s": ts}), oldEra)
			r := client.do(t.Context(), tt.method, tt.params)
			if got := string(r.end.result); strings.Contains(got, k) || !strings.Contains(got, tt.want) {
				t.Errorf("got %s (%v), want %s", got, r.end.fault, tt.want)
			}
		})
	}
	t.Run("G5 in the log", func(t *testing.T) {
		t.Parallel()
		g := unguarded()
		g.Keys = oneKey{}
		var b strings.Builder
		h := &Hub{Runtime: &ferrule.Runtime{Guard: g}, Log: slog.New(slog.NewTextHandler(&b, nil))}
		h.log().Info("it said "+k, slog.String("line", k))
		if got := b.String(); strings.Contains(got, k) || strings.Count(got, p) != 2 {
			t.Errorf("got %s", got)
		}
	})
}

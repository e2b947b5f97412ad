package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// collected is a collector that keeps what it is sent.
type collected struct {
	*httptest.Server
	mu   sync.Mutex
	text bytes.Buffer // texts stand in protobuf as they are
}

func collecting(t *testing.T) *collected {
	t.Helper()
	c := new(collected)
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.text.WriteString(r.URL.Path + " " + r.Header.Get("X-Who") + "\n")
		_, _ = io.Copy(&c.text, r.Body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collected) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// echoing is a tool that fails with what it was given, where that begins so.
func echoing(t *testing.T) func() []*tool.Tool {
	t.Helper()
	type said struct {
		Text string `json:"text"`
	}
	echo, err := tool.New(tool.Info{Name: "echo", Description: "Say it again.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		func(_ context.Context, in said) (string, error) {
			if rest, ok := strings.CutPrefix(in.Text, "fail "); ok {
				return "", &tool.Error{Kind: tool.Failed, Text: "no " + rest}
			}
			return in.Text, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return func() []*tool.Tool { return []*tool.Tool{echo} }
}

func TestTelemetry(t *testing.T) {
	t.Parallel()
	written := func(t *testing.T, text string) string {
		t.Helper()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ferrule.yaml"), text)
		return dir
	}
	t.Run("U2 up pushes what clients call, and serves metrics to who has their token", func(t *testing.T) {
		t.Parallel()
		at := collecting(t)
		dir := written(t, "telemetry:\n  otlp: "+at.URL+"\n  headers: {X-Who: me}\n  prometheus: true\n  log: debug\n  log_format: json\n")
		r := up(t, dir, echoing(t))
		c := r.caller(t, r.token)
		c.hello(t)
		for _, text := range []string{"hunter2", "fail hunter2"} {
			if _, err := c.called(t.Context(), "echo", map[string]string{"text": text}); err != nil {
				t.Fatal(err)
			}
		}
		fetch := func(token string) (int, string) {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(r.url, mcpPath)+metricsPath, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Authorization", "Bearer "+token)
			res, err := c.http.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(body)
		}
		token, err := os.ReadFile(filepath.Join(dir, ".ferrule", "metrics-token"))
		if err != nil {
			t.Fatal(err)
		}
		status, page := fetch(strings.TrimSpace(string(token)))
		if want := `ferrule_call_duration_seconds_count{ferrule_outcome="ok",ferrule_source="",gen_ai_tool_name="echo"} 1`; status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("got status %d and %s, want %s", status, page, want)
		}
		for _, other := range []string{"", r.token} {
			if status, _ := fetch(other); status != http.StatusUnauthorized {
				t.Errorf("got status %d with another token, want %d", status, http.StatusUnauthorized)
			}
		}
		r.stop()
		<-r.over
		sent := at.String()
		for _, want := range []string{"/v1/traces me\n", "/v1/metrics me\n", "execute_tool echo", "gen_ai.tool.name", "ferrule.call.duration"} {
			if !strings.Contains(sent, want) {
				t.Errorf("the collector was not sent %q", want)
			}
		}
		if strings.Contains(sent+page, "hunter2") {
			t.Error("content was sent")
		}
		log := r.errs.find(t, `(\{[^\n]*"outcome":"failed"[^\n]*\})\n`)
		if !strings.Contains(log, `"msg":"call","tool":"echo"`) || !strings.Contains(log, `"error":"[withheld: internal]"`) || strings.Contains(r.errs.String(), "hunter2") {
			t.Errorf("the log has %s", log)
		}
	})
	t.Run("G4 the sinks exporter and log say what they are given", func(t *testing.T) {
		t.Parallel()
		at := collecting(t)
		dir := written(t, "telemetry: {otlp: "+at.URL+", content: true, log: debug}\ncontent:\n  sinks: {exporter: [public, internal], log: [public, internal]}\n")
		r := up(t, dir, echoing(t))
		c := r.caller(t, r.token)
		c.hello(t)
		if _, err := c.called(t.Context(), "echo", map[string]string{"text": "fail with this"}); err != nil {
			t.Fatal(err)
		}
		r.errs.find(t, `call tool=echo outcome=failed .* error=failed: no with this`)
		r.stop()
		<-r.over
		if sent := at.String(); !strings.Contains(sent, `{"text":"fail with this"}`) || !strings.Contains(sent, "no with this") {
			t.Errorf("the collector got no content")
		}
	})
}

package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	c := collect(t)
	tells, flush := c.tells(t, telemetry.Options{Prometheus: true, NoTraces: true})
	tells.Servers(func(tell func(server, state string, restarts int)) {
		tell("github", "ready", 2)
		tell("files", "waiting", 0)
	})
	told(t, c, tells, nil, "hunter2")
	page := httptest.NewRecorder()
	tells.Metrics().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	flush()
	t.Run("U2 calls by tool and outcome are pushed", func(t *testing.T) {
		counts := make(map[string]uint64)
		for _, p := range c.metrics["ferrule.call.duration"].GetHistogram().GetDataPoints() {
			counts[attribute(p.GetAttributes(), "gen_ai.tool.name")+" "+attribute(p.GetAttributes(), "ferrule.outcome")] = p.GetCount()
		}
		want := map[string]uint64{"read ok": 1, "read invalid_input": 1, "ask ok": 1, "deny denied": 1, "fail failed": 1, "again ok": 1, "own ok": 1, "_OTHER unknown_tool": 1}
		if fmt.Sprint(counts) != fmt.Sprint(want) {
			t.Errorf("calls = %v, want %v", counts, want)
		}
	})
	t.Run("U2 what happened, and what is under way", func(t *testing.T) {
		events := make(map[string]int64)
		for _, p := range c.metrics["ferrule.call.events"].GetSum().GetDataPoints() {
			events[attribute(p.GetAttributes(), "ferrule.event")] = p.GetAsInt()
		}
		if events["asked"] != 1 || events["retried"] != 1 {
			t.Errorf("events = %v, want one asked and one retried", events)
		}
		for _, name := range []string{"ferrule.calls.running", "ferrule.calls.waiting"} {
			if p := c.metrics[name].GetSum().GetDataPoints(); len(p) != 1 || p[0].GetAsInt() != 0 {
				t.Errorf("%s = %v, want 0", name, p)
			}
		}
		if p := c.metrics["ferrule.call.wait.duration"].GetHistogram().GetDataPoints(); len(p) != 1 || p[0].GetCount() != 1 {
			t.Errorf("ferrule.call.wait.duration = %v, want one", p)
		}
	})
	t.Run("U2 Prometheus reads them", func(t *testing.T) {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		all, err := parser.TextToMetricFamilies(strings.NewReader(page.Body.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, page.Body)
		}
		up := make(map[string]float64)
		for _, m := range all["ferrule_server_up"].GetMetric() {
			for _, l := range m.GetLabel() {
				up[l.GetName()+"="+l.GetValue()] = m.GetGauge().GetValue()
			}
		}
		if up["ferrule_server=github"] != 1 || up["ferrule_server_state=waiting"] != 0 || len(up) != 4 {
			t.Errorf("ferrule_server_up = %v", up)
		}
		if m := all["go_goroutines"].GetMetric(); len(m) != 1 || m[0].GetGauge().GetValue() < 1 {
			t.Errorf("go_goroutines = %v, want some", m)
		}
		if n := len(all["ferrule_call_duration_seconds"].GetMetric()); n != 8 {
			t.Errorf("got %d series of calls, want 8", n)
		}
	})
	t.Run("U2 no content, no session and no name that somebody made up", func(t *testing.T) {
		for _, text := range []string{"hunter2", "session", "local"} {
			if strings.Contains(page.Body.String()+c.all.String(), text) {
				t.Errorf("%q got out", text)
			}
		}
	})
}

// Whatever a model or a stranger writes, it is not in what is pushed, unless it is told
// to be.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	t.Run("U2 property: no argument and no result leaves", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Prometheus: true})
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call, Log: new(audit.Memory)}
		if err := rt.Add(noting(t, tool.Info{Name: "note"}, func(_ context.Context, in note) (string, error) {
			if strings.HasPrefix(in.Text, "fail") {
				return "", fmt.Errorf("failed: %s", in.Text)
			}
			return in.Text, nil
		})); err != nil {
			t.Fatal(err)
		}
		view := rt.Session(tool.Caller{}).View(t.Context())
		calls := 0
		rapid.Check(t, func(rt *rapid.T) {
			mark := rapid.SampledFrom([]string{"", "fail "}).Draw(rt, "fails") + "QXQXQX" + rapid.StringN(0, 40, -1).Draw(rt, "text") + "XQXQXQ"
			name := rapid.SampledFrom([]string{"note", "QXQXQX unknown XQXQXQ"}).Draw(rt, "name")
			input := rapid.SampledFrom([]tool.Call{calling(name, mark), {Name: name, Input: []byte(`{"QXQXQXother":"` + mark)}}).Draw(rt, "call")
			input.ID = rapid.SampledFrom([]string{"", "call", "\xff" + strings.Repeat("x", 200), "\xff\xfe"}).Draw(rt, "id")
			view.Do(t.Context(), input)
			calls++
		})
		page := httptest.NewRecorder()
		tells.Metrics().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		flush()
		if got := len(c.spans); got != calls {
			t.Errorf("got %d spans of %d calls: some batch was refused", got, calls)
		}
		if text := c.all.String() + page.Body.String(); strings.Contains(text, "QXQXQX") || strings.Contains(text, "XQXQXQ") {
			t.Error("what a call was given is in what was pushed")
		}
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	t.Run("U2 a collector that takes nothing is logged once, and once more when it is back", func(t *testing.T) {
		t.Parallel()
		var down atomic.Bool
		down.Store(true)
		c := collect(t)
		c.down = down.Load
		var lines strings.Builder
		log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "error" {
				return slog.Attr{}
			}
			return a
		}}))
		tells, flush := c.tells(t, telemetry.Options{NoMetrics: true, Log: log})
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call}
		if err := rt.Add(noting(t, tool.Info{Name: "note"}, func(_ context.Context, in note) (string, error) { return in.Text, nil })); err != nil {
			t.Fatal(err)
		}
		view := rt.Session(tool.Caller{}).View(t.Context())
		batches := func(n int) {
			for range n {
				for i := range 600 {
					if r := view.Do(t.Context(), calling("note", fmt.Sprint(i)))[0]; r.Err != nil {
						t.Fatal(r.Err)
					}
				}
			}
		}
		batches(3)
		for c.refused.Load() == 0 { // the first batch is on its way
			time.Sleep(time.Millisecond)
		}
		down.Store(false)
		batches(1)
		flush()
		want := "level=WARN msg=\"telemetry is dropped: the collector does not take it\" what=spans\nlevel=INFO msg=\"the collector takes telemetry again\" what=spans\n"
		if lines.String() != want {
			t.Errorf("logged\n%s, want\n%s", lines.String(), want)
		}
	})
	t.Run("U2 the log has the beginning of what a stranger answers", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		c.down = func() bool { return true }
		c.says = strings.Repeat("<p>é</p>", 10_000)
		var lines strings.Builder
		tells, flush := c.tells(t, telemetry.Options{Log: slog.New(slog.NewTextHandler(&lines, nil))})
		told(t, collect(t), tells, nil, "hunter2")
		flush()
		if got := lines.String(); len(got) > 2000 || !strings.Contains(got, "what=spans") || !strings.Contains(got, "what=metrics") || !strings.Contains(got, "<p>é</p>") {
			t.Errorf("logged %d bytes: %.2000s", len(got), got)
		}
	})
	t.Run("U2 a collector that is too slow holds up nobody, and the log says so", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		hold, begun := make(chan struct{}), make(chan struct{}, 100)
		c.mute, c.down = true, func() bool { begun <- struct{}{}; <-hold; return false }
		var lines strings.Builder
		tells, flush := c.tells(t, telemetry.Options{NoMetrics: true, Log: slog.New(slog.NewTextHandler(&lines, nil))})
		run := func(n int) {
			for range n {
				_, end := tells.Agent(t.Context(), "a", "")
				end("done", nil)
			}
		}
		run(600)
		<-begun
		run(10_000)
		close(hold)
		<-begun // what waited is sent
		flush()
		if got := lines.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "it is too slow") {
			t.Errorf("logged %s, want that it is too slow", got)
		}
		if got := len(c.spans); got < 8192 || got > 10_000 {
			t.Errorf("got %d spans, want those that had room to wait", got)
		}
	})
	t.Run("U2 nobody waits for a collector that hangs", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		hold := make(chan struct{})
		defer close(hold)
		c.down = func() bool { <-hold; return true }
		tells, _ := c.tells(t, telemetry.Options{})
		began := time.Now()
		told(t, collect(t), tells, nil, "hunter2")
		if err := tells.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("calls and the end took %v, want the two seconds that a collector has at the end", took)
		}
	})
	t.Run("U2 nobody waits for a collector that is not there", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, _ := c.tells(t, telemetry.Options{})
		c.Close()
		told(t, collect(t), tells, nil, "hunter2")
		if err := tells.Close(t.Context()); err != nil { // in the two seconds that it has
			t.Error(err)
		}
	})
	t.Run("U2 nothing is begun where nobody is to be told", func(t *testing.T) {
		t.Parallel()
		tells, err := telemetry.New(t.Context(), telemetry.Options{Content: true})
		if tells != nil || err != nil {
			t.Errorf("got %v and %v, want nothing", tells, err)
		}
		if ctx, f := tells.Call(t.Context(), new(tool.Request)); ctx != t.Context() || f != nil || tells.Metrics() != nil || tells.Close(ctx) != nil {
			t.Error("nothing does something")
		}
	})
	t.Run("U2 options that are none", func(t *testing.T) {
		t.Parallel()
		for want, o := range map[string]telemetry.Options{
			`telemetry: sample: got 2, want a share from 0 to 1`:                           {OTLP: true, Sample: 2},
			`telemetry: endpoint: got "x", want a URL such as http://127.0.0.1:4318`:       {OTLP: true, Endpoint: "x"},
			`telemetry: endpoint: got "ftp://a", want a URL such as http://127.0.0.1:4318`: {OTLP: true, Endpoint: "ftp://a"},
		} {
			if _, err := telemetry.New(t.Context(), o); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
	t.Run("U2 a share of traces", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Sample: 0.5, NoMetrics: true})
		for range 400 {
			ctx, end := tells.Agent(t.Context(), "a", "")
			_, inside := tells.Agent(ctx, "b", "")
			inside("done", nil)
			end("done", nil)
		}
		flush()
		if got := len(c.spans); got < 200 || got > 600 || got%2 != 0 {
			t.Errorf("got %d spans of 400 traces of two, want about 400, and whole traces", got)
		}
	})
	t.Run("U2 a small share of traces", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Sample: 0.002, NoMetrics: true})
		for range 50_000 {
			_, end := tells.Agent(t.Context(), "a", "")
			end("done", nil)
		}
		flush()
		if got := len(c.spans); got < 40 || got > 200 {
			t.Errorf("got %d spans of 50000 traces, want about 100", got)
		}
	})
}

// The environment counts, but not for how spans are written.
func TestEnvironment(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-who=somebody%20else")
	t.Setenv("OTEL_SERVICE_NAME", "another")
	tells, flush := c.tells(t, telemetry.Options{})
	_, end := tells.Agent(t.Context(), "a", "")
	end("done", nil)
	flush()
	c.span(t, "invoke_agent a")
	if c.service["service.name"] != "another" {
		t.Errorf("service = %v, want another", c.service)
	}
	for _, h := range c.headers {
		if h.Get("X-Who") != "somebody else" {
			t.Errorf("headers = %v", h)
		}
	}
}

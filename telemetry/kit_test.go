package telemetry_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ferrule-dev/ferrule/telemetry"
)

// collector is a small OTLP receiver over HTTP.
type collector struct {
	*httptest.Server
	down    func() bool // nil: it is up
	says    string      // where it is down
	refused atomic.Int64
	mute    bool // nothing is kept as text, which takes long

	mu      sync.Mutex
	spans   []*traces.Span
	metrics map[string]*metrics.Metric // the last of each
	service map[string]string
	all     strings.Builder // everything that came, as text
	headers []http.Header
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: make(map[string]*metrics.Metric), service: make(map[string]string)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "want protobuf", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil && c.down() {
		c.refused.Add(1)
		http.Error(w, cmp.Or(c.says, "down"), http.StatusBadRequest) // which is not tried again
		return
	}
	c.headers = append(c.headers, r.Header)
	switch r.URL.Path {
	case "/v1/traces":
		var m collecttraces.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if !c.mute {
			fmt.Fprintln(&c.all, m.String())
		}
		for _, resource := range m.GetResourceSpans() {
			for _, a := range resource.GetResource().GetAttributes() {
				c.service[a.GetKey()] = a.GetValue().GetStringValue()
			}
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	case "/v1/metrics":
		var m collectmetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(&c.all, m.String())
		for _, resource := range m.GetResourceMetrics() {
			for _, scope := range resource.GetScopeMetrics() {
				for _, one := range scope.GetMetrics() {
					c.metrics[one.GetName()] = one
				}
			}
		}
	default:
		http.NotFound(w, r)
	}
}

// tells makes a Telemetry that pushes to the collector. flush has all of it there.
func (c *collector) tells(t *testing.T, o telemetry.Options) (tells *telemetry.Telemetry, flush func()) {
	t.Helper()
	o.OTLP, o.Endpoint = true, c.URL
	tells, err := telemetry.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	flush = sync.OnceFunc(func() {
		if err := tells.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(flush)
	return tells, flush
}

// span is the one span of a name.
func (c *collector) span(t *testing.T, name string) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*traces.Span
	names := make([]string, len(c.spans))
	for i, s := range c.spans {
		if names[i] = s.GetName(); names[i] == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		slices.Sort(names)
		t.Fatalf("got %d spans of the name %q among %q, want 1", len(found), name, names)
	}
	return found[0]
}

// attribute is one of a list, as text; "": it is not there.
func attribute(list []*common.KeyValue, key string) string {
	for _, a := range list {
		if a.GetKey() != key {
			continue
		}
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			return v.StringValue
		case *common.AnyValue_IntValue:
			return fmt.Sprint(v.IntValue)
		case *common.AnyValue_DoubleValue:
			return fmt.Sprint(v.DoubleValue)
		case *common.AnyValue_ArrayValue:
			var texts []string
			for _, one := range v.ArrayValue.GetValues() {
				texts = append(texts, one.GetStringValue())
			}
			return strings.Join(texts, ",")
		}
	}
	return ""
}

// has fails where a span has not these attributes; "-" is one that must not be there.
func has(t *testing.T, s *traces.Span, want map[string]string) {
	t.Helper()
	for key, value := range want {
		got := attribute(s.GetAttributes(), key)
		if value == "-" {
			value = ""
		}
		if got != value {
			t.Errorf("span %q: %s = %q, want %q", s.GetName(), key, got, value)
		}
	}
}

// below fails where a span is not the child of another.
func below(t *testing.T, child, parent *traces.Span) {
	t.Helper()
	if string(child.GetTraceId()) != string(parent.GetTraceId()) || string(child.GetParentSpanId()) != string(parent.GetSpanId()) {
		t.Errorf("%q is a span of trace %x below %x, want it below %q: trace %x, span %x",
			child.GetName(), child.GetTraceId(), child.GetParentSpanId(), parent.GetName(), parent.GetTraceId(), parent.GetSpanId())
	}
}

package config

import (
	"net/url"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// telemetry says what is told of what happens, and to whom. The zero value tells
// nobody.
type telemetry struct {
	// OTLP: spans and metrics are pushed to a collector. Endpoint is where it is; "":
	// as the environment says. Headers go with each request, filled in as those of
	// servers: see [Server.Filled].
	OTLP     bool
	Endpoint string
	Headers  map[string]string
	// NoTraces and NoMetrics: one of them is not pushed.
	NoTraces, NoMetrics bool
	// Sample is the share of traces that are kept; 0: all.
	Sample   float64
	Interval time.Duration // of pushing metrics; 0: the default
	// Prometheus: metrics can be fetched where the gateway listens.
	Prometheus bool
	Content    bool // arguments and results are pushed too
	// Level is from which level on something is logged, and JSON that each line of the
	// log is JSON. "": info.
	Level string
	JSON  bool
}

func (r *reader) telemetry(n *yaml.Node, t *telemetry) {
	keys := []string{"otlp", "headers", "traces", "metrics", "sample", "interval", "content", "prometheus", "log", "log_format"}
	r.fields(n, "telemetry", keys, func(key string, v *yaml.Node) {
		what := "telemetry." + key
		switch {
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null": // as where it is not there
		case key == "otlp":
			t.OTLP, t.Endpoint = r.collector(v, what)
		case key == "headers":
			t.Headers = r.headers(v, what)
		case key == "traces":
			t.NoTraces = !r.yes(v, what)
		case key == "metrics":
			t.NoMetrics = !r.yes(v, what)
		case key == "sample":
			t.Sample = r.sample(v, what)
		case key == "interval":
			t.Interval = r.span(v, what)
		case key == "content":
			t.Content = r.yes(v, what)
		case key == "prometheus":
			t.Prometheus = r.yes(v, what)
		case key == "log":
			t.Level = r.word(v, what, "debug", "info", "warn", "error")
		case key == "log_format":
			t.JSON = r.word(v, what, "text", "json") == "json"
		}
	})
	if t.OTLP {
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i]; key.Value {
		case "headers", "traces", "metrics", "sample", "interval", "content":
			r.fault(key, "telemetry.%s: got it without otlp, want otlp: nothing is pushed", key.Value)
		}
	}
}

// collector is true, false, or where the collector is.
func (r *reader) collector(n *yaml.Node, what string) (on bool, at string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		return r.yes(n, what), ""
	}
	at, ok := r.text(n, what)
	if !ok {
		return false, ""
	}
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		r.fault(n, "%s: got %q, want true, false or a URL such as http://127.0.0.1:4318", what, at)
	case u.User != nil:
		r.fault(n, "%s: got a name or password in it, want a header: headers: {Authorization: \"${secret:NAME}\"}", what)
	}
	return true, at
}

// sample is a share.
func (r *reader) sample(n *yaml.Node, what string) float64 {
	share, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || n.Kind != yaml.ScalarNode || n.Tag == "!!str" || !(share > 0 && share <= 1) {
		r.fault(n, "%s: got %q, want a share above 0 and up to 1, such as 0.1", what, n.Value)
		return 0
	}
	return share
}

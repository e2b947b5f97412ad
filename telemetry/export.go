package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// scope is who made a span or a metric.
const scope = "github.com/ferrule-dev/ferrule/telemetry"

// usualEndpoint is where collectors listen.
const usualEndpoint = "http://localhost:4318"

func serviceOf(name, version string) []attribute.KeyValue {
	list := []attribute.KeyValue{semconv.ServiceName(cmp.Or(name, "ferrule"))}
	if version != "" {
		list = append(list, semconv.ServiceVersion(version))
	}
	return list
}

// url is where a signal goes; "": the environment says it.
func (o *Options) url(signal string) string {
	base := o.Endpoint
	if base == "" && os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_ENDPOINT") == "" {
		base = usualEndpoint
	}
	if base == "" {
		return ""
	}
	return strings.TrimSuffix(base, "/") + "/v1/" + signal
}

// traceClient speaks to the collector of spans.
func (o *Options) traceClient() otlptrace.Client {
	options := []otlptracehttp.Option{
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf), // whatever the environment says: spans are written so already
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: sendTime}),
	}
	if at := o.url("traces"); at != "" {
		options = append(options, otlptracehttp.WithEndpointURL(at))
	}
	if len(o.Headers) > 0 {
		options = append(options, otlptracehttp.WithHeaders(o.Headers))
	}
	return otlptracehttp.NewClient(options...)
}

func (o *Options) metricExporter(ctx context.Context) (metric.Exporter, error) {
	options := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: sendTime})}
	if at := o.url("metrics"); at != "" {
		options = append(options, otlpmetrichttp.WithEndpointURL(at))
	}
	if len(o.Headers) > 0 {
		options = append(options, otlpmetrichttp.WithHeaders(o.Headers))
	}
	to, err := otlpmetrichttp.New(ctx, options...)
	return &measures{to, reach{log: o.Log, what: "metrics"}}, err
}

// Something that is not taken is sent again after a while, and then dropped.
const (
	retryFirst = time.Second
	retryMost  = 5 * time.Second
)

// measures exports without complaining each time: the SDK would print each failure to
// standard error.
type measures struct {
	metric.Exporter
	reach reach
}

func (m *measures) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	m.reach.tell(ctx, m.Exporter.Export(ctx, all))
	return nil
}

// maxFault is how much of an error is logged: it may hold a page that somebody sent who
// is no collector.
const maxFault = 400

func brief(err error) string {
	text := err.Error()
	if len(text) > maxFault {
		text = text[:maxFault] + "…"
	}
	return valid(text)
}

// reach is whether a collector takes what it is sent.
type reach struct {
	log  *slog.Logger
	what string

	mu   sync.Mutex
	lost bool
}

// tell says when that changes.
func (r *reach) tell(ctx context.Context, err error) {
	r.mu.Lock()
	changed := (err != nil) != r.lost
	r.lost = err != nil
	r.mu.Unlock()
	switch {
	case !changed || r.log == nil:
	case err != nil:
		r.log.LogAttrs(ctx, slog.LevelWarn, "telemetry is dropped: the collector does not take it", slog.String("what", r.what), slog.String("error", brief(err)))
	default:
		r.log.LogAttrs(ctx, slog.LevelInfo, "the collector takes telemetry again", slog.String("what", r.what))
	}
}

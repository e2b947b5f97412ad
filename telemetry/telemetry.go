package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	bridge "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/ferrule-dev/ferrule/tool"
)

// Options are what is told to whom. The zero value tells nobody.
type Options struct {
	// Service and Version are what the program calls itself. OTEL_SERVICE_NAME and
	// OTEL_RESOURCE_ATTRIBUTES have the last word. "": ferrule.
	Service, Version string

	// OTLP pushes spans and metrics over HTTP. NoTraces and NoMetrics leave one out.
	OTLP                bool
	NoTraces, NoMetrics bool
	// Endpoint is the URL of the collector: /v1/traces and /v1/metrics are below it.
	// "": as OTEL_EXPORTER_OTLP_ENDPOINT and its like say, else http://localhost:4318.
	Endpoint string
	// Headers go with each request. None: those of OTEL_EXPORTER_OTLP_HEADERS.
	Headers map[string]string
	// Interval is how often metrics are pushed. 0: each minute.
	Interval time.Duration
	// Sample is the share of traces that are kept, of those that begin here: one that
	// a client has begun is kept if the client keeps it. 0: all; at most 1.
	Sample float64

	// Prometheus has metrics fetched from [Telemetry.Metrics].
	Prometheus bool

	// Content tells arguments and results too, and the texts of errors, where Accepts
	// takes what is so sensitive; arguments are told where the runtime has a log. In
	// the place of others stands [withheld: internal]. Accepts nil: only what is
	// public.
	Content bool
	Accepts func(tool.Sensitivity) bool

	// Log is told when the collector cannot be reached, and when it can again. Nil:
	// nobody.
	Log *slog.Logger
}

// Telemetry tells what happens. All methods are safe for concurrent use, and on nil:
// then they do nothing.
type Telemetry struct {
	accepts func(tool.Sensitivity) bool // nil: content is not told
	pipe    *pipe                       // nil: there are no spans
	spread  propagation.TraceContext
	meters  *meters // nil: there are no metrics
	fetched http.Handler
	room    sync.Pool // *attributes, of a span

	mu    sync.RWMutex
	ends  []func(context.Context) error
	tools map[toolKey]*toolFacts
}

// flushing is how long Close waits for the collector, at most.
const flushing = 2 * time.Second

// New begins to tell. Nobody is connected to before there is something to tell, so the
// error is about the options. What is made must be closed.
func New(ctx context.Context, o Options) (t *Telemetry, err error) {
	if !o.OTLP && !o.Prometheus {
		return nil, nil
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t = &Telemetry{tools: make(map[toolKey]*toolFacts)}
	defer func() {
		if err != nil {
			err, t = fmt.Errorf("telemetry: %w", errors.Join(err, t.Close(ctx))), nil
		}
	}()
	if t.accepts = o.Accepts; !o.Content {
		t.accepts = nil
	} else if o.Accepts == nil {
		t.accepts = func(s tool.Sensitivity) bool { return s == tool.Public }
	}
	about, err := o.resource(ctx)
	if err != nil {
		return t, err
	}
	if o.OTLP && !o.NoTraces {
		if t.pipe, err = newPipe(ctx, &o, about); err != nil {
			return t, err
		}
		t.ends = append(t.ends, t.pipe.close)
	}
	if o.Prometheus || o.OTLP && !o.NoMetrics {
		err = t.measure(ctx, &o, about)
	}
	return t, err
}

func (o *Options) check() error {
	if o.Sample < 0 || o.Sample > 1 {
		return fmt.Errorf("sample: got %g, want a share from 0 to 1", o.Sample)
	}
	if o.Endpoint != "" {
		if u, err := url.Parse(o.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("endpoint: got %q, want a URL such as http://127.0.0.1:4318", o.Endpoint)
		}
	}
	return nil
}

// resource is what all that is told has in common.
func (o *Options) resource(ctx context.Context) (*resource.Resource, error) {
	about := []resource.Option{resource.WithAttributes(serviceOf(o.Service, o.Version)...), resource.WithFromEnv()}
	r, err := resource.New(ctx, about...)
	if errors.Is(err, resource.ErrPartialResource) || errors.Is(err, resource.ErrSchemaURLConflict) {
		err = nil // what is wrong in the environment is left out
	}
	return r, err
}

// measure begins to count.
func (t *Telemetry) measure(ctx context.Context, o *Options, about *resource.Resource) error {
	options := []metric.Option{
		metric.WithResource(about), metric.WithExemplarFilter(exemplar.AlwaysOffFilter), metric.WithCardinalityLimit(maxSeries),
	}
	if o.OTLP && !o.NoMetrics {
		exporter, err := o.metricExporter(ctx)
		if err != nil {
			return err
		}
		interval := time.Minute
		if o.Interval > 0 {
			interval = o.Interval
		}
		options = append(options, metric.WithReader(metric.NewPeriodicReader(exporter, metric.WithInterval(interval))))
	}
	if o.Prometheus {
		registry := prometheus.NewRegistry()
		reader, err := bridge.New(bridge.WithRegisterer(registry), bridge.WithoutScopeInfo())
		// What every program of Go tells: goroutines, memory, open files.
		err = errors.Join(err, registry.Register(collectors.NewGoCollector()), registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})))
		if err != nil {
			return err
		}
		options = append(options, metric.WithReader(reader))
		t.fetched = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	}
	provider := metric.NewMeterProvider(options...)
	t.ends = append(t.ends, provider.Shutdown)
	var err error
	t.meters, err = newMeters(provider)
	return err
}

// Metrics is what Prometheus fetches; nil: nothing is fetched. Who may fetch it is the
// host's to say.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil {
		return nil
	}
	return t.fetched
}

// Close sends what is left, and waits for that two seconds at most. What is told later
// is dropped.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushing)
	defer cancel()
	t.mu.Lock()
	ends := t.ends
	t.ends = nil
	t.mu.Unlock()
	var closing sync.WaitGroup
	errs := make([]error, len(ends))
	for i, end := range ends {
		closing.Go(func() { errs[i] = end(ctx) })
	}
	closing.Wait()
	for i, err := range errs {
		if errors.Is(err, context.DeadlineExceeded) {
			errs[i] = nil // the log heard that nobody answers
		}
	}
	return errors.Join(errs...)
}

// Take makes a context part of what a client traces; get gives its traceparent and
// tracestate. What is none is left out.
func (t *Telemetry) Take(ctx context.Context, get func(key string) string) context.Context {
	if t == nil {
		return ctx
	}
	return t.spread.Extract(ctx, carrier{get: get})
}

// Give tells set the traceparent and tracestate of a context, if it is part of a trace.
func (t *Telemetry) Give(ctx context.Context, set func(key, value string)) {
	if t != nil {
		t.spread.Inject(ctx, carrier{set: set})
	}
}

// carrier is where trace context is found, or put.
type carrier struct {
	get func(string) string
	set func(key, value string)
}

func (c carrier) Get(key string) string { return c.get(key) }
func (c carrier) Set(key, value string) { c.set(key, value) }
func (c carrier) Keys() []string        { return nil }

// Values is all that stands under a key: it stands there once.
func (c carrier) Values(key string) []string { return []string{c.get(key)} }

package telemetry

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ferrule-dev/ferrule/audit"
)

// maxSeries is how many series one metric has, at most: the SDK counts the rest as one.
const maxSeries = 4000

// meters are all metrics.
type meters struct {
	calls, wait, operation metric.Float64Histogram
	tokens                 metric.Int64Histogram
	events                 metric.Int64Counter
	running, waiting       atomic.Int64
	// happened are the options of events, by kind: they are made once.
	happened map[audit.Kind]metric.MeasurementOption

	mu      sync.Mutex
	servers []func(tell func(server, state string, restarts int))
}

// counted are the events of calls that are counted.
func counted() []audit.Kind {
	return []audit.Kind{audit.Asked, audit.Blocked, audit.Scrubbed, audit.Retried, audit.Joined, audit.Cut, audit.GivenUp, audit.Late}
}

func newMeters(provider metric.MeterProvider) (*meters, error) {
	m := &meters{happened: make(map[audit.Kind]metric.MeasurementOption)}
	for _, kind := range counted() {
		m.happened[kind] = metric.WithAttributeSet(attribute.NewSet(keyEvent.String(string(kind))))
	}
	in := provider.Meter(scope, metric.WithSchemaURL(schemaURL))
	var err error
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	seconds := func(name, about string, bounds []float64) metric.Float64Histogram {
		h, e := in.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		keep(e)
		return h
	}
	m.operation = seconds(metricOperation, "How long requests to models took.", secondsOfModels())
	m.calls = seconds(metricCalls, "How long calls took from arrival to result, people's time not counted.", secondsOfCalls())
	m.wait = seconds(metricWait, "How long calls waited for a person.", secondsOfPeople())
	var e error
	m.tokens, e = in.Int64Histogram(metricTokens, metric.WithUnit("{token}"), metric.WithDescription("Tokens of requests to models and of their answers."), metric.WithExplicitBucketBoundaries(countsOfTokens()...))
	keep(e)
	m.events, e = in.Int64Counter(metricEvents, metric.WithUnit("{event}"), metric.WithDescription("What happened to calls: asked, blocked, scrubbed, cut and the like."))
	keep(e)
	keep(m.observe(in))
	return m, err
}

// observe has what is a state looked at when somebody wants to know.
func (m *meters) observe(in metric.Meter) error {
	running, e1 := in.Int64ObservableUpDownCounter(metricRunning, metric.WithUnit("{call}"), metric.WithDescription("Calls that have arrived and have no result yet."))
	waiting, e2 := in.Int64ObservableUpDownCounter(metricWaiting, metric.WithUnit("{call}"), metric.WithDescription("Calls that wait for a person."))
	up, e3 := in.Int64ObservableGauge(metricServer, metric.WithDescription("1 where an MCP server is ready, else 0; its state says more."))
	restarts, e4 := in.Int64ObservableCounter(metricRestarts, metric.WithUnit("{restart}"), metric.WithDescription("How often an MCP server was begun with anew."))
	for _, err := range []error{e1, e2, e3, e4} {
		if err != nil {
			return err
		}
	}
	_, err := in.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(running, m.running.Load())
		o.ObserveInt64(waiting, m.waiting.Load())
		m.mu.Lock()
		all := m.servers
		m.mu.Unlock()
		for _, list := range all {
			list(func(server, state string, begun int) {
				ready := int64(0)
				if state == "ready" {
					ready = 1
				}
				o.ObserveInt64(up, ready, metric.WithAttributes(keyServer.String(server), keyState.String(state)))
				o.ObserveInt64(restarts, int64(begun), metric.WithAttributes(keyServer.String(server)))
			})
		}
		return nil
	}, running, waiting, up, restarts)
	return err
}

// Servers has metrics tell how MCP servers stand: list is called whenever somebody
// wants to know, and returns soon.
func (t *Telemetry) Servers(list func(tell func(server, state string, restarts int))) {
	if t == nil || t.meters == nil {
		return
	}
	t.meters.mu.Lock()
	defer t.meters.mu.Unlock()
	t.meters.servers = append(t.meters.servers, list)
}

func (m *meters) happens(ctx context.Context, kind audit.Kind) {
	if option, ok := m.happened[kind]; ok {
		m.events.Add(ctx, 1, option)
	}
}

// asked counts a request to a model.
func (m *meters) asked(ctx context.Context, took time.Duration, input, output int, what ...attribute.KeyValue) {
	if m == nil {
		return
	}
	m.operation.Record(ctx, took.Seconds(), metric.WithAttributes(what...))
	for kind, n := range map[string]int{"input": input, "output": output} {
		if n > 0 {
			m.tokens.Record(ctx, int64(n), metric.WithAttributes(append(slices.Clip(what), keyTokenType.String(kind))...))
		}
	}
}

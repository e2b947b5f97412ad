package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of what waits for the collector.
const (
	batch     = 512     // spans that are sent without waiting for more
	maxSpans  = 8192    // that wait
	maxBytes  = 8 << 20 // of them
	sendEvery = 5 * time.Second
	sendTime  = 10 * time.Second // that the collector has for one batch
)

// pipe is where spans go that are over. Nobody waits there: what there is no room for
// is dropped.
type pipe struct {
	client otlptrace.Client
	reach  reach
	share  uint64 // of traces that are kept: see keeps
	about  []byte // the resource, as it is written
	scope  []byte // the scope, likewise
	room   sync.Pool

	mu    sync.Mutex
	buf   []byte // spans that wait, as fields of their scope
	count int
	lost  int // that there was no room for, since the last batch
	shut  bool

	wake chan struct{}
	over chan struct{} // closed when nothing more is sent
	last context.CancelFunc
}

// Fields of what spans are sent in.
const (
	fieldResource      protowire.Number = 1 // of the spans of a resource
	fieldScopeSpans    protowire.Number = 2
	fieldScopeSchema   protowire.Number = 3
	fieldResourceAttrs protowire.Number = 1 // of a resource
	fieldScope         protowire.Number = 1 // of the spans of a scope
	fieldSpans         protowire.Number = 2
)

// newPipe begins to send.
func newPipe(ctx context.Context, o *Options, about *resource.Resource) (*pipe, error) {
	p := &pipe{
		client: o.traceClient(), reach: reach{log: o.Log, what: "spans"}, share: shareOf(o.Sample),
		wake: make(chan struct{}, 1), over: make(chan struct{}),
	}
	var list attributes
	for _, a := range about.Attributes() {
		list = list.textAt(fieldResourceAttrs, a.Key, a.Value.String())
	}
	p.about = protowire.AppendBytes(protowire.AppendTag(nil, fieldResource, protowire.BytesType), list)
	who := appendText(nil, 1, scope)
	if o.Version != "" {
		who = appendText(who, 2, valid(o.Version))
	}
	p.scope = protowire.AppendBytes(protowire.AppendTag(nil, fieldScope, protowire.BytesType), who)
	p.scope = appendText(p.scope, fieldScopeSchema, schemaURL)
	if err := p.client.Start(ctx); err != nil {
		return nil, err
	}
	life, last := context.WithCancel(context.WithoutCancel(ctx))
	p.last = last
	go p.send(life) // close waits for it
	return p, nil
}

// take takes a span, as it is written.
func (p *pipe) take(b []byte) {
	p.mu.Lock()
	room := !p.shut && p.count < maxSpans && len(p.buf)+len(b) < maxBytes
	if room {
		p.buf = protowire.AppendBytes(protowire.AppendTag(p.buf, fieldSpans, protowire.BytesType), b)
		p.count++
	} else {
		p.lost++
	}
	full := p.count >= batch
	p.mu.Unlock()
	if full {
		select {
		case p.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// send sends what waits, until the pipe is closed.
func (p *pipe) send(ctx context.Context) {
	defer close(p.over)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	var spare []byte
	for {
		select {
		case <-p.wake:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		full, shut, lost := p.buf, p.shut, p.lost
		p.buf, p.count, p.lost = spare[:0], 0, 0
		p.mu.Unlock()
		if len(full) > 0 {
			err := p.upload(ctx, full)
			if err == nil && lost > 0 {
				err = fmt.Errorf("it is too slow: %d spans had no room to wait", lost)
			}
			p.reach.tell(ctx, err)
		}
		if spare = full; cap(spare) > maxBytes/8 {
			spare = nil
		}
		if shut {
			return
		}
	}
}

// upload sends spans. The client wants messages: this one holds what is written
// already as fields that it does not know.
func (p *pipe) upload(ctx context.Context, spans []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	size := len(p.scope) + len(spans)
	b := make([]byte, 0, len(p.about)+size+16)
	b = append(b, p.about...)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldScopeSpans, protowire.BytesType), uint64(size))
	b = append(append(b, p.scope...), spans...)
	var m traces.ResourceSpans
	m.ProtoReflect().SetUnknown(b)
	return p.client.UploadTraces(ctx, []*traces.ResourceSpans{&m})
}

// close sends what waits and ends, until ctx ends.
func (p *pipe) close(ctx context.Context) error {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	select {
	case <-p.over:
	case <-ctx.Done():
		p.last()
		<-p.over
	}
	p.last()
	return errors.Join(ctx.Err(), p.client.Stop(ctx))
}

// valid is a text as it may be sent: a batch with one that is none would be refused.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

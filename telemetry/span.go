package telemetry

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// span is one that is under way. Spans are written as they go to the collector, into
// one piece of memory: those of the SDK cost a call several times as much.
type span struct {
	pipe   *pipe
	of     trace.SpanContext
	parent trace.SpanContext
	began  time.Time
	kind   trace.SpanKind
	events []byte // as they are written
	failed bool
	status string // of a failure
}

// begin begins a span below that of ctx. The span is nil where nobody keeps it, and the
// context is part of its trace all the same.
func (p *pipe) begin(ctx context.Context, kind trace.SpanKind) (context.Context, *span) {
	if p == nil {
		return ctx, nil
	}
	parent := trace.SpanContextFromContext(ctx)
	of := trace.SpanContextConfig{SpanID: newSpanID()}
	if parent.IsValid() {
		of.TraceID, of.TraceFlags, of.TraceState = parent.TraceID(), parent.TraceFlags(), parent.TraceState()
	} else {
		of.TraceID = newTraceID()
		if p.keeps(of.TraceID) {
			of.TraceFlags = trace.FlagsSampled
		}
	}
	made := trace.NewSpanContext(of)
	ctx = trace.ContextWithSpanContext(ctx, made)
	if !made.IsSampled() {
		return ctx, nil
	}
	return ctx, &span{pipe: p, of: made, parent: parent, began: time.Now(), kind: kind}
}

// keeps reports whether a trace is among the share that is kept, as others decide it
// who see the same id.
func (p *pipe) keeps(id trace.TraceID) bool {
	return p.share == 0 || binary.BigEndian.Uint64(id[8:])>>1 < p.share
}

// shareOf is what keeps compares with; 0: all are kept.
func shareOf(sample float64) uint64 {
	if sample <= 0 || sample >= 1 {
		return 0
	}
	return max(1, uint64(sample*math.MaxInt64))
}

// Ids need be unique, and no secret.

func newTraceID() (id trace.TraceID) {
	binary.BigEndian.PutUint64(id[:8], rand.Uint64())   //nolint:gosec // as above
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) //nolint:gosec // as above; keeps does not look at that bit
	return id
}

func newSpanID() (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1) //nolint:gosec // as above
	return id
}

// event notes that something happened.
func (s *span) event(name string, at time.Time) {
	one := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	one = protowire.AppendFixed64(one, nanoseconds(at))
	one = appendText(one, 2, name)
	s.events = protowire.AppendTag(s.events, fieldEvents, protowire.BytesType)
	s.events = protowire.AppendBytes(s.events, one)
}

// fail makes it one of what went wrong.
func (s *span) fail(text string) { s.failed, s.status = true, text }

// end writes the span with attributes, and hands it on.
func (s *span) end(name string, list attributes) {
	room, _ := s.pipe.room.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	b := s.append((*room)[:0], name, list)
	s.pipe.take(b)
	if *room = b; cap(b) <= maxRoom {
		s.pipe.room.Put(room)
	}
}

// maxRoom is how much memory is kept for the next span.
const maxRoom = 64 << 10

// Fields of a span, as OTLP numbers them.
const (
	fieldTrace      protowire.Number = 1
	fieldSpan       protowire.Number = 2
	fieldState      protowire.Number = 3
	fieldParent     protowire.Number = 4
	fieldName       protowire.Number = 5
	fieldKind       protowire.Number = 6
	fieldStart      protowire.Number = 7
	fieldEnd        protowire.Number = 8
	fieldAttributes protowire.Number = 9
	fieldEvents     protowire.Number = 11
	fieldStatus     protowire.Number = 15
	fieldFlags      protowire.Number = 16
)

// Flags beside those of the trace: whether it is known that the parent is elsewhere,
// and whether it is.
const (
	flagKnown  = 0x100
	flagRemote = 0x200
)

// append writes the span.
func (s *span) append(b []byte, name string, list attributes) []byte {
	of, id := s.of.TraceID(), s.of.SpanID()
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldTrace, protowire.BytesType), of[:])
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldSpan, protowire.BytesType), id[:])
	flags := uint32(s.of.TraceFlags()) | flagKnown
	if s.parent.IsValid() {
		if state := s.of.TraceState(); state.Len() > 0 {
			b = appendText(b, fieldState, state.String())
		}
		above := s.parent.SpanID()
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldParent, protowire.BytesType), above[:])
		if s.parent.IsRemote() {
			flags |= flagRemote
		}
	}
	b = appendText(b, fieldName, name)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldKind, protowire.VarintType), uint64(s.kind)) //nolint:gosec // it is a small number
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldStart, protowire.Fixed64Type), nanoseconds(s.began))
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldEnd, protowire.Fixed64Type), nanoseconds(s.began.Add(time.Since(s.began))))
	b = append(append(b, list...), s.events...)
	if s.failed {
		status := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 2)
		if s.status != "" {
			status = appendText(status, 2, s.status)
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldStatus, protowire.BytesType), status)
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, fieldFlags, protowire.Fixed32Type), flags)
}

func nanoseconds(t time.Time) uint64 { return uint64(t.UnixNano()) }

// attributes are some of a span, as they are written.
type attributes []byte

// Fields of an attribute, and of its value.
const (
	fieldKey    protowire.Number = 1
	fieldValue  protowire.Number = 2
	fieldString protowire.Number = 1
	fieldInt    protowire.Number = 3
	fieldDouble protowire.Number = 4
	fieldArray  protowire.Number = 5
)

// value writes an attribute whose value has that size, but for the value.
func (a attributes) value(field protowire.Number, key attribute.Key, size int) attributes {
	inside := protowire.SizeTag(fieldKey) + protowire.SizeBytes(len(key)) + protowire.SizeTag(fieldValue) + protowire.SizeBytes(size)
	b := protowire.AppendVarint(protowire.AppendTag(a, field, protowire.BytesType), uint64(inside)) //nolint:gosec // never negative
	b = protowire.AppendString(protowire.AppendTag(b, fieldKey, protowire.BytesType), string(key))
	return protowire.AppendVarint(protowire.AppendTag(b, fieldValue, protowire.BytesType), uint64(size)) //nolint:gosec // never negative
}

// text, number, seconds and texts add an attribute.

func (a attributes) text(key attribute.Key, text string) attributes {
	return a.textAt(fieldAttributes, key, text)
}

// textAt is text in another field than that of spans.
func (a attributes) textAt(field protowire.Number, key attribute.Key, text string) attributes {
	text = valid(text)
	a = a.value(field, key, protowire.SizeTag(fieldString)+protowire.SizeBytes(len(text)))
	return appendText(a, fieldString, text)
}

func (a attributes) number(key attribute.Key, n int) attributes {
	v := uint64(n) //nolint:gosec // as OTLP writes negative ones too
	a = a.value(fieldAttributes, key, protowire.SizeTag(fieldInt)+protowire.SizeVarint(v))
	return protowire.AppendVarint(protowire.AppendTag(a, fieldInt, protowire.VarintType), v)
}

func (a attributes) seconds(key attribute.Key, d time.Duration) attributes {
	a = a.value(fieldAttributes, key, protowire.SizeTag(fieldDouble)+protowire.SizeFixed64())
	return protowire.AppendFixed64(protowire.AppendTag(a, fieldDouble, protowire.Fixed64Type), math.Float64bits(d.Seconds()))
}

func (a attributes) texts(key attribute.Key, all ...string) attributes {
	var list []byte
	for _, text := range all {
		list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), appendText(nil, fieldString, valid(text)))
	}
	a = a.value(fieldAttributes, key, protowire.SizeTag(fieldArray)+protowire.SizeBytes(len(list)))
	return protowire.AppendBytes(protowire.AppendTag(a, fieldArray, protowire.BytesType), list)
}

// appendText writes a field that is a text.
func appendText(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

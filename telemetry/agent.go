package telemetry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Agent begins to tell of a run of an agent: with Chat it is the Tracer of package
// agent.
func (t *Telemetry) Agent(ctx context.Context, name, session string) (_ context.Context, end func(why string, err error)) {
	if t == nil {
		return ctx, func(string, error) {}
	}
	ctx, s := t.pipe.begin(ctx, trace.SpanKindInternal)
	return ctx, func(why string, err error) {
		if s == nil {
			return
		}
		list := attributes(nil).text(keyOperation, invokeAgent).text(keyAgent, name).text(keyConversation, session).text(keyWhy, why)
		if err != nil {
			list = list.text(keyError, cmp.Or(why, other))
			s.fail("")
		}
		s.end(valid(invokeAgent+" "+name), list)
	}
}

// Chat begins to tell of a request to a model.
func (t *Telemetry) Chat(ctx context.Context, format, model string) (_ context.Context, end func(answered, stop string, input, output, cached int, err error)) {
	if t == nil {
		return ctx, func(string, string, int, int, int, error) {}
	}
	began := time.Now()
	ctx, s := t.pipe.begin(ctx, trace.SpanKindClient)
	return ctx, func(answered, stop string, input, output, cached int, err error) {
		fault := ""
		switch {
		case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			fault = "timeout"
		case err != nil && ctx.Err() != nil:
			fault = "canceled"
		case err != nil:
			fault = other
		}
		name, from, model := chat, providerOf(format), valid(model)
		what := []attribute.KeyValue{keyOperation.String(chat), keyProvider.String(from)}
		if model != "" {
			name += " " + model
			what = append(what, keyModel.String(model))
		}
		if fault != "" {
			what = append(what, keyError.String(fault))
		}
		t.meters.asked(ctx, time.Since(began), input, output, what...)
		if s == nil {
			return
		}
		var list attributes
		for _, a := range what {
			list = list.text(a.Key, a.Value.AsString())
		}
		if err == nil || input > 0 || output > 0 {
			list = list.number(keyInput, input).number(keyOutput, output).number(keyCached, cached)
		}
		if why := finishOf(stop); why != "" {
			list = list.texts(keyFinish, why)
		}
		if answered != "" && len(answered) <= maxID {
			list = list.text(keyAnswered, answered)
		}
		if fault != "" {
			s.fail("")
		}
		s.end(name, list)
	}
}

package agent

import (
	"context"

	"github.com/ferrule-dev/ferrule/provider"
)

// Tracer keeps traces of what agents do; package telemetry has one. What is traced runs
// with the context that is returned, and end is called once, when it is over. The
// methods are safe for concurrent use, and return soon.
type Tracer interface {
	// Agent begins a run of the agent of that name. why is that of the transcript.
	Agent(ctx context.Context, name, session string) (_ context.Context, end func(why string, err error))
	// Chat begins a request in a format ([provider.Format]) to a model; "": the
	// provider's own. answered is the model that answered, stop why it ended
	// ([provider.Stop]), and the rest are tokens: those from a cache are part of input.
	Chat(ctx context.Context, format, model string) (_ context.Context, end func(answered, stop string, input, output, cached int, err error))
}

// traced begins the trace of a run.
func (l *Live) traced(ctx context.Context) (context.Context, func(error)) {
	t := l.agent.Trace
	if t == nil {
		return ctx, func(error) {}
	}
	ctx, end := t.Agent(ctx, l.agent.name(), l.t.Session)
	return ctx, func(err error) { end(string(l.t.Why), err) }
}

// traced asks the model, and traces that.
func (h *hearing) traced(ctx context.Context, r provider.Request) (answer provider.Answer, err error) {
	a := h.live.agent
	if a.Trace == nil {
		return h.ask(ctx, r)
	}
	ctx, end := a.Trace.Chat(ctx, a.Model.Format().String(), r.Model)
	defer func() { // also where who listens panics
		end(answer.Model, string(answer.Stop), answer.Usage.Input, answer.Usage.Output, answer.Usage.CacheRead, err)
	}()
	return h.ask(ctx, r)
}

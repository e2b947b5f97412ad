package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// task is what an agent is asked to do by another.
type task struct {
	Prompt string `json:"prompt" jsonschema_description:"what is to be done, with all that is needed to know: nothing else of this conversation is seen"`
}

// maxInside is how deep agents call each other as tools.
const maxInside = 8

// Tool is the agent as a tool of another: it is given a task, works on it in the same
// session with what its own View shows, and its last words are the result. Its events
// come up with those of the agent that called it, and what it uses counts for that one's
// budget too. What its calls want to be asked is asked as ever; it is not handed back.
//
// The info says what the tool is called and what it claims. Zero: it claims nothing, so
// that its calls run alone. Timeout 0 is none, since Budget bounds the run.
func (a *Agent) Tool(info tool.Info) (*tool.Tool, error) {
	if info.Timeout == 0 {
		info.Timeout = tool.Unlimited
	}
	return tool.New(info, func(ctx context.Context, in task) (string, error) {
		env := tool.From(ctx)
		defer env.Aside()() // its own calls need the places that this one holds
		r := env.Request()
		inner := *a
		inner.HandBack, inner.Keep = false, nil
		inner.Caller = r.Caller
		inner.Caller.Agent, inner.Caller.Run = a.name(), r.ID
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		var t Transcript
		l := inner.Begin(ctx, &t, in.Prompt)
		l.inside = r.ID
		if err := l.join(stop); err != nil {
			return "", err
		}
		defer l.part()
		if err := l.run(); err != nil { //nolint:contextcheck // it has its context
			l.emit(Event{Kind: Over, Why: t.Why, Text: err.Error()})
			return "", &tool.Error{Kind: tool.Failed, Text: a.name() + " could not finish: its run is over: " + string(t.Why), Detail: err.Error(), Cause: err, Own: true}
		}
		if text := l.last.Text(); t.Why == Done && text != "" {
			return text, nil
		}
		return "", fmt.Errorf("%s has no answer: its run is over: %s. It said last: %q", a.name(), t.Why, l.last.Text())
	})
}

// liveKey is where the context of a turn has its run.
type liveKey struct{}

func withLive(ctx context.Context, l *Live) context.Context {
	return context.WithValue(ctx, liveKey{}, l)
}

// join has the events of a run come up to the run that it is inside of, and has that
// one's interrupts, stops and end reach it.
func (l *Live) join(stop context.CancelCauseFunc) error {
	l.up, _ = l.ctx.Value(liveKey{}).(*Live)
	if l.up == nil {
		return nil
	}
	depth := 0
	for u := l.up; u != nil; u = u.up {
		depth++
	}
	if depth > maxInside {
		return fmt.Errorf("%s: agents call each other %d deep, want at most %d", l.agent.name(), depth, maxInside)
	}
	up := l.up
	l.events = up.events
	up.mu.Lock()
	defer up.mu.Unlock()
	up.inner = append(up.inner, l)
	if up.spoken != nil { // it comes too late to have been told
		l.spoken = new(spoken)
	}
	l.unwatch = context.AfterFunc(up.running, func() { stop(context.Cause(up.running)) })
	return nil
}

// part is the end of join.
func (l *Live) part() {
	if l.up == nil {
		return
	}
	l.unwatch()
	l.count()
	l.up.mu.Lock()
	defer l.up.mu.Unlock()
	l.up.inner = slices.DeleteFunc(l.up.inner, func(o *Live) bool { return o == l })
	l.up.spent.join(l.t.All)
}

package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// one is a turn: the model is asked, and its calls run while it still talks.
func (l *Live) one(ctx context.Context) (Why, error) {
	a, t := l.agent, l.t
	view, err := l.offer(ctx)
	if err != nil {
		return "", err
	}
	request, err := l.request(ctx, view)
	if err != nil {
		return "", err
	}
	l.emit(Event{Kind: Asking, Model: request.Model})

	asking, hush := context.WithCancelCause(ctx)
	defer hush(nil)
	if !l.listen(hush) {
		hush(errHush)
	}
	h := &hearing{live: l, d: dispatched{live: l, view: view}, early: !a.answers()}
	answer, err := h.traced(asking, request)
	l.listen(nil)
	hushed := errors.Is(context.Cause(asking), errHush) && ctx.Err() == nil
	if h.err != nil {
		return l.abandon(ctx, h, h.err)
	}
	answer = h.whole(answer)
	cost, priced := a.Budget.cost(cmp.Or(answer.Model, request.Model), answer.Usage)
	t.All.add(answer.Usage, cost)
	t.Run.add(answer.Usage, cost)
	if priced != nil {
		t.Open = cmp.Or(t.Open, new(Open))
		t.Open.Answer = answer
		return l.abandon(ctx, h, priced)
	}
	if err != nil && len(answer.Calls()) == 0 && !hushed {
		// Nothing of it is kept: whoever goes on asks again.
		if ctx.Err() == nil {
			err = fmt.Errorf("agent: ask the model: %w", err)
		}
		return "", err
	}
	if err != nil && !hushed {
		l.emit(Event{Kind: Noted, Text: "the answer broke off, and what was whole of it counts: " + err.Error()})
	}
	if answer, err = l.response(ctx, answer); err != nil {
		return "", err
	}
	if t.Open == nil {
		t.Open = new(Open)
	}
	t.Open.Answer = answer
	calls := answer.Calls()
	if len(calls) == 0 {
		return l.close(ctx, nil)
	}
	if err := h.d.addLast(calls[h.d.added:]...); err != nil {
		return l.abandon(ctx, h, err)
	}
	return l.close(ctx, &h.d)
}

// abandon ends a turn in the middle because something failed at our side. What has
// begun is stopped and waited for.
func (l *Live) abandon(ctx context.Context, h *hearing, err error) (Why, error) {
	if h.d.turn == nil { // no call has begun
		l.t.Open = nil
		return "", err
	}
	l.leave(err)
	_, failed := l.close(ctx, &h.d)
	return "", errors.Join(err, onlyOther(failed, err))
}

// onlyOther is a failure that err does not tell already.
func onlyOther(failed, err error) error {
	if errors.Is(failed, err) || errors.Is(err, failed) {
		return nil
	}
	return failed
}

// listen says how the model is hushed while it talks; nil: it does not talk. It reports
// whether nobody has interrupted yet.
func (l *Live) listen(hush context.CancelCauseFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hush = hush
	return l.spoken == nil
}

// offer is what this turn is offered.
func (l *Live) offer(ctx context.Context) (*ferrule.View, error) {
	l.tools.forget()
	view := l.session.View(ctx)
	if l.agent.View == nil {
		return view.Auto(l.agent.Context, ferrule.DeferOptions{Load: true}), nil
	}
	chosen, err := guarded(func() (*ferrule.View, error) { return l.agent.View(ctx, view, l.t), nil })
	if err != nil {
		return nil, fmt.Errorf("agent: View: %w", err)
	}
	return cmp.Or(chosen, view), nil
}

// request is what the model is asked, when all hooks have seen it.
func (l *Live) request(ctx context.Context, view *ferrule.View) (provider.Request, error) {
	a := l.agent
	tools, err := view.Definitions(a.Model.Format())
	if err != nil {
		l.emit(Event{Kind: Noted, Text: err.Error()}) // the others are offered
	}
	if string(tools) == "[]" {
		tools = nil
	}
	r := provider.Request{
		Model: a.use(l.t.Hint), System: a.System, Messages: l.t.Messages(), Tools: tools,
		MaxTokens: a.MaxTokens, Stream: true, Cache: !a.Unmarked, Extra: a.Extra,
	}
	now := r
	for _, h := range a.Hooks {
		if h.Request == nil {
			continue
		}
		changed, err := guarded(func() (*provider.Request, error) { return h.Request(ctx, l.t, now, r) })
		if err != nil {
			return r, h.failed(err)
		}
		if changed != nil {
			now = *changed
		}
	}
	return now, nil
}

// response is the answer when all hooks have seen it.
func (l *Live) response(ctx context.Context, answer provider.Answer) (provider.Answer, error) {
	now := answer
	for _, h := range l.agent.Hooks {
		if h.Response == nil {
			continue
		}
		changed, err := guarded(func() (*provider.Answer, error) { return h.Response(ctx, l.t, now, answer) })
		if err != nil {
			return answer, h.failed(err)
		}
		if changed != nil {
			now = *changed
			now.Parts = l.named(now.Parts, answer)
		}
	}
	return now, nil
}

func (h *Hook) failed(err error) error {
	return fmt.Errorf("agent: hook %s: %w", cmp.Or(h.Name, "without a name"), err)
}

// guarded runs a function of the host: a panic is its failure.
func guarded[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return f()
}

// answers reports whether a hook wants to see answers before calls begin.
func (a *Agent) answers() bool {
	for _, h := range a.Hooks {
		if h.Response != nil {
			return true
		}
	}
	return false
}

// use is the model to ask after a turn whose tools wanted one. What a tool names counts
// where the host names none.
func (a *Agent) use(hint string) string {
	if slices.Contains(tiers, hint) {
		return cmp.Or(a.Tiers[hint], a.Use)
	}
	return cmp.Or(a.Tiers[hint], a.Use, hint)
}

// hearing is an answer while it comes.
type hearing struct {
	live  *Live
	d     dispatched
	early bool // calls begin while the model talks
	text  []byte
	told  []provider.Part // what is whole, in order
	err   error           // why no more calls can begin
}

// ask asks, and hears.
func (h *hearing) ask(ctx context.Context, r provider.Request) (provider.Answer, error) {
	if h.live.yield != nil {
		return h.askBeside(ctx, r)
	}
	return guarded(func() (provider.Answer, error) { return h.live.agent.Model.Ask(ctx, r, h.delta) })
}

// askBeside is ask where somebody listens: what calls say meanwhile is told at once,
// whatever the model does.
func (h *hearing) askBeside(ctx context.Context, r provider.Request) (answer provider.Answer, err error) {
	l := h.live
	model := l.agent.Model
	ctx, end := context.WithCancel(ctx)
	deltas, heard, over := make(chan provider.Delta), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		answer, err = guarded(func() (provider.Answer, error) {
			return model.Ask(ctx, r, func(d provider.Delta) {
				select {
				case deltas <- d:
					select {
					case <-heard:
					case <-ctx.Done():
					}
				case <-ctx.Done():
				}
			})
		})
	}()
	defer func() { // also where who listens panics
		end()
		<-over
	}()
	for {
		select {
		case d := <-deltas:
			h.delta(d)
			select {
			case heard <- struct{}{}:
			case <-ctx.Done():
			}
		case <-l.events.more:
			l.drain()
		case <-over:
			return answer, err
		}
	}
}

// usualCalls is for how many calls of an answer there is room at once.
const usualCalls = 8

// delta takes what has come.
func (h *hearing) delta(d provider.Delta) {
	l := h.live
	switch d.Kind {
	case provider.DeltaText:
		h.text = append(h.text, d.Text...)
		l.emit(Event{Kind: Said, Text: d.Text})
	case provider.DeltaThought:
		l.emit(Event{Kind: Thought, Text: d.Text})
	case provider.DeltaRefusal:
		l.emit(Event{Kind: Refused, Text: d.Text})
	case provider.DeltaPart:
		if d.Part == nil {
			return
		}
		if d.Part.Kind == provider.PartText { // it was told as it came
			h.text = bytes.TrimSuffix(h.text, []byte(d.Part.Text))
		}
		h.flush()
		h.told = append(h.told, *d.Part)
	case provider.DeltaBegun:
		call := d.Call // so that no other delta has to be kept
		l.emit(Event{Kind: Writing, Call: &call})
	case provider.DeltaCall:
		h.flush()
		call := d.Call
		part := provider.Part{Kind: provider.PartCall, Call: &call}
		if d.Part != nil && d.Part.Call != nil {
			part = *d.Part
		}
		part = l.name(part)
		if h.told == nil {
			h.told = make([]provider.Part, 0, usualCalls)
		}
		h.told = append(h.told, part)
		if !h.early || h.err != nil {
			return
		}
		if l.t.Open == nil {
			l.t.Open = new(Open)
		}
		l.t.Open.Answer.Parts = h.told
		h.err = h.d.add(*part.Call)
	}
}

// flush puts the text so far to what is whole.
func (h *hearing) flush() {
	if len(h.text) > 0 {
		h.told = append(h.told, provider.Text(string(h.text)))
		h.text = nil
	}
}

// whole is the answer with the ids that its calls have in the conversation. Calls that
// have begun are part of it, whatever the model returned.
func (h *hearing) whole(answer provider.Answer) provider.Answer {
	told := provider.Answer{Parts: h.told}.Calls()
	parts := make([]provider.Part, len(answer.Parts))
	next := 0
	for i, p := range answer.Parts {
		switch {
		case p.Kind != provider.PartCall || p.Call == nil:
		case next < len(told) && same(*p.Call, told[next]):
			p = renamed(p, told[next].ID)
			next++
		case next < len(told):
			next = -1
		default:
			p = h.live.name(p)
		}
		if next < 0 {
			break
		}
		parts[i] = p
	}
	if next < len(told) || next < 0 { // it told more than it returned
		h.flush()
		parts = h.told
	}
	answer.Parts = parts
	return answer
}

// same reports whether two are one call, whatever their ids.
func same(a, b tool.Call) bool {
	return a.Name == b.Name && string(blank(a.Input)) == string(blank(b.Input))
}

func blank(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

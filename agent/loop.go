package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// usualSaid is for how many messages of a run there is room at once.
const usualSaid = 4

// run is the loop, from what was said to the end. The transcript says how it ended.
func (l *Live) run() (err error) {
	a, t := l.agent, l.t
	if t == nil {
		return errNothing
	}
	if t.Why = Failed; a.Runtime == nil || a.Model == nil {
		return errNoRun
	}
	if a.Budget.Money > 0 && a.Budget.Price == nil {
		return errPrice
	}
	ctx, leave := context.WithCancelCause(l.ctx)
	defer leave(nil)
	l.leave = leave
	defer l.fallen()
	if a.Budget.Time > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, a.Budget.Time, errTime)
		defer end()
	}
	l.caller()
	ctx, end := l.traced(ctx)
	defer func() { end(err) }()
	l.running, l.calling = ctx, withLive(ctx, l)
	l.tools.rt = a.Runtime
	l.ids = idsOf(t)
	t.Why = ""
	t.Said = slices.Grow(t.Said, usualSaid)
	if l.prompt != "" {
		t.Say(provider.Text(l.prompt))
		t.Run = Tally{}
	}
	var (
		why  Why
		text string
	)
	why, text, err = l.turns(ctx)
	if errors.Is(context.Cause(ctx), errTime) && l.ctx.Err() == nil && !l.unkept {
		why, text, err = Exhausted, a.Budget.Time.String(), nil
	}
	if err == nil {
		t.Why = why
		if err = l.keepLast(); err == nil {
			l.emit(Event{Kind: Over, Why: why, Text: text})
			return nil
		}
	}
	t.Why = Failed
	if l.left || l.ctx.Err() != nil {
		t.Why, err = Stopped, context.Cause(ctx)
	}
	l.drain()
	told := l.unkept // err says so
	if kept := l.keepLast(); !told {
		err = errors.Join(err, kept)
	}
	return err
}

// fallen is for a run whose host has panicked in the middle: calls are stopped, and
// waited for.
func (l *Live) fallen() {
	l.leave(errLeft)
	l.mu.Lock()
	turn := l.turn
	l.mu.Unlock()
	if turn != nil {
		turn.Wait()
	}
}

// turns asks and runs until there is a reason to end.
func (l *Live) turns(ctx context.Context) (why Why, text string, err error) {
	if l.prompt != "" {
		err = l.keep(ctx)
	}
	for err == nil {
		why, text, err = l.next(ctx)
		if why == "" || err != nil {
			continue
		}
		// A person may have spoken when the last turn was over.
		switch s := l.lastWords(); {
		case s == nil:
			return why, text, nil
		case l.t.Open != nil:
			l.putBack(s) // calls that wait for a person are aborted
		case s.text == "":
			return Stopped, "", nil
		default:
			l.t.Why = ""
			l.t.Say(provider.Text(s.text))
			l.t.Run = Tally{}
		}
	}
	return "", "", err
}

// next is one turn; why "": there may be another.
func (l *Live) next(ctx context.Context) (why Why, text string, err error) {
	t := l.t
	if t.Open != nil { // broken off, or handed back
		why, err = l.goOn(ctx)
		return why, "", err
	}
	if n := len(t.Said); n == 0 || t.Said[n-1].Role != provider.User && !t.Paused {
		return Done, "", nil // there is nothing to answer
	}
	l.count()
	if text := l.agent.Budget.exceeded(t.Run); text != "" {
		return Exhausted, text, nil
	}
	if ctx.Err() != nil {
		return "", "", context.Cause(ctx)
	}
	why, err = l.one(ctx)
	return why, "", err
}

// count adds what agents inside have used.
func (l *Live) count() {
	l.mu.Lock()
	spent := l.spent
	l.spent = Tally{}
	l.mu.Unlock()
	l.t.All.join(spent)
	l.t.Run.join(spent)
}

// keep gives the transcript to who keeps it.
func (l *Live) keep(ctx context.Context) error {
	if l.agent.Keep == nil {
		return nil
	}
	if _, err := guarded(func() (struct{}, error) { return struct{}{}, l.agent.Keep(ctx, l.t) }); err != nil {
		l.unkept = true
		return fmt.Errorf("agent: keep the transcript: %w", err)
	}
	return nil
}

// keepLast keeps how a turn or a run ended, whatever has ended.
func (l *Live) keepLast() error {
	if l.agent.Keep == nil {
		return nil
	}
	return l.keep(context.WithoutCancel(l.ctx))
}

// goOn finishes a turn that another run has begun: the same calls, in a turn of the
// same number, so that what is done does not run again.
func (l *Live) goOn(ctx context.Context) (Why, error) {
	o := l.t.Open
	calls := o.calls()
	if len(calls) == 0 {
		return l.close(ctx, nil)
	}
	view, err := l.offer(ctx)
	if err != nil {
		return "", err
	}
	d := &dispatched{live: l, view: view, number: o.Number}
	if err := d.addLast(calls...); err != nil {
		return "", err
	}
	return l.close(ctx, d)
}

// close waits for the calls of the open turn and puts what it was to the rest.
func (l *Live) close(ctx context.Context, d *dispatched) (Why, error) {
	t := l.t
	o := t.Open
	var fatal error
	if d != nil {
		fatal = l.take(o, d.wait()) //nolint:contextcheck // it has its context
	}
	if fatal == nil && o.Fatal != "" { // it ended the run before the turn was handed back
		fatal = errors.New(o.Fatal)
	}
	l.drain()
	l.count()
	spoken := l.interrupted()
	if len(o.Waiting) > 0 {
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case spoken != nil:
			l.putBack(spoken) // they are aborted in a turn that is gone on with
			return "", nil
		}
		return Waiting, nil
	}
	if spoken != nil && spoken.text != "" {
		t.Next = append(t.Next, provider.Text(spoken.text))
		t.Run = Tally{}
	}
	t.Hint = l.tools.hint(o)
	answer, number := o.Answer, o.Number
	t.Paused = d == nil && spoken == nil && answer.Stop == provider.StopPause
	t.close()
	l.last = answer
	over := fatal == nil && spoken == nil && d == nil && !t.Paused
	if over { // who reads what is kept here need not ask again
		t.Why = ended(answer.Stop)
	}
	if err := l.keepLast(); err != nil { //nolint:contextcheck // whatever has ended
		return "", errors.Join(fatal, err)
	}
	if l.heard() {
		l.turned(number, answer)
	}
	switch {
	case fatal != nil:
		return "", fatal
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case spoken != nil && spoken.text == "":
		return Stopped, nil
	case over:
		return t.Why, nil
	}
	return "", nil
}

func (l *Live) turned(number int, answer provider.Answer) {
	l.emit(Event{Kind: Turned, Turn: number, Answer: &answer})
}

// ended is how a run ends whose last answer has no calls.
func ended(s provider.Stop) Why {
	switch s {
	case provider.StopLength:
		return CutShort
	case provider.StopRefusal:
		return Declined
	case provider.StopEnd, provider.StopCalls, provider.StopPause, provider.StopOther:
	}
	return Done
}

// take puts results into the open turn. The error is one that a tool ends the run with.
func (l *Live) take(o *Open, results []tool.Result) (fatal error) {
	o.Results = slices.Grow(o.Results, len(results))
	o.Waiting = nil
	room := make([]provider.Result, len(results))
	i := -1
	for _, p := range o.Answer.Parts {
		if p.Kind != provider.PartCall || p.Call == nil {
			continue
		}
		if i++; i == len(o.Results) {
			o.Results = append(o.Results, nil)
		}
		if i >= len(results) || o.Results[i] != nil {
			continue // it had its result before the turn was handed back
		}
		res := &results[i]
		if res.Err != nil {
			if res.Err.Kind == tool.Suspended {
				o.Waiting = append(o.Waiting, p.Call.ID)
				continue
			}
			if out, ok := errors.AsType[*tool.Outcome](res.Err); ok && out.Fatal {
				fatal = errors.Join(fatal, fmt.Errorf("agent: %s ended the run: %w", p.Call.Name, res.Err))
				o.Fatal = fatal.Error()
			}
		}
		room[i] = provider.ResultOf(p.Call.ID, p.Call.Name, *res)
		o.Results[i] = &room[i]
	}
	return fatal
}

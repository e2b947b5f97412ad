package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
)

// Live is a run that can be talked to. Its methods are safe for concurrent use.
type Live struct {
	agent  *Agent
	ctx    context.Context //nolint:containedctx // a run is a call that takes a while
	t      *Transcript
	prompt string
	inside string // the call that it runs in; "": none
	used   atomic.Bool

	// Of the goroutine that runs it.
	session *ferrule.Session
	yield   func(Event, error) bool // nil: nobody listens
	left    bool                    // who listened has left
	leave   context.CancelCauseFunc
	events  *queue // of calls, which run elsewhere; nil: nobody listens
	ids     map[string]bool
	tools   toolFacts
	last    provider.Answer
	unkept  bool // who keeps the transcript has failed

	up      *Live           // the run that it is inside of; nil: none
	unwatch func() bool     // ends listening to the end of that one
	running context.Context //nolint:containedctx // of the run: agents inside end with it
	calling context.Context //nolint:containedctx // of its calls: it leads agents inside to this run

	mu     sync.Mutex
	hush   context.CancelCauseFunc // ends listening to the model; nil: it does not talk
	turn   *ferrule.Turn           // under way
	spoken *spoken                 // a person interrupted
	over   bool                    // nobody hears any more what a person says
	inner  []*Live                 // agents that it called as tools
	spent  Tally                   // by those that have ended, and not counted yet
}

// spoken is an interrupt.
type spoken struct{ text string }

var (
	errUsed    = errors.New("agent: a run can be ranged over once")
	errLeft    = errors.New("agent: who listened to the run has left")
	errHush    = errors.New("agent: interrupted")
	errNothing = errors.New("agent: got no Transcript, want one: new(agent.Transcript) begins a conversation")
	errNoRun   = errors.New("agent: got an Agent without Runtime or Model, want both")
	errPrice   = errors.New("agent: got a Budget with Money and without Price, want both: Ferrule knows no prices")
)

// Begin is [Agent.Run] for who wants to interrupt it. Nothing happens before the events
// are ranged over.
func (a *Agent) Begin(ctx context.Context, t *Transcript, prompt string) *Live {
	return &Live{agent: a, ctx: ctx, t: t, prompt: prompt}
}

// Events runs it. They can be ranged over once.
func (l *Live) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !l.used.CompareAndSwap(false, true) {
			yield(Event{Kind: Over, Agent: l.agent.name(), Why: Failed}, errUsed)
			return
		}
		l.yield, l.events = yield, newQueue()
		if err := l.run(); err != nil && !l.left {
			why := Failed
			if l.t != nil {
				why = l.t.Why
			}
			yield(Event{Kind: Over, Agent: l.agent.name(), Inside: l.inside, Why: why, Text: err.Error()}, err)
		}
	}
}

// Interrupt is a person who speaks: the model is not listened to any more, calls whose
// tool says Cancel stop, what has not begun is aborted, and the others are waited for.
// Then the run goes on with what the person said, or is over where that is nothing. It
// reports whether the run heard it: false where it is over.
func (l *Live) Interrupt(text string) bool {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return false
	}
	if l.spoken == nil {
		l.spoken = new(spoken)
	}
	if l.spoken.text != "" && text != "" {
		text = "\n\n" + text
	}
	l.spoken.text += text
	hush, turn, inner := l.hush, l.turn, slices.Clone(l.inner)
	l.mu.Unlock()
	if hush != nil {
		hush(errHush)
	}
	if turn != nil {
		turn.Interrupt()
	}
	for _, i := range inner {
		i.Interrupt("")
	}
	return true
}

// interrupted takes what a person said by interrupting; nil: nobody did.
func (l *Live) interrupted() *spoken {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.spoken
	l.spoken = nil
	return s
}

// putBack has an interrupt be heard again.
func (l *Live) putBack(s *spoken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spoken != nil && l.spoken.text != "" {
		s.text += "\n\n" + l.spoken.text
	}
	l.spoken = s
}

// lastWords takes what a person said before the run ends. From nil on nobody is heard.
func (l *Live) lastWords() *spoken {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.spoken
	l.spoken, l.over = nil, s == nil
	return s
}

// Stop stops one call, by Ferrule's id. It reports whether the call was under way.
func (l *Live) Stop(call string) bool {
	return l.each(func(t *ferrule.Turn) bool { return t.Stop(call) })
}

// Background lets a running call end and what it runs go on, by Ferrule's id. It
// reports whether its tool can do so.
func (l *Live) Background(call string) bool {
	return l.each(func(t *ferrule.Turn) bool { return t.Background(call) })
}

// each tries the turns that are under way, those of inner agents too.
func (l *Live) each(try func(*ferrule.Turn) bool) bool {
	l.mu.Lock()
	turn, inner := l.turn, slices.Clone(l.inner)
	l.mu.Unlock()
	return turn != nil && try(turn) || slices.ContainsFunc(inner, func(i *Live) bool { return i.each(try) })
}

// heard reports whether somebody listens.
func (l *Live) heard() bool { return l.yield != nil || l.events != nil }

// emit tells an event, on the goroutine of the run, behind those of calls that came
// before it.
func (l *Live) emit(e Event) {
	e.Agent, e.Inside = l.agent.name(), l.inside
	switch {
	case l.yield != nil:
		l.drain()
		l.hand(e)
	case l.events != nil: // those of the run that it is inside of
		l.events.put(e)
	}
}

// drain tells what calls have said so far.
func (l *Live) drain() {
	for l.yield != nil {
		e, ok := l.events.take()
		if !ok {
			return
		}
		l.hand(e)
	}
}

func (l *Live) hand(e Event) {
	if l.left {
		return
	}
	if !l.yield(e, nil) {
		l.left = true
		l.leave(errLeft)
	}
}

// caller is for whom this run works.
func (l *Live) caller() {
	c := l.agent.Caller
	switch {
	case l.t.Session != "":
		c.Session = l.t.Session
	case c.Session == "":
		c.Session = "run-" + rand.Text()[:12]
	}
	l.t.Session = c.Session
	if c.Agent == "" {
		c.Agent = l.agent.Name
	}
	if c.Run == "" {
		c.Run = rand.Text()[:12]
	}
	if c.Prompt == "" && l.up == nil { // what a model asks of another is no person's word
		c.Prompt = l.prompt
	}
	l.session = l.agent.Runtime.Session(c)
}

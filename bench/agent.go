package main

import (
	"context"
	"fmt"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Names of works of the agent loop.
const (
	agentTurn  = "agent: a turn of 10 no-op calls through the loop"
	agentHeard = "agent: the same, streamed, and somebody listens to its events"
	agent10    = "agent: 10 turns of 10 calls"
	agent200   = "agent: 200 turns of 10 calls"
	agentEino  = "agent: a turn of 10 no-op calls through Eino's react agent, which checks no input"
)

// fakeModel asks for ten calls in each of its turns, then says that it is done. It
// neither reads nor writes requests: their bytes are not the loop's.
type fakeModel struct {
	answers []provider.Answer // no two of a run have calls of one id
	done    provider.Answer
	turns   int
	streams bool

	asked int // of the run
	next  int
}

func newFakeModel(turns int, streams bool) *fakeModel {
	m := &fakeModel{turns: turns, streams: streams, answers: make([]provider.Answer, max(turns, variants)), done: provider.Answer{Parts: []provider.Part{provider.Text("Done.")}, Stop: provider.StopEnd}}
	for i := range m.answers {
		a := &m.answers[i]
		a.Stop = provider.StopCalls
		for _, c := range similarCalls(i, 10) {
			c.ID = fmt.Sprintf("%s_%d", c.ID, i)
			a.Parts = append(a.Parts, provider.Part{Kind: provider.PartCall, Call: &c})
		}
	}
	return m
}

func (m *fakeModel) Format() provider.Format { return provider.Anthropic{} }

// Ask answers. One that streams tells each call when it is complete.
func (m *fakeModel) Ask(_ context.Context, _ provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	if m.asked++; m.asked > m.turns {
		m.asked = 0
		if m.streams {
			told(provider.Delta{Kind: provider.DeltaText, Text: "Done."})
		}
		return m.done, nil
	}
	m.next++
	a := &m.answers[m.next%len(m.answers)]
	for _, p := range a.Parts {
		if m.streams {
			told(provider.Delta{Kind: provider.DeltaCall, Call: *p.Call})
		}
	}
	return *a, nil
}

// agentWorks are what the loop costs, with all that its calls cost.
func agentWorks(ctx context.Context) ([]work, error) {
	var list []work
	for _, w := range []struct {
		name   string
		ratio  float64
		allocs int64
		turns  int
		listen bool
	}{
		// Wanted are 15, of which the calls alone take 12: see runtimeWorks. The loop
		// itself adds two requests, a run and a transcript. The bounds hold what has
		// been reached, with room for a busy machine.
		{agentTurn, 21, 150, 1, false},
		{agentHeard, 60, 360, 1, true},
		{agent10, 0, -1, 10, false},
		{agent200, 0, -1, 200, false},
	} {
		t, err := noop(false)
		if err != nil {
			return nil, err
		}
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
		if err := rt.Add(t); err != nil {
			return nil, err
		}
		a := &agent.Agent{Runtime: rt, Model: newFakeModel(w.turns, w.listen), Caller: tool.Caller{Session: "bench"}, Budget: agent.Budget{Turns: w.turns + 1}}
		list = append(list, work{w.name, w.ratio, w.allocs, runs(ctx, a, w.turns, w.listen)})
	}
	peer, err := einoReact(ctx)
	return append(list, work{agentEino, 0, -1, peer}), err
}

// runs is a work that runs an agent, from a prompt to the end.
func runs(ctx context.Context, a *agent.Agent, turns int, listen bool) func() error {
	return func() error {
		var t agent.Transcript
		if listen {
			for _, err := range a.Run(ctx, &t, "Search.") {
				if err != nil {
					return err
				}
			}
		} else if _, err := a.Do(ctx, &t, "Search."); err != nil {
			return err
		}
		if t.Why != agent.Done || len(t.Said) != 2*turns+2 {
			return fmt.Errorf("got %d messages, and the end %q, want %d and %q", len(t.Said), t.Why, 2*turns+2, agent.Done)
		}
		for _, m := range t.Said {
			for _, p := range m.Parts {
				if p.Kind == provider.PartResult && p.Result.Error {
					return fmt.Errorf("got the result %v", p.Result.Content)
				}
			}
		}
		return nil
	}
}

package ferrule_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// clinging is an inbox that takes no question back.
type clinging struct{ policy.Inbox }

func (k clinging) Answer(ctx context.Context, id string, a policy.Answer) error {
	if a.Withdrawn {
		return errors.New("database is locked")
	}
	return k.Inbox.Answer(ctx, id, a)
}

// setMode sets the mode of the session that these processes share.
func (p process) setMode(t testing.TB, m policy.Mode) {
	t.Helper()
	if err := p.Session(tool.Caller{Session: "s"}).SetMode(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// asksWhom is a tool that wants to know something before it does anything.
func asksWhom(_ *ferrule.Runtime, d *tool.Tool) {
	run := d.Run
	d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
		if reply, ok := tool.From(ctx).Answer(); ok {
			_, err := run(ctx, a)
			return sayText("to " + reply), err
		}
		return tool.Result{}, &tool.Outcome{Suspend: "To whom?"}
	}
}

func TestRestartRunsNothingTwice(t *testing.T) {
	t.Parallel()
	yes := policy.Answer{Allow: true, By: "ada"}
	t.Run("J2 a call that ran without the answer that was there does not run again on it after a restart", func(t *testing.T) {
		kept := new(policy.Memory)
		first := begins(t, kept, nil)
		n, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, yes)
		first.setMode(t, policy.ModeObserve)
		if _, res = first.turn(t, n, sending("a")); res[0].Err != nil || first.runs.Load() != 1 {
			t.Fatalf("in mode observe: %v, ran %d times", res[0].Err, first.runs.Load())
		}
		first.setMode(t, policy.ModeAsk)
		second := begins(t, kept, nil)
		_, res = second.turn(t, n, sending("a"))
		if wantFailure(t, res[0], tool.OutcomeUnknown, ""); second.runs.Load() != 0 {
			t.Error("it ran twice")
		}
	})
	t.Run("J2 a call whose question cannot be taken back is denied, and runs once when the question is answered", func(t *testing.T) {
		kept := new(policy.Memory)
		first := begins(t, kept, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Inbox = clinging{kept} })
		n, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		first.setMode(t, policy.ModeObserve)
		_, res = first.turn(t, n, sending("a"))
		if wantFailure(t, res[0], tool.Denied, ""); first.runs.Load() != 0 {
			t.Error("it ran, and who answers the question would have it run again")
		}
		first.setMode(t, policy.ModeAsk)
		say(t, kept, yes)
		second, third := begins(t, kept, nil), begins(t, kept, nil)
		if _, res = second.turn(t, n, sending("a")); res[0].Err != nil || second.runs.Load() != 1 {
			t.Errorf("after a restart: %v, ran %d times", res[0].Err, second.runs.Load())
		}
		if _, res = third.turn(t, n, sending("a")); kindOf(res[0]) != tool.OutcomeUnknown || third.runs.Load() != 0 {
			t.Errorf("after another: %v, ran %d times", res[0].Err, third.runs.Load())
		}
	})
	t.Run("J2 a call that a person rejected is rejected after every restart: it has not run", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		say(t, kept, policy.Answer{Message: "Not now."})
		for range 2 { // the first process died before the host had kept the result
			p := begins(t, kept, nil)
			_, res := p.turn(t, n, sending("a"))
			if wantFailure(t, res[0], tool.Rejected, ""); p.runs.Load() != 0 {
				t.Error("it ran")
			}
		}
	})
}

func TestRestartGoesOn(t *testing.T) {
	t.Parallel()
	t.Run("P6 the answered question of a deferred tool survives a restart: the tool need not be loaded again", func(t *testing.T) {
		kept := new(policy.Memory)
		defers := func(_ *ferrule.Runtime, d *tool.Tool) { d.Deferred = true }
		first := begins(t, kept, defers)
		_, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.NotLoaded, "")
		n, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, policy.Answer{Allow: true})
		second := begins(t, kept, defers)
		if _, res = second.turn(t, n, sending("a")); res[0].Err != nil || second.runs.Load() != 1 {
			t.Errorf("got %v, ran %d times", res[0].Err, second.runs.Load())
		}
	})
	t.Run("L7 a call that was allowed, and then wanted to know something, is not asked for again after a restart", func(t *testing.T) {
		kept := new(policy.Memory)
		first := begins(t, kept, asksWhom)
		n, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, policy.Answer{Allow: true})
		_, res = first.turn(t, n, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, policy.Answer{Allow: true, Text: "bob"})
		second := begins(t, kept, asksWhom)
		if _, res = second.turn(t, n, sending("a")); res[0].Err != nil || res[0].String() != "to bob" {
			t.Errorf("got %q, %v", res[0], res[0].Err)
		}
		if open, err := kept.Pending(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("pending: %d, %v, want none", len(open), err)
		}
	})
	t.Run("L7 a call that no person allowed is asked for when it wanted to know something and the rules have changed", func(t *testing.T) {
		kept := new(policy.Memory)
		n, res := begins(t, kept, func(rt *ferrule.Runtime, d *tool.Tool) {
			asksWhom(rt, d)
			rt.Policy = allowAll
		}).turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, policy.Answer{Allow: true, Text: "bob"})
		second := begins(t, kept, asksWhom)
		_, res = second.turn(t, n, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		if open, err := kept.Pending(t.Context()); err != nil || len(open) != 1 || open[0].Wants != "" {
			t.Errorf("pending: %+v, %v, want whether it may run", open, err)
		}
	})
}

func TestResume(t *testing.T) {
	t.Parallel()
	t.Run("L6 a journal that panics is an error of Resume", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("it panicked: %v", r)
				}
			}()
			p := newDesk().process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Journal = panicJournal{rt.Journal} })
			if _, err := p.Resume(t.Context(), durable.Place{}); err == nil {
				t.Error("no error")
			}
		})
	})
}

type panicJournal struct{ durable.Journal }

func (panicJournal) Open(context.Context, durable.Place) ([]durable.Record, error) { panic("open") }

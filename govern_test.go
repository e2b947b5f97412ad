package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// watchedLedger does something before each change or look at a session.
type watchedLedger struct {
	policy.Ledger
	before func(ctx context.Context, changes bool) error
}

func (l watchedLedger) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	if err := l.before(ctx, change != nil); err != nil {
		return policy.SessionState{}, err
	}
	return l.Ledger.Update(ctx, of, change)
}

// blocking gives what lets somebody stand still in a ledger: they say that they
// are in, and go on when the gate is closed.
func blocking(changes bool) (before func(context.Context, bool) error, in, gate chan struct{}) {
	in, gate = make(chan struct{}, 64), make(chan struct{})
	return func(_ context.Context, now bool) error {
		if now == changes {
			in <- struct{}{}
			<-gate
		}
		return nil
	}, in, gate
}

func TestSessionsAreGoverned(t *testing.T) {
	t.Parallel()
	t.Run("P10 a view whose context has ended does not keep other agents of the session from running", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			heeding := func(ctx context.Context, _ bool) error { return ctx.Err() } // as a database does
			rt := &ferrule.Runtime{Policy: allowAll, Ledger: watchedLedger{new(policy.Memory), heeding}}
			viewWith(t, rt, writerTool("one"))
			v := rt.Session(tool.Caller{Session: "s", Agent: "a"}).View(t.Context())
			waitLook()
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			rt.Session(tool.Caller{Session: "s", Agent: "b"}).View(gone)
			if res := v.Do(t.Context(), tool.Call{Name: "one"})[0]; res.Err != nil {
				t.Errorf("%s (%s)", res.Err.Text, res.Err.Detail)
			}
		})
	})
	t.Run("P10 nothing runs before it is known how the session stands, also while somebody else asks for it", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			kept := new(policy.Memory)
			if err := (&ferrule.Runtime{Ledger: kept}).Session(tool.Caller{Session: "s"}).SetMode(t.Context(), policy.ModeRead); err != nil {
				t.Fatal(err)
			}
			before, in, gate := blocking(false)
			rt := &ferrule.Runtime{Policy: allowAll, Inbox: kept, Ledger: watchedLedger{kept, before}}
			d, runs := counted(writerTool("send"))
			d.Claims = tool.Claims{Idempotent: true}
			if err := rt.Add(checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			s, done := rt.Session(tool.Caller{Session: "s"}), make(chan struct{})
			go func() {
				defer close(done)
				s.View(t.Context())
			}()
			<-in
			_, res := goesOn(t, s.View(t.Context()), 1, sending("a"))
			if wantFailure(t, res[0], tool.Denied, ""); runs.Load() != 0 {
				t.Error("a call that writes ran in mode read")
			}
			close(gate)
			<-done
			waitLook()
			_, res = goesOn(t, s.View(t.Context()), 1, sending("a"))
			wantFailure(t, res[0], tool.Denied, "Only calls that read may run now.")
		})
	})
	t.Run("T10 a mode that the ledger does not take does not hold up a turn whose context ends", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			before, in, gate := blocking(true)
			d, runs := counted(writerTool("one"))
			v := viewWith(t, &ferrule.Runtime{Policy: allowAll, Ledger: watchedLedger{new(policy.Memory), before}}, d)
			set := make(chan error, 1)
			go func() { set <- ferrule.SessionOf(v).SetMode(t.Context(), policy.ModeRead) }()
			<-in
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			res := v.Do(ctx, tool.Call{Name: "one"})[0]
			if took := time.Since(began); res.Err == nil || runs.Load() != 0 || took > 15*time.Second {
				t.Errorf("got %v after %s, ran %d times", res.Err, took, runs.Load())
			}
			if err := <-set; err == nil {
				t.Error("the mode was set, but the ledger did not take it")
			}
			close(gate)
		})
	})
	t.Run("T10 a turn whose context has ended does not wait for the ledger", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var hangs atomic.Bool
			rt := &ferrule.Runtime{Policy: allowAll, Ledger: watchedLedger{new(policy.Memory), func(context.Context, bool) error {
				if hangs.Load() {
					time.Sleep(time.Hour)
				}
				return nil
			}}}
			v := viewWith(t, rt, writerTool("one"))
			hangs.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			began := time.Now()
			res := v.Do(ctx, tool.Call{Name: "one"})[0]
			if took := time.Since(began); res.Err == nil || took > 5*time.Second {
				t.Errorf("got %v after %s", res.Err, took)
			}
		})
	})
	t.Run("P10 a mode outlives the closing of its session, as a yes that was given in it does", func(t *testing.T) {
		k := &keeper{choose: offer("write", false)}
		d, runs := counted(writesFiles(tool.Claims{Reversible: true}))
		rt := &ferrule.Runtime{Answer: k.answer}
		viewWith(t, rt, d)
		s := rt.Session(tool.Caller{Session: "s"})
		s.Call(t.Context(), "write", textArg("/work/a"))
		if err := errors.Join(s.SetMode(t.Context(), policy.ModeRead), s.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		s = rt.Session(tool.Caller{Session: "s"})
		wantFailure(t, s.Call(t.Context(), "write", textArg("/work/a")), tool.Denied, "Only calls that read may run now.")
		if s.Mode() != policy.ModeRead || runs.Load() != 1 {
			t.Errorf("mode %s, ran %d times", s.Mode(), runs.Load())
		}
	})
	t.Run("J1 a turn that could not be numbered shares no number with another, and nothing of it runs", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			kept := new(policy.Memory)
			first := begins(t, kept, nil)
			_, res := first.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Suspended, "")
			failed := false
			second := begins(t, kept, func(rt *ferrule.Runtime, _ *tool.Tool) {
				rt.Ledger = watchedLedger{kept, func(_ context.Context, changes bool) error {
					if changes && !failed {
						failed = true
						return errors.New("database is locked")
					}
					return nil
				}}
			})
			s := second.Session(tool.Caller{Session: "s"})
			turn := s.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{HandBack: true})
			waitLook()
			s.View(t.Context()) // another agent's: now the ledger answers
			turn.Add(sending("a"))
			wantFailure(t, turn.Wait()[0], tool.Denied, "It is not known what this session may do, so the call was denied.")
			if open, err := kept.Pending(t.Context()); err != nil || len(open) != 1 {
				t.Errorf("pending: %d, %v, want the one of the first process", len(open), err)
			}
			if _, res = second.turn(t, 0, sending("a")); kindOf(res[0]) != tool.Suspended {
				t.Errorf("the next turn: %v, want its own question", res[0].Err)
			}
			if open, err := kept.Pending(t.Context()); err != nil || len(open) != 2 {
				t.Errorf("pending: %d, %v, want one for each process", len(open), err)
			}
		})
	})
}

func TestGovernedAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("P10 modes that are set, views that are made and calls that run at once: every call has its result, and the mode is the one that is kept", func(t *testing.T) {
		kept := new(policy.Memory)
		rt := &ferrule.Runtime{Ledger: kept, Policy: byCaller{}}
		viewWith(t, rt, readerTool("books"))
		var all sync.WaitGroup
		for i := range 4 {
			s := rt.Session(tool.Caller{Session: "s", Agent: []string{"clerk", "guest"}[i%2]})
			all.Go(func() {
				for j := range 30 {
					if err := s.SetMode(t.Context(), []policy.Mode{policy.ModeAsk, policy.ModeAuto, policy.ModeRead}[(i+j)%3]); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				v := s.View(t.Context())
				for j := range 30 {
					call := tool.Call{Name: "books", Input: json.RawMessage(textArg(fmt.Sprint(i, j)))} // not the same again and again
					for _, res := range append(v.Do(t.Context(), call, call), s.View(t.Context()).Do(t.Context(), call)...) {
						if kind := kindOf(res); kind != "" && (kind != tool.Denied || i%2 == 0) { // clerks may, in each of these modes
							t.Errorf("agent %d: %v", i, res.Err)
						}
					}
				}
			})
		}
		all.Wait()
		s := rt.Session(tool.Caller{Session: "s"})
		state, err := kept.Update(t.Context(), policy.Asker{Principal: "local", Session: "s"}, nil)
		if err != nil || !state.Chosen || state.Mode != s.Mode() {
			t.Errorf("the mode is %s; kept: %+v, %v", s.Mode(), state, err)
		}
	})
}

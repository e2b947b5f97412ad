package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestHTTPAsked(t *testing.T) {
	t.Parallel()
	const roots = `{"roots":[]}`
	// open is a client with a call under way, and a stream for what belongs to none.
	open := func(t *testing.T) (v *visitor, call, alone *visit) {
		t.Helper()
		slow, running, _ := slowEcho(t)
		slow.Timeout = tool.Unlimited
		rt := allowing()
		if err := rt.Add(slow); err != nil {
			t.Fatal(err)
		}
		v = newVisitor(t, gatewayOf(t, rt, nil))
		call = v.do("POST", rpc(1, "tools/call", `{"name":"slow","arguments":{"text":"x"}}`))
		<-running
		alone = v.do("GET", "")
		<-alone.began
		return v, call, alone
	}
	bubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, f)
		})
	}
	want := func(t *testing.T, o outcome) {
		t.Helper()
		if o.err != nil || o.result != roots {
			t.Errorf("got %s, %v, want %s", o.result, o.err, roots)
		}
	}
	bubble("M2 a client is asked on a stream that it reads", func(t *testing.T) {
		v, call, alone := open(t)
		alone.goAway()
		<-alone.done
		done := v.request("roots/list")
		v.answer(call.asked(), roots)
		want(t, <-done)
	})
	bubble("M2 what it has not answered when its stream is given up it is asked on another", func(t *testing.T) {
		v, call, alone := open(t)
		done := v.request("roots/list")
		alone.asked()
		alone.goAway()
		v.answer(call.asked(), roots)
		want(t, <-done)
	})
	bubble("M2 a client that has gone is not waited for", func(t *testing.T) {
		v, call, alone := open(t)
		done := v.request("roots/list")
		alone.asked()
		alone.goAway()
		call.goAway()
		began := time.Now()
		if o := <-done; o.err == nil || errors.Is(o.err, context.DeadlineExceeded) {
			t.Errorf("got %s, %v, want that there is no stream", o.result, o.err)
		}
		if took, most := time.Since(began), usualBounds().linger+streamTime; took > most {
			t.Errorf("it took %v, want at most %v", took, most)
		}
	})
	bubble("M2 a client that comes back late to its stream is asked there again", func(t *testing.T) {
		v, call, alone := open(t)
		done := v.request("roots/list")
		event, ok := alone.next()
		for ok && event.data == "" { // what a stream begins with
			event, ok = alone.next()
		}
		call.goAway()
		alone.goAway()
		if o := <-done; o.err == nil {
			t.Errorf("got %s, want that there is no stream", o.result)
		}
		again := v.do("GET", "", fieldLastEvent, event.id)
		<-again.began
		done = v.request("roots/list")
		v.answer(again.asked(), roots)
		want(t, <-done)
	})
	bubble("M2 nor a client that has left the call that asks", func(t *testing.T) {
		ts := asksOnce()
		v := newVisitor(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}))
		call := v.do("POST", rpc(1, "tools/call", `{"name":"s__ask"}`))
		call.asked()
		call.goAway()
		began := time.Now()
		<-call.done // when the call has ended
		if took, most := time.Since(began), usualBounds().linger+time.Second; took > most {
			t.Errorf("it took %v, want at most %v", took, most)
		}
	})
	bubble("M2 a stream that ends as it is asked is not the last", func(t *testing.T) {
		k := meet(t, ownGateway(t), oldEra, func(k *talker) {
			k.asked = func(string, json.RawMessage) (json.RawMessage, *Fault) { return json.RawMessage(roots), nil }
		})
		defer k.c.listen(&ending{})()
		result, err := k.c.old.request(t.Context(), "s", "roots/list", nil)
		want(t, outcome{string(result), err})
	})
}

func TestHTTPApprovalLeft(t *testing.T) {
	t.Parallel()
	const yes = "it ran"
	// waiting is a call that waits for a person.
	waiting := func(t *testing.T) (v *visitor, call *visit, inbox *policy.Memory) {
		t.Helper()
		inbox = &policy.Memory{}
		rt := &ferrule.Runtime{Guard: unguarded(), Inbox: inbox, Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Ask}, nil
		}}
		if err := rt.Add(echo(t)); err != nil {
			t.Fatal(err)
		}
		v = newVisitor(t, gatewayOf(t, rt, nil, func(g *Gateway) { g.Patience = time.Hour }))
		call = v.do("POST", rpc(1, "tools/call", `{"name":"echo","arguments":{"text":"`+yes+`"}}`))
		if event, ok := call.next(); !ok || event.data != "" {
			t.Fatalf("got %v, want what a stream begins with", event)
		}
		return v, call, inbox
	}
	pending := func(t *testing.T, in *policy.Memory) []policy.Question {
		t.Helper()
		list, err := in.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	linger := usualBounds().linger
	t.Run("M2 nobody is asked about a call that its client has left", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			_, call, inbox := waiting(t)
			synctest.Wait()
			if n := len(pending(t, inbox)); n != 1 {
				t.Fatalf("%d questions wait, want 1", n)
			}
			call.goAway()
			began := time.Now()
			select {
			case <-call.done:
			case <-time.After(time.Hour):
				t.Fatal("the call still waits")
			}
			if took := time.Since(began); took < linger || took > linger+approvalEvery {
				t.Errorf("it was stopped after %v, want %v", took, linger)
			}
			if list := pending(t, inbox); len(list) != 0 {
				t.Errorf("%d questions wait, want none", len(list))
			}
		})
	})
	t.Run("M2 a client may come back for its call that waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			v, call, inbox := waiting(t)
			call.goAway()
			time.Sleep(linger - time.Second)
			again := v.do("GET", "", fieldLastEvent, "1_0")
			<-again.began
			go func() {
				time.Sleep(2 * linger)
				for _, q := range pending(t, inbox) {
					if err := inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err != nil {
						t.Error(err)
					}
				}
			}()
			if got := said(again.rest()); !strings.Contains(got, yes) {
				t.Errorf("got %q, want %q", got, yes)
			}
		})
	})
}

// ending is a stream that ends when something is sent.
type ending struct{ over atomic.Bool }

var _ presence = (*ending)(nil)

func (e *ending) attended() bool        { return !e.over.Load() }
func (e *ending) lost() <-chan struct{} { return nil }

func (e *ending) send(message) error {
	e.over.Store(true)
	return errGone
}

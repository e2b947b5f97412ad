package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// asksOnce is a server of the old era whose tool asks the client, and answers with
// what it was told.
func asksOnce() *testServer {
	return &testServer{old: true, methods: map[string]method{
		"tools/list": lists(plainTool("ask"), plainTool("other")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			got, err := c.ask("elicitation/create", `{"message":"?"}`)
			if err != nil {
				return says("not answered: " + err.Error()), nil
			}
			return says("answered " + string(got)), nil
		},
	}}
}

func (k *talker) hold(name string) (state json.RawMessage) {
	k.t.Helper()
	r := k.must("tools/call", fmt.Sprintf(`{"name":%q}`, name))
	if state, _ = member(r, "requestState"); textMember(r, "resultType") != "input_required" {
		k.t.Fatalf("got %s, want it to ask for input", r)
	}
	return state
}

func comeBack(name string, state json.RawMessage) string {
	return fmt.Sprintf(`{"name":%q,"inputResponses":{"input":{"action":"accept"}},"requestState":%s}`, name, state)
}

func TestGatewayHeld(t *testing.T) {
	t.Parallel()
	t.Run("M2 a call that waits for input belongs to principal, client and tool", func(t *testing.T) {
		t.Parallel()
		g := gatewayOf(t, allowing(), map[string]*testServer{"s": asksOnce()})
		k := meet(t, g, newEra)
		state := k.hold("s__ask")
		stranger, err := g.join(joining{caller: tool.Caller{Principal: "eve"}, stateless: true, name: k.name})
		if err != nil {
			t.Fatal(err)
		}
		eve := &talker{t: t, c: stranger, era: newEra, name: k.name, can: k.can}
		for who, try := range map[string]func() *Fault{
			"another principal": func() *Fault { return eve.fails("tools/call", comeBack("s__ask", state)) },
			"another client": func() *Fault {
				return meet(t, g, newEra, func(k *talker) { k.name = "other" }).fails("tools/call", comeBack("s__ask", state))
			},
			"another tool": func() *Fault { return k.fails("tools/call", comeBack("s__other", state)) },
		} {
			if f := try(); f.Code != codeInvalidParams {
				t.Errorf("%s: got %+v", who, f)
			}
		}
		if got := callText(k.must("tools/call", comeBack("s__ask", state))); got != `answered {"action":"accept"}` {
			t.Errorf("got %q", got)
		}
	})
	t.Run("M2 as many wait as clients of one name may have calls", func(t *testing.T) {
		t.Parallel()
		const calls = 200
		ts := &testServer{new: true, methods: map[string]method{
			"tools/list": lists(plainTool("ask")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				if responses, ok := member(c.params, "inputResponses"); ok {
					return says(string(responses)), nil
				}
				return json.RawMessage(`{"resultType":"input_required","inputRequests":{"input":{"method":"roots/list"}}}`), nil
			},
		}}
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), newEra)
		var states []json.RawMessage
		for range calls {
			states = append(states, k.hold("s__ask"))
		}
		for _, s := range states {
			if got := callText(k.must("tools/call", comeBack("s__ask", s))); got != `{"input":{"action":"accept"}}` {
				t.Fatalf("got %q", got)
			}
		}
	})
	t.Run("M2 at most so many wait", func(t *testing.T) {
		t.Parallel()
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": asksOnce()}), newEra)
		k.c.mu.Lock()
		for range maxHeld {
			k.c.held[ownState+random()] = newDialogue(k.c, nil, message{method: "tools/call"})
		}
		k.c.mu.Unlock()
		if got := callText(k.must("tools/call", `{"name":"s__ask"}`)); !strings.Contains(got, errManyHeld.Error()) {
			t.Errorf("got %q", got)
		}
		k.c.mu.Lock()
		clear(k.c.held)
		k.c.mu.Unlock()
	})
	t.Run("M2 who does not come back in 10 minutes finds nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ts := asksOnce()
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), newEra)
			state := k.hold("s__ask")
			time.Sleep(holdTime + time.Second)
			synctest.Wait()
			if f := k.fails("tools/call", comeBack("s__ask", state)); f.Code != codeInvalidParams {
				t.Errorf("got %+v", f)
			}
		})
	})
	t.Run("M2 what was answered meanwhile is kept for who comes back", func(t *testing.T) {
		t.Parallel()
		ended, held := make(chan struct{}), make(chan struct{})
		ts := &testServer{old: true, methods: map[string]method{
			"tools/list": lists(plainTool("ask")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				ctx, cancel := context.WithCancel(c.ctx)
				go func() {
					defer close(ended)
					_, _ = c.conn.ask(ctx, "elicitation/create", `{"message":"?"}`) // it does not wait for it
				}()
				<-held
				defer cancel()
				return says("done without it"), nil
			},
		}}
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), newEra)
		state := k.hold("s__ask")
		close(held)
		<-ended
		if got := callText(k.must("tools/call", comeBack("s__ask", state))); got != "done without it" {
			t.Errorf("got %q", got)
		}
	})
}

func TestGatewayIdle(t *testing.T) {
	t.Parallel()
	t.Run("M2 a stateless session ends after an hour without a call", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := ownGateway(t)
			k := meet(t, g, newEra)
			for range 3 {
				time.Sleep(statelessIdle - time.Minute)
				k.must("tools/list", `{}`)
			}
			again := meet(t, g, newEra)
			if again.c != k.c {
				t.Error("a session that is used has ended")
			}
			again.must("tools/list", `{}`)
			time.Sleep(statelessIdle + time.Minute)
			synctest.Wait()
			if again := meet(t, g, newEra); again.c == k.c {
				t.Error("a session that nobody used goes on")
			}
			if f := k.fails("tools/list", `{}`); f.Message != errLeft.Error() {
				t.Errorf("got %+v", f)
			}
		})
	})
}

func TestGatewayManyStateless(t *testing.T) {
	t.Parallel()
	t.Run("M2 the stateless session idle for longest leaves when a principal has too many", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := ownGateway(t)
			named := func(name string) *talker {
				time.Sleep(time.Second)
				k := meet(t, g, newEra, func(k *talker) { k.name = name })
				k.must("tools/list", `{}`)
				return k
			}
			other, err := g.join(joining{caller: tool.Caller{Principal: "bob"}, stateless: true, name: "0"})
			if err != nil {
				t.Fatal(err)
			}
			first, second := named("0"), named("1")
			for i := 2; i < maxStateless; i++ {
				named(fmt.Sprint(i))
			}
			first.must("tools/list", `{}`)
			named("one more")
			synctest.Wait()
			if f := second.fails("tools/list", `{}`); f.Message != errLeft.Error() {
				t.Errorf("got %+v", f)
			}
			first.must("tools/list", `{}`)
			if !other.stay() {
				t.Error("another principal's has left")
			}
		})
	})
}

func TestGatewayFoundStateless(t *testing.T) {
	t.Parallel()
	t.Run("M2 a stateless session does not end under a request that has found it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			k := meet(t, ownGateway(t), newEra)
			k.c.expire() // as its timer would
			k.must("tools/list", `{}`)
			synctest.Wait() // its request has gone
			k.c.expire()
			if f := k.fails("tools/list", `{}`); f.Message != errLeft.Error() {
				t.Errorf("after its request: got %+v", f)
			}
		})
	})
	t.Run("M2 a notification is all that may have come of it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			k := meet(t, ownGateway(t), newEra)
			k.c.handle(t.Context(), message{method: "notifications/x"}, nowhere{})
			synctest.Wait()
			k.c.expire()
			if f := k.fails("tools/list", `{}`); f.Message != errLeft.Error() {
				t.Errorf("got %+v", f)
			}
		})
	})
	t.Run("M2 nor does it leave for another", func(t *testing.T) {
		t.Parallel()
		g := ownGateway(t)
		k := meet(t, g, newEra)
		for i := range maxStateless - 1 {
			c, err := g.join(joining{stateless: true, name: fmt.Sprint(i)})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.enter(); err != nil {
				t.Fatal(err)
			}
			defer c.exit()
		}
		if _, err := g.join(joining{stateless: true, name: "one more"}); !errors.Is(err, errManySessions) {
			t.Errorf("got %v, want %v: all are in use", err, errManySessions)
		}
		k.must("tools/list", `{}`)
	})
}

func TestGatewayClose(t *testing.T) {
	t.Parallel()
	began, next := make(chan struct{}), make(chan struct{})
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(plainTool("slow")),
		"tools/call": func(*testCall) (json.RawMessage, error) {
			close(began)
			<-next
			return says("done"), nil
		},
	}}
	g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
	k, listener := meet(t, g, oldEra), meet(t, g, newEra)
	done, heard := make(chan *reply), make(chan *reply)
	told := make(chan message, 4)
	go func() { done <- k.do(t.Context(), "tools/call", `{"name":"s__slow"}`) }()
	go func() {
		heard <- listener.doAs(t.Context(), listener.id(), "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, func(m message) { told <- m })
	}()
	<-began
	<-told
	closed := make(chan error)
	go func() { closed <- g.Close(context.WithoutCancel(t.Context())) }()
	if r := <-heard; r.end == nil || !strings.Contains(string(r.end.result), metaSubscription) {
		t.Errorf("who listens: got %+v, want the end of it", r.end)
	}
	if f := k.fails("tools/list", `{}`); f.Message != errShut.Error() {
		t.Errorf("while it closes: got %+v", f)
	}
	close(next)
	if r := <-done; callText(r.end.result) != "done" {
		t.Errorf("a call that ran: got %+v, want its result", r.end)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := g.join(joining{}); err == nil {
		t.Error("somebody could join after that")
	}
}

func TestGatewayLeave(t *testing.T) {
	t.Parallel()
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(plainTool("slow")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			<-c.ctx.Done()
			return nil, errSilent
		},
	}}
	k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), oldEra)
	done := make(chan *reply)
	go func() { done <- k.do(t.Context(), "tools/call", `{"name":"s__slow"}`) }()
	ts.await(t, "tools/call", 1)
	k.c.leave()
	<-done
	if f := k.fails("ping", `{}`); f.Message != errLeft.Error() {
		t.Errorf("got %+v", f)
	}
}

// stuck is a stream whose client does not read until it is let go.
type stuck struct {
	tried, free chan struct{}
	sent        chan message
}

func (s *stuck) send(m message) error {
	select {
	case s.tried <- struct{}{}:
	default:
	}
	<-s.free
	s.sent <- m
	return nil
}

func TestGatewayStuckClient(t *testing.T) {
	t.Parallel()
	conns := make(chan *testConn, 16)
	defs := make(chan string, 1)
	defs <- plainTool("a")
	ts := &testServer{old: true, methods: map[string]method{
		"tools/list": func(c *testCall) (json.RawMessage, error) {
			select {
			case conns <- c.conn:
			default:
			}
			d := <-defs
			defs <- d
			return lists(d)(c)
		},
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			c.progress(1)
			<-c.ctx.Done()
			return nil, errSilent
		},
	}}
	g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
	k, other := meet(t, g, oldEra), meet(t, g, oldEra)
	k.must("tools/list", `{}`)
	other.must("tools/list", `{}`)
	s := &stuck{make(chan struct{}, 1), make(chan struct{}), make(chan message, 8)}
	defer k.c.listen(s)()
	<-defs
	defs <- plainTool("b")
	(<-conns).send(message{method: "notifications/tools/list_changed"})
	<-s.tried
	t.Run("M2 a client that does not read keeps nothing from others", func(t *testing.T) {
		if got := other.hears(1); got[0].method != "notifications/tools/list_changed" {
			t.Errorf("got %q", got[0].method)
		}
	})
	t.Run("M2 nor from its other streams", func(t *testing.T) {
		k.must("ping", `{}`)
		if got := namesIn(k.must("tools/list", `{}`), "tools"); len(got) != 1 || got[0] != "s__b" {
			t.Errorf("got %q", got)
		}
		k.c.listen(s)()
	})
	t.Run("M2 a request whose stream is stuck can be cancelled", func(t *testing.T) {
		in := &stuck{make(chan struct{}, 1), make(chan struct{}), make(chan message, 8)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.c.handle(t.Context(), message{id: json.RawMessage("7"), method: "tools/call", params: json.RawMessage(`{"name":"s__b","_meta":{"progressToken":1}}`)}, in)
		}()
		<-in.tried
		k.c.mu.Lock()
		d := k.c.underway["7"]
		k.c.mu.Unlock()
		if d.current() == nil { // which nobody waits for
			t.Error("the request is not under way")
		}
		k.c.handle(t.Context(), message{method: notificationCancelled, params: json.RawMessage(`{"requestId":7}`)}, nil)
		close(in.free)
		<-done
	})
	close(s.free)
	if m := <-s.sent; m.method != "notifications/tools/list_changed" {
		t.Errorf("got %q when it reads again", m.method)
	}
}

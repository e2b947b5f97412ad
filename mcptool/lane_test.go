package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// dialled is a hub's server of which a test holds the connections of clients.
type dialled struct {
	*server
	mu    sync.Mutex
	links []*pipeLink // in the order they were made; the first is the hub's own
}

// open are the connections that have not ended, without the hub's own.
func (d *dialled) open() []*pipeLink {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*pipeLink
	for _, l := range d.links[1:] {
		select {
		case <-l.ended():
		default:
			all = append(all, l)
		}
	}
	return all
}

func dialledTo(t *testing.T, ts *testServer, set func(*Server)) *dialled {
	t.Helper()
	if ts.methods["tools/list"] == nil {
		ts.methods["tools/list"] = lists(plainTool("t"))
	}
	h := hubOf(t, map[string]*testServer{"s": ts})
	if set != nil {
		set(&h.Servers[0])
	}
	d := &dialled{}
	h.dial = func(ctx context.Context, _ *server, who introduction, hears *listener) (link, error) {
		l, err := ts.dial(ctx, t, who, hears)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.links = append(d.links, l)
		return l, nil
	}
	start(t, h)
	d.server = h.server("s")
	return d
}

var bothEras = map[string]string{"old": oldVersion, "new": newVersion}

func TestLaneBroken(t *testing.T) {
	for name, version := range bothEras {
		t.Run("M6 a call is not sent again when the connection breaks, client of the "+name+" era", func(t *testing.T) {
			var d *dialled
			ts := &testServer{old: true, methods: map[string]method{"tools/call": func(*testCall) (json.RawMessage, error) {
				d.open()[0].finish(errors.New("the server died"))
				return nil, errSilent
			}}}
			d = dialledTo(t, ts, nil)
			x := &testExchange{a: &testAudience{version: version}}
			_, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"t"}`))
			if err == nil || !strings.Contains(err.Error(), "the server died") {
				t.Errorf("got %v, want why it broke", err)
			}
			if errors.Is(err, errUnsent) || errors.Is(err, errUnreachable) {
				t.Errorf("got %v, which says that nothing was done", err)
			}
			if n := len(ts.heard("tools/call")); n != 1 {
				t.Errorf("the server got %d calls, want 1", n)
			}
			if e := d.failure(t.Context(), err); !strings.Contains(e.Error(), "the server died") {
				t.Errorf("got %v, want the reason for the operator", e)
			}
		})
		t.Run("M6 a connection that broke before is made anew first, client of the "+name+" era", func(t *testing.T) {
			ts := &testServer{old: true, methods: map[string]method{"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil }}}
			d := dialledTo(t, ts, nil)
			x := &testExchange{a: &testAudience{version: version}}
			for range 3 {
				got, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"t"}`))
				if err != nil || string(got) != string(says("done")) {
					t.Fatalf("got %s, %v, want it done", got, err)
				}
				open := d.open()
				if len(open) != 1 {
					t.Fatalf("got %d connections, want 1", len(open))
				}
				open[0].finish(errors.New("the server died"))
			}
			if n := len(ts.heard("tools/call")); n != 3 {
				t.Errorf("the server got %d calls, want 3", n)
			}
		})
	}
	t.Run("M6 a server that cannot be reached says that nothing was done", func(t *testing.T) {
		d := dialledTo(t, &testServer{methods: map[string]method{}}, nil)
		d.hub.dial = func(context.Context, *server, introduction, *listener) (link, error) {
			return nil, errors.New("no such file")
		}
		_, err := d.do(t.Context(), &testExchange{a: &testAudience{version: newVersion}}, "tools/call", nil)
		if !errors.Is(err, errUnreachable) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("got %v, want that it cannot be reached", err)
		}
	})
}

// asks is a server that asks each of its callers who they are, and says what they
// answered.
func asks(ready func()) *testServer {
	return &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
		ready()
		name := textMember(c.params, "name")
		c.progress(1)
		c.notify("notifications/message", fmt.Sprintf(`{"level":"info","data":%q}`, name))
		answer, err := c.ask("elicitation/create", fmt.Sprintf(`{"message":%q}`, name))
		if err != nil {
			return nil, err
		}
		return says(name + " " + textMember(answer, "who")), nil
	}}}
}

func TestLaneElicitation(t *testing.T) {
	for name, version := range bothEras {
		t.Run("M1 what a server asks reaches only the session that called, era "+name, func(t *testing.T) {
			const sessions, calls = 4, 5
			var in sync.WaitGroup // all calls are under way before the first asks
			in.Add(sessions * calls)
			d := dialledTo(t, asks(func() { in.Done(); in.Wait() }), nil)
			var all sync.WaitGroup
			for s := range sessions {
				who := fmt.Sprintf("session %d", s)
				a := &testAudience{version: version}
				a.asked = func(_ string, params json.RawMessage) (json.RawMessage, error) {
					if version == newVersion {
						t.Error("a question was put to no request")
					}
					return json.RawMessage(fmt.Sprintf(`{"who":%q}`, who)), nil
				}
				for c := range calls {
					all.Go(func() {
						call := fmt.Sprintf("call %d of %s", c, who)
						x := &testExchange{a: a}
						x.asks = func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
							if got := textMember(params, "message"); version == newVersion && got != "server s asks: "+call {
								t.Errorf("%s was asked what is about %s", call, got)
							}
							return json.RawMessage(fmt.Sprintf(`{"who":%q}`, who)), nil
						}
						got, err := d.do(t.Context(), x, "tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"_meta":{"progressToken":"p","%s":"info"}}`, call, metaLogLevel)))
						if err != nil || string(got) != string(says(call+" "+who)) {
							t.Errorf("%s: got %s, %v", call, got, err)
						}
						x.mu.Lock()
						defer x.mu.Unlock()
						if notes := strings.Join(x.notes, "\n"); !strings.Contains(notes, `{"progressToken":"p","progress":1}`) ||
							version == newVersion && !strings.Contains(notes, call) {
							t.Errorf("%s heard %s", call, notes)
						}
					})
				}
			}
			all.Wait()
			want := sessions
			if version == newVersion {
				want = sessions * calls
			}
			if n := len(d.open()); n != want {
				t.Errorf("got %d connections, want %d", n, want)
			}
		})
	}
}

func TestLaneConnections(t *testing.T) {
	done := map[string]method{"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil }}
	call := func(t *testing.T, d *dialled, a *testAudience) {
		t.Helper()
		if _, err := d.do(t.Context(), &testExchange{a: a}, "tools/call", json.RawMessage(`{"name":"t"}`)); err != nil {
			t.Error(err)
		}
	}
	t.Run("M1 a session has a connection of its own, which ends with it", func(t *testing.T) {
		d := dialledTo(t, &testServer{old: true, methods: done}, nil)
		a, b := &testAudience{version: oldVersion}, &testAudience{version: "2025-06-18"}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { call(t, d, a) })
			all.Go(func() { call(t, d, b) })
		}
		all.Wait()
		open := d.open()
		if len(open) != 2 {
			t.Fatalf("got %d connections, want 2", len(open))
		}
		versions := open[0].greeting().version + " " + open[1].greeting().version
		if !strings.Contains(versions, "2025-06-18") || !strings.Contains(versions, oldVersion) {
			t.Errorf("got versions %s, want those that the clients speak", versions)
		}
		d.hub.forget(a)
		if open := d.open(); len(open) != 1 || open[0].greeting().version != "2025-06-18" {
			t.Errorf("got %d connections, want that of the other session", len(open))
		}
	})
	t.Run("L4 a server has no more processes than it may", func(t *testing.T) {
		d := dialledTo(t, &testServer{old: true, methods: done}, nil)
		all := make([]*testAudience, maxChildren)
		for i := range all {
			all[i] = &testAudience{version: oldVersion}
			call(t, d, all[i])
		}
		more := &testAudience{version: oldVersion}
		_, err := d.do(t.Context(), &testExchange{a: more}, "tools/call", nil)
		if !errors.Is(err, errUnreachable) || !strings.Contains(err.Error(), "got 64 processes") {
			t.Errorf("got %v, want that there are too many", err)
		}
		if n := len(d.open()); n != maxChildren {
			t.Errorf("got %d connections, want %d", n, maxChildren)
		}
		d.hub.forget(all[0])
		call(t, d, more)
		for _, a := range append(all, more) {
			d.hub.forget(a)
		}
		if d.children != 0 {
			t.Errorf("got %d, want that all are counted out", d.children)
		}
	})
	t.Run("M1 a session that has ended gets no new connection", func(t *testing.T) {
		d := dialledTo(t, &testServer{old: true, methods: done}, nil)
		a := &testAudience{version: oldVersion}
		call(t, d, a)
		d.hub.forget(a)
		_, err := d.do(t.Context(), &testExchange{a: a}, "tools/call", nil)
		if !errors.Is(err, errLaneClosed) || !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want that the session has ended, and that nothing was sent", err)
		}
		if n := len(d.open()); n != 0 {
			t.Errorf("got %d connections, want none", n)
		}
	})
	t.Run("M1 one of the new era is shared", func(t *testing.T) {
		d := dialledTo(t, &testServer{methods: done}, nil)
		a := &testAudience{version: newVersion}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { call(t, d, a) })
		}
		all.Wait()
		if open := d.open(); len(open) != 1 || open[0].greeting().era != newEra {
			t.Errorf("got %d connections, want 1 of the new era", len(open))
		}
	})
	t.Run("M1 a client is connected in its own era where the server has it", func(t *testing.T) {
		d := dialledTo(t, &testServer{methods: done}, nil)
		call(t, d, &testAudience{version: oldVersion})
		if open := d.open(); len(open) != 1 || open[0].greeting().era != oldEra {
			t.Errorf("got %d connections, want 1 of the old era", len(open))
		}
	})
	t.Run("M1 exclusive ones are closed when nobody uses them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := dialledTo(t, &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
				return says("done"), errors.Join(waitFor(c.ctx, time.Second))
			}}}, nil)
			a := &testAudience{version: newVersion}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { call(t, d, a) })
			}
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			if n := len(d.open()); n != maxExclusive {
				t.Errorf("20 calls: got %d connections, want %d", n, maxExclusive)
			}
			all.Wait()
			time.Sleep(strandIdle - 2*time.Second)
			call(t, d, a)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if n := len(d.open()); n != 1 {
				t.Errorf("got %d connections, want that which was used since", n)
			}
			time.Sleep(strandIdle)
			synctest.Wait()
			if n := len(d.open()); n != 0 {
				t.Errorf("got %d connections, want none", n)
			}
		})
	})
	t.Run("M1 one on which a call was given up is not used again", func(t *testing.T) {
		gave := make(chan struct{})
		ts := &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
			if textMember(c.params, "name") == "slow" {
				close(gave)
				<-c.ctx.Done()
			}
			return says("done"), nil
		}}}
		d := dialledTo(t, ts, nil)
		a := &testAudience{version: newVersion}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-gave
			cancel(errors.New("given up"))
		}()
		_, err := d.do(ctx, &testExchange{a: a}, "tools/call", json.RawMessage(`{"name":"slow"}`))
		if err == nil || err.Error() != "given up" {
			t.Errorf("got %v, want why it was given up", err)
		}
		ts.await(t, notificationCancelled, 1)
		call(t, d, a)
		d.hub.forget(a)
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.links) != 3 {
			t.Errorf("got %d connections ever, want the hub's, the first and another", len(d.links))
		}
	})
}

func waitFor(ctx context.Context, d time.Duration) error {
	if !rest(ctx, d) {
		return ctx.Err()
	}
	return nil
}

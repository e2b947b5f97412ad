package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowLink is a connection that takes its time to end.
type slowLink struct {
	link
	end <-chan struct{}
}

func (l slowLink) close() {
	<-l.end
	l.link.close()
}

func TestHubClose(t *testing.T) {
	t.Run("M1 Close waits for what ends no longer than it may", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists()}}})
		end := make(chan struct{})
		fast := h.dial
		h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
			l, err := fast(ctx, s, who, hears)
			return slowLink{l, end}, err
		}
		start(t, h)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that not all has ended", err)
		}
		close(end)
	})
	t.Run("M1 a closed hub connects no client", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists()}}})
		start(t, h)
		closeHub(t, h)
		if _, err := h.server("s").do(t.Context(), &testExchange{a: &testAudience{version: newVersion}}, "tools/call", nil); err == nil {
			t.Error("got no error, want that the program ends")
		}
	})
	t.Run("a hub that was not started is closed at once", func(t *testing.T) {
		closeHub(t, &Hub{})
	})
}

func TestServerReach(t *testing.T) {
	t.Run("M1 a server that seemed to speak no era is asked anew", func(t *testing.T) {
		ts := &testServer{old: true, methods: map[string]method{"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil }}}
		d := dialledTo(t, ts, nil)
		well := d.hub.dial
		x := &testExchange{a: &testAudience{version: oldVersion}}
		d.hub.dial = func(context.Context, *server, introduction, *listener) (link, error) {
			return nil, fmt.Errorf("%w: got status 404", errOtherEra)
		}
		if _, err := d.do(t.Context(), x, "tools/call", nil); !errors.Is(err, errUnreachable) {
			t.Errorf("got %v, want that it cannot be reached", err)
		}
		d.hub.dial = well
		if _, err := d.do(t.Context(), x, "tools/call", nil); err != nil {
			t.Errorf("got %v, want it done", err)
		}
	})
	t.Run("M1 the operator forces an era", func(t *testing.T) {
		for word, want := range map[string]string{"2025": oldVersion, "2026": newVersion} {
			h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists()}}})
			h.Servers[0].Era = word
			start(t, h)
			if st := h.Status()[0]; st.Era != want {
				t.Errorf("got %+v, want %s", st, want)
			}
		}
	})
	t.Run("what may be secret is not shown", func(t *testing.T) {
		s := Server{URL: "https://user:pass@host/mcp?token=x#y"}
		if got, want := s.place(), "https://host/mcp"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s = Server{Command: []string{"/usr/bin/npx", "--token=x"}}
		if got, want := s.place(), "npx"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestServerNotify(t *testing.T) {
	t.Parallel()
	t.Run("M1 a notification goes to the connection of its session alone", func(t *testing.T) {
		const changed = "notifications/roots/list_changed"
		ok := func(*testCall) (json.RawMessage, error) { return json.RawMessage("{}"), nil }
		ts := &testServer{old: true, methods: map[string]method{"tools/call": ok}}
		d := dialledTo(t, ts, nil)
		a, b, away := &testAudience{version: oldVersion}, &testAudience{version: oldVersion}, &testAudience{version: oldVersion}
		for _, who := range []*testAudience{a, b} {
			if _, err := d.do(t.Context(), &testExchange{a: who}, "tools/call", nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, who := range []*testAudience{a, away} {
			if err := d.notify(t.Context(), who, changed, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, who := range []*testAudience{a, b} { // what was sent before has come then
			if _, err := d.do(t.Context(), &testExchange{a: who}, "tools/call", nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(ts.heard(changed)); n != 1 {
			t.Errorf("the server heard it %d times, want once", n)
		}
	})
	t.Run("M1 what belongs to no request reaches the session", func(t *testing.T) {
		ts := &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
			c.notify("notifications/resources/updated", `{"uri":"a:b"}`)
			c.notify("notifications/message", `{"data":1}`)
			c.notify("notifications/tools/list_changed", `{}`)
			return json.RawMessage("{}"), nil
		}}}
		d := dialledTo(t, ts, nil)
		x := &testExchange{a: &testAudience{version: oldVersion}}
		if _, err := d.do(t.Context(), x, "tools/call", nil); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(x.a.notes), `[s notifications/resources/updated {"uri":"a:b"} s notifications/tools/list_changed {}]`; got != want {
			t.Errorf("session: got %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(x.notes), `[notifications/message {"data":1}]`; got != want {
			t.Errorf("request: got %s, want %s", got, want)
		}
		ts.await(t, "tools/list", 2) // as if the hub had heard it
	})
}

func TestServerDown(t *testing.T) {
	t.Run("M1 no process is started for a client while the server is known not to start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{
				"tools/list": lists(), "tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil },
			}}})
			well := h.dial
			var tries atomic.Int64
			h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
				if tries.Add(1) == 1 {
					return nil, errors.New("no such program")
				}
				return well(ctx, s, who, hears)
			}
			start(t, h)
			x := &testExchange{a: &testAudience{version: newVersion}}
			for range 5 {
				_, err := h.server("s").do(t.Context(), x, "tools/call", nil)
				if !errors.Is(err, errUnreachable) || !strings.Contains(err.Error(), "no such program") {
					t.Errorf("got %v, want why it cannot be reached", err)
				}
			}
			if n := tries.Load(); n != 1 {
				t.Errorf("it was tried %d times, want once", n)
			}
			time.Sleep(2 * firstPause)
			synctest.Wait()
			if _, err := h.server("s").do(t.Context(), x, "tools/call", nil); err != nil {
				t.Errorf("got %v, want it done", err)
			}
		})
	})
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// asksOrNot asks its client when its tool ask is called, and nothing else.
func asksOrNot() *testServer {
	ts := asksOnce()
	asks := ts.methods["tools/call"]
	ts.methods["tools/call"] = func(c *testCall) (json.RawMessage, error) {
		if textMember(c.params, "name") == "ask" {
			return asks(c)
		}
		return says("done"), nil
	}
	return ts
}

func TestLaneAway(t *testing.T) {
	t.Parallel()
	t.Run("M2 clients that do not come back hold up nobody for long", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := gatewayOf(t, allowing(), map[string]*testServer{"s": asksOrNot(), "fine": asksOrNot()})
			k := meet(t, g, newEra)
			var states []json.RawMessage
			for range maxExclusive {
				states = append(states, k.hold("s__ask"))
				time.Sleep(time.Second)
			}
			began := time.Now()
			var all sync.WaitGroup
			all.Go(func() {
				if got := callText(k.must("tools/call", `{"name":"s__other"}`)); got != "done" {
					t.Errorf("got %q", got)
				}
				if took := time.Since(began); took > awayTime {
					t.Errorf("it waited for %s, want at most %s", took, awayTime)
				}
			})
			synctest.Wait()
			if got := callText(k.must("tools/call", `{"name":"fine__other"}`)); got != "done" || time.Since(began) > time.Second {
				t.Errorf("another server: got %q after %s, want it at once", got, time.Since(began))
			}
			all.Wait()
			if got := callText(k.must("tools/call", comeBack("s__ask", states[0]))); !strings.Contains(got, "did not come in time") {
				t.Errorf("who was away for longest: got %q, want that it was given up", got)
			}
			for _, s := range states[1:] {
				if got := callText(k.must("tools/call", comeBack("s__ask", s))); got != `answered {"action":"accept"}` {
					t.Errorf("the others: got %q", got)
				}
			}
		})
	})
	t.Run("M2 a call that gets no connection in the server's time has done nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ts := &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
				for range 5 { // each is answered in time
					if _, err := c.ask("elicitation/create", `{"message":"?"}`); err != nil {
						return nil, err
					}
				}
				return says("done"), nil
			}}}
			d := dialledTo(t, ts, nil)
			x := &testExchange{a: &testAudience{version: newVersion}, asks: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				time.Sleep(awayTime - time.Second)
				return json.RawMessage(`{}`), nil
			}}
			var all sync.WaitGroup
			for range maxExclusive {
				all.Go(func() {
					if _, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"t"}`)); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			began := time.Now()
			_, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"t"}`))
			if !errors.Is(err, errBusy) || !errors.Is(err, errUnreachable) || time.Since(began) != d.timeout() {
				t.Fatalf("got %v after %s, want that there is no room after %s", err, time.Since(began), d.timeout())
			}
			if told := tool.AsError(d.failure(t.Context(), err)).Text; !strings.Contains(told, "Nothing was done.") {
				t.Errorf("got %q, want that nothing was done", told)
			}
			all.Wait()
		})
	})
}

func TestLaneProcesses(t *testing.T) {
	t.Parallel()
	call := func(t *testing.T, d *dialled, a *testAudience) {
		t.Helper()
		if _, err := d.do(t.Context(), &testExchange{a: a}, "tools/call", json.RawMessage(`{"name":"t"}`)); err != nil {
			t.Error(err)
		}
	}
	t.Run("L4 processes that nobody uses keep no client out", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := dialledTo(t, &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
				return says("done"), waitFor(c.ctx, time.Second)
			}}}, nil)
			for range maxChildren / maxExclusive {
				a := &testAudience{version: newVersion}
				var all sync.WaitGroup
				for range maxExclusive {
					all.Go(func() { call(t, d, a) })
				}
				all.Wait()
			}
			first := d.open()
			if len(first) != maxChildren {
				t.Fatalf("got %d processes, want %d", len(first), maxChildren)
			}
			call(t, d, &testAudience{version: oldVersion})
			call(t, d, &testAudience{version: newVersion})
			if n := len(d.open()); n != maxChildren {
				t.Errorf("got %d processes, want %d", n, maxChildren)
			}
			for i, l := range first {
				select {
				case <-l.ended():
					if i >= maxExclusive {
						t.Errorf("number %d was ended, want those that were unused for longest", i)
					}
				default:
				}
			}
		})
	})
	t.Run("L4 nor do sessions that are not used", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := dialledTo(t, &testServer{old: true, methods: map[string]method{
				"tools/call":    func(*testCall) (json.RawMessage, error) { return says("done"), nil },
				methodSubscribe: func(*testCall) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
			}}, nil)
			all := make([]*testAudience, maxChildren)
			for i := range all {
				all[i] = &testAudience{version: oldVersion}
				call(t, d, all[i])
				time.Sleep(time.Second)
			}
			if _, err := d.do(t.Context(), &testExchange{a: all[0]}, methodSubscribe, json.RawMessage(`{"uri":"a:b"}`)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(restTime - time.Second)
			call(t, d, all[1])
			time.Sleep(time.Second)
			sessions := d.open()
			call(t, d, &testAudience{version: oldVersion})
			open := d.open()
			if len(open) != maxChildren || open[0] != sessions[0] || open[1] != sessions[1] || open[2] == sessions[2] {
				t.Error("want that the third is ended: the first is told of changes, the second was used since")
			}
			call(t, d, all[2]) // in the place of the fourth
			if n := len(d.open()); n != maxChildren {
				t.Errorf("got %d processes, want %d", n, maxChildren)
			}
		})
	})
}

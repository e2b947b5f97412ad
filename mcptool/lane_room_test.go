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

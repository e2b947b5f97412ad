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

	"github.com/ferrule-dev/ferrule/tool"
)

// moody is a server whose calls do what is said at the time.
type moody struct {
	mood  atomic.Value // well, late, lost, fault or tool
	calls atomic.Int64
	link  atomic.Pointer[pipeLink] // made last
}

func inMood(mood string) *moody {
	m := &moody{}
	m.mood.Store(mood)
	return m
}

func (m *moody) server() *testServer {
	return &testServer{old: true, methods: map[string]method{
		"tools/list": lists(plainTool("t")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			m.calls.Add(1)
			switch m.mood.Load() {
			case "late":
				<-c.ctx.Done()
				return nil, c.ctx.Err()
			case "lost":
				m.link.Load().finish(errors.New("the server ended: exit status 3"))
				<-c.ctx.Done()
				return nil, c.ctx.Err()
			case "fault":
				return nil, &Fault{Code: codeInvalidParams, Message: "bad arguments"}
			case "tool":
				return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`), nil
			}
			return says("done"), nil
		},
	}}
}

func TestBreaker(t *testing.T) {
	// begin is a session with a server that has 30 s for a call.
	begin := func(t *testing.T, m *moody, change func(*Server)) (h *Hub, call func() *tool.Error) {
		t.Helper()
		h = hubOf(t, map[string]*testServer{"s": m.server()})
		h.Runtime = allowAll()
		dial := h.dial
		h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
			l, err := dial(ctx, s, who, hears)
			if pipe, ok := l.(*pipeLink); ok {
				m.link.Store(pipe)
			}
			return l, err
		}
		h.Servers[0].Timeout = 30 * time.Second
		if change != nil {
			change(&h.Servers[0])
		}
		start(t, h)
		session := h.Runtime.Session(tool.Caller{Session: "one"})
		n := 0
		return h, func() *tool.Error {
			t.Helper()
			n++ // else it would be a loop
			return session.Call(t.Context(), "s__t", fmt.Sprintf(`{"n":%d}`, n)).Err
		}
	}
	t.Run("M1 a server that does not answer is left alone for a while, and the cause is named", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("late")
			h, call := begin(t, m, nil)
			for range breakerAfter {
				if err := call(); err == nil || err.Kind != tool.Timeout {
					t.Fatalf("got %v, want a time-out", err)
				}
			}
			began := time.Now()
			err := call()
			want := "Server s is not asked now: 5 calls in a row got no answer within 30s; next try in 20s. Nothing was done."
			if err == nil || err.Kind != tool.Failed || err.Text != want || time.Since(began) > 0 || m.calls.Load() != breakerAfter {
				t.Errorf("got %v after %s and %d calls, want %q at once", err, time.Since(began), m.calls.Load(), want)
			}
			if got := h.Status()[0].Paused; !strings.HasPrefix(got, "5 calls in a row got no answer within 30s (server s did not answer within 30s); next try at ") {
				t.Errorf("got %q, want it in the status", got)
			}
			if got := strings.Join(h.Status()[0].Faults, "|"); !strings.Contains(got, "it was not asked for a while: 5 calls in a row got no answer within 30s; for 20s (once") {
				t.Errorf("got %q, want it among the faults", got)
			}
			time.Sleep(breakerPause)
			m.mood.Store("well")
			if err := call(); err != nil {
				t.Errorf("got %v, want the call that tries it to be done", err)
			}
			if got := h.Status()[0].Paused; got != "" {
				t.Errorf("got %q, want it to be asked again", got)
			}
			m.mood.Store("late")
			if err := call(); err == nil || err.Kind != tool.Timeout {
				t.Errorf("got %v, want it to be counted anew", err)
			}
		})
	})
	t.Run("M1 a server that hangs is found out before a client gives up after its minute", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("late")
			g := gatewayOf(t, allowing(), map[string]*testServer{"s": m.server()})
			k := meet(t, g, oldEra)
			for i := range breakerAfter + 1 {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				got := k.do(ctx, "tools/call", fmt.Sprintf(`{"name":"s__t","arguments":{"n":%d}}`, i))
				cancel()
				want, after := "did not answer within 50s", callTime
				if i == breakerAfter {
					want, after = "is not asked now: 5 calls in a row got no answer within 50s", 0
				}
				if got.end == nil || !strings.Contains(callText(got.end.result), want) || time.Since(began) != after {
					t.Fatalf("call %d: got %+v after %s, want %q after %s", i, got.end, time.Since(began), want, after)
				}
			}
			if got := strings.Join(g.Hub.Status()[0].Faults, "|"); !strings.Contains(got, "a call got no answer: server s did not answer within 50s (5 times") {
				t.Errorf("got the faults %q, want the calls without an answer", got)
			}
		})
	})
	t.Run("M1 one call tries it, and the next pause is longer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("late")
			h, call := begin(t, m, func(s *Server) { s.BreakerAfter, s.BreakerPause = 2, time.Minute })
			for range 2 {
				_ = call()
			}
			for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, longBreak, longBreak} {
				if err := call(); err == nil || !strings.Contains(err.Text, "next try in "+pause.String()) {
					t.Fatalf("got %v, want a pause of %s", err, pause)
				}
				time.Sleep(pause)
				before := m.calls.Load()
				tried := make(chan *tool.Error, 1)
				go func() { tried <- h.Runtime.Session(tool.Caller{Session: "two"}).Call(t.Context(), "s__t", "{}").Err }()
				synctest.Wait()
				if err := call(); err == nil || !strings.Contains(err.Text, "one call tries it now. Nothing was done.") {
					t.Errorf("got %v, want no second call beside the one that tries", err)
				}
				if err := <-tried; err == nil || err.Kind != tool.Timeout || m.calls.Load() != before+1 {
					t.Errorf("got %v and %d calls, want one that took too long", err, m.calls.Load()-before)
				}
			}
		})
	})
	t.Run("M1 a call that tries and is given up lets the next one try", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("late")
			h, call := begin(t, m, func(s *Server) { s.BreakerAfter = 1 })
			_ = call()
			time.Sleep(breakerPause)
			p, err := h.server("s").pass()
			if err != nil || !p.probe {
				t.Fatalf("got %+v, %v, want to try it", p, err)
			}
			p.done(t.Context(), errLaneClosed)
			m.mood.Store("well")
			if err := call(); err != nil {
				t.Errorf("got %v, want it done", err)
			}
		})
	})
	t.Run("M1 what a server answers is an answer", func(t *testing.T) {
		for _, mood := range []string{"fault", "tool"} {
			synctest.Test(t, func(t *testing.T) {
				m := inMood(mood)
				h, call := begin(t, m, func(s *Server) { s.BreakerAfter = 1 })
				for range 3 {
					if err := call(); err == nil || err.Kind != tool.Failed {
						t.Errorf("%s: got %v, want what the tool says", mood, err)
					}
				}
				if m.calls.Load() != 3 || h.Status()[0].Paused != "" {
					t.Errorf("%s: got %d calls and %q, want 3", mood, m.calls.Load(), h.Status()[0].Paused)
				}
			})
		}
	})
	t.Run("M1 a success begins the count anew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("")
			_, call := begin(t, m, func(s *Server) { s.BreakerAfter = 2 })
			for range 4 {
				for _, mood := range []string{"late", "well"} {
					m.mood.Store(mood)
					if err := call(); (err == nil) != (mood == "well") {
						t.Errorf("%s: got %v", mood, err)
					}
				}
			}
		})
	})
	t.Run("M1 connections that break at the same moment count once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("lost")
			h, call := begin(t, m, nil)
			for range 3 * breakerAfter {
				if err := call(); err == nil || !strings.Contains(err.Text, "broke while the call ran") {
					t.Fatalf("got %v, want that the connection broke", err)
				}
			}
			for range breakerAfter - 1 {
				time.Sleep(oneLoss)
				_ = call()
			}
			if got := h.Status()[0].Paused; !strings.HasPrefix(got, "5 calls in a row lost the connection (") {
				t.Errorf("got %q, want it to be left alone", got)
			}
			h.server("s").breaker.there() // it was reached anew
			m.mood.Store("well")
			if err := call(); err != nil {
				t.Errorf("got %v, want it done at once, as it is there again", err)
			}
		})
	})
	t.Run("M1 who wants something else of it is told the same", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ts := inMood("late").server()
			ts.capabilities = `{"tools":{},"prompts":{},"resources":{}}`
			ts.methods["prompts/get"], ts.methods["resources/read"] = ts.methods["tools/call"], ts.methods["tools/call"]
			g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts}, func(g *Gateway) { g.Hub.Servers[0].BreakerAfter = 1 })
			k := meet(t, g, oldEra)
			for _, tt := range []struct{ method, want string }{
				{"prompts/get", "The server did not answer in time. The request may still have had its effect."},
				{"prompts/get", "The server is not asked now: 1 call got no answer within 50s; next try in 20s. Nothing was done."},
				{"resources/read", "The server is not asked now: 1 call got no answer within 50s; next try in 20s. Nothing was done."},
			} {
				if got := k.fails(tt.method, `{"name":"s__p","uri":"a:b"}`).Message; got != tt.want {
					t.Errorf("%s: got %q, want %q", tt.method, got, tt.want)
				}
			}
			if n := len(ts.heard("prompts/get")) + len(ts.heard("resources/read")); n != 1 {
				t.Errorf("the server got %d requests, want one", n)
			}
		})
	})
	t.Run("M1 it can be switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := inMood("late")
			_, call := begin(t, m, func(s *Server) { s.BreakerAfter = tool.Unlimited })
			for range 2 * breakerAfter {
				if err := call(); err == nil || err.Kind != tool.Timeout {
					t.Errorf("got %v, want a time-out each time", err)
				}
			}
		})
	})
}

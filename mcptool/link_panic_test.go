package mcptool

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// careless is a listener that panics.
func careless() listener {
	return listener{
		notified: func(string, json.RawMessage) { panic("a bad note") },
		requested: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			panic("a bad question")
		},
	}
}

func TestLinkPanics(t *testing.T) { // not parallel: it looks for goroutines that are left
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"notifications/x"}`:        "a bad note",
		`{"jsonrpc":"2.0","id":1,"method":"sampling/create"}`: "a bad question",
	} {
		t.Run("L6 a panic ends the link alone: "+want, func(t *testing.T) {
			p := newPeer(t, careless())
			a := p.ask(t.Context(), "x", "", nil)
			p.hear()
			p.say("%s", line)
			if got := <-a; got.err == nil || !strings.Contains(got.err.Error(), want) {
				t.Errorf("got %v, want %s", got.err, want)
			}
		})
		t.Run("L6 a panic ends the link over HTTP alone: "+want, func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, r *http.Request, _ message) {
				webStream(w)("data: " + line)
				<-r.Context().Done()
			}
			l, hears := s.dial(oldEra, listener{}), careless()
			if _, err := l.do(t.Context(), "tools/call", nil, &hears); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			<-l.ended()
		})
	}
}

func TestHubPanics(t *testing.T) {
	t.Run("L6 a panic while a server is reached is its failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists()}}})
			well := h.dial
			var mended atomic.Bool
			h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
				if !mended.Load() {
					panic("a bad greeting")
				}
				return well(ctx, s, who, hears)
			}
			start(t, h)
			if st := h.Status()[0]; st.State != stateWaiting || !strings.Contains(st.Why, "a bad greeting") {
				t.Errorf("got %+v, want it waiting, and why", st)
			}
			_, err := h.server("s").do(t.Context(), &testExchange{a: &testAudience{version: newVersion}}, "tools/call", nil)
			if err == nil || !strings.Contains(err.Error(), "a bad greeting") {
				t.Errorf("got %v, want the panic", err)
			}
			mended.Store(true)
			time.Sleep(2 * firstPause)
			synctest.Wait()
			if st := h.Status()[0]; st.State != stateReady {
				t.Errorf("got %+v, want it ready", st)
			}
		})
	})
}

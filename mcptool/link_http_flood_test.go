package mcptool

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

func TestHTTPLinkFloods(t *testing.T) {
	t.Run("L4 a flood of requests ends the link, and is not answered one by one", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, _ message) {
			send := webStream(w)
			for n := range 3*maxAsked + maxFaults {
				send(webData(message{id: strconv.AppendInt(nil, int64(n), 10), method: "sampling/createMessage"}))
			}
			<-r.Context().Done()
		}
		var posts atomic.Int64
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && posts.Add(1) > 3 { // answers of the client; none is taken
				_, _ = io.Copy(io.Discard, r.Body) // or the end of the client is not seen
				<-r.Context().Done()
				return
			}
			s.ServeHTTP(w, r)
		})
		l := s.dial(oldEra, listener{})
		_, err := l.do(t.Context(), "tools/call", nil, &listener{requested: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if err == nil || !strings.Contains(err.Error(), "too much that is no message") {
			t.Errorf("got %v, want that it was too much", err)
		}
		l.close()
		if n := posts.Load(); n > 3+2*maxAsked {
			t.Errorf("got %d requests, want at most %d", n, 3+2*maxAsked)
		}
	})
	t.Run("L4 a flood of garbage ends the link", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, _ message) {
			webStream(w)(strings.Repeat("data: x\n\n", maxFaults))
			<-r.Context().Done()
		}
		l := s.dial(oldEra, listener{})
		if _, err := l.do(t.Context(), "tools/call", nil, nil); err == nil || !strings.Contains(err.Error(), "too much that is no message") {
			t.Errorf("got %v, want that it was too much", err)
		}
	})
}

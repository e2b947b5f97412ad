package mcptool

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
)

func TestHTTPLinkListens(t *testing.T) {
	t.Run("M1 what belongs to no request comes on a stream of its own, which is kept open", func(t *testing.T) {
		s := newWebServer(t)
		gets := 0
		s.get = func(w http.ResponseWriter, r *http.Request) {
			send := webStream(w)
			if gets++; gets == 1 {
				webWant(t, "id", r.Header.Get("Last-Event-ID"), "")
				send("id: g-1", "retry: 1", webData(message{method: "notifications/tools/list_changed"}))
				send(webData(message{id: json.RawMessage("1"), method: "roots/list"}))
				s.await(func() bool { return len(s.posted("")) == 1 })
				return
			}
			webWant(t, "id", r.Header.Get("Last-Event-ID"), "g-1")
			send(": a comment")
			send("event: other", "data: {}")
			send(webData(message{method: "notifications/resources/updated", params: json.RawMessage(`{"uri":"a"}`)}))
			<-r.Context().Done()
		}
		h := newWebHeard()
		l := s.dial(oldEra, *h.listener())
		for _, want := range []string{"notifications/tools/list_changed ", "roots/list ", `notifications/resources/updated {"uri":"a"}`} {
			webWant(t, "heard", <-h.came, want)
		}
		l.close()
	})

	t.Run("M1 progress finds its request on any stream", func(t *testing.T) {
		s := newWebServer(t)
		token, progress := make(chan json.RawMessage, 1), make(chan struct{})
		s.get = func(w http.ResponseWriter, r *http.Request) {
			send := webStream(w)
			send(webData(message{method: notificationProgress, params: json.RawMessage(`{"progressToken":"unknown"}`)}))
			send(webData(message{method: notificationProgress, params: setMembers(nil, pair{"progressToken", <-token})}))
			<-r.Context().Done()
		}
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			own, _ := metaMember(m.params, "progressToken")
			token <- own
			<-progress
			webJSON(w, 200, webResult(m, `{}`))
		}
		own, others := newWebHeard(), newWebHeard()
		l := s.dial(oldEra, *others.listener())
		go func() {
			<-own.came
			close(progress)
		}()
		if _, err := l.do(t.Context(), "tools/call", json.RawMessage(`{"_meta":{"progressToken":5}}`), own.listener()); err != nil {
			t.Fatal(err)
		}
		webWant(t, "heard", own, `notifications/progress {"progressToken":5}`)
		webWant(t, "others heard", others, "")
	})

	for name, status := range map[string]int{"405": 405, "404, as some say it": 404, "406": 406} {
		t.Run("M1 a server need not have the stream: "+name, func(t *testing.T) {
			s := newWebServer(t)
			s.get = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
			s.post = func(w http.ResponseWriter, _ *http.Request, m message) { webJSON(w, 200, webResult(m, `{}`)) }
			l := s.dial(oldEra, listener{})
			s.await(func() bool { return len(s.verb(http.MethodGet)) == 1 })
			if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil || l.why() != nil {
				t.Errorf("got %v and %v, want a link that goes on", err, l.why())
			}
		})
	}

	t.Run("M1 a server that was restarted ends the link", func(t *testing.T) {
		s := newWebServer(t)
		gets := 0
		s.get = func(w http.ResponseWriter, _ *http.Request) {
			if gets++; gets == 1 {
				webStream(w)("retry: 1", "data:")
				return
			}
			http.NotFound(w, nil)
		}
		l := s.dial(oldEra, listener{})
		<-l.ended()
		if !errors.Is(l.why(), errSessionEnded) {
			t.Errorf("why: got %v, want errSessionEnded", l.why())
		}
	})
}

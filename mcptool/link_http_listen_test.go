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

	t.Run("M1 an answer finds its request on any stream", func(t *testing.T) {
		for name, post := range map[string]func(w http.ResponseWriter, r *http.Request){
			"while its own is open":   func(w http.ResponseWriter, r *http.Request) { webStream(w)(": nothing"); <-r.Context().Done() },
			"when its own has closed": func(w http.ResponseWriter, _ *http.Request) { webStream(w)("id: p-1", "retry: 60000", "data:") },
		} {
			t.Run(name, func(t *testing.T) {
				s := newWebServer(t)
				call := make(chan message, 1)
				s.get = func(w http.ResponseWriter, r *http.Request) {
					send := webStream(w)
					m := <-call
					send(webData(message{id: json.RawMessage(`99`), result: json.RawMessage(`{}`)})) // nobody's
					send(webData(webResult(m, `{"on":"the other"}`)))
					send(webData(webResult(m, `{"on":"the other, again"}`)))
					<-r.Context().Done()
				}
				s.post = func(w http.ResponseWriter, r *http.Request, m message) {
					call <- m
					post(w, r)
				}
				l := s.dial(oldEra, listener{})
				got, err := l.do(t.Context(), "tools/call", nil, nil)
				if err != nil || string(got) != `{"on":"the other"}` {
					t.Errorf("got %s, %v", got, err)
				}
				webWant(t, "calls", len(s.posted("tools/call")), "1")
				webWant(t, "cancelled", len(s.posted(notificationCancelled)), "0")
			})
		}
	})

	t.Run("M1 the stream is there before the first request", func(t *testing.T) {
		s := newWebServer(t)
		s.get = func(w http.ResponseWriter, r *http.Request) { webStream(w); <-r.Context().Done() }
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			webWant(t, "streams", len(s.verb(http.MethodGet)), "1")
			webJSON(w, 200, webResult(m, `{}`))
		}
		if _, err := s.dial(oldEra, listener{}).do(t.Context(), "tools/call", nil, nil); err != nil {
			t.Error(err)
		}
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

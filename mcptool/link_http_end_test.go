package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

func TestHTTPLinkSessionEnds(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"404": func(w http.ResponseWriter) { http.Error(w, "session not found", http.StatusNotFound) },
		"404 with a fault": func(w http.ResponseWriter) {
			webJSON(w, 404, message{fault: &Fault{Code: -32001, Message: "Session not found"}})
		},
		"400 as servers say that were restarted": func(w http.ResponseWriter) {
			webJSON(w, 400, message{fault: &Fault{Code: -32000, Message: "Bad Request: Server not initialized"}})
		},
		"400 with the header": func(w http.ResponseWriter) {
			webJSON(w, 400, message{fault: &Fault{Code: -32000, Message: "Bad Request: No valid session ID provided"}})
		},
	} {
		t.Run("M6 a session that is gone ends the link, and the call did not run: "+name, func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, _ message) { refuse(w) }
			l := s.dial(oldEra, listener{})
			_, err := l.do(t.Context(), "tools/call", nil, nil)
			if !errors.Is(err, errUnsent) || !errors.Is(err, errSessionEnded) {
				t.Errorf("got %v, want errUnsent and errSessionEnded", err)
			}
			<-l.ended()
			if !errors.Is(l.why(), errSessionEnded) {
				t.Errorf("why: got %v", l.why())
			}
			l.close()
			webWant(t, "ended sessions", len(s.verb(http.MethodDelete)), "0")
		})
	}

	for name, tt := range map[string]struct {
		status int
		own    bool // the answer has the id of the request
		said   string
	}{
		"400, a failure":                      {400, true, "the disk is full"},
		"400, a failure with no id":           {400, false, "the disk is full"},
		"400, a failure that names a session": {400, true, "no session id for the shop"},
		"404, a failure":                      {404, true, "no such file"},
	} {
		t.Run("M6 a call that may have run is not said to be unsent: "+name, func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
				answer := message{fault: &Fault{Code: -32000, Message: tt.said}}
				if tt.own {
					answer.id = m.id
				}
				webJSON(w, tt.status, answer)
			}
			l := s.dial(oldEra, listener{})
			_, err := l.do(t.Context(), "tools/call", nil, nil)
			if err == nil || errors.Is(err, errUnsent) {
				t.Errorf("got %v, want an error that is not errUnsent", err)
			}
			if ended := l.why() != nil; ended != (tt.status == 404) {
				t.Errorf("the link ended: got %v (%v)", ended, l.why())
			}
		})
	}

	t.Run("a method that a server does not have is a fault, whatever its status", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			webJSON(w, 404, message{id: m.id, fault: &Fault{Code: codeNoMethod, Message: "no"}})
		}
		l := s.dial(oldEra, listener{})
		_, err := l.do(t.Context(), "x/y", nil, nil)
		if f, ok := errors.AsType[*Fault](err); !ok || f.Code != codeNoMethod || l.why() != nil {
			t.Errorf("got %v and %v, want the fault and no end", err, l.why())
		}
	})

	t.Run("a server that does not let go is left", func(t *testing.T) {
		s := newWebServer(t)
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
			}
			s.ServeHTTP(w, r)
		})
		l := s.dial(oldEra, listener{})
		l.(*httpLink).farewell = 10 * time.Millisecond
		l.close()
	})

	t.Run("close ends what is under way", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, _ message) {
			webStream(w)
			<-r.Context().Done()
		}
		l := s.dial(oldEra, listener{})
		go func() {
			s.await(func() bool { return len(s.posted("tools/call")) == 1 })
			l.close()
		}()
		if _, err := l.do(t.Context(), "tools/call", nil, nil); !errors.Is(err, errClosed) || errors.Is(err, errUnsent) {
			t.Errorf("got %v, want errClosed", err)
		}
	})
}

func TestHTTPLinkAtOnce(t *testing.T) {
	t.Run("M1 requests at once hear each their own", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			token, _ := metaMember(m.params, "progressToken")
			n, _ := member(m.params, "n")
			send := webStream(w)
			send(webData(message{method: notificationProgress, params: setMembers(nil, pair{"progressToken", token}, pair{"progress", n})}))
			send(webData(message{id: m.id, method: "elicitation/create", params: setMembers(nil, pair{"n", n})})) // an id of its own, equal to ours
			s.await(func() bool {
				return len(s.all(func(r webRequest) bool { return r.m.isAnswer() && string(r.m.id) == string(m.id) })) == 1
			})
			send(webData(webResult(m, `{"n":`+string(n)+`}`)))
		}
		l := s.dial(oldEra, listener{})
		var work sync.WaitGroup
		for n := range 10 {
			work.Go(func() {
				h := newWebHeard()
				params := fmt.Sprintf(`{"n":%d,"_meta":{"progressToken":"same"}}`, n)
				got, err := l.do(t.Context(), "tools/call", json.RawMessage(params), h.listener())
				if want := fmt.Sprintf(`{"n":%d}`, n); err != nil || string(got) != want {
					t.Errorf("got %s, %v, want %s", got, err, want)
				}
				webWant(t, "heard", h, fmt.Sprintf(`notifications/progress {"progressToken":"same","progress":%d}; elicitation/create {"n":%d}`, n, n))
			})
		}
		work.Wait()
	})

	t.Run("a server that asks too much at once, or twice the same, is refused", func(t *testing.T) {
		s := newWebServer(t)
		release := make(chan struct{})
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			send := webStream(w)
			for i := range maxAsked + 1 {
				send(webData(message{id: json.RawMessage(fmt.Sprintf(`"%d"`, i)), method: "roots/list"}))
			}
			send(webData(message{id: json.RawMessage(`"0"`), method: "roots/list"}))
			s.await(func() bool { return len(s.posted("")) == 2 })
			close(release)
			s.await(func() bool { return len(s.posted("")) == maxAsked+2 })
			send(webData(webResult(m, `{}`)))
		}
		l := s.dial(oldEra, listener{})
		_, err := l.do(t.Context(), "tools/call", nil, &listener{requested: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			<-release
			return json.RawMessage(`{}`), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.posted("")[:2] {
			if r.m.fault == nil {
				t.Errorf("answer to %s: got a result, want a fault", r.m.id)
			}
		}
	})

	t.Run("close while many requests run leaves nothing", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, m message) {
			if n, _ := member(m.params, "n"); len(n) == 1 { // below 10
				webStream(w)
				<-r.Context().Done()
				return
			}
			webStream(w)(webData(webResult(m, `{}`)))
		}
		l := s.dial(oldEra, listener{})
		var work sync.WaitGroup
		for n := range 30 {
			work.Go(func() {
				_, err := l.do(t.Context(), "tools/call", json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), nil)
				if err == nil != (n >= 10) && !errors.Is(err, errClosed) {
					t.Errorf("%d: got %v", n, err)
				}
			})
		}
		s.await(func() bool { return len(s.posted("tools/call")) == 30 })
		l.close()
		work.Wait()
	})
}

func TestHTTPLinkNewEraOdd(t *testing.T) {
	t.Run("what a server of the new era asks is passed over", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			send := webStream(w)
			send(webData(message{id: json.RawMessage(`1`), method: "roots/list"}))
			send(webData(message{id: json.RawMessage(`"` + string(m.id) + `"`), result: json.RawMessage(`{}`)})) // a number as a string
		}
		l := s.dial(newEra, listener{})
		h := newWebHeard()
		if _, err := l.do(t.Context(), "tools/call", nil, h.listener()); err != nil {
			t.Fatal(err)
		}
		l.close()
		webWant(t, "heard", h, "")
		webWant(t, "answers", len(s.posted("")), "0")
	})

	t.Run("a request that a server has given up ends", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, m message) {
			webStream(w)(webData(message{method: notificationCancelled, params: setMembers(nil, pair{"requestId", m.id}, pair{"reason", quote("going down")})}))
			<-r.Context().Done()
		}
		l := s.dial(newEra, listener{})
		_, err := l.do(t.Context(), "subscriptions/listen", nil, nil)
		if err == nil || err.Error() != "the server has ended the request: going down" {
			t.Errorf("got %v", err)
		}
	})
}

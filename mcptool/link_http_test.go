package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestHTTPLinkOldEra(t *testing.T) {
	t.Run("M1 answers come as JSON or as a stream", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			if m.method == "tools/list" {
				webJSON(w, 200, webResult(m, `{"tools": [ ]}`))
				return
			}
			webStream(w)(webData(webResult(m, `{"content": [ ]}`)))
		}
		l := s.dial(oldEra, listener{})
		for method, want := range map[string]string{"tools/list": `{"tools": [ ]}`, "tools/call": `{"content": [ ]}`} {
			got, err := l.do(t.Context(), method, json.RawMessage(`{"name":"x"}`), nil)
			if err != nil || string(got) != want {
				t.Errorf("%s: got %s, %v, want %s", method, got, err, want)
			}
		}
		webWant(t, "version", l.greeting().version, "2025-06-18")
	})

	t.Run("M1 the session and the version go with each request behind the handshake", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) { webJSON(w, 200, webResult(m, `{}`)) }
		l := s.dial(oldEra, listener{})
		if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil {
			t.Fatal(err)
		}
		s.await(func() bool { return len(s.verb(http.MethodGet)) == 1 })
		l.close()
		l.close() // as often as one likes
		for i, r := range s.all(func(webRequest) bool { return true }) {
			session, version := "sess-1", "2025-06-18"
			if i == 0 {
				session, version = "", ""
			}
			webWant(t, r.verb+" "+r.m.method+" session", r.header.Get("Mcp-Session-Id"), session)
			webWant(t, r.verb+" "+r.m.method+" version", r.header.Get("MCP-Protocol-Version"), version)
			webWant(t, r.verb+" "+r.m.method+" authorization", r.header.Get("Authorization"), "Bearer hunter2-token")
			webWant(t, "header of the new era", r.header.Get("Mcp-Method"), "")
			if accept := r.header.Get("Accept"); r.verb == http.MethodPost && accept != "application/json, text/event-stream" {
				t.Errorf("accept: got %q", accept)
			}
		}
		webWant(t, "ended sessions", len(s.verb(http.MethodDelete)), "1")
		if _, err := l.do(t.Context(), "tools/list", nil, nil); !errors.Is(err, errUnsent) || !errors.Is(err, errClosed) {
			t.Errorf("do behind close: got %v, want errUnsent and errClosed", err)
		}
	})

	t.Run("M1 what a server says on the stream of a request belongs to that request", func(t *testing.T) {
		s := newWebServer(t)
		answered := make(chan message, 1)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			token, _ := metaMember(m.params, "progressToken")
			send := webStream(w)
			send(webData(message{method: notificationProgress, params: setMembers(nil, pair{"progressToken", token}, pair{"progress", json.RawMessage("1")})}))
			send(webData(message{method: "notifications/message", params: json.RawMessage(`{"data":"hi"}`)}))
			send(webData(message{id: json.RawMessage(`"e1"`), method: "elicitation/create", params: json.RawMessage(`{"message":"?"}`)}))
			s.await(func() bool {
				for _, r := range s.posted("") {
					answered <- r.m
					return true
				}
				return false
			})
			send(webData(webResult(m, `{}`)))
		}
		own, others := newWebHeard(), newWebHeard()
		l := s.dial(oldEra, *others.listener())
		_, err := l.do(t.Context(), "tools/call", json.RawMessage(`{"_meta":{"progressToken":"mine"}}`), own.listener())
		if err != nil {
			t.Fatal(err)
		}
		webWant(t, "heard", own, `notifications/progress {"progressToken":"mine","progress":1}; notifications/message {"data":"hi"}; elicitation/create {"message":"?"}`)
		webWant(t, "others heard", others, "")
		webWant(t, "answer", string((<-answered).append(nil)), `{"jsonrpc":"2.0","id":"e1","result":{"action":"accept"}}`)
		if token, _ := metaMember(s.posted("tools/call")[0].m.params, "progressToken"); string(token) == `"mine"` {
			t.Error("the caller's token went to the server, want one of the link's own")
		}
	})

	t.Run("M1 a request that the server withdraws is not answered", func(t *testing.T) {
		s := newWebServer(t)
		withdrawn := make(chan error, 1)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			send := webStream(w)
			send(webData(message{id: json.RawMessage(`7`), method: "elicitation/create"}))
			send(webData(message{method: notificationCancelled, params: json.RawMessage(`{"requestId":7}`)}))
			withdrawn <- <-withdrawn // until the listener has seen it
			send(webData(webResult(m, `{}`)))
		}
		l := s.dial(oldEra, listener{})
		_, err := l.do(t.Context(), "tools/call", nil, &listener{requested: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			withdrawn <- context.Cause(ctx)
			return nil, ctx.Err()
		}})
		l.close()
		if cause := <-withdrawn; err != nil || !errors.Is(cause, errWithdrawn) {
			t.Errorf("got %v and cause %v, want errWithdrawn", err, cause)
		}
		webWant(t, "answers", len(s.posted("")), "0")
	})

	t.Run("M1 a server is told that a request is cancelled", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, r *http.Request, _ message) {
			webStream(w)
			<-r.Context().Done()
		}
		l := s.dial(oldEra, listener{})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("no longer wanted")
		go func() {
			s.await(func() bool { return len(s.posted("tools/call")) == 1 })
			cancel(why)
		}()
		if _, err := l.do(ctx, "tools/call", nil, nil); !errors.Is(err, why) || errors.Is(err, errUnsent) {
			t.Errorf("got %v, want the cause", err)
		}
		s.await(func() bool { return len(s.posted(notificationCancelled)) == 1 })
		id, _ := member(s.posted(notificationCancelled)[0].m.params, "requestId")
		webWant(t, "id", string(id), string(s.posted("tools/call")[0].m.id))
	})
}

func TestHTTPLinkNewEra(t *testing.T) {
	t.Run("M1 headers say what the body says, and there is no session", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			w.Header().Set("Mcp-Session-Id", "unwanted")
			webJSON(w, 200, webResult(m, `{"resultType":"complete"}`))
		}
		l := s.dial(newEra, listener{})
		for _, tt := range []struct{ method, params, name string }{
			{"tools/call", `{"name":"tell","arguments":{}}`, "tell"},
			{"tools/call", `{"name":"größe"}`, "=?base64?Z3LDtsOfZQ==?="},
			{"resources/read", `{"uri":"file:///a b"}`, "file:///a b"},
			{"prompts/get", `{"name":"p"}`, "p"},
			{"tasks/get", `{"taskId":"t1"}`, "t1"},
			{"tools/list", `{"name":"none"}`, ""},
		} {
			ctx := withHeaders(t.Context(), http.Header{"Mcp-Param-Region": {"eu"}})
			if _, err := l.do(ctx, tt.method, json.RawMessage(tt.params), nil); err != nil {
				t.Fatal(err)
			}
			all := s.posted(tt.method)
			h, params := all[len(all)-1].header, all[len(all)-1].m.params
			webWant(t, "method", h.Get("Mcp-Method"), tt.method)
			webWant(t, tt.method+" name", h.Get("Mcp-Name"), tt.name)
			webWant(t, "param", h.Get("Mcp-Param-Region"), "eu")
			webWant(t, "version", h.Get("MCP-Protocol-Version"), newVersion)
			webWant(t, "session", h.Get("Mcp-Session-Id"), "")
			for key, want := range map[string]string{metaVersion: `"2026-07-28"`, metaClientInfo: `{"name":"tester","version":"2"}`, metaCapabilities: `{"elicitation":{}}`} {
				got, _ := metaMember(params, key)
				webWant(t, key, string(got), want)
			}
		}
		l.close()
		webWant(t, "GET and DELETE", len(s.verb(http.MethodGet))+len(s.verb(http.MethodDelete)), "0")
	})

	t.Run("M1 what the caller has in _meta stays", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) { webJSON(w, 200, webResult(m, `{}`)) }
		l := s.dial(newEra, listener{})
		_, err := l.do(t.Context(), "tools/list", json.RawMessage(`{"_meta":{"`+metaClientInfo+`":{"name":"other"}}}`), nil)
		got, _ := metaMember(s.posted("tools/list")[0].m.params, metaClientInfo)
		if err != nil || string(got) != `{"name":"other"}` {
			t.Errorf("got %s, %v", got, err)
		}
	})

	t.Run("M1 the end of a request is its cancellation", func(t *testing.T) {
		s := newWebServer(t)
		over := make(chan struct{})
		s.post = func(w http.ResponseWriter, r *http.Request, m message) {
			defer close(over)
			send := webStream(w)
			send(webData(message{method: "notifications/subscriptions/acknowledged", params: json.RawMessage(`{}`)}))
			send(webData(message{method: "notifications/tools/list_changed"}))
			<-r.Context().Done()
		}
		l := s.dial(newEra, listener{})
		h := newWebHeard()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go func() {
			<-h.came
			<-h.came
			cancel()
		}()
		if _, err := l.do(ctx, "subscriptions/listen", nil, h.listener()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
		<-over
		l.close()
		webWant(t, "heard", h, "notifications/subscriptions/acknowledged {}; notifications/tools/list_changed ")
		webWant(t, "cancelled", len(s.posted(notificationCancelled)), "0")
	})

	for name, refuse := range map[string]http.HandlerFunc{
		"400": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Mcp-Session-Id missing", 400) },
		"400 with a fault": func(w http.ResponseWriter, _ *http.Request) {
			webJSON(w, 400, message{fault: &Fault{Code: -32000, Message: "Server not initialized"}})
		},
		"404": http.NotFound,
		"202": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
	} {
		t.Run("M1 a server of the old era is known by its refusal: "+name, func(t *testing.T) {
			s := newWebServer(t)
			s.Config.Handler = refuse
			_, err := dialHTTP(t.Context(), Server{URL: s.URL}, webClient(), newEra, listener{}, nil)
			if !errors.Is(err, errOtherEra) {
				t.Errorf("got %v, want errOtherEra", err)
			}
		})
	}

	t.Run("what wants authorization may speak either era", func(t *testing.T) {
		s := newWebServer(t)
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusUnauthorized) })
		_, err := dialHTTP(t.Context(), Server{URL: s.URL}, webClient(), newEra, listener{}, nil)
		if err == nil || errors.Is(err, errOtherEra) || !strings.Contains(err.Error(), `headers: {Authorization: "Bearer ${secret:NAME}"}`) {
			t.Errorf("got %v, want how to give authorization", err)
		}
	})
}

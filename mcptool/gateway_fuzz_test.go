package mcptool

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// requests are what clients say, and what they must not.
func requests() []string {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	return []string{
		"", "{", "[]", "\xff", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7,"arguments":[],"inputResponses":{},"requestState":"x",` + meta + `}}`,
		`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{` + meta + `}}`, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":{},` + meta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":"q","result":{}}`,
		`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"x"}}`, `{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a"},"argument":{}}}`,
	}
}

const fuzzHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"a","version":"1"}}}`

// fuzzGateway is a gateway with one tool, which allows every call.
func fuzzGateway(t *testing.T) *Gateway {
	t.Helper()
	rt := allowing()
	if err := rt.Add(echo(t)); err != nil {
		t.Fatal(err)
	}
	g := &Gateway{Runtime: rt, Name: "ferrule", Version: "1"}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := rt.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return g
}

// Whatever a client says over stdio, what comes back is messages, and what it asks
// last is answered.
func FuzzClientLines(f *testing.F) {
	for _, seed := range requests() {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, greets bool) {
		first := ""
		if greets {
			first = fuzzHello + "\n"
		}
		var out bytes.Buffer
		all := io.MultiReader(strings.NewReader(first), bytes.NewReader(in), strings.NewReader("\n"+rpc(`"last"`, "ping", `{}`)+"\n"))
		if err := fuzzGateway(t).ServeStdio(t.Context(), all, &out, tool.Caller{Principal: "me"}); err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(out.String()) {
			ms, _, _, fault := readMessages([]byte(line))
			if fault != nil {
				t.Fatalf("%q: %v", line, fault)
			}
			for _, m := range ms {
				found = found || string(m.id) == `"last"`
			}
		}
		if !found {
			t.Errorf("the last request was not answered: %q", out.String())
		}
	})
}

// Whatever a client posts, it is answered, and the next who comes is served.
func FuzzClientPost(f *testing.F) {
	for _, seed := range requests() {
		f.Add([]byte(seed), true, "tools/call", "echo")
		f.Add([]byte(seed), false, "tools/list", "")
	}
	f.Fuzz(func(t *testing.T, body []byte, session bool, method, name string) {
		handler := fuzzGateway(t).Handler(HTTP{Open: true, Hosts: []string{"example.com"}})
		post := func(body string, headers map[string]string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for key, value := range headers {
				if value != "" {
					r.Header[http.CanonicalHeaderKey(key)] = []string{value}
				}
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w
		}
		headers := map[string]string{fieldVersion: newVersion, fieldMethod: method, fieldName: name}
		if session {
			headers = map[string]string{fieldVersion: oldVersion, fieldSession: post(fuzzHello, nil).Header().Get(fieldSession)}
		}
		if w := post(string(body), headers); w.Code < 200 || w.Code >= 500 {
			t.Errorf("got %d %q", w.Code, w.Body)
		}
		if w := post(fuzzHello, nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"result"`) {
			t.Errorf("the next client: got %d %q", w.Code, w.Body)
		}
	})
}

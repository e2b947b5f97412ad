package mcptool

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever a client posts, it is answered with a status, and with messages where
// there is a body.
func FuzzHTTPBody(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
		`{"jsonrpc":"2.0","id":"x","method":"echo"}`, `{"jsonrpc":"2.0","method":"notifications/x"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"result":{}}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"region","arguments":{"a":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	} {
		for _, version := range []string{"", "2025-03-26", newVersion, "x"} {
			f.Add([]byte(seed), version, "tools/call", "region", "1", true)
			f.Add([]byte(seed), version, "echo", "", "", false)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, version, method, name, param string, inSession bool) {
		d := newDoor(HTTP{Open: true, Hosts: []string{"example.com"}}, func(joining) (room, error) { return &politeRoom{}, nil })
		d.schema = func(string) json.RawMessage {
			return json.RawMessage(`{"properties":{"a":{"type":"integer","x-mcp-header":"A"}}}`)
		}
		defer d.close()
		post := func(body []byte, headers map[string]string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
			for key, value := range headers {
				if value != "" {
					r.Header[http.CanonicalHeaderKey(key)] = []string{value}
				}
			}
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			return w
		}
		headers := map[string]string{fieldVersion: version, fieldMethod: method, fieldName: name, fieldParam + "A": param}
		if inSession {
			w := post([]byte(rpc(0, "initialize", `{"protocolVersion":"2025-03-26"}`)), nil)
			headers[fieldSession] = w.Header().Get(fieldSession)
		}
		w := post(body, headers)
		switch kind := w.Header().Get("Content-Type"); {
		case w.Code == http.StatusAccepted && w.Body.Len() == 0:
		case kind == "application/json":
			if _, err := parseMessage(w.Body.Bytes()); err != nil || w.Code < 400 {
				t.Errorf("got %d %q: %v", w.Code, w.Body, err)
			}
		case kind == "text/event-stream" && w.Code == http.StatusOK:
			for line := range strings.Lines(w.Body.String()) {
				data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
				if !ok || data == "" {
					continue
				}
				if _, err := parseMessage([]byte(data)); err != nil {
					t.Errorf("got %q: %v", data, err)
				}
			}
		default:
			t.Errorf("got %d %s %q", w.Code, kind, w.Body)
		}
		if n := d.bodies.Load() + d.requests.all; n != 0 {
			t.Errorf("%d are under way after the request", n)
		}
	})
}

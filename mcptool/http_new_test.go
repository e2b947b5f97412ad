package mcptool

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// meta are params of the new era, with more members.
func metaParams(version, more string) string {
	return `{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
		`","io.modelcontextprotocol/clientInfo":{"name":"tester"},"io.modelcontextprotocol/clientCapabilities":{}}` + more + `}`
}

func TestHTTPStateless(t *testing.T) {
	s := openDoor(t, HTTP{Open: true}, nil)
	s.schema = func(tool string) json.RawMessage {
		if tool != "region" {
			return nil
		}
		return json.RawMessage(`{"type":"object","properties":{
			"where":{"type":"string","x-mcp-header":"Where"},
			"in":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"},"on":{"type":"boolean","x-mcp-header":"On"}}}}}`)
	}
	call := func(args string) string {
		return rpc(1, "tools/call", metaParams(newVersion, `,"name":"region","arguments":`+args))
	}
	list := rpc(1, "tools/list", metaParams(newVersion, ""))
	const v, m, n, p = "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-"
	now := []string{v, newVersion}
	named := []string{v, newVersion, m, "tools/call", n, "region"}
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    int // of the fault; 0: it is answered
	}{
		{"a request", list, append(now, m, "tools/list"), 200, 0},
		{"a request with spaces in its headers", list, append(now, m, "  tools/list  "), 200, 0},
		{"no version in the headers", list, []string{m, "tools/list"}, 400, codeHeaderMismatch},
		{"no _meta", rpc(1, "tools/list", `{}`), append(now, m, "tools/list"), 400, codeInvalidParams},
		{"another version in _meta", rpc(1, "tools/list", metaParams("v999", "")), append(now, m, "tools/list"), 400, codeHeaderMismatch},
		{"a version of the future", rpc(1, "tools/list", metaParams("v999", "")), []string{v, "v999", m, "tools/list"}, 400, codeUnsupportedVersion},
		{"a version of the future without _meta", rpc(1, "tools/list", `{}`), []string{v, "v999"}, 400, codeUnsupportedVersion},
		{"no method in the headers", list, now, 400, codeHeaderMismatch},
		{"another method", list, append(now, m, "prompts/list"), 400, codeHeaderMismatch},
		{"the method in capitals", list, append(now, m, "TOOLS/LIST"), 400, codeHeaderMismatch},
		{"two methods", list, append(now, m, "tools/list", m, "tools/list"), 400, codeHeaderMismatch},
		{"no name", call(`{}`), append(now, m, "tools/call"), 400, codeHeaderMismatch},
		{"another name", call(`{}`), append(now, m, "tools/call", n, "other"), 400, codeHeaderMismatch},
		{"a name in base64", call(`{}`), append(now, m, "tools/call", n, "=?base64?cmVnaW9u?="), 200, 0},
		{"a resource by its address", rpc(1, "resources/read", metaParams(newVersion, `,"uri":"a:b"`)), append(now, m, "resources/read", n, "a:b"), 200, 0},
		{"another resource", rpc(1, "resources/read", metaParams(newVersion, `,"uri":"a:b"`)), append(now, m, "resources/read", n, "a:c"), 400, codeHeaderMismatch},
		{"a prompt", rpc(1, "prompts/get", metaParams(newVersion, `,"name":"x"`)), append(now, m, "prompts/get", n, "x"), 200, 0},

		{"no arguments and no headers", call(`{}`), named, 200, 0},
		{"an argument without its header", call(`{"where":"here"}`), named, 400, codeHeaderMismatch},
		{"an argument with its header", call(`{"where":"here"}`), append(named, p+"Where", "here"), 200, 0},
		{"an argument in base64", call(`{"where":"ü"}`), append(named, p+"Where", "=?base64?w7w=?="), 200, 0},
		{"broken base64", call(`{"where":"Hello"}`), append(named, p+"Where", "=?base64?SGVsbG8?="), 400, codeHeaderMismatch},
		{"what only looks like base64", call(`{"where":"=?base64?SGVsbG8="}`), append(named, p+"Where", "=?base64?SGVsbG8="), 200, 0},
		{"another value", call(`{"where":"here"}`), append(named, p+"Where", "there"), 400, codeHeaderMismatch},
		{"a header of an argument that is null", call(`{"where":null}`), append(named, p+"Where", "here"), 400, codeHeaderMismatch},
		{"two values", call(`{"where":"here"}`), append(named, p+"Where", "here", p+"Where", "there"), 400, codeHeaderMismatch},
		{"arguments within others", call(`{"in":{"count":3,"on":true}}`), append(named, p+"Count", "3", p+"On", "true"), 200, 0},
		{"a number written otherwise", call(`{"in":{"count":3}}`), append(named, p+"Count", "3.0"), 200, 0},
		{"another number", call(`{"in":{"count":3}}`), append(named, p+"Count", "4"), 400, codeHeaderMismatch},
		{"a number that is not whole", call(`{"in":{"count":3.5}}`), append(named, p+"Count", "3.5"), 400, codeHeaderMismatch},
		{"a number that not all can hold", call(`{"in":{"count":9007199254740993}}`), append(named, p+"Count", "9007199254740993"), 400, codeHeaderMismatch},
		{"a header that nobody asked for", list, append(now, m, "tools/list", p+"Other", "x"), 200, 0},

		{"a batch", "[" + list + "]", append(now, m, "tools/list"), 400, codeInvalid},
		{"no JSON", "{", append(now, m, "tools/list"), 400, codeParse},
		{"an unknown method", rpc(1, "fault", metaParams(newVersion, `,"code":-32601`)), append(now, m, "fault"), 404, codeNoMethod},
		{"bad params", rpc(1, "fault", metaParams(newVersion, `,"code":-32602`)), append(now, m, "fault"), 400, codeInvalidParams},
		{"a capability that is missing", rpc(1, "fault", metaParams(newVersion, `,"code":-32021`)), append(now, m, "fault"), 400, codeMissingCapability},
		{"another fault", rpc(1, "fault", metaParams(newVersion, `,"code":-32603`)), append(now, m, "fault"), 200, codeInternal},
	}
	for _, tt := range tests {
		t.Run("M2 "+tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			res := s.do("POST", tt.body, tt.headers...)
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.Header.Get("Mcp-Session-Id") != "" {
				t.Error("there is a session")
			}
			data := string(body)
			if kind := res.Header.Get("Content-Type"); kind == "text/event-stream" {
				_, data, _ = strings.Cut(data, "data: ")
			}
			var got struct {
				ID    json.RawMessage
				Error Fault
			}
			if err := json.Unmarshal([]byte(data), &got); err != nil {
				t.Fatalf("%v in %q", err, body)
			}
			if res.StatusCode != tt.status || got.Error.Code != tt.code {
				t.Errorf("got %d %s, want %d and code %d", res.StatusCode, body, tt.status, tt.code)
			}
			if wantID := tt.code != codeParse && tt.code != codeInvalid; (string(got.ID) == "1") != wantID {
				t.Errorf("got id %s", got.ID)
			}
			if tt.code == codeUnsupportedVersion {
				var data struct {
					Supported []string
					Requested string
				}
				if err := json.Unmarshal(got.Error.Data, &data); err != nil || data.Requested != "v999" || !slices.Contains(data.Supported, newVersion) {
					t.Errorf("got data %s", got.Error.Data)
				}
			}
		})
	}
}

func TestHTTPStatelessStreams(t *testing.T) {
	headers := func(method string) []string {
		return []string{"Mcp-Protocol-Version", newVersion, "Mcp-Method", method}
	}
	t.Run("M2 what is sent before the answer comes before it", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		e := streamOf(t, s.do("POST", rpc(1, "talk", metaParams(newVersion, "")), headers("talk")...))
		if event, _ := e.next(); event.id != "" || said([]doorEvent{event}) != "note 1" {
			t.Errorf("got %v, want note 1 without an id", event)
		}
		close(s.let)
		if got, want := said(e.rest()), "note 2 note 3 note 4 answer 1 {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 who calls is the token's principal and the client's name", func(t *testing.T) {
		s := openDoor(t, HTTP{Tokens: map[string]string{"a": "alice", "b": "bob"}}, nil)
		for token, name := range map[string]string{"a": "alice", "b": "bob"} {
			got := said(streamOf(t, s.do("POST", rpc(1, "who", metaParams(newVersion, "")), append(headers("who"), "Authorization", "Bearer "+token)...)).rest())
			if want := `answer 1 {"principal":"` + name + `","name":"tester"}`; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("M2 a request ends with its connection", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		ended := make(chan struct{})
		s.door.join = func(joining) (room, error) { return &endingRoom{ended: ended}, nil }
		ctx, cancel := context.WithCancel(t.Context())
		streamOf(t, s.doContext(ctx, "POST", rpc(1, "x", metaParams(newVersion, "")), headers("x")...))
		cancel()
		soonFrom(t, ended, "the end of the request")
	})
	t.Run("M2 a notification", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		if res := s.do("POST", `{"jsonrpc":"2.0","method":"notifications/x"}`, headers("notifications/x")...); res.StatusCode != 202 {
			t.Errorf("got %d, want 202", res.StatusCode)
		}
	})
	t.Run("M2 signs of life", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.beat = time.Millisecond })
		res := s.do("POST", rpc(1, "wait", metaParams(newVersion, "")), headers("wait")...)
		b := make([]byte, 3*len(sign))
		if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != strings.Repeat(sign, 3) {
			t.Errorf("got %q (%v), want comments", b, err)
		}
		close(s.let)
		rest, _ := io.ReadAll(res.Body)
		if want := `{"jsonrpc":"2.0","id":1,"result":{}}`; !strings.Contains(string(rest), want) {
			t.Errorf("got %q, want %q in it", rest, want)
		}
	})
	t.Run("M2 line breaks of a server stay in one event", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		body := rpc(1, "echo", "{\n\"a\":\r\n1,"+metaParams(newVersion, "")[1:])
		res := s.do("POST", body, headers("echo")...)
		b, _ := io.ReadAll(res.Body)
		if n := strings.Count(string(b), "\n"); res.StatusCode != http.StatusOK || n != 3 {
			t.Errorf("got %d with %d lines, want 3: %q", res.StatusCode, n, b)
		}
	})
}

// endingRoom says something and waits for the end of its request.
type endingRoom struct {
	hallRoom
	ended chan struct{}
}

func (r *endingRoom) handle(ctx context.Context, _ message, to stream) {
	_ = to.send(hallNote(1))
	<-ctx.Done()
	close(r.ended)
}

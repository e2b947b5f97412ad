package mcptool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseMessage(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[{"a":`, 50_000) + "1" + strings.Repeat("}]", 50_000)
	tests := []struct {
		name, text string
		want       string // the message as it is written again; "": a fault
		code       int
		id         string // that is known nevertheless
	}{
		{name: "a request", text: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, want: `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{name: "a request with params", text: ` { "params" : {"a" : [1, 2]}, "method":"x", "id":"a\"b", "jsonrpc":"2.0" } `, want: `{"jsonrpc":"2.0","id":"a\"b","method":"x","params":{"a" : [1, 2]}}`},
		{name: "a notification", text: `{"jsonrpc":"2.0","method":"n","params":{}}`, want: `{"jsonrpc":"2.0","method":"n","params":{}}`},
		{name: "a result", text: `{"jsonrpc":"2.0","id":1.5,"result":{"x":null}}`, want: `{"jsonrpc":"2.0","id":1.5,"result":{"x":null}}`},
		{name: "a fault", text: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no\u0020such","data":[1]}}`, want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such","data":[1]}}`},
		{name: "a fault that answers nothing", text: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, want: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`},
		{name: "a fault without an id", text: `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, want: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`},
		{name: "params that are null", text: `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, want: `{"jsonrpc":"2.0","id":1,"method":"x"}`},
		{name: "line breaks", text: "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{\r\n\t\"a\":\n\"b\\n\"}}", want: `{"jsonrpc":"2.0","id":1,"result":{` + "\t" + `"a":"b\n"}}`},
		{name: "names in other letters", text: `{"\u006asonrpc":"2.0","i\u0064":1,"\u006dethod":"x"}`, want: `{"jsonrpc":"2.0","id":1,"method":"x"}`},
		{name: "more members", text: `{"jsonrpc":"2.0","id":1,"method":"x","more":{"id":2}}`, want: `{"jsonrpc":"2.0","id":1,"method":"x"}`},
		{name: "the same name further down", text: `{"jsonrpc":"2.0","method":"x","params":{"a":{"b":1,"b":2}}}`, want: `{"jsonrpc":"2.0","method":"x","params":{"a":{"b":1,"b":2}}}`},
		{name: "an answer that is too deep for others", text: `{"jsonrpc":"2.0","id":1,"result":{"a":` + deep + `}}`, want: `{"jsonrpc":"2.0","id":1,"result":{"a":` + deep + `}}`},

		{name: "nothing", text: ``, code: codeParse},
		{name: "text", text: `listening on stdio`, code: codeParse},
		{name: "half of it", text: `{"jsonrpc":"2.0","id":1,"method":"x"`, code: codeParse},
		{name: "more behind it", text: `{"jsonrpc":"2.0","method":"x"} {}`, code: codeParse},
		{name: "not UTF-8", text: "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", code: codeParse},
		{name: "something deep that does not end", text: `{"jsonrpc":"2.0","id":1,"result":{"a":` + deep[1:] + `}}`, code: codeParse},
		{name: "a batch", text: `[{"jsonrpc":"2.0","method":"x"}]`, code: codeInvalid},
		{name: "a number", text: `1`, code: codeInvalid},
		{name: "no version", text: `{"id":1,"method":"x"}`, code: codeInvalid, id: "1"},
		{name: "another version", text: `{"jsonrpc":"1.0","id":1,"method":"x"}`, code: codeInvalid, id: "1"},
		{name: "an id that is null", text: `{"jsonrpc":"2.0","id":null,"method":"x"}`, code: codeInvalid},
		{name: "a result of null", text: `{"jsonrpc":"2.0","id":null,"result":{}}`, code: codeInvalid},
		{name: "an id that is an object", text: `{"jsonrpc":"2.0","id":{},"method":"x"}`, code: codeInvalid},
		{name: "an id that is a boolean", text: `{"jsonrpc":"2.0","id":true,"method":"x"}`, code: codeInvalid},
		{name: "two ids", text: `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, code: codeInvalid},
		{name: "two methods", text: `{"jsonrpc":"2.0","id":1,"method":"x","m\u0065thod":"y"}`, code: codeInvalid, id: "1"},
		{name: "params with a name twice", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`, code: codeInvalid, id: "1"},
		{name: "params that are an array", text: `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, code: codeInvalid, id: "1"},
		{name: "a method that is a number", text: `{"jsonrpc":"2.0","id":1,"method":1}`, code: codeInvalid, id: "1"},
		{name: "an empty method", text: `{"jsonrpc":"2.0","id":1,"method":""}`, code: codeInvalid, id: "1"},
		{name: "a method and a result", text: `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, code: codeInvalid, id: "1"},
		{name: "a result and an error", text: `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, code: codeInvalid, id: "1"},
		{name: "neither", text: `{"jsonrpc":"2.0","id":1}`, code: codeInvalid, id: "1"},
		{name: "a result without an id", text: `{"jsonrpc":"2.0","result":{}}`, code: codeInvalid},
		{name: "a result that is null", text: `{"jsonrpc":"2.0","id":1,"result":null}`, code: codeInvalid, id: "1"},
		{name: "an error that is a string", text: `{"jsonrpc":"2.0","id":1,"error":"x"}`, code: codeInvalid, id: "1"},
		{name: "an error without a code", text: `{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, code: codeInvalid, id: "1"},
		{name: "an error with half a code", text: `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`, code: codeInvalid, id: "1"},
		{name: "an error without a message", text: `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, code: codeInvalid, id: "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parseMessage([]byte(tt.text))
			if tt.want != "" {
				if got := string(m.append(nil)); err != nil || got != tt.want {
					t.Errorf("got %s, %v, want %s", short(got), err, short(tt.want))
				}
				return
			}
			var f *Fault
			if !errors.As(err, &f) || f.Code != tt.code || string(m.id) != tt.id {
				t.Errorf("got %v with id %q, want a fault with code %d and id %q", err, m.id, tt.code, tt.id)
			}
		})
	}
}

func TestMessageKinds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"x"}`:                        "true false false",
		`{"jsonrpc":"2.0","method":"x"}`:                               "false true false",
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                         "false false true",
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`: "false false true",
	} {
		m, err := parseMessage([]byte(text))
		if got := fmt.Sprint(m.isRequest(), m.isNotification(), m.isAnswer()); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestSplitServerBatch(t *testing.T) {
	for text, want := range map[string]string{
		`[{}, 1]`: "2", " [ {} ]": "1", `[]`: "an empty batch (code -32600)", `[{}`: "not JSON (code -32700)",
		`[1]`: "a batch of what are no objects (code -32600)", `[`: "a batch of what are no objects (code -32600)",
		strings.Repeat("[", 100_000): "a batch of what are no objects (code -32600)",
	} {
		all, err := splitServerBatch([]byte(text))
		got := fmt.Sprint(len(all))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("splitServerBatch(%s): got %s, want %s", short(text), got, want)
		}
	}
}

func TestSplitBatch(t *testing.T) {
	t.Parallel()
	many := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", n), ",") + "]" }
	tests := []struct {
		text string
		want int // messages
		code int
	}{
		{` [ {"a":[1]} , 2 ] `, 2, 0},
		{many(maxBatch), maxBatch, 0},
		{many(maxBatch + 1), 0, codeInvalid},
		{`[]`, 0, codeInvalid},
		{`[{}`, 0, codeParse},
		{`[{},]`, 0, codeParse},
		{`[] []`, 0, codeParse},
		{`{}`, 0, codeParse},
	}
	for _, tt := range tests {
		got, err := splitBatch([]byte(tt.text))
		var f *Fault
		if code := 0; len(got) != tt.want || errors.As(err, &f) != (tt.code != code) || f != nil && f.Code != tt.code {
			t.Errorf("splitBatch(%s) = %d messages, %v, want %d and code %d", short(tt.text), len(got), err, tt.want, tt.code)
		}
	}
}

// What is accepted as JSON is what encoding/json accepts, and a message that was
// read is the same when it is written and read again.
func FuzzParseMessage(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1.5e-3,true,false,null,"\ud800"]}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\n\"a\": \"é\\n\"}}",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"\u0000","data":{}}}`,
		`[{}]`, `{"a":1,"a":2}`, `01`, `-`, `"\u12"`, `{"jsonrpc":"2.0","error":{"code":1,"message":"a\u2028"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 5000 {
			return // encoding/json has a limit
		}
		m, err := parseMessage(text)
		var fault *Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("got %v, want a fault", err)
		}
		if isJSON := json.Valid(text) && bytes.Equal(text, bytes.ToValidUTF8(text, nil)); isJSON == (fault != nil && fault.Code == codeParse) {
			t.Fatalf("%q: got %v, encoding/json says %v", text, err, isJSON)
		}
		if err != nil {
			return
		}
		line := m.append(nil)
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("%q became %q", text, line)
		}
		again, err := parseMessage(line)
		if err != nil || !bytes.Equal(again.append(nil), line) || again.method != m.method || again.isRequest() != m.isRequest() || again.isAnswer() != m.isAnswer() {
			t.Fatalf("%q became %q, then %q, %v", text, line, again.append(nil), err)
		}
	})
}

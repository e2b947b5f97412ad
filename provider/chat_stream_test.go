package provider

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// chatChunks are the pieces of a choice as events: a delta each, or reason:… for the end.
func chatChunks(deltas ...string) string {
	var out []byte
	for _, d := range deltas {
		choice := `"delta":` + d
		if reason, ok := strings.CutPrefix(d, "reason:"); ok {
			choice = `"delta":{},"finish_reason":"` + reason + `"`
		}
		out = writeEvent(out, "", []byte(`{"id":"c","model":"m","choices":[{"index":0,`+choice+`}]}`))
	}
	return string(out)
}

// callPiece is one entry of tool_calls.
func callPiece(members string) string { return `{"tool_calls":[{` + members + `}]}` }

func TestChatStream(t *testing.T) {
	t.Parallel()
	const done = "data: [DONE]\n\n"
	streamsOf(t, Chat{}, []streamCase{
		{"text", chatChunks(`{"role":"assistant","content":""}`, `{"content":"he"}`, `{"content":"llo"}`, "reason:stop") + done, "text he | text llo", StopEnd},
		{"no [DONE]", chatChunks(`{"content":"hi"}`, "reason:stop"), "text hi", StopEnd},
		{"[DONE] cut short", chatChunks(`{"content":"hi"}`, "reason:stop") + "data: [DO", "text hi", StopEnd},
		{"no reason", chatChunks(`{"content":"hi"}`, callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":"}`)) + done, "text hi | begun 1 f", StopEnd},
		{"refusal", chatChunks(`{"refusal":"no"}`, "reason:stop"), "refusal no", StopRefusal},
		{"a filter", chatChunks(`{"content":"x"}`, "reason:content_filter"), "text x", StopRefusal},
		{"thoughts", chatChunks(`{"reasoning_content":"hm"}`, `{"reasoning":"well"}`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]},{"type":"text","text":"x"}]}`, "reason:stop"), "thought hm | thought well | thought so | text x | part ", StopEnd},
		{
			"a call in pieces",
			chatChunks(callPiece(`"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}`), callPiece(`"index":0,"function":{"arguments":"{\"a\""}`), callPiece(`"index":0,"function":{"arguments":":1}"}`), "reason:tool_calls"),
			`begun 1 f | call 1 f {"a":1}`, StopCalls,
		},
		{
			"a call is complete when the next begins",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"index":1,"id":"2","function":{"name":"g","arguments":"{"}`), `{"content":"x"}`, callPiece(`"index":1,"function":{"arguments":"}"}`), "reason:stop"),
			"begun 1 f | call 1 f {} | begun 2 g | text x | call 2 g {}", StopCalls,
		},
		{
			"interleaved",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{"}`), callPiece(`"index":1,"id":"2","function":{"name":"g","arguments":"["}`), callPiece(`"index":0,"function":{"arguments":"}"}`), callPiece(`"index":1,"function":{"arguments":"]"}`), "reason:tool_calls"),
			"begun 1 f | begun 2 g | call 1 f {} | call 2 g []", StopCalls,
		},
		{
			"no index, by id",
			chatChunks(callPiece(`"id":"1","function":{"name":"f","arguments":"{"}`), callPiece(`"id":"2","function":{"name":"f","arguments":"{}"}`), callPiece(`"id":"1","function":{"arguments":"}"}`), "reason:stop"),
			"begun 1 f | begun 2 f | call 1 f {} | call 2 f {}", StopCalls,
		},
		{
			"no index and no id, whole calls",
			chatChunks(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":{"a": 1}}}]}`, "reason:stop"),
			`begun  f | call  f {} | begun  f | call  f {"a": 1}`, StopCalls,
		},
		{
			"the same index for all",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"index":0,"id":"2","function":{"name":"f","arguments":"{\"a\":2}"}`), "reason:stop"),
			`begun 1 f | call 1 f {} | begun 2 f | call 2 f {"a":2}`, StopCalls,
		},
		{
			"the same index for all, no arguments",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f"}`), callPiece(`"index":0,"id":"2","function":{"name":"f"}`), callPiece(`"index":0,"id":"3","function":{"name":"g"}`), "reason:tool_calls"),
			"begun 1 f | call 1 f {} | begun 2 f | call 2 f {} | begun 3 g | call 3 g {}", StopCalls,
		},
		{
			"the same index for all, empty arguments",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":""}`), callPiece(`"index":0,"id":"2","function":{"name":"f","arguments":""}`), callPiece(`"index":0,"id":"3","function":{"name":"f","arguments":"{}"}`), "reason:stop"),
			"begun 3 f | begun 1 f | call 1 f {} | begun 2 f | call 2 f {} | call 3 f {}", StopCalls,
		},
		{
			"the same index for all, no arguments behind some",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}`), callPiece(`"index":0,"id":"2","function":{"name":"f"}`), "reason:stop"),
			`begun 1 f | call 1 f {"a":1} | begun 2 f | call 2 f {}`, StopCalls,
		},
		{
			"the same index for all, each in pieces with its id",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":""}`), callPiece(`"index":0,"id":"1","function":{"arguments":"{"}`), callPiece(`"index":0,"id":"1","function":{"arguments":"}"}`), callPiece(`"index":0,"id":"2","function":{"name":"f","arguments":""}`), callPiece(`"index":0,"id":"2","function":{"name":"f","arguments":""}`), "reason:stop"),
			"begun 1 f | call 1 f {} | begun 2 f | call 2 f {}", StopCalls,
		},
		{
			"the same index for all, interleaved by id",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f"}`), callPiece(`"index":0,"id":"2","function":{"name":"f"}`), callPiece(`"index":0,"id":"1","function":{"arguments":"{\"a\":1}"}`), callPiece(`"index":0,"id":"2","function":{"arguments":"{\"a\":2}"}`), "reason:stop"),
			`begun 1 f | begun 2 f | call 1 f {"a":1} | call 2 f {"a":2}`, StopCalls,
		},
		{
			"the same index and the same id for all",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"index":0,"id":"1","function":{"name":"g","arguments":"{}"}`), "reason:stop"),
			"begun 1 f | call 1 f {} | begun 1 g | call 1 g {}", StopCalls,
		},
		{
			"the same index for all, no id",
			chatChunks(callPiece(`"index":0,"function":{"name":"f","arguments":"{}"}`), callPiece(`"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}`), callPiece(`"index":0,"function":{"name":"g"}`), callPiece(`"index":0,"function":{"name":"h","arguments":""}`), "reason:stop"),
			`begun  f | call  f {} | begun  f | call  f {"a":1} | begun  g | call  g {} | begun  h | call  h {}`, StopCalls,
		},
		{
			"no index and no id, no arguments",
			chatChunks(callPiece(`"function":{"name":"f"}`), callPiece(`"function":{"name":"g","arguments":""}`), "reason:stop"),
			"begun  f | call  f {} | begun  g | call  g {}", StopCalls,
		},
		{
			"a new id for each piece",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f"}`), callPiece(`"index":0,"id":"2","function":{"arguments":"{"}`), callPiece(`"index":0,"id":"3","function":{"name":"f","arguments":"}"}`), "reason:stop"),
			"begun 1 f | call 1 f {}", StopCalls,
		},
		{
			"no id, and the name in every piece",
			chatChunks(callPiece(`"index":0,"function":{"name":"f","arguments":""}`), callPiece(`"index":0,"function":{"name":"f","arguments":"{"}`), callPiece(`"index":0,"function":{"name":"f","arguments":"}"}`), callPiece(`"index":0,"function":{"name":"f","arguments":""}`), "reason:stop"),
			"begun  f | call  f {}", StopCalls,
		},
		{
			"id and name in every piece",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{"}`), callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"}"}`), "reason:stop"),
			"begun 1 f | call 1 f {}", StopCalls,
		},
		{
			"a name in pieces",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"get_"}`), callPiece(`"index":0,"function":{"name":"time","arguments":null}`), callPiece(`"index":0,"function":{"arguments":"{}"}`), "reason:stop"),
			"begun 1 get_time | call 1 get_time {}", StopCalls,
		},
		{"no arguments", chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f"}`), "reason:tool_calls"), "begun 1 f | call 1 f {}", StopCalls},
		{"arguments that are no JSON", chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{a"}`), "reason:tool_calls"), "begun 1 f | call 1 f {a", StopCalls},
		{"no name", chatChunks(callPiece(`"index":0,"function":{"arguments":"{}"}`), "reason:stop"), "", StopEnd},
		{"nothing", chatChunks(callPiece(`"index":0`), `{"tool_calls":null}`, "reason:stop"), "", StopEnd},
		{"as before there were tools", chatChunks(`{"function_call":{"name":"f","arguments":"{"}}`, `{"function_call":{"arguments":"}"}}`, "reason:function_call"), "begun  f | call  f {}", StopCalls},
		{
			"cut short: a closed call is a whole one, another is not",
			chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"index":1,"id":"2","function":{"name":"g","arguments":"{\"a\":1"}`), "reason:length"),
			"begun 1 f | call 1 f {} | begun 2 g", StopLength,
		},
		{"cut short before the arguments", chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":""}`), "reason:length"), "", StopLength},
		{"cut short in a number", chatChunks(callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"1"}`), "reason:length"), "begun 1 f", StopLength},
		{"only the first choice", `data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", "text a", StopEnd},
		{"a reason that is not known", chatChunks(`{"content":"x"}`, "reason:abort"), "text x", StopOther},
		{"plain JSON", `{"choices":[{"message":{"content":"x","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`, "text x | begun 1 f | call 1 f {}", StopCalls},
		{"text that is only completed", `data: {"choices":[{"text":"x","index":0,"finish_reason":"length"}]}` + "\n\n", "text x", StopLength},
	})
}

func TestChatStreamUsage(t *testing.T) {
	t.Parallel()
	end := chatChunks("reason:stop")
	for _, tt := range []struct {
		stream string
		want   Usage
	}{
		{end + `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}` + "\n\n", Usage{Input: 9, Output: 5, CacheRead: 4, Thought: 3}},
		{end + `data: {"choices":[],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":5}}}` + "\n\n", Usage{Input: 9, Output: 5}},
		// xAI counts thoughts beside the output: the total says so.
		{end + `data: {"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":3}}}` + "\n\n", Usage{Input: 9, Output: 8, Thought: 3}},
		{end + `data: {"usage":null}` + "\n\n", Usage{}},
	} {
		a, err := Chat{}.Stream(strings.NewReader(tt.stream), nil)
		if err != nil || a.Usage != tt.want {
			t.Errorf("usage: got %+v, %v, want %+v", a.Usage, err, tt.want)
		}
	}
}

func TestChatStreamFails(t *testing.T) {
	t.Parallel()
	begun := chatChunks(`{"content":"hel"}`, callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`))
	next := chatChunks(callPiece(`"index":1,"id":"2","function":{"name":"g","arguments":"{\"a"}`))
	t.Run("A2 a stream that breaks off has what was complete", func(t *testing.T) {
		t.Parallel()
		a, err := Chat{}.Stream(strings.NewReader(begun+next), nil)
		if !errors.Is(err, io.ErrUnexpectedEOF) || a.Text() != "hel" || len(a.Calls()) != 1 || a.Stop != "" {
			t.Errorf("got %+v, %v, want the text, the first call and an unexpected end", a, err)
		}
	})
	t.Run("what nothing came behind may be half of it", func(t *testing.T) {
		t.Parallel()
		if a, err := (Chat{}).Stream(strings.NewReader(begun), nil); err == nil || len(a.Calls()) != 0 {
			t.Errorf("got %+v, %v, want an error and no call", a, err)
		}
	})
	for _, tt := range []struct {
		name, event, code string
		again             bool
	}{
		{"an object", `data: {"error":{"message":"busy","type":"server_error","code":null}}`, "server_error", true},
		{"a status", `data: {"id":"x","choices":[{"delta":{},"finish_reason":"error"}],"error":{"code":502,"message":"bad gateway"}}`, "", true},
		{"the account is empty", `data: {"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`, "insufficient_quota", false},
		{"a field of its own", `error: {"code":500,"message":"context shift","type":"server_error"}`, "server_error", true},
		{"an event called error", "event: error\n" + `data: {"message":"busy","code":"rate_limit_exceeded"}`, "rate_limit_exceeded", true},
	} {
		t.Run("an error as "+tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := Chat{}.Stream(strings.NewReader(begun+next+tt.event+"\n\n"), nil)
			var said *Error
			if !errors.As(err, &said) || said.Code != tt.code || said.Again != tt.again {
				t.Fatalf("got %#v, want code %q, again %t", err, tt.code, tt.again)
			}
			if len(a.Calls()) != 1 {
				t.Errorf("got %d calls, want the one that was complete", len(a.Calls()))
			}
		})
	}
	t.Run("malformed", func(t *testing.T) {
		t.Parallel()
		for _, event := range []string{"data: {nonsense\n\n", "event: chunk\ndata: 7\n\n", chatChunks(`{"tool_calls":"x"}`), chatChunks(callPiece(`"index":0,"function":{"arguments":"{\"b\":1}"}`))} {
			_, err := Chat{}.Stream(strings.NewReader(begun+next+event), nil)
			if err == nil || !strings.Contains(err.Error(), "event") {
				t.Errorf("%.30q: got %v, want an error that names the event", event, err)
			}
		}
	})
	t.Run("nothing but [DONE]", func(t *testing.T) {
		t.Parallel()
		if _, err := (Chat{}).Stream(strings.NewReader("data: [DONE]\n\n"), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want an unexpected end", err)
		}
	})
}

// Thoughts that come in pieces go back as if they had come in one.
func TestChatThoughts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, stream, text, own string }{
		{"reasoning_content", chatChunks(`{"reasoning_content":"a"}`, `{"reasoning_content":"b"}`, "reason:stop"), "ab", `{"reasoning_content":"ab"}`},
		{"reasoning", chatChunks(`{"reasoning":"a"}`, `{"reasoning":"b"}`, "reason:stop"), "ab", `{"reasoning":"ab"}`},
		{
			"details",
			chatChunks(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"x"}]}`, `{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":"s"}]}`,
				`{"reasoning_details":[{"type":"reasoning.encrypted","data":"zz","index":1}]}`, "reason:stop"),
			"ab", `{"reasoning_details":[{"type":"reasoning.text","text":"ab","signature":"s","format":"x","index":0},{"type":"reasoning.encrypted","data":"zz","index":1}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := Chat{}.Stream(strings.NewReader(tt.stream), nil)
			if err != nil || len(a.Parts) != 1 {
				t.Fatalf("got %+v, %v", a, err)
			}
			if p := a.Parts[0]; p.Text != tt.text || string(p.Own) != tt.own || p.Of != "openai-chat" {
				t.Errorf("got %q with %s, want %q with %s", p.Text, p.Own, tt.text, tt.own)
			}
		})
	}
}

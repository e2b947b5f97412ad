package provider

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func definition() tool.Definition {
	return tool.Definition{
		Name: "add", Description: "Adds <numbers>.",
		Input:    json.RawMessage(`{"type":"object","$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"]}`),
		Tags:     []string{"math", "quick"},
		Examples: []tool.Example{{Input: json.RawMessage(`{"a":1}`), Output: json.RawMessage(`2`)}, {Input: json.RawMessage(`{"a":2}`)}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	const described = `"Adds <numbers>.\n\nTags: math, quick\n\nExamples:\n- {\"a\":1} gives 2\n- {\"a\":2}"`
	for _, tt := range []struct {
		format Format
		give   tool.Definition
		want   string
	}{
		{Anthropic{}, definition(), `{"name":"add","description":` + described + `,"input_schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}`},
		{Gemini{}, definition(), `{"name":"add","description":` + described + `,"parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}`},
		{Chat{}, definition(), `{"type":"function","function":{"name":"add","description":` + described + `,"parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}}`},
		{Responses{}, definition(), `{"type":"function","name":"add","description":` + described + `,"parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},"strict":false}`},
		{Anthropic{}, tool.Definition{Name: "now", Input: json.RawMessage(`{"type":"object"}`)}, `{"name":"now","input_schema":{"type":"object"}}`},
		{Gemini{}, tool.Definition{Name: "now", Input: json.RawMessage(`{"type":"object"}`)}, `{"name":"now"}`},
		{Responses{}, tool.Definition{Name: "now", Input: json.RawMessage("{}")}, `{"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false}`},
		{Anthropic{}, tool.Definition{Name: "nothing"}, `{"name":"nothing","input_schema":{"type":"object","properties":{}}}`},
		{Gemini{}, tool.Definition{Name: "nothing"}, `{"name":"nothing"}`},
		{Chat{}, tool.Definition{Name: "nothing"}, `{"type":"function","function":{"name":"nothing","parameters":{"type":"object","properties":{}}}}`},
	} {
		t.Run("T16 "+tt.format.String()+" "+tt.give.Name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.format.Render(tt.give)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	for _, f := range Formats() {
		for _, in := range []string{"{", "7"} {
			if _, err := f.Render(tool.Definition{Name: "bad", Input: json.RawMessage(in)}); err == nil || !strings.Contains(err.Error(), "bad") {
				t.Errorf("%s: got %v for %s, want an error that names the tool", f, err, in)
			}
		}
	}
}

func call(id, name, input string) Part {
	return Part{Kind: PartCall, Call: &tool.Call{ID: id, Name: name, Input: json.RawMessage(input)}}
}

func result(id string, failed bool, content ...tool.Content) Part {
	return Part{Kind: PartResult, Result: &Result{CallID: id, Content: content, Error: failed}}
}

func image() tool.Content {
	return tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: []byte{1, 2}}
}

func said(role Role, parts ...Part) Message { return Message{Role: role, Parts: parts} }

func TestAnthropicMessages(t *testing.T) {
	t.Parallel()
	thought := Part{Kind: PartThought, Text: "hm", Own: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"s"}`), Of: "anthropic"}
	own := func(text string) Part { return Part{Kind: PartOwn, Own: json.RawMessage(text), Of: "anthropic"} }
	search := own(`{"type":"server_tool_use","id":"s"}`)
	foreign := Part{Kind: PartOwn, Own: json.RawMessage(`{"type":"reasoning"}`), Of: "openai-responses"}
	pdf := tool.Content{Type: tool.LinkContent, MediaType: "application/pdf", Data: []byte("%PDF"), Name: "a.pdf"}
	for _, tt := range []struct {
		name string
		give []Message
		want string
	}{
		{"text", []Message{said(User, Text("hi <you>"))}, `[{"role":"user","content":[{"type":"text","text":"hi <you>"}]}]`},
		{"blank text is left out", []Message{said(User, Text(" \n"), Text("x"), Text("")), said(Assistant, Text(" ")), said(User, Text("y"))}, `[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`},
		{"white space behind a last text of the assistant", []Message{said(User, Text("x ")), said(Assistant, Text("so \n"), Text(" "))}, `[{"role":"user","content":[{"type":"text","text":"x "}]},{"role":"assistant","content":[{"type":"text","text":"so"}]}]`},
		{"thoughts need their signature", []Message{said(Assistant, Part{Kind: PartThought, Text: "no"}, thought, foreign, call("a", "add", "{}"))}, `[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"add","input":{}}]}]`},
		{"input that is no object", []Message{said(Assistant, call("a", "add", `{"x":`), call("b", "add", ``), call("c", "add", `[1]`), call("d", "add", " {\"x\": 1}\n"))}, `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"add","input":{"invalid_json":"{\"x\":"}},{"type":"tool_use","id":"b","name":"add","input":{}},{"type":"tool_use","id":"c","name":"add","input":{"invalid_json":"[1]"}},{"type":"tool_use","id":"d","name":"add","input":{"x": 1}}]}]`},
		{"ids of others", []Message{said(Assistant, call("fc_1|call.2", "add", `{}`)), said(User, result("fc_1|call.2", false))}, `[{"role":"assistant","content":[{"type":"tool_use","id":"fc_1_call_2_76f7d5996b4c49a4","name":"add","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"fc_1_call_2_76f7d5996b4c49a4"}]}]`},
		{"A3 results come first, from all messages that follow", []Message{said(User, Text("x"), result("a", false, tool.Text("1"))), said(User, Text("y"), result("b", false, tool.Text("2")))}, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"2"}]},{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`},
		{"images in results", []Message{said(User, result("a", false, tool.Text("see"), image(), tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(`{"x":1}`)}))}, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}},{"type":"text","text":"{\"x\":1}"}]}]}]`},
		{"images of a failure come behind it", []Message{said(User, result("a", true, image()), result("b", true))}, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"[image:image/png]"}],"is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"The tool failed and gave no reason."}],"is_error":true},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}}]}]`},
		{"media", []Message{said(User, Part{Kind: PartMedia, Media: &tool.Content{Type: tool.ImageContent, URI: "https://x/y"}}, Part{Kind: PartMedia, Media: &pdf}, Part{Kind: PartMedia, Media: &tool.Content{Type: tool.AudioContent, MediaType: "audio/wav", Data: []byte{1}}}, Part{Kind: PartMedia})}, `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/y"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"a.pdf"},{"type":"text","text":"[audio:audio/wav]"}]}]`},
		{"an id that was changed", []Message{said(Assistant, Part{Kind: PartCall, Call: &tool.Call{ID: "new", Name: "add"}, Own: json.RawMessage(`{"type":"tool_use","id":"old","name":"add","input":{},"caller":{"type":"x"}}`), Of: "anthropic"})}, `[{"role":"assistant","content":[{"type":"tool_use","id":"new","name":"add","input":{},"caller":{"type":"x"}}]}]`},
		{"a call that a hook changed", []Message{said(Assistant, Part{Kind: PartCall, Call: &tool.Call{ID: "a", Name: "sub", Input: json.RawMessage(`{"x":2}`)}, Own: json.RawMessage(`{"type":"tool_use","id":"a","name":"add","input":{"x":1},"caller":{"type":"x"}}`), Of: "anthropic"})}, `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"sub","input":{"x":2},"caller":{"type":"x"}}]}]`},
		{"a text that a hook changed", []Message{said(Assistant, Part{Kind: PartText, Text: "new", Own: json.RawMessage(`{"type":"text","text":"old","citations":[{}]}`), Of: "anthropic"})}, `[{"role":"assistant","content":[{"type":"text","text":"new"}]}]`},
		{"cut off behind a thought", []Message{said(User, Text("x")), said(Assistant, thought, own(`{"type":"redacted_thinking","data":"d"}`), Text(" ")), said(User, Text("y"))}, `[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`},
		{"cut off behind a thought behind a text", []Message{said(Assistant, Text("x"), thought, foreign), said(User, Text("y"))}, `[{"role":"assistant","content":[{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"y"}]}]`},
		{"cut off behind a search", []Message{said(Assistant, Text("x"), thought, search), said(User, Text("y"))}, `[{"role":"assistant","content":[{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"y"}]}]`},
		{"a call at another server without its result", []Message{said(Assistant, own(`{"type":"mcp_tool_use","id":"m"}`), Text("x")), said(User, Text("y"))}, `[{"role":"assistant","content":[{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"y"}]}]`},
		{"a search with its result", []Message{said(Assistant, search, own(`{"type":"web_search_tool_result","tool_use_id":"s"}`)), said(User, Text("y"))}, `[{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"web_search_tool_result","tool_use_id":"s"}]},{"role":"user","content":[{"type":"text","text":"y"}]}]`},
		{"a search that the provider is to go on with", []Message{said(User, Text("y")), said(Assistant, thought, search)}, `[{"role":"user","content":[{"type":"text","text":"y"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"server_tool_use","id":"s"}]}]`},
		{
			"a program that waits for a tool of ours",
			[]Message{said(Assistant, search, Part{Kind: PartCall, Call: &tool.Call{ID: "a", Name: "add"}, Own: json.RawMessage(`{"type":"tool_use","id":"a","name":"add","input":{},"caller":{"type":"x","tool_id":"s"}}`), Of: "anthropic"}), said(User, result("a", false))},
			`[{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"tool_use","id":"a","name":"add","input":{},"caller":{"type":"x","tool_id":"s"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`,
		},
		{"nothing", []Message{said(User), said(Assistant, Part{Kind: PartCall}, Part{Kind: PartResult}, Part{Kind: "odd"})}, `[]`},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			body, err := Anthropic{}.WriteRequest(Request{Messages: tt.give})
			if want := `{"max_tokens":8192,"messages":` + tt.want + `}`; err != nil || string(body) != want {
				t.Errorf("got\n%s, %v\nwant\n%s", body, err, want)
			}
		})
	}
}

func TestAnthropicIDs(t *testing.T) {
	t.Parallel()
	t.Run("A2 no two ids become one", func(t *testing.T) {
		t.Parallel()
		from := map[string]string{}
		for _, id := range []string{"a.0", "a:0", "a_0", "a-0", "é", "è", "_", anthropicID("a.0"), anthropicID("a:0"), anthropicID(anthropicID("a.0")), "call_0123456789abcdef", "_0123456789abcdef"} {
			sent := anthropicID(id)
			if other, there := from[sent]; there {
				t.Errorf("%q and %q are both sent as %q", id, other, sent)
			}
			from[sent] = id
			if strings.Trim(sent, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
				t.Errorf("%q is sent as %q, want letters that the API takes", id, sent)
			}
		}
	})
	t.Run("A2 what the API takes stays as it is", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"toolu_01A09q90qw90lq917835lhds", "call_1", "chatcmpl-tool-0123456789abcdef", ""} {
			if got := anthropicID(id); got != id {
				t.Errorf("%q is sent as %q", id, got)
			}
		}
	})
}

func TestAnthropicRequest(t *testing.T) {
	t.Parallel()
	tools := json.RawMessage(`[{"name":"a","input_schema":{"type":"object"}} , {"name":"b"}]`)
	ask := []Message{said(User, Text("1")), said(Assistant, Text("2")), said(User, Text("3")), said(Assistant, Text("4")), said(User, Text("5"))}
	const mark = `"cache_control":{"type":"ephemeral"}`
	t.Run("A2 marks of the cache", func(t *testing.T) {
		t.Parallel()
		body, err := Anthropic{}.WriteRequest(Request{Model: "m", System: "s", Tools: tools, Messages: ask, MaxTokens: 5, Stream: true, Cache: true, Choice: Choice{Mode: "tool", Name: "a", Alone: true}})
		want := `{"model":"m","max_tokens":5,"stream":true,"tools":[{"name":"a","input_schema":{"type":"object"}} , {"name":"b",` + mark + `}],"tool_choice":{"type":"tool","name":"a","disable_parallel_tool_use":true},"system":[{"type":"text","text":"s",` + mark + `}],"messages":[` +
			`{"role":"user","content":[{"type":"text","text":"1"}]},{"role":"assistant","content":[{"type":"text","text":"2"}]},{"role":"user","content":[{"type":"text","text":"3",` + mark + `}]},{"role":"assistant","content":[{"type":"text","text":"4"}]},{"role":"user","content":[{"type":"text","text":"5",` + mark + `}]}]}`
		if err != nil || string(body) != want {
			t.Errorf("got\n%s, %v\nwant\n%s", body, err, want)
		}
		again, err := Anthropic{}.ReadRequest(body)
		if err != nil || !again.Cache || strings.Contains(string(again.Tools), "cache") || again.System != "s" || !reflect.DeepEqual(again.Messages, ask) {
			t.Errorf("read again: %+v, %v", again, err)
		}
	})
	t.Run("A2 never more marks than the API takes", func(t *testing.T) {
		t.Parallel()
		marked := json.RawMessage(`[{"name":"a",` + mark + `},{"name":"b",` + mark + `},{"name":"c",` + mark + `}]`)
		body, err := Anthropic{}.WriteRequest(Request{System: "s", Tools: marked, Messages: ask, Cache: true})
		if n := strings.Count(string(body), "cache_control"); err != nil || n != 4 {
			t.Errorf("%d marks, %v, want 4: %s", n, err, body)
		}
	})
	t.Run("A2 what is loaded later is not marked", func(t *testing.T) {
		t.Parallel()
		body, err := Anthropic{}.WriteRequest(Request{Tools: json.RawMessage(`[{"name":"a","defer_loading":true}]`), Cache: true})
		if err != nil || strings.Contains(string(body), "cache_control") {
			t.Errorf("got %s, %v, want no mark", body, err)
		}
	})
	t.Run("A2 unknown members come back", func(t *testing.T) {
		t.Parallel()
		const text = `{"model":"m","max_tokens":5,"tools":[{"name":"a"}],"system":"s","messages":[],"metadata":{"user_id":"<u>"},"temperature":0.50,"tool_choice":{"type":"new"}}`
		r, err := Anthropic{}.ReadRequest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := (Anthropic{}).WriteRequest(r); err != nil || string(body) != text {
			t.Errorf("got %s, %v, want %s", body, err, text)
		}
	})
	t.Run("A2 extra members replace", func(t *testing.T) {
		t.Parallel()
		body, err := Anthropic{}.WriteRequest(Request{System: "s", MaxTokens: 1, Extra: map[string]json.RawMessage{"max_tokens": json.RawMessage("2"), "system": json.RawMessage(`"t"`)}})
		if want := `{"messages":[],"max_tokens":2,"system":"t"}`; err != nil || string(body) != want {
			t.Errorf("got %s, %v, want %s", body, err, want)
		}
	})
	t.Run("A2 content as a string, system as blocks", func(t *testing.T) {
		t.Parallel()
		r, err := Anthropic{}.ReadRequest([]byte(`{"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"hi"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"ok"}]}]}`))
		want := []Message{said(User, Text("hi")), said(User, result("x", false, tool.Text("ok")))}
		if err != nil || r.System != "a\n\nb" || !reflect.DeepEqual(r.Messages, want) {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	for _, text := range []string{`[]`, `{`, `{"messages":7}`, `{"messages":[{"role":"user","content":7}]}`, `{"messages":[{"role":"user","content":[7]}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":7}]}]}`, `{"max_tokens":"x"}`, `{"system":7}`} {
		if r, err := (Anthropic{}).ReadRequest([]byte(text)); err == nil {
			t.Errorf("%s reads as %+v, want an error", text, r)
		}
	}
	for _, r := range []Request{{Tools: json.RawMessage(`[`)}, {Tools: json.RawMessage(`{}`)}, {Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}} {
		for _, f := range []Format{Anthropic{}, Gemini{}} {
			if body, err := f.WriteRequest(r); err == nil {
				t.Errorf("%s: %+v is written as %s, want an error", f, r, body)
			}
		}
	}
}

func TestAnthropicAnswer(t *testing.T) {
	t.Parallel()
	const text = `{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"add","input":{"x":1},"caller":{"type":"direct"}},{"type":"mcp_tool_use","id":"b"}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4}}`
	a, err := Anthropic{}.ReadAnswer([]byte(text))
	if want := `thought hm anthropic:{"type":"thinking","thinking":"hm","signature":"s"} | text x | call a add {"x":1} | own anthropic:{"type":"mcp_tool_use","id":"b"} | stop calls`; err != nil || shown(a) != want {
		t.Errorf("got %s, %v, want %s", shown(a), err, want)
	}
	if want := (Usage{Input: 6, Output: 4, CacheRead: 3, CacheWrite: 2}); a.Usage != want || a.ID != "m" || a.Model != "c" {
		t.Errorf("got %+v, want %+v", a, want)
	}
	for reason, want := range map[string]Stop{"end_turn": StopEnd, "stop_sequence": StopEnd, "max_tokens": StopLength, "pause_turn": StopPause, "refusal": StopRefusal, "model_context_window_exceeded": StopLength, "never_heard": StopOther} {
		a, err := Anthropic{}.ReadAnswer([]byte(`{"type":"message","content":[],"stop_reason":"` + reason + `"}`))
		if err != nil || a.Stop != want {
			t.Errorf("%s: got %s, %v, want %s", reason, a.Stop, err, want)
		}
	}
	var e *Error
	if _, err := (Anthropic{}).ReadAnswer([]byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`)); !errors.As(err, &e) || !e.Again {
		t.Errorf("got %v, want an error to try again", err)
	}
	for _, text := range []string{``, `{`, `{}`, `{"type":"message","content":[{"type":"text","text":1}]}`} {
		if a, err := (Anthropic{}).ReadAnswer([]byte(text)); err == nil {
			t.Errorf("%q reads as %+v, want an error", text, a)
		}
	}
}

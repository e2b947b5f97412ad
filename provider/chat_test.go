package provider

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func sameJSON(got []byte, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

// conversation is one with all that is written differently.
func conversation() []Message {
	image := tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: []byte{1}}
	one, two := &tool.Call{ID: "1", Name: "f"}, &tool.Call{ID: "2", Name: "g", Input: json.RawMessage("{a")}
	return []Message{
		{Role: User, Parts: []Part{Text("hi")}},
		{Role: Assistant, Parts: []Part{
			{Kind: PartThought, Text: "hm", Own: json.RawMessage(`{"type":"thinking"}`), Of: "anthropic"},
			{Kind: PartOwn, Own: json.RawMessage(`{"type":"server_tool_use"}`), Of: "anthropic"},
			Text("so"),
			{Kind: PartCall, Call: one},
			{Kind: PartCall, Call: two},
		}},
		{Role: User, Parts: []Part{
			{Kind: PartResult, Result: &Result{CallID: "1", Content: []tool.Content{tool.Text("see"), image}}},
			{Kind: PartResult, Result: &Result{CallID: "2", Content: []tool.Content{tool.Text("bad JSON")}, Error: true}},
			Text("and?"),
		}},
	}
}

func TestOpenAIWriteRequest(t *testing.T) {
	t.Parallel()
	r := Request{Model: "m", System: "be brief", Messages: conversation(), Tools: json.RawMessage(`[{"x":1}]`), Choice: Choice{Mode: "any", Alone: true}, MaxTokens: 7, Stream: true, Extra: map[string]json.RawMessage{"store": json.RawMessage("false")}}
	for _, tt := range []struct {
		f    Format
		want string
	}{
		{Chat{}, `{"model":"m","messages":[
			{"role":"system","content":"be brief"},
			{"role":"user","content":"hi"},
			{"role":"assistant","content":"so","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"{a"}}]},
			{"role":"tool","tool_call_id":"1","content":"see\n[image:image/png]"},
			{"role":"tool","tool_call_id":"2","content":"bad JSON"},
			{"role":"user","content":[{"type":"text","text":"From the result of 1:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQ=="}},{"type":"text","text":"and?"}]}
		],"tools":[{"x":1}],"tool_choice":"required","parallel_tool_calls":false,"max_tokens":7,"stream":true,"stream_options":{"include_usage":true},"store":false}`},
		{Responses{}, `{"model":"m","instructions":"be brief","input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"message","role":"assistant","content":"so"},
			{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
			{"type":"function_call","call_id":"2","name":"g","arguments":"{a"},
			{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AQ=="}]},
			{"type":"function_call_output","call_id":"2","output":"bad JSON"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"and?"}]}
		],"tools":[{"x":1}],"tool_choice":"required","parallel_tool_calls":false,"max_output_tokens":7,"stream":true,"store":false}`},
	} {
		got, err := tt.f.WriteRequest(r)
		if err != nil || !sameJSON(got, tt.want) {
			t.Errorf("%s: got\n%s, %v, want\n%s", tt.f, got, err, tt.want)
		}
	}
	for _, bad := range []Request{{Tools: json.RawMessage("{")}, {Extra: map[string]json.RawMessage{"x": nil}}} {
		for _, f := range []Format{Chat{}, Responses{}} {
			if _, err := f.WriteRequest(bad); err == nil {
				t.Errorf("%s: got no error for %+v", f, bad)
			}
		}
	}
}

func TestChatLimit(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"gpt-4o": "max_tokens", "gpt-5-mini": "max_completion_tokens", "openai/o4-mini": "max_completion_tokens", "olmo": "max_tokens", "gpt-oss-120b": "max_tokens",
	} {
		if got := chatLimit(model); got != want {
			t.Errorf("chatLimit(%q) = %s, want %s", model, got, want)
		}
	}
	t.Run("whichever came goes out again", func(t *testing.T) {
		t.Parallel()
		const body = `{"model":"gpt-4o","messages":[],"max_completion_tokens":9}`
		r, err := Chat{}.ReadRequest([]byte(body))
		if err != nil || r.MaxTokens != 9 {
			t.Fatalf("got %+v, %v", r, err)
		}
		if got, err := (Chat{}).WriteRequest(r); err != nil || !sameJSON(got, body) {
			t.Errorf("got %s, %v, want %s", got, err, body)
		}
	})
}

// What a request has that we have no form for goes out as it came in.
func TestOpenAIKeeps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f    Format
		body string
	}{
		{Chat{}, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"developer","content":"now be kind"},{"role":"user","content":"b"}],"seed":1}`},
		{Chat{}, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},{"type":"file","file":{"file_id":"f"}}]}]}`},
		{Chat{}, `{"model":"m","messages":[{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}]}`},
		{Chat{}, `{"model":"m","messages":[{"role":"assistant","content":null,"refusal":"no"}],"tool_choice":{"type":"allowed_tools"},"parallel_tool_calls":true}`},
		{Responses{}, `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"developer","content":"now be kind"}],"previous_response_id":"r"}`},
		{Responses{}, `{"model":"m","input":[{"type":"custom_tool_call","call_id":"1","name":"sql","input":"SELECT"},{"type":"custom_tool_call_output","call_id":"1","output":"3"},{"type":"item_reference","id":"x"}]}`},
		{Responses{}, `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://x/y.png","detail":"high"},{"type":"input_file","file_id":"f"},{"type":"input_file","file_url":"https://x/y"}]}]}`},
		{Responses{}, `{"model":"m","input":[{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]}]}]}`},
		{Responses{}, `{"model":"m","input":[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}],"tool_choice":{"type":"web_search"}}`},
	} {
		r, err := tt.f.ReadRequest([]byte(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if got, err := tt.f.WriteRequest(r); err != nil || !sameJSON(got, tt.body) {
			t.Errorf("%s: got\n%s, %v, want\n%s", tt.f, got, err, tt.body)
		}
	}
}

// The form that a provider knows is that of another call once ids or input have changed.
func TestOpenAIOwnThatNoLongerHolds(t *testing.T) {
	t.Parallel()
	call := &tool.Call{ID: "new", Name: "f", Input: json.RawMessage("{}")}
	for _, tt := range []struct {
		f         Format
		own, want string
	}{
		{Chat{}, `{"id":"old","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"a":1}}`, `{"model":"","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"new","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`},
		{Responses{}, `{"type":"function_call","id":"fc","call_id":"old","name":"f","arguments":"{}"}`, `{"model":"","input":[{"type":"function_call","call_id":"new","name":"f","arguments":"{}"}]}`},
	} {
		p := Part{Kind: PartCall, Call: call, Own: json.RawMessage(tt.own), Of: tt.f.String()}
		got, err := tt.f.WriteRequest(Request{Messages: []Message{{Role: Assistant, Parts: []Part{p}}}})
		if err != nil || !sameJSON(got, tt.want) {
			t.Errorf("%s: got\n%s, %v, want\n%s", tt.f, got, err, tt.want)
		}
	}
}

// A thought that only the provider's store could explain is not sent where nothing is
// stored, and then the call goes without the id that asks for the thought.
func TestResponsesWithoutStore(t *testing.T) {
	t.Parallel()
	parts := []Part{
		{Kind: PartThought, Own: json.RawMessage(`{"type":"reasoning","id":"rs","summary":[]}`), Of: "openai-responses"},
		{Kind: PartCall, Call: &tool.Call{ID: "1", Name: "f", Input: json.RawMessage("{}")}, Own: json.RawMessage(`{"type":"function_call","id":"fc","call_id":"1","name":"f","arguments":"{}"}`), Of: "openai-responses"},
	}
	got, err := Responses{}.WriteRequest(Request{Messages: []Message{{Role: Assistant, Parts: parts}}, Extra: map[string]json.RawMessage{"store": json.RawMessage("false")}})
	if want := `{"model":"","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}],"store":false}`; err != nil || string(got) != want {
		t.Errorf("got\n%s, %v, want\n%s", got, err, want)
	}
}

func TestOpenAIReadAnswerFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, code string }{
		{`{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`, "model_not_found"},
		{`{"error":"busy"}`, ""},
		{`{"object":"error","message":"x","type":"BadRequestError","code":400}`, "BadRequestError"},
	} {
		for _, f := range []Format{Chat{}, Responses{}} {
			_, err := f.ReadAnswer([]byte(tt.body))
			var said *Error
			if !errors.As(err, &said) || said.Code != tt.code {
				t.Errorf("%s: %s: got %v, want code %q", f, tt.body, err, tt.code)
			}
		}
	}
	for _, body := range []string{"", "[]", "{}", `{"choices":[{}]}`, `{"output":7}`} {
		for _, f := range []Format{Chat{}, Responses{}} {
			if a, err := f.ReadAnswer([]byte(body)); err == nil {
				t.Errorf("%s: %s: got %+v, want an error", f, body, a)
			}
		}
	}
}

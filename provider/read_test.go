package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const (
		use      = `{"type":"tool_use","id":"1","name":"f","input":{"a":1}}`
		item     = `{"type":"function_call","id":"fc","call_id":"1","name":"f","arguments":"{\"a\":1}"}`
		chatCall = `{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}`
		part     = `{"functionCall":{"id":"1","name":"f","args":{"a":1}}}`
	)
	for _, tt := range []struct {
		name, text string
		f          Format
	}{
		{"answer", `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"x"},` + use + `],"stop_reason":"tool_use"}`, Anthropic{}},
		{"message", `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},` + use + `]}`, Anthropic{}},
		{"content", ` [{"type":"text","text":"x"},` + use + `]`, Anthropic{}},
		{"block", use, Anthropic{}},
		{"answer", `{"object":"response","status":"completed","output":[` + item + `]}`, Responses{}},
		{"output", `[{"type":"reasoning","id":"rs","summary":[]},` + item + `]`, Responses{}},
		{"item", item, Responses{}},
		{"answer", `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[` + chatCall + `]},"finish_reason":"tool_calls"}]}`, Chat{}},
		{"message", `{"role":"assistant","content":[{"type":"text","text":"x"}],"tool_calls":[` + chatCall + `]}`, Chat{}},
		{"calls", `[` + chatCall + `]`, Chat{}},
		{"call", chatCall, Chat{}},
		{"answer", `{"candidates":[{"content":{"role":"model","parts":[{"text":"x"},` + part + `]},"finishReason":"STOP"}]}`, Gemini{}},
		{"answers", `[{"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]}}]},` + "\n" + `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP"}]}]`, Gemini{}},
		{"candidate", `{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP"}`, Gemini{}},
		{"content", `{"role":"model","parts":[` + part + `]}`, Gemini{}},
		{"parts", `[{"text":"x"},` + part + `]`, Gemini{}},
		{"part", part, Gemini{}},
	} {
		t.Run(fmt.Sprint(tt.f, " ", tt.name), func(t *testing.T) {
			t.Parallel()
			calls, f, err := Read([]byte(tt.text))
			if err != nil || f != tt.f || len(calls) != 1 || calls[0].Name != "f" || string(calls[0].Input) != `{"a":1}` {
				t.Errorf("got %v of %v, %v, want one call of %v", calls, f, err, tt.f)
			}
		})
	}
	a := Answer{ID: "x", Model: "m", Stop: StopCalls, Parts: []Part{Text("x"), {Kind: PartCall, Call: &tool.Call{ID: "1", Name: "f", Input: []byte("{}")}}}}
	for _, f := range Formats() {
		stream, err := f.WriteStream(a)
		if err != nil {
			t.Fatal(err)
		}
		if calls, got, err := Read(stream); err != nil || got != f || len(calls) != 1 {
			t.Errorf("a stream of %s: got %v of %v, %v", f, calls, got, err)
		}
		if calls, _, err := Read(stream[:len(stream)/2]); err == nil {
			t.Errorf("half a stream of %s: got %v, want an error", f, calls)
		}
	}
	for _, text := range []string{`{"role":"assistant","content":"x"}`, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`} {
		if calls, f, err := Read([]byte(text)); err != nil || f == nil || len(calls) != 0 {
			t.Errorf("%s: got %v of %v, %v, want no calls", text, calls, f, err)
		}
	}
}

func TestReadFails(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "got nothing",
		"hello":                  `neither JSON nor events: "hello"`,
		"{":                      "malformed JSON",
		"[":                      "malformed JSON",
		"[]":                     "an empty list",
		"[1]":                    `a list with "1" in it`,
		`{"name":"f","input":1}`: "an object with input, name",
		`[{"name":"f"}]`:         "a list of objects with name",
		`{"error":{"message":"busy","code":"server_error"}}`: "an error of the provider (provider: server_error: busy)",
		"data: {}\n\n": "events of no known shape",
	} {
		calls, f, err := Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "want an answer") || f != nil {
			t.Errorf("%q: got %v of %v, %v, want an error with %q", text, calls, f, err, want)
		}
	}
}

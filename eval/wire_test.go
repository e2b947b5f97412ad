package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestWireFiles runs the program on two small files of ours, and on the same with
// something wrong in them.
func TestWireFiles(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile("testdata/wire/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	events, conversations := read("events.jsonl"), read("conversations.jsonl")
	for _, tt := range []struct {
		name, text, old, new string
		status               int
		want                 string // in the output
	}{
		{"events", events, "", "", 0, `"decoded":5,"explained":{"it runs at the provider":1},"faults":{},"other":1,`},
		{"conversations", conversations, "", "", 0, `"built":4,"calls":4,"calls_expected":4,`},
		{"what only a server knows is counted", conversations, "", "", 0, `"servers_own_members":{"anthropic_version":1,"usage":3},"streams":4,"unknown_members":0`},
		{"a call that was not expected", events, `{"id":"call_2","name":"ports","kind":"tool_use","arguments":"{}"}`, `{"id":"call_2","name":"port","kind":"tool_use","arguments":"{}"}`, 1, `tool_use call_2 port is no call of the answer; there is call_2 ports with`},
		{"a call too many", events, `,{"id":"call_2","name":"wind","kind":"function","arguments":"{\"port\":\"Deal\"}"}`, ``, 1, `call_2 wind is not expected`},
		{"a record that ends too early", events, `,{"type":"message_stop"}`, ``, 0, `"the record ends before the stream does":1`},
		{"an API that nobody knows", events, `"api":"other"`, `"api":"telex"`, 1, `got \"telex\"`},
		{"an event that nobody knows", events, `"type":"error"`, `"type":"mishap"`, 0, `"the record ends before the stream does":1`},
		{"two answers in one record", events, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"ports","args":{}}}]},"index":0}],"modelVersion":"lantern-4","responseId":"g1"}`, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"ports","args":{}}}]},"index":0,"finishReason":"STOP"}],"modelVersion":"lantern-4","responseId":"g0"}`, 0, `"streams":6,`},
		{"a call that came back otherwise", conversations, `\"input\":{\"port\":\"Rye\"}`, `\"input\":{\"port\":\"Deal\"}`, 1, `call call_1 tide is no call of the answer`},
		{"a result that differs is no fault: we send what was recorded", conversations, `\"content\":\"At noon.\"`, `\"content\":\"At ten.\"`, 0, `"built":4`},
		{"a member that the vendor does not know", conversations, `\"store\":false`, `\"shop\":false`, 1, `.shop is not known`},
		{"a request that is none", conversations, `"request":"{\"systemInstruction\"`, `"request":"\"systemInstruction\"`, 1, `"what":"request"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := tt.text
			if tt.old != "" {
				if !strings.Contains(text, tt.old) {
					t.Fatalf("the file does not have %s", tt.old)
				}
				text = strings.Replace(text, tt.old, tt.new, 1)
			}
			var out, errs bytes.Buffer
			status := run([]string{"wire", file(t, strings.TrimSpace(text))}, &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.want) {
				t.Errorf("status %d, want %d; got %s%s\nwant it to say %s", status, tt.status, out.String(), errs.String(), tt.want)
			}
		})
	}
}

// hasty is a format that tells a call as soon as it begins.
type hasty struct{ provider.Anthropic }

func (h hasty) Stream(body io.Reader, told func(provider.Delta)) (provider.Answer, error) {
	a, err := h.Anthropic.Stream(body, func(d provider.Delta) {
		if d.Kind == provider.DeltaBegun {
			d.Kind = provider.DeltaCall
			told(d)
		} else if d.Kind != provider.DeltaCall {
			told(d)
		}
	})
	return a, err
}

// greedy is a format that tells a call that was begun when the stream breaks.
type greedy struct{ provider.Anthropic }

func (g greedy) Stream(body io.Reader, told func(provider.Delta)) (provider.Answer, error) {
	var begun []provider.Delta
	a, err := g.Anthropic.Stream(body, func(d provider.Delta) {
		switch d.Kind {
		case provider.DeltaBegun:
			begun = append(begun, d)
		case provider.DeltaCall:
			begun = nil
		case provider.DeltaText, provider.DeltaThought, provider.DeltaRefusal, provider.DeltaPart:
		}
		told(d)
	})
	for _, d := range begun {
		d.Kind = provider.DeltaCall
		told(d)
	}
	return a, err
}

// frail is a format that panics where a stream is cut.
type frail struct{ provider.Anthropic }

func (f frail) Stream(body io.Reader, told func(provider.Delta)) (provider.Answer, error) {
	a, err := f.Anthropic.Stream(body, told)
	if err != nil {
		panic(err)
	}
	return a, nil
}

// easy is a format that takes a cut stream for a whole one.
type easy struct{ provider.Anthropic }

func (e easy) Stream(body io.Reader, told func(provider.Delta)) (provider.Answer, error) {
	a, _ := e.Anthropic.Stream(body, told)
	return a, nil
}

func TestWireFaultyFormats(t *testing.T) {
	t.Parallel()
	rows, err := readLines[wireRow]("testdata/wire/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		format provider.Format
		want   []string
	}{
		{provider.Anthropic{}, nil},
		{hasty{}, []string{"told"}},
		{greedy{}, []string{"cut"}},
		{frail{}, []string{"cut"}},
		{easy{}, []string{"cut"}},
	} {
		r := &wireReport{out: json.NewEncoder(io.Discard), faults: map[string]int{}}
		r.stream(tt.format, sse(provider.Anthropic{}, rows[0].Events), wireWhole)
		for _, want := range tt.want {
			if r.faults[want] == 0 {
				t.Errorf("%T: got faults %v, want %s", tt.format, r.faults, want)
			}
		}
		if tt.want == nil && len(r.faults) > 0 {
			t.Errorf("%T: got faults %v, want none", tt.format, r.faults)
		}
	}
}

func TestHalf(t *testing.T) {
	t.Parallel()
	calls := func(inputs ...string) []tool.Call {
		var out []tool.Call
		for _, in := range inputs {
			out = append(out, tool.Call{ID: "1", Name: "tide", Input: json.RawMessage(in)})
		}
		return out
	}
	told := func(err error, inputs ...string) wireTold {
		t := wireTold{err: err, calls: calls(inputs...)}
		for _, c := range t.calls {
			t.answer.Parts = append(t.answer.Parts, provider.Part{Kind: provider.PartCall, Call: &c})
		}
		return t
	}
	full := told(nil, `{"a":1}`, `{"b":22}`)
	inAnswer := told(io.ErrUnexpectedEOF, `{"b":2}`)
	inAnswer.calls = nil
	for _, tt := range []struct {
		name string
		cut  wireTold
		want string
	}{
		{"nothing yet", told(io.ErrUnexpectedEOF), ""},
		{"the first", told(io.ErrUnexpectedEOF, `{"a":1}`), ""},
		{"all", told(nil, `{"a":1}`, `{"b":22}`), ""},
		{"half of the second", told(io.ErrUnexpectedEOF, `{"a":1}`, `{"b":2}`), "told"},
		{"half of the first", told(io.ErrUnexpectedEOF, ``), "told"},
		{"the second first", told(io.ErrUnexpectedEOF, `{"b":22}`), "told"},
		{"too many", told(nil, `{"a":1}`, `{"b":22}`, `{}`), "told"},
		{"half of one in the answer alone", inAnswer, "the answer has call tide"},
		{"no error", told(nil, `{"a":1}`), "no error"},
	} {
		if got := half(tt.cut, full); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWireURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, want string }{
		{"https://api.anthropic.com/v1/messages", "anthropic"},
		{"https://compatible.example/openai/v1/chat/completions?api-version=1", "openai-chat"},
		{"https://api.openai.com/v1/responses", "openai-responses"},
		{"https://g.example/v1beta/models/lantern:generateContent", "gemini"},
		{"https://g.example/v1/projects/p/models/lantern:streamGenerateContent?alt=sse", "gemini"},
		{"https://g.example/v1/publishers/anthropic/models/lantern:streamRawPredict", "anthropic"},
		{"https://b.example/model/us.anthropic.lantern-1:0/invoke", "anthropic"},
		{"https://b.example/model/us.anthropic.lantern/invoke-with-response-stream", "anthropic"},
		{"https://b.example/model/others.lantern/invoke", ""},
		{"https://api.openai.com/v1/embeddings", ""},
		{"https://api.openai.com/v1/completions", ""},
		{"%", ""},
	} {
		got := ""
		if f, ok := wireURL(tt.url); ok {
			got = f.String()
		}
		if got != tt.want {
			t.Errorf("wireURL(%q) = %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format provider.Format
		body   string
		want   []string
	}{
		{provider.Anthropic{}, `{"model":"m","max_tokens":1,"stream":true,"system":"s","messages":[{"role":"user","content":"a"}]}`, nil},
		{provider.Anthropic{}, `{"model":"m","max_tokens":1,"mood":1,"messages":[{"role":"user","content":[{"type":"text","text":"a","hue":1},{"type":"smell"}],"tone":2}],"tools":[{"name":"n","input_schema":{"type":"object","$defs":{"q":{}}},"age":3}]}`, []string{".messages[0].content[0].hue", ".messages[0].content[1]", ".messages[0].tone", ".tools[0].age", ".mood"}},
		{provider.Responses{}, `{"model":"m","mood":1,"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"n","arguments":"{}","age":1},{"type":"smell"}],"tools":[{"type":"function","name":"n","parameters":{"type":"object"},"strict":false,"hue":1}]}`, []string{".input[1].age", ".input[2]", ".tools[0].hue", ".mood"}},
		{provider.Chat{}, `{"model":"m","mood":1,"messages":[{"role":"user","content":"a","tone":1},{"role":"tool","tool_call_id":"c","content":"x"},{"role":"ghost"}],"tools":[{"type":"function","function":{"name":"n","hue":1}}]}`, []string{".messages[0].tone", ".messages[2]", ".tools[0].function.hue", ".mood"}},
		{provider.Gemini{}, `{"mood":1}`, nil},
	} {
		got, err := unknownMembers(tt.format, []byte(tt.body))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, %v, want %q", tt.format, got, err, tt.want)
		}
	}
}

func TestWireNormal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		format provider.Format
		a, b   string
		same   bool
	}{
		{"system as a text", provider.Anthropic{}, `{"system":"s","messages":[{"role":"user","content":"a"}]}`, `{"system":[{"type":"text","text":"s","cache_control":{}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tool_choice":{"type":"auto"},"stream":false}`, true},
		{"a result as a text", provider.Anthropic{}, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":false,"content":[{"type":"text","text":"a"}]}]}]}`, true},
		{"a result that failed", provider.Anthropic{}, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"a"}]}]}`, false},
		{"a mark in an input is none", provider.Anthropic{}, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{"cache_control":1}}]}]}`, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}]}`, false},
		{"instructions", provider.Responses{}, `{"instructions":"s","input":"a"}`, `{"input":[{"role":"developer","content":"s"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}],"tool_choice":"auto"}`, true},
		{"another call", provider.Responses{}, `{"input":[{"type":"function_call","call_id":"1","name":"n","arguments":"{}"}]}`, `{"input":[{"type":"function_call","call_id":"2","name":"n","arguments":"{}"}]}`, false},
		{"system and no content", provider.Chat{}, `{"max_tokens":1,"messages":[{"role":"system","content":"s"},{"role":"assistant","content":null}]}`, `{"max_completion_tokens":1,"messages":[{"role":"developer","content":[{"type":"text","text":"s"}]},{"role":"assistant","content":""}]}`, true},
		{"another result", provider.Chat{}, `{"messages":[{"role":"tool","tool_call_id":"1","content":"a"}]}`, `{"messages":[{"role":"tool","tool_call_id":"1","content":"b"}]}`, false},
		{"the role of what the host says", provider.Gemini{}, `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[]}`, `{"systemInstruction":{"role":"user","parts":[{"text":"s"}]},"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}`, true},
		{"another choice", provider.Gemini{}, `{"contents":[]}`, `{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`, false},
	} {
		a, err1 := wireNormal(tt.format, []byte(tt.a))
		b, err2 := wireNormal(tt.format, []byte(tt.b))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d := differences("", a, b); (len(d) == 0) != tt.same {
			t.Errorf("%s: got differences %q, want same: %v", tt.name, d, tt.same)
		}
	}
}

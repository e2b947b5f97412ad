package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// fuzzStream reads whatever bytes as a stream: it does not panic, says the same in other
// chunks, and the calls that it tells are those of the answer. What was read can be
// written, and what is whole is read again with as many calls.
func fuzzStream(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		read := func(size int) (Answer, error) {
			var told []string
			a, err := format.Stream(&chunks{text, size}, func(d Delta) {
				if d.Kind == DeltaCall {
					told = append(told, jsonOf(d.Call))
				}
			})
			var calls []string
			for _, c := range a.Calls() {
				calls = append(calls, jsonOf(c))
			}
			if jsonOf(told) != jsonOf(calls) {
				t.Fatalf("told %q, the answer has %q", told, calls)
			}
			return a, err
		}
		a, err := read(len(text) + 1)
		if b, err2 := read(max(1, size%100)); jsonOf(a) != jsonOf(b) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("in chunks: %s, %v, want %s, %v", jsonOf(b), err2, jsonOf(a), err)
		}
		for _, p := range a.Parts {
			if p.Own != nil && !json.Valid(p.Own) {
				t.Fatalf("got %q as its own, want JSON", p.Own)
			}
		}
		if body, err := format.WriteRequest(Request{Messages: []Message{{Role: Assistant, Parts: a.Parts}}}); err != nil || !json.Valid(body) {
			t.Fatalf("what was read is written as %q, %v", body, err)
		}
		if body, err := format.WriteAnswer(a); err != nil || !json.Valid(body) {
			t.Fatalf("what was read is written as %q, %v", body, err)
		}
		stream, failed := format.WriteStream(a)
		if failed != nil {
			t.Fatalf("write %s: %v", jsonOf(a), failed)
		}
		if err != nil {
			if a.Stop != "" {
				t.Fatalf("got stop %q with %v", a.Stop, err)
			}
			return
		}
		again, err := format.Stream(bytes.NewReader(stream), nil)
		if err != nil && a.Stop != "" {
			t.Fatalf("written and read again: %v\n%s", err, stream)
		}
		if n := len(a.Calls()); len(again.Calls()) != n && a.Stop != StopLength && a.Stop != "" && !isOpenAI(format) {
			t.Fatalf("written and read again: %d calls, want %d\n%s", len(again.Calls()), n, stream)
		}
	})
}

func FuzzAnthropicStream(f *testing.F) {
	fuzzStream(
		f, Anthropic{},
		sse(begin, started(0, `{"type":"thinking","thinking":""}`), added(0, `{"type":"signature_delta","signature":"s"}`), stopped(0), started(1, callBlock("a")), input(1, `{"x":1}`), stopped(1), endCall, over),
		sse(begin, started(0, `{"type":"text","text":""}`), added(0, `{"type":"citations_delta","citation":{}}`), started(0, `{"type":"server_tool_use"}`), input(0, "{"), endMax, over),
		`{"type":"message","content":[{"type":"tool_use","id":"a"}]}`,
		sse(begin, `{"type":"error","error":{"type":"overloaded_error"}}`),
	)
}

func FuzzChatStream(f *testing.F) {
	fuzzStream(f, Chat{}, chatChunks(`{"content":"x"}`, callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"id":"2","function":{"name":"g","arguments":{}}`), "reason:stop")+"data: [DONE]\n\n",
		chatChunks(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}],"function_call":{"name":"f"}}`, "reason:length"), `{"choices":[{"message":{}}]}`, "error: {}\n\n")
}

func FuzzResponsesStream(f *testing.F) {
	fuzzStream(f, Responses{}, itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.done "output_index":0,"arguments":"{}"`, `completed "response":{"status":"completed"}`),
		itemEvents(`output_item.done "item":{"type":"reasoning","summary":[{"text":"x"}]}`, `completed "response":{"output":[{"type":"message","content":"x"},{"type":"x_call"}]}`), `{"output":[]}`)
}

func FuzzGeminiStream(f *testing.F) {
	fuzzStream(
		f, Gemini{},
		sse(pieceOf(`{"text":"x"},{"text":"y","thought":true,"thoughtSignature":"s"},{"functionCall":{"id":"1","name":"a","args":{"x":[1]}}}`, finished)),
		sse(pieceOf(`{"functionCall":{"name":"a","willContinue":true}}`, ""), pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x","willContinue":true}]}}`, finished)),
		"["+pieceOf(`{"inlineData":{"mimeType":"image/png","data":"AQI="}}`, finished)+"]",
		`{"promptFeedback":{"blockReason":"OTHER"}}`,
		`[{"error":{"code":429}}]`,
	)
}

// fuzzRequest reads whatever bytes as a request: what is read can be written as JSON, in
// any format, and be read again. What was written by us once comes out the same.
func fuzzRequest(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := format.ReadRequest(text)
		if err != nil {
			return
		}
		body, err := format.WriteRequest(r)
		if err != nil {
			if len(r.Tools) > 0 { // they are passed on as they are
				return
			}
			t.Fatal(err)
		}
		again := func(body []byte) []byte {
			r, err := format.ReadRequest(body)
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			for _, other := range Formats() {
				if body, err := other.WriteRequest(Request{Messages: r.Messages}); err != nil || !json.Valid(body) {
					t.Fatalf("as %s: %q, %v", other, body, err)
				}
			}
			out, err := format.WriteRequest(r)
			if err != nil || !json.Valid(out) {
				t.Fatalf("got %q, %v, want JSON", out, err)
			}
			return out
		}
		body = again(body) // neighbours that nothing stands between any more are joined
		if second := again(body); !bytes.Equal(body, second) {
			t.Fatalf("got\n%s, then\n%s", body, second)
		}
	})
}

func FuzzAnthropicRequest(f *testing.F) {
	fuzzRequest(
		f, Anthropic{},
		`{"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"add","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}}],"is_error":true}]}],"tools":[{"name":"add","cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"any"}}`,
		`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"title":"t","citations":{"enabled":true}},{"type":"container_upload","file_id":"f"}]}],"x":1}`,
	)
}

func FuzzChatRequest(f *testing.F) {
	fuzzRequest(f, Chat{}, `{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1","content":"x"}],"tools":[1],"tool_choice":"required"}`)
}

func FuzzResponsesRequest(f *testing.F) {
	fuzzRequest(f, Responses{}, `{"model":"m","input":"x"}`, `{"input":[{"role":"user","content":"x"},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]}]}`)
}

func FuzzGeminiRequest(f *testing.F) {
	fuzzRequest(
		f, Gemini{},
		`{"contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"AQI="}}]},{"role":"model","parts":[{"functionCall":{"name":"a","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"result":"1"}}}]}],"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"maxOutputTokens":5,"temperature":1}}`,
		`{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"functionResponse":{"id":"1","name":"a","response":{"error":{"x":1}},"parts":[{}]}}]}]}`,
	)
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"choices":[{"message":{}}]}`, `[{"type":"tool_use"}]`, `{"parts":[{"functionCall":{}}]}`, `{"type":"function_call"}`, "data: {\"candidates\":[]}\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		calls, format, err := Read(text)
		if (err == nil) != (format != nil) || err != nil && calls != nil {
			t.Fatalf("got %v, %v, %v", calls, format, err)
		}
	})
}

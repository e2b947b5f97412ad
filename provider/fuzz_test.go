package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// fuzzForeignStream reads whatever bytes as a stream: it does not panic, says the same in
// other chunks, and tells as many calls as the answer holds. What is whole can be
// written and read again with as many.
func fuzzForeignStream(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		a, err := format.Stream(bytes.NewReader(text), func(d Delta) {
			if d.Kind == DeltaCall {
				n++
			}
		})
		b, err2 := format.Stream(&chunks{text, 3}, nil)
		if !reflect.DeepEqual(a, b) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("in chunks: %+v, %v, want %+v, %v", b, err2, a, err)
		}
		if n != len(a.Calls()) {
			t.Fatalf("told %d calls, the answer has %d", n, len(a.Calls()))
		}
		for _, p := range a.Parts {
			if p.Own != nil && !json.Valid(p.Own) {
				t.Fatalf("got %q as its own, want JSON", p.Own)
			}
		}
		body, err3 := format.WriteRequest(Request{Messages: []Message{{Role: Assistant, Parts: a.Parts}}})
		if err3 != nil || !json.Valid(body) {
			t.Fatalf("what was read is written as %q, %v", body, err3)
		}
		if err != nil {
			return
		}
		stream, err := format.WriteStream(a)
		if err != nil {
			t.Fatal(err)
		}
		again, err := format.Stream(bytes.NewReader(stream), nil)
		if err != nil && a.Stop != "" {
			t.Fatalf("written and read again: %v\n%s", err, stream)
		}
		if len(again.Calls()) != n && a.Stop != StopLength && a.Stop != "" {
			t.Fatalf("written and read again: %d calls, want %d\n%s", len(again.Calls()), n, stream)
		}
	})
}

func FuzzAnthropicStream(f *testing.F) {
	fuzzForeignStream(
		f, Anthropic{},
		sse(begin, started(0, `{"type":"thinking","thinking":""}`), added(0, `{"type":"signature_delta","signature":"s"}`), stopped(0), started(1, callBlock("a")), input(1, `{"x":1}`), stopped(1), endCall, over),
		sse(begin, started(0, `{"type":"text","text":""}`), added(0, `{"type":"citations_delta","citation":{}}`), started(0, `{"type":"server_tool_use"}`), input(0, "{"), endMax, over),
		`{"type":"message","content":[{"type":"tool_use","id":"a"}]}`,
		sse(begin, `{"type":"error","error":{"type":"overloaded_error"}}`),
	)
}

func FuzzGeminiStream(f *testing.F) {
	fuzzForeignStream(
		f, Gemini{},
		sse(pieceOf(`{"text":"x"},{"text":"y","thought":true,"thoughtSignature":"s"},{"functionCall":{"id":"1","name":"a","args":{"x":[1]}}}`, finished)),
		sse(pieceOf(`{"functionCall":{"name":"a","willContinue":true}}`, ""), pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x","willContinue":true}]}}`, finished)),
		"["+pieceOf(`{"inlineData":{"mimeType":"image/png","data":"AQI="}}`, finished)+"]",
		`{"promptFeedback":{"blockReason":"OTHER"}}`,
		`[{"error":{"code":429}}]`,
	)
}

// fuzzForeignRequest reads whatever bytes as a request: what is read can be written as
// JSON, in either format, and be read and written once more.
func fuzzForeignRequest(f *testing.F, format Format, seeds ...string) {
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
		if !json.Valid(body) {
			t.Fatalf("got %q, want JSON", body)
		}
		r2, err := format.ReadRequest(body)
		if err != nil {
			t.Fatalf("written and read again: %v\n%s", err, body)
		}
		for _, other := range []Format{Anthropic{}, Gemini{}} {
			if body, err := other.WriteRequest(Request{Messages: r2.Messages}); err != nil || !json.Valid(body) {
				t.Fatalf("as %s: %q, %v", other, body, err)
			}
		}
		if body2, err := format.WriteRequest(r2); err != nil || len(r2.Messages) > 0 && !json.Valid(body2) {
			t.Fatalf("written again: %q, %v", body2, err)
		}
	})
}

func FuzzAnthropicRequest(f *testing.F) {
	fuzzForeignRequest(
		f, Anthropic{},
		`{"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"add","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}}],"is_error":true}]}],"tools":[{"name":"add","cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"any"}}`,
		`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"title":"t","citations":{"enabled":true}},{"type":"container_upload","file_id":"f"}]}],"x":1}`,
	)
}

func FuzzGeminiRequest(f *testing.F) {
	fuzzForeignRequest(
		f, Gemini{},
		`{"contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"AQI="}}]},{"role":"model","parts":[{"functionCall":{"name":"a","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"result":"1"}}}]}],"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"maxOutputTokens":5,"temperature":1}}`,
		`{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"functionResponse":{"id":"1","name":"a","response":{"error":{"x":1}},"parts":[{}]}}]}]}`,
	)
}

package provider

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestGeminiContents(t *testing.T) {
	t.Parallel()
	own := func(text string, c tool.Call) Part {
		return Part{Kind: PartCall, Call: &c, Own: json.RawMessage(text), Of: "gemini"}
	}
	object := func(text string) tool.Content {
		return tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(text)}
	}
	for _, tt := range []struct {
		name string
		give []Message
		want string
	}{
		{"text", []Message{said(User, Text("hi"), Text("")), said(Assistant, Text("so"), Part{Kind: PartThought, Text: "no"})}, `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"so"}]}]`},
		{"signatures go back", []Message{said(Assistant, Part{Kind: PartThought, Own: json.RawMessage(`{"thoughtSignature": "s"}`), Of: "gemini"}, Part{Kind: PartOwn, Own: json.RawMessage(`{}`), Of: "anthropic"})}, `[{"role":"model","parts":[{"thoughtSignature": "s"}]}]`},
		{
			"A3 results in the order of their calls, without ids that the model did not give",
			[]Message{said(Assistant, call("x", "add", `{"a":1}`), own(`{"functionCall":{"id":"7","name":"sub"}}`, tool.Call{ID: "y", Name: "sub"})), said(User, Text("and"), result("y", true, tool.Text("bad"), image()), result("x", false, tool.Text("2")))},
			`[{"role":"model","parts":[{"functionCall":{"name":"add","args":{"a":1}}},{"functionCall":{"id":"7","name":"sub"}}]},{"role":"user","parts":[{"functionResponse":{"name":"add","response":{"result":"2"}}},{"functionResponse":{"id":"7","name":"sub","response":{"error":"bad\n[image:image/png]"}}},{"text":"and"},{"inlineData":{"mimeType":"image/png","data":"AQI="}}]}]`,
		},
		{
			"objects are responses as they are",
			[]Message{said(User, result("a", false, object(`{"x":1}`)), result("b", false, object(`[1]`)), result("c", false, object(`{"error":"x"}`)), result("d", true, object(`{"x":1}`)), result("e", false))},
			`[{"role":"user","parts":[{"functionResponse":{"name":"","response":{"x":1}}},{"functionResponse":{"name":"","response":{"result":[1]}}},{"functionResponse":{"name":"","response":{"result":{"error":"x"}}}},{"functionResponse":{"name":"","response":{"error":{"x":1}}}},{"functionResponse":{"name":"","response":{"result":""}}}]}]`,
		},
		{
			"a call that a hook changed goes back as it ran, with its signature",
			[]Message{said(Assistant, own(`{"functionCall":{"id":"7","name":"sub","args":{"x":1}},"thoughtSignature":"s"}`, tool.Call{ID: "y", Name: "add", Input: json.RawMessage(`{"x":2}`)}))},
			`[{"role":"model","parts":[{"functionCall":{"id":"7","name":"add","args":{"x":2}},"thoughtSignature":"s"}]}]`,
		},
		{
			"a call that was only written in another way goes back as it came",
			[]Message{said(Assistant, own(`{"functionCall":{"name":"sub","args":{"x": "<"}}}`, tool.Call{ID: "y", Name: "sub", Input: json.RawMessage(`{"x":"\u003c"}`)}))},
			`[{"role":"model","parts":[{"functionCall":{"name":"sub","args":{"x": "<"}}}]}]`,
		},
		{
			"a text that a hook changed",
			[]Message{said(Assistant, Part{Kind: PartText, Text: "new", Own: json.RawMessage(`{"text":"old","thoughtSignature":"s"}`), Of: "gemini"})},
			`[{"role":"model","parts":[{"text":"new"}]}]`,
		},
		{"media", []Message{said(User, Part{Kind: PartMedia, Media: &tool.Content{MediaType: "application/pdf", URI: "gs://x"}}, Part{Kind: PartMedia, Media: &tool.Content{MediaType: "audio/wav", Data: []byte{1}}})}, `[{"role":"user","parts":[{"fileData":{"mimeType":"application/pdf","fileUri":"gs://x"}},{"inlineData":{"mimeType":"audio/wav","data":"AQ=="}}]}]`},
		{"input that is no object", []Message{said(Assistant, call("a", "add", `{"x":`))}, `[{"role":"model","parts":[{"functionCall":{"name":"add","args":{"invalid_json":"{\"x\":"}}}]}]`},
		{"what is left out joins its neighbours", []Message{said(User, Text("x")), said(Assistant, Part{Kind: PartThought, Text: "hm"}), said(User, Text("y"))}, `[{"role":"user","parts":[{"text":"x"},{"text":"y"}]}]`},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			body, err := Gemini{}.WriteRequest(Request{Messages: tt.give})
			if want := `{"contents":` + tt.want + `}`; err != nil || string(body) != want {
				t.Errorf("got\n%s, %v\nwant\n%s", body, err, want)
			}
		})
	}
}

func TestGeminiRequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"contents":[],"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"a"},{"description":"x","name":"b"}]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a"]}},"generationConfig":{"maxOutputTokens":5}}`,
		`{"contents":[],"toolConfig":{"retrievalConfig":{},"functionCallingConfig":{"mode":"NONE"}},"generationConfig":{"temperature":1.0,"maxOutputTokens":5},"safetySettings":[]}`,
		`{"contents":[],"generationConfig":{"temperature":1.0},"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}}`,
		`{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a","b"]}}}`,
	} {
		t.Run("A2 what is read is written again", func(t *testing.T) {
			t.Parallel()
			r, err := Gemini{}.ReadRequest([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := (Gemini{}).WriteRequest(r); err != nil || string(body) != text {
				t.Errorf("got\n%s, %v\nwant\n%s", body, err, text)
			}
		})
	}
	t.Run("A2 results belong to calls by name and order", func(t *testing.T) {
		t.Parallel()
		const text = `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"name":"a","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"result":"1"}}},{"functionResponse":{"name":"b","response":{"error":"2"}}},{"functionResponse":{"name":"a","response":{"x":3}}}]}]}`
		r, err := Gemini{}.ReadRequest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range r.Messages[1].Parts {
			got = append(got, p.Result.CallID+" "+tool.TextOf(p.Result.Content))
		}
		if want := []string{"call_1 1", "call_2 2", `call_3 {"x":3}`}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if body, err := (Gemini{}).WriteRequest(r); err != nil || string(body) != text {
			t.Errorf("got\n%s, %v\nwant\n%s", body, err, text)
		}
	})
	for _, text := range []string{`[]`, `{`, `{"contents":7}`, `{"contents":[{"parts":[7]}]}`, `{"contents":[{"parts":[{"text":7}]}]}`, `{"tools":[7]}`, `{"systemInstruction":{"parts":[7]}}`} {
		if r, err := (Gemini{}).ReadRequest([]byte(text)); err == nil {
			t.Errorf("%s reads as %+v, want an error", text, r)
		}
	}
}

func TestGeminiAnswer(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]Stop{"STOP": StopEnd, "MAX_TOKENS": StopLength, "SAFETY": StopRefusal, "RECITATION": StopRefusal, "PROHIBITED_CONTENT": StopRefusal, "MALFORMED_FUNCTION_CALL": StopOther, "NEVER_HEARD": StopOther} {
		a, err := Gemini{}.ReadAnswer([]byte(`{"candidates":[{"content":{},"finishReason":"` + reason + `"}]}`))
		if err != nil || a.Stop != want {
			t.Errorf("%s: got %s, %v, want %s", reason, a.Stop, err, want)
		}
	}
	var e *Error
	if _, err := (Gemini{}).ReadAnswer([]byte(`[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]`)); !errors.As(err, &e) || !e.Again || e.Status != 429 || e.After.Seconds() != 34 {
		t.Errorf("got %#v, want an error to try again in 34 s", err)
	}
	if a, err := (Gemini{}).ReadAnswer([]byte(`{`)); err == nil {
		t.Errorf("got %+v, want an error", a)
	}
}

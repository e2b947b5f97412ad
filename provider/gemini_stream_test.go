package provider

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// pieceOf is a piece of an answer with these parts, and what stands beside them.
func pieceOf(parts, beside string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + beside + `,"index":0}],"usageMetadata":{"trafficType":"X"},"modelVersion":"g","responseId":"r"}`
}

const finished = `,"finishReason":"STOP"`

// halfCall is the beginning of a call, in the middle of a string.
const halfCall = `{"functionCall":{"name":"shell","partialArgs":[{"jsonPath":"$.a[0].cmd","stringValue":"rm -rf /tmp","willContinue":true}],"willContinue":true}}`

func TestGeminiStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		pieces []string
		told   string
		want   string
		err    error
	}{
		{
			"text in pieces is one",
			[]string{pieceOf(`{"text":"Hel"}`, ""), pieceOf(`{"text":"lo"}`, ""), pieceOf(`{"text":""}`, finished)},
			"text Hel\ntext lo", "text Hello | stop end", nil,
		},
		{
			"a signature of its own part",
			[]string{pieceOf(`{"text":"x"}`, ""), pieceOf(`{"text":"","thoughtSignature":"s"}`, finished)},
			"text x", `text x | text gemini:{"text":"","thoughtSignature":"s"} | stop end`, nil,
		},
		{
			"thoughts and calls",
			[]string{pieceOf(`{"text":"h","thought":true}`, ""), pieceOf(`{"text":"m","thought":true}`, ""), pieceOf(`{"functionCall":{"name":"add","args":{"x":1}},"thoughtSignature":"s"},{"functionCall":{"name":"add","args":{}}}`, finished)},
			"thought h\nthought m\nbegun  add\ncall  add {\"x\":1}\nbegun  add\ncall  add {}",
			`thought hm | call  add {"x":1} gemini:{"functionCall":{"name":"add","args":{"x":1}},"thoughtSignature":"s"} | call  add {} | stop calls`, nil,
		},
		{
			"an id is the model's",
			[]string{pieceOf(`{"functionCall":{"id":"7","name":"add"}}`, finished)},
			"begun 7 add\ncall 7 add {}", `call 7 add {} gemini:{"functionCall":{"id":"7","name":"add"}} | stop calls`, nil,
		},
		{
			"arguments one by one",
			[]string{
				pieceOf(`{"text":"x"}`, ""),
				pieceOf(`{"functionCall":{"name":"add","willContinue":true},"thoughtSignature":"s"}`, ""),
				pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"Bos","willContinue":true}],"willContinue":true}}`, ""),
				pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"ton"},{"jsonPath":"$.b[0].c","numberValue":2.5},{"jsonPath":"$.b[1]","boolValue":true},{"jsonPath":"$['a b']","nullValue":"NULL_VALUE"}],"willContinue":true}}`, ""),
				pieceOf(`{"functionCall":{}}`, ""),
				pieceOf(`{"functionCall":{"name":"sub","willContinue":true}}`, ""),
				pieceOf(`{"functionCall":{}}`, finished),
			},
			"text x\nbegun  add\ncall  add {\"a\":\"Boston\",\"b\":[{\"c\":2.5},true],\"a b\":null}\nbegun  sub\ncall  sub {}",
			`text x | call  add {"a":"Boston","b":[{"c":2.5},true],"a b":null} gemini:{"functionCall":{"name":"add","args":{"a":"Boston","b":[{"c":2.5},true],"a b":null}},"thoughtSignature":"s"} | call  sub {} | stop calls`, nil,
		},
		{
			"arguments cut off by the limit",
			[]string{pieceOf(`{"functionCall":{"name":"add","willContinue":true}}`, ""), pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x","willContinue":true}],"willContinue":true}}`, `,"finishReason":"MAX_TOKENS"`)},
			"begun  add", "stop length", nil,
		},
		{
			"arguments cut off by the end",
			[]string{pieceOf(`{"functionCall":{"name":"add","willContinue":true}}`, "")},
			"begun  add", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"half a call before a text",
			[]string{pieceOf(halfCall, ""), pieceOf(`{"text":"oops"}`, finished)},
			"begun  shell", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"half a call before another",
			[]string{pieceOf(halfCall, ""), pieceOf(`{"functionCall":{"name":"other","args":{}}}`, finished)},
			"begun  shell", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"half a call before another that comes in pieces",
			[]string{pieceOf(halfCall, ""), pieceOf(`{"functionCall":{"name":"other","willContinue":true}},{"functionCall":{}}`, finished)},
			"begun  shell", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"half a call before the end",
			[]string{pieceOf(`{"text":"x"}`, ""), pieceOf(halfCall, ""), pieceOf(``, finished)},
			"text x\nbegun  shell", "text x | stop ", io.ErrUnexpectedEOF,
		},
		{
			"a call whose arguments are closed, but not itself",
			[]string{pieceOf(`{"functionCall":{"name":"shell","partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}}`, finished)},
			"begun  shell", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"a call that ends within a string",
			[]string{pieceOf(halfCall, ""), pieceOf(`{"functionCall":{}}`, finished)},
			"begun  shell", "stop ", io.ErrUnexpectedEOF,
		},
		{
			"a string that ends with nothing",
			[]string{pieceOf(halfCall, ""), pieceOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].cmd","stringValue":""}],"willContinue":true}}`, ""), pieceOf(`{"functionCall":{}}`, finished)},
			"begun  shell\ncall  shell {\"a\":[{\"cmd\":\"rm -rf /tmp\"}]}", `call  shell {"a":[{"cmd":"rm -rf /tmp"}]} | stop calls`, nil,
		},
		{
			"code that ran there",
			[]string{pieceOf(`{"executableCode":{"language":"PYTHON","code":"1<2"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"inlineData":{"mimeType":"image/png","data":"AQI="}}`, finished)},
			"", `own gemini:{"executableCode":{"language":"PYTHON","code":"1<2"}} | own gemini:{"codeExecutionResult":{"outcome":"OUTCOME_OK"}} | media | stop end`, nil,
		},
		{"the limit", []string{pieceOf(`{"text":"x"}`, `,"finishReason":"MAX_TOKENS"`)}, "text x", "text x | stop length", nil},
		{"a filter", []string{pieceOf(``, `,"finishReason":"SAFETY","finishMessage":"no"`)}, "refusal no", "refusal no | stop refusal", nil},
		{"a malformed call", []string{pieceOf(``, `,"finishReason":"MALFORMED_FUNCTION_CALL"`)}, "", "stop other", nil},
		{"a prompt that is refused", []string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"modelVersion":"g"}`}, "refusal PROHIBITED_CONTENT", "refusal PROHIBITED_CONTENT | stop refusal", nil},
		{"another candidate", []string{`{"candidates":[{"index":1,"content":{"parts":[{"text":"y"}]},"finishReason":"STOP"}]}`, pieceOf(`{"text":"x"}`, finished)}, "text x", "text x | stop end", nil},
		{"no end", []string{pieceOf(`{"text":"x"}`, ""), pieceOf(`{"functionCall":{"name":"add"}}`, "")}, "text x\nbegun  add\ncall  add {}", "text x | call  add {} | stop ", io.ErrUnexpectedEOF},
		{"nothing", nil, "", "stop ", io.ErrUnexpectedEOF},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			forms := map[string]string{"events": sse(tt.pieces...)}
			if len(tt.pieces) > 0 {
				forms["array"] = "[" + strings.Join(tt.pieces, ",\r\n") + "]"
			}
			for form, text := range forms {
				told, a, err := heard(Gemini{}, text)
				if got := strings.Join(told, "\n"); got != tt.told {
					t.Errorf("%s: told\n%s\nwant\n%s", form, got, tt.told)
				}
				if got := shown(a); got != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("%s: got\n%s, %v\nwant\n%s, %v", form, got, err, tt.want, tt.err)
				}
			}
		})
	}
}

func TestGeminiUsage(t *testing.T) {
	t.Parallel()
	text := sse(`{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
		pieceOf("", ""), // names none
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":1,"candidatesTokenCount":5,"thoughtsTokenCount":7,"cachedContentTokenCount":4}}`)
	a, err := Gemini{}.Stream(strings.NewReader(text), nil)
	if want := (Usage{Input: 11, Output: 12, Thought: 7, CacheRead: 4}); a.Usage != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", a.Usage, err, want)
	}
}

func TestGeminiStreamErrors(t *testing.T) {
	t.Parallel()
	const unavailable = `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`
	for name, text := range map[string]string{
		"in the stream":          sse(pieceOf(`{"text":"x"}`, ""), unavailable),
		"in place of the stream": unavailable,
		"as an array":            "[" + unavailable + "]",
	} {
		t.Run("A2 an error of the provider "+name, func(t *testing.T) {
			t.Parallel()
			_, err := Gemini{}.Stream(strings.NewReader(text), nil)
			var e *Error
			if !errors.As(err, &e) || e.Code != "UNAVAILABLE" || e.Status != 503 || !e.Again {
				t.Errorf("got %v, want one to try again", err)
			}
		})
	}
	for name, piece := range map[string]string{
		"no JSON":               `{"candidates":`,
		"another type":          pieceOf(`{"text":7}`, ""),
		"arguments of no call":  pieceOf(`{"functionCall":{"partialArgs":[]," willContinue":true,"willContinue":true}}`, ""),
		"a path of nothing":     pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$","stringValue":"x"}]}}`, ""),
		"a path without a root": pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"a.b","stringValue":"x"}]}}`, ""),
		"an index far away":     pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$.a[1000000000]","stringValue":"x"}]}}`, ""),
		"a member of a text":    pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a.b","stringValue":"x"}]}}`, ""),
		"a value for an object": pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$.a.b","stringValue":"x"},{"jsonPath":"$.a","stringValue":"x"}]}}`, ""),
		"a path without end":    pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$`+strings.Repeat(".a", 100)+`","stringValue":"x"}]}}`, ""),
		"a quote without end":   pieceOf(`{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$['a","stringValue":"x"}]}}`, ""),
	} {
		t.Run("A2 a piece is malformed: "+name, func(t *testing.T) {
			t.Parallel()
			a, err := Gemini{}.Stream(strings.NewReader(sse(pieceOf(`{"text":"x"}`, ""))+"data: "+piece+"\n\n"), nil)
			if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || a.Text() != "x" || len(a.Calls()) != 0 {
				t.Errorf("got %+v, %v, want the text and an error", a, err)
			}
		})
	}
}

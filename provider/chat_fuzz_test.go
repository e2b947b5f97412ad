package provider

import (
	"bytes"
	"encoding/json"
	"testing"
)

// fuzzStream feeds a format with anything: what is told is in the answer, in order,
// whatever the size of the pieces, and an answer that was read can be written.
func fuzzStream(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		read := func(size int) (string, error) {
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
			if err != nil && a.Stop != "" {
				t.Fatalf("got stop %q with %v", a.Stop, err)
			}
			for _, write := range []func(Answer) ([]byte, error){format.WriteAnswer, format.WriteStream} {
				if _, err := write(a); err != nil {
					t.Fatalf("write %s: %v", jsonOf(a), err)
				}
			}
			return jsonOf(a), err
		}
		all, err := read(len(text) + 1)
		some, err2 := read(max(1, size%100))
		if all != some || (err == nil) != (err2 == nil) {
			t.Fatalf("got %s, %v; in pieces %s, %v", all, err, some, err2)
		}
	})
}

func FuzzChatStream(f *testing.F) {
	fuzzStream(f, Chat{}, chatChunks(`{"content":"x"}`, callPiece(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), callPiece(`"id":"2","function":{"name":"g","arguments":{}}`), "reason:stop")+"data: [DONE]\n\n",
		chatChunks(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}],"function_call":{"name":"f"}}`, "reason:length"), `{"choices":[{"message":{}}]}`, "error: {}\n\n")
}

func FuzzResponsesStream(f *testing.F) {
	fuzzStream(f, Responses{}, itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.done "output_index":0,"arguments":"{}"`, `completed "response":{"status":"completed"}`),
		itemEvents(`output_item.done "item":{"type":"reasoning","summary":[{"text":"x"}]}`, `completed "response":{"output":[{"type":"message","content":"x"},{"type":"x_call"}]}`), `{"output":[]}`)
}

// fuzzRequest: what was read can be written, and read again. What was written by us
// once comes out the same.
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
			return // tools that are no list
		}
		again := func(body []byte) []byte {
			r, err := format.ReadRequest(body)
			if err != nil {
				t.Fatalf("%s: %v", body, err)
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

func FuzzChatRequest(f *testing.F) {
	fuzzRequest(f, Chat{}, `{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1","content":"x"}],"tools":[1],"tool_choice":"required"}`)
}

func FuzzResponsesRequest(f *testing.F) {
	fuzzRequest(f, Responses{}, `{"model":"m","input":"x"}`, `{"input":[{"role":"user","content":"x"},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]}]}`)
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

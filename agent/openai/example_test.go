package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/openai/openai-go/v3/option"

	"github.com/ferrule-dev/ferrule/agent/openai"
	"github.com/ferrule-dev/ferrule/provider"
)

// What the Responses API says to one who asks for a file.
const looks = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_01","object":"response","created_at":1763000000,"status":"in_progress","model":"gpt-5","output":[],"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_01","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_01","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_01","output_index":0,"content_index":0,"delta":"I look."}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":4,"item_id":"msg_01","output_index":0,"content_index":0,"text":"I look."}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"id":"msg_01","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":6,"output_index":1,"item":{"id":"fc_01","type":"function_call","status":"in_progress","call_id":"call_01","name":"read","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":7,"item_id":"fc_01","output_index":1,"delta":"{\"path\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":8,"item_id":"fc_01","output_index":1,"delta":"\"notes.txt\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":9,"item_id":"fc_01","output_index":1,"arguments":"{\"path\":\"notes.txt\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":10,"output_index":1,"item":{"id":"fc_01","type":"function_call","status":"completed","call_id":"call_01","name":"read","arguments":"{\"path\":\"notes.txt\"}"}}

event: response.completed
data: {"type":"response.completed","sequence_number":11,"response":{"id":"resp_01","object":"response","created_at":1763000000,"status":"completed","model":"gpt-5","output":[{"id":"msg_01","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"id":"fc_01","type":"function_call","status":"completed","call_id":"call_01","name":"read","arguments":"{\"path\":\"notes.txt\"}"}],"usage":{"input_tokens":25,"input_tokens_details":{"cached_tokens":0},"output_tokens":48,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":73}}}

`

// What a server says that speaks Chat Completions.
const looksInChat = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763000000,"model":"qwen3","choices":[{"index":0,"delta":{"role":"assistant","content":"I look."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763000000,"model":"qwen3","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_01","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763000000,"model":"qwen3","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"notes.txt\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763000000,"model":"qwen3","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763000000,"model":"qwen3","choices":[],"usage":{"prompt_tokens":25,"completion_tokens":48,"total_tokens":73}}

data: [DONE]

`

// A model that wants to read a file, through either API. Who has an agent.Agent gives
// it the model and does not ask itself.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.URL.Path == "/v1/responses" {
			fmt.Fprint(w, looks)
		} else {
			fmt.Fprint(w, looksInChat)
		}
	}))
	defer server.Close()

	for _, chat := range []bool{false, true} {
		model := &openai.Model{
			Model:   "qwen3",
			Chat:    chat,
			BaseURL: server.URL + "/v1",
			Options: []option.RequestOption{option.WithAPIKey("none")},
		}
		answer, err := model.Ask(context.Background(), provider.Request{
			Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("What is in notes.txt?")}}},
		}, func(d provider.Delta) {
			if d.Kind == provider.DeltaText {
				fmt.Printf("text: %q\n", d.Text)
			}
			if d.Kind == provider.DeltaCall {
				fmt.Printf("call: %s %s\n", d.Call.Name, d.Call.Input)
			}
		})
		fmt.Println(answer.Stop, answer.Usage.Input, answer.Usage.Output, err)
	}
	// Output:
	// text: "I look."
	// call: read {"path":"notes.txt"}
	// calls 25 48 <nil>
	// text: "I look."
	// call: read {"path":"notes.txt"}
	// calls 25 48 <nil>
}

package anthropic_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ferrule-dev/ferrule/agent/anthropic"
	"github.com/ferrule-dev/ferrule/provider"
)

// What Anthropic's API says to one who asks for a file.
const looks = `event: message_start
data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"at it."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"no"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"tes.txt\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":48}}

event: message_stop
data: {"type":"message_stop"}

`

// A model that wants to read a file. Who has an agent.Agent gives it the model and does
// not ask itself.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, looks)
	}))
	defer server.Close()

	model := &anthropic.Model{
		Model:   "claude-opus-4-5",
		Options: []option.RequestOption{option.WithBaseURL(server.URL), option.WithAPIKey("none")}, // for this example
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
	// Output:
	// text: "I look "
	// text: "at it."
	// call: read {"path": "notes.txt"}
	// calls 25 48 <nil>
}

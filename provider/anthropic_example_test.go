package provider_test

import (
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
)

// A call is told when its input is complete, while the model may still talk.
func ExampleAnthropic_stream() {
	body := strings.NewReader(`data: {"type":"message_start","message":{"id":"msg_1","model":"claude"}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"Florence\"}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}

data: {"type":"message_stop"}

`)
	answer, err := provider.Anthropic{}.Stream(body, func(d provider.Delta) {
		fmt.Printf("%s %s%s\n", d.Kind, d.Call.Name, d.Call.Input)
	})
	fmt.Println(answer.Stop, answer.Usage.Output, err)
	// Output:
	// begun weather
	// call weather{"city":"Florence"}
	// calls 30 <nil>
}

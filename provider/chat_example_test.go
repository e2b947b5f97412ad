package provider_test

import (
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
)

func ExampleChat_Stream() {
	stream := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"add","arguments":"{\"a\":2,"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\":3}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`
	answer, err := provider.Chat{}.Stream(strings.NewReader(stream), func(d provider.Delta) {
		fmt.Printf("%s %s%s\n", d.Kind, d.Call.Name, d.Call.Input)
	})
	fmt.Println(answer.Stop, err)
	// Output:
	// begun add
	// call add{"a":2,"b":3}
	// calls <nil>
}

func ExampleRead() {
	calls, format, err := provider.Read([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"add","input":{"a":2}}]}`))
	fmt.Println(format, calls[0].Name, string(calls[0].Input), err)
	// Output:
	// anthropic add {"a":2} <nil>
}

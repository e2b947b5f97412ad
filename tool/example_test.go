package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// A typed tool: the schema comes from the struct, and Run gets it filled.
func ExampleNew() {
	type In struct {
		Text  string `json:"text" jsonschema:"description=what to repeat"`
		Times int    `json:"times,omitempty" jsonschema:"minimum=1,maximum=10,description=how often; once if left out"`
	}
	repeat, err := tool.New(tool.Info{
		Name:        "repeat",
		Description: "Say a text several times.",
		Claims:      tool.Claims{ReadOnly: true, Local: true, Touches: []tool.Access{}},
	}, func(_ context.Context, in In) (string, error) {
		return strings.TrimSpace(strings.Repeat(in.Text+" ", max(1, in.Times))), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(repeat.Input))
	fmt.Println(repeat.Claims.SideEffect())

	args, err := repeat.Admit(json.RawMessage(`{"text":"ho","times":3}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(repeat.Run(context.Background(), args))

	_, err = repeat.Admit(json.RawMessage(`{"txt":"ho","times":30}`))
	fmt.Println(tool.AsError(err).Text)
	// Output:
	// {"type":"object","properties":{"text":{"type":"string","description":"what to repeat"},"times":{"type":"integer","minimum":1,"maximum":10,"description":"how often; once if left out"}},"required":["text"]}
	// pure
	// ho ho ho <nil>
	// InputValidationError: (root): got unknown "txt", want only "text", "times" ("txt": did you mean "text"?); (root): got no "text", want "text" (string); /times: got number 30, want at most 10
}

// An untyped tool: any JSON Schema, and raw JSON for the function.
func ExampleTool_Check() {
	lookup, err := tool.Tool{
		Info: tool.Info{
			Name:        "lookup",
			Description: "Look a word up.",
			Input:       json.RawMessage(`{"type":"object","properties":{"word":{"type":"string","minLength":1}},"required":["word"]}`),
			Examples:    []tool.Example{{Input: json.RawMessage(`{"word":"ferrule"}`)}},
		},
		Run: func(_ context.Context, a tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text("asked for " + a.Text())}}, nil
		},
	}.Check()
	if err != nil {
		fmt.Println(err)
		return
	}
	args, err := lookup.Admit(json.RawMessage(`{"word":"ferrule"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lookup.Run(context.Background(), args))

	bad := *lookup
	bad.Examples = []tool.Example{{Input: json.RawMessage(`{"word":""}`)}}
	_, err = bad.Check()
	fmt.Println(err)
	// Output:
	// asked for {"word":"ferrule"} <nil>
	// tool "lookup": example 1: input: invalid_input: InputValidationError: /word: got 0 characters, want at least 1
}

// A call that says how far it is. Without a runtime nobody listens, and the
// tool runs all the same.
func ExampleEnv() {
	count, err := tool.New(tool.Info{Name: "count", Description: "Count to three.", Streams: true},
		func(ctx context.Context, _ struct{}) (string, error) {
			env := tool.From(ctx)
			for i := range 3 {
				fmt.Fprintln(env.Stdout(), i+1)
				env.Progress(float64(i+1), 3, "counting")
			}
			return "done", nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	args, err := count.Admit(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	host := tool.Host{Send: func(u tool.Update) {
		if u.Progress {
			fmt.Printf("%s: %v of %v\n", u.Message, u.Current, u.Total)
			return
		}
		fmt.Printf("%s: %s", u.Stream, u.Text)
	}}
	fmt.Println(count.Run(host.Context(context.Background()), args))
	// Output:
	// stdout: 1
	// counting: 1 of 3
	// stdout: 2
	// counting: 2 of 3
	// stdout: 3
	// counting: 3 of 3
	// done <nil>
}

package audit_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// An observer looks at one stream of events and takes what it needs.
func ExampleEvent() {
	observe := func(e audit.Event) {
		switch e.Kind {
		case audit.Decided:
			fmt.Println(e.Name, e.Decision.Verdict, "by", e.By)
		case audit.Ended:
			fmt.Println(e.Name, "ended:", e.Result)
		default:
		}
	}
	observe(audit.Event{Kind: audit.Decided, Name: "read_file", By: "policy", Decision: &tool.Decision{Verdict: tool.Allow}})
	observe(audit.Event{Kind: audit.Ended, Name: "read_file", Result: &tool.Result{Content: []tool.Content{tool.Text("hello")}}})
	// Output:
	// read_file allow by policy
	// read_file ended: hello
}

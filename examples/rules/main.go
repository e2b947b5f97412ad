// Command rules decides calls by short rules and by Cedar: one is allowed, one is
// asked for and rejected, two are denied.
//
//	go run ./examples/rules
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// team says what short rules cannot: it looks at an argument.
const team = `
@id("not-everybody") @message("Write to the team only.")
forbid (principal, action, resource == Tool::"send_mail")
when { context.args.to == "everybody" };
`

type mail struct {
	To string `json:"to" jsonschema:"description=who gets it"`
}

type file struct {
	Path string `json:"path" jsonschema:"description=absolute path"`
}

func main() {
	send, err := tool.New(tool.Info{Name: "send_mail", Description: "Send a mail."},
		func(_ context.Context, in mail) (string, error) { return "sent to " + in.To, nil })
	check(err)
	// Rules with a path fit what a tool says of a call: its Facts.
	write, err := tool.Spec[file, string]{
		Info:  tool.Info{Name: "write_file", Description: "Write a file."},
		Facts: func(in file) (tool.Facts, error) { return tool.Facts{Paths: []string{in.Path}}, nil },
		Run:   func(_ context.Context, in file) (string, error) { return "written: " + in.Path, nil },
	}.Tool()
	check(err)

	rules, err := cedar.New(cedar.Rules{
		Allow:     []string{"write_file(path: src/**)"},
		Ask:       []string{"send_mail"},
		Deny:      []string{"write_file(path: src/secret/**)"}, // *(…) would fit all that does not say its paths, too
		Workspace: "/work",
	}, cedar.File{Name: "team.cedar", Text: team})
	check(err)
	rt := &ferrule.Runtime{Policy: rules, Answer: person}
	check(rt.Add(send, write))

	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	defer func() { check(session.Close(ctx)) }()
	for _, c := range [][2]string{
		{"write_file", `{"path":"/work/src/main.go"}`},
		{"write_file", `{"path":"/work/src/secret/key"}`},
		{"send_mail", `{"to":"everybody"}`},
		{"send_mail", `{"to":"ada"}`},
	} {
		fmt.Println(c[0], c[1])
		result := session.Call(ctx, c[0], c[1])
		fmt.Println(" ", result)
		if result.Err != nil {
			fmt.Printf("  %s: %s\n", result.Err.Kind, result.Err.Detail)
		}
	}
}

// person stands for somebody who is asked.
func person(_ context.Context, q policy.Question) (policy.Answer, error) {
	fmt.Printf("  asked by %q\n", q.Rule)
	return policy.Answer{By: "ada", Message: "Not today."}, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Command commandhook has a program look at each call and at each result. The
// program is a hook: it reads the call as JSON and answers allow, deny or change.
// Here it is this program itself, started again with the word check; it could be
// one in any language. What goes wrong in it denies: see docs/hooks.md.
//
//	go run ./examples/commandhook
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		check(os.Stdin, os.Stdout)
		return
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// check is the program. It may end as it likes: whatever is not an answer denies.
func check(in io.Reader, out io.Writer) {
	var event struct {
		Event  string
		Input  struct{ Name string }
		Result struct{ Text string }
	}
	if err := json.NewDecoder(in).Decode(&event); err != nil {
		log.Fatal(err)
	}
	answer := map[string]any{"decision": "allow"}
	switch page := event.Input.Name; {
	case event.Event == "output":
		if text := strings.ReplaceAll(event.Result.Text, "ada@example.com", "[mail]"); text != event.Result.Text {
			answer = map[string]any{"decision": "change", "text": text}
		}
	case strings.HasPrefix(page, "draft/"):
		answer = map[string]any{"decision": "deny", "message": "Drafts are not shown. Read a page that is done.", "reason": "rule 7"}
	case page == "home":
		answer = map[string]any{"decision": "change", "input": map[string]string{"name": "welcome"}, "context": "home is called welcome now."}
	case page == "index":
		fmt.Fprintln(os.Stderr, "the list of pages is not there")
		os.Exit(3) // no answer: the call is denied
	}
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		log.Fatal(err)
	}
}

type page struct {
	Name string `json:"name" jsonschema:"which page"`
}

func run() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	checks, err := ferrule.Command{
		Name: "checks", Run: []string{self, "check"}, Timeout: 20 * time.Second,
		Input: true, Output: true,
	}.Hook()
	if err != nil {
		return err
	}
	read, err := tool.New(tool.Info{Name: "read_page", Description: "Read a page of the wiki."},
		func(_ context.Context, in page) (string, error) {
			return "This is " + in.Name + ", by ada@example.com.", nil
		})
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Hooks: []ferrule.Hook{checks}}
	if err := rt.Add(read); err != nil {
		return err
	}

	session := rt.Session(tool.Caller{})
	for _, input := range []string{`{"name":"about"}`, `{"name":"home"}`, `{"name":"draft/plans"}`, `{"name":"index"}`} {
		result := session.Call(context.Background(), "read_page", input)
		fmt.Println("read_page", input)
		fmt.Println("  the model reads:", strings.ReplaceAll(result.String(), "\n", "\n    "))
		if result.Err != nil {
			fmt.Println("  the operator reads:", strings.ReplaceAll(result.Err.Detail, "\n", "\n    "))
		}
	}
	return nil
}

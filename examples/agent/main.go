// Command agent is a whole agent: it streams, every call passes the rules, and its
// conversation is kept so that it can be gone on with. The model is a script, so that
// no key is needed; for a real one see agent/anthropic and agent/openai.
//
//	go run ./examples/agent
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed weather.txtar
var conversation []byte

type city struct {
	City string `json:"city" jsonschema:"description=where"`
}

func main() {
	weather, err := tool.New(tool.Info{
		Name: "weather", Description: "Say how the weather is.", Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in city) (string, error) { return "sunny in " + in.City, nil })
	check(err)
	rt := new(ferrule.Runtime)
	check(rt.Add(weather))
	script, err := scripted.Parse(conversation)
	check(err)
	a := &agent.Agent{Runtime: rt, Model: script.Model(), Keep: keep}
	var t agent.Transcript
	for event, err := range a.Run(context.Background(), &t, "Where is it warmer, Oslo or Rome?") {
		check(err)
		show(event)
	}
	fmt.Println("\n" + string(t.Why))
}

// keep has the conversation on the disk before each call begins. A run of what is read
// from there goes on.
func keep(_ context.Context, t *agent.Transcript) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile("conversation.json", text, 0o600)
}

func show(e agent.Event) {
	switch e.Kind {
	case agent.Said:
		fmt.Print(e.Text)
	case agent.Called:
		fmt.Printf("\n> %s %s", e.Call.Name, e.Call.Input)
	case agent.Turned:
		fmt.Println()
	default:
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

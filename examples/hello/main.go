// Command hello runs one answer of a model with four calls: two reads side by
// side, a write that runs alone behind them, and a call that is denied.
//
//	go run ./examples/hello
package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type room struct {
	Room string `json:"room" jsonschema:"enum=kitchen,enum=bedroom,description=where to measure"`
}

type heating struct {
	Degrees int `json:"degrees" jsonschema:"minimum=5,maximum=25,description=how warm it shall be"`
}

func main() {
	// Each read waits for the other. One after the other they would wait until
	// their time is over, and fail.
	var both sync.WaitGroup
	both.Add(2)

	// What only reads, on this machine, needs no rule and may run beside its like.
	read, err := tool.New(tool.Info{
		Name: "read_temperature", Description: "Measure how warm a room is.",
		Claims:  tool.Claims{ReadOnly: true, Local: true},
		Timeout: 10 * time.Second,
	}, func(_ context.Context, in room) (string, error) {
		both.Done()
		both.Wait()
		return map[string]string{"kitchen": "21 degrees", "bedroom": "17 degrees"}[in.Room], nil
	})
	check(err)

	// A tool that claims nothing is taken for the worst: it runs alone.
	heat, err := tool.New(tool.Info{Name: "set_heating", Description: "Set the heating of the house."},
		func(_ context.Context, in heating) (string, error) {
			return fmt.Sprintf("heating to %d degrees", in.Degrees), nil
		})
	check(err)
	unlock, err := tool.New(tool.Info{Name: "unlock_door", Description: "Unlock the front door."},
		func(context.Context, struct{}) (string, error) { return "unlocked", nil })
	check(err)

	rt := &ferrule.Runtime{Policy: policy.Func(rules), Observe: counter(), Limit: 2} // whatever the environment says
	check(rt.Add(read, heat, unlock))
	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	defer func() { check(session.Close(ctx)) }() // it is kept until then
	view := session.View(ctx)

	calls := []tool.Call{
		{Name: "read_temperature", Input: []byte(`{"room":"kitchen"}`)},
		{Name: "read_temperature", Input: []byte(`{"room":"bedroom"}`)},
		{Name: "set_heating", Input: []byte(`{"degrees":19}`)},
		{Name: "unlock_door", Input: []byte(`{}`)},
	}
	for i, result := range view.Do(ctx, calls...) { // one for each call, in their order
		fmt.Printf("%s %s: %s\n", calls[i].Name, calls[i].Input, result)
		if result.Err != nil {
			fmt.Println("  for the operator:", result.Err.Detail)
		}
	}
}

// rules are the operator's. Where they are silent, only local reads run.
func rules(r *tool.Request) tool.Decision {
	switch r.Name { // r.Tool.Name could be that of another source's tool too
	case "set_heating":
		return tool.Decision{Verdict: tool.Allow}
	case "unlock_door":
		return tool.Decision{
			Verdict: tool.Deny, Rule: "doors", Reason: "the insurance pays only if a person opens",
			Message: "Doors are opened by people. Tell the visitor to ring the bell.",
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// counter is an observer that says, when a call starts, how many are running.
func counter() func(audit.Event) {
	var mu sync.Mutex // events come from many goroutines
	running := make(map[string]bool)
	return func(e audit.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == audit.Started {
			running[e.Request.ID] = true
			fmt.Printf("%s starts, %d running\n", e.Name, len(running))
		}
		if e.Kind == audit.Ended {
			delete(running, e.Request.ID)
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Command replay records a small session and replays it: first as it was, then
// in another order, both times with tools that would fail if they ran.
//
//	go run ./examples/replay
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type account struct {
	Name string `json:"name" jsonschema:"whose account"`
}

func main() {
	var file bytes.Buffer // or a file of its own for each process
	fmt.Println("recorded:")
	bank := map[string]int{"ada": 3}
	recorder := ferrule.NewRecorder(&file)
	talk(&ferrule.Runtime{Policy: policy.AllowOwn{}, Record: recorder}, func(name string) (int, error) {
		bank[name]-- // each look costs one
		if bank[name] < 0 {
			return 0, errors.New("there is no such account")
		}
		return bank[name], nil
	}, "ada", "bob", "ada")
	if err := recorder.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("lines:", bytes.Count(file.Bytes(), []byte("\n")))

	closed := func(string) (int, error) { return 0, errors.New("the bank is closed") }
	fmt.Println("\nas it was:")
	talk(&ferrule.Runtime{Replay: read(file.Bytes())}, closed, "ada", "bob", "ada")

	fmt.Println("\nother calls are not answered by guessing:")
	talk(&ferrule.Runtime{Replay: read(file.Bytes())}, closed, "bob", "bob", "ada", "ada")

	fmt.Println("\nby name and input, in any order, and the last answer again:")
	replay := read(file.Bytes())
	replay.ByInput = true
	talk(&ferrule.Runtime{Replay: replay}, closed, "bob", "ada", "ada", "ada")
}

func read(file []byte) *ferrule.Replay {
	replay, err := ferrule.ReadReplay(bytes.NewReader(file))
	if err != nil {
		log.Fatal(err) // it names the line
	}
	return replay
}

// talk is what an agent does: a turn for each name.
func talk(rt *ferrule.Runtime, look func(name string) (int, error), names ...string) {
	balance, err := tool.New(tool.Info{Name: "balance", Description: "Look up the balance of an account."},
		func(_ context.Context, in account) (int, error) { return look(in.Name) })
	if err := errors.Join(err, rt.Add(balance)); err != nil {
		log.Fatal(err)
	}
	session := rt.Session(tool.Caller{Session: "talk"})
	for _, name := range names {
		result := session.Call(context.Background(), "balance", fmt.Sprintf(`{"name":%q}`, name))
		fmt.Printf("  %s: %s\n", name, result)
		if result.Err != nil && rt.Replay != nil && result.Err.Detail != "" {
			fmt.Println("    for the operator:", result.Err.Detail)
		}
	}
}

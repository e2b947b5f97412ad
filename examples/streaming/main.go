// Command streaming runs calls while the model still talks, and shows what
// becomes of a call in the middle of which the model's stream breaks.
//
//	go run ./examples/streaming
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

type city struct {
	City string `json:"city" jsonschema:"description=where"`
}

func main() {
	started, told := make(chan string, 5), make(chan struct{})
	weather, err := tool.New(tool.Info{
		Name: "weather", Description: "Say how the weather is.",
		Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in city) (string, error) {
		started <- in.City
		<-told
		return "sunny in " + in.City, nil
	})
	check(err)
	rt := new(ferrule.Runtime)
	check(rt.Add(weather))
	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	defer func() { check(session.Close(ctx)) }()

	// What a provider's stream is turned into: each call as soon as its input is
	// complete. This model does not say the second before the first has begun.
	answer := func(yield func(tool.Call, error) bool) {
		if !yield(tool.Call{ID: "call_1", Name: "weather", Input: []byte(`{"city":"Oslo"}`)}, nil) {
			return
		}
		fmt.Println("the model still talks, and", <-started, "is under way")
		close(told)
		if !yield(tool.Call{ID: "call_2", Name: "weather", Input: []byte(`{"city":"Rome"}`)}, nil) {
			return
		}
		// The connection breaks in the middle of the third.
		yield(tool.Call{ID: "call_3", Name: "weather", Input: []byte(`{"city":"Par`)}, errors.New("connection reset"))
	}
	read(session.View(ctx).Stream(ctx, answer))

	// Leaving the loop discards the rest: calls are stopped and waited for.
	fmt.Println("\nonly the first of many:")
	many := func(yield func(tool.Call, error) bool) {
		for _, c := range []string{"Bonn", "Cork", "Dover"} {
			if !yield(tool.Call{ID: c, Name: "weather", Input: fmt.Appendf(nil, `{"city":%q}`, c)}, nil) {
				return
			}
		}
	}
	for result, err := range session.View(ctx).Stream(ctx, many) {
		fmt.Println(result, err)
		break
	}
}

// read prints results as they come: in the order of the calls, each as soon as it
// and those before it are there. An error of the stream comes last.
func read(results iter.Seq2[tool.Result, error]) {
	for result, err := range results {
		if err != nil {
			fmt.Println("the stream:", err)
			continue
		}
		fmt.Printf("%s: %s\n", result.CallID, result)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

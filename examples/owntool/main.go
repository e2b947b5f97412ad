// Command owntool defines a typed tool: a struct goes in, a struct comes out, and
// the schema, the checks and the claims follow from them.
//
//	go run ./examples/owntool
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// booking is what the model must say. A field is required unless omitempty.
type booking struct {
	Room  string    `json:"room" jsonschema:"enum=blue,enum=green,description=which room"`
	Start time.Time `json:"start" jsonschema:"when the meeting begins"`
	Hours int       `json:"hours,omitempty" jsonschema:"minimum=1,maximum=8,description=how long; 1 if left out"`
}

// receipt is what the model gets back, as JSON that is checked as well.
type receipt struct {
	Room string    `json:"room"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

func main() {
	book, err := tool.Spec[booking, receipt]{
		Info: tool.Info{
			Name:        "book_room",
			Description: "Book a meeting room on a working day.",
		},
		// What a call touches depends on its arguments: bookings of one room are
		// done in order, those of different rooms side by side.
		ClaimsOf: func(in booking) tool.Claims {
			return tool.Claims{
				Local: true, Reversible: true,
				Touches: []tool.Access{{Resource: "room:" + in.Room, Write: true}},
			}
		},
		Validate: validate,
		Run: func(_ context.Context, in booking) (receipt, error) {
			return receipt{in.Room, in.Start, in.Start.Add(time.Duration(in.Hours) * time.Hour)}, nil
		},
	}.Tool()
	if err != nil {
		log.Fatal(err)
	}

	rt := &ferrule.Runtime{
		Policy: policy.AllowOwn{}, // this program trusts its own tools
		Observe: func(e audit.Event) {
			if e.Kind == audit.Started {
				fmt.Println("  runs with:", e.Request.Args.Text())
				fmt.Println("  touches:  ", e.Request.Claims.Touches[0].Resource)
			}
		},
	}
	if err := rt.Add(book); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("arguments: %s\nresult: %s\n\n", book.Input, book.Output)

	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	for _, input := range []string{
		`{"room":"blue","start":"2030-01-07T09:00:00Z"}`,
		`{"room":"red","start":"2030-01-07T09:00:00Z","hour":2}`,
		`{"room":"blue","start":"2030-01-05T09:00:00Z","hours":2}`,
	} {
		fmt.Println("book_room", input)
		result := session.Call(ctx, "book_room", input)
		fmt.Println("  result:   ", result)
		if result.Err != nil {
			fmt.Println("  kind:     ", result.Err.Kind)
		}
	}
}

// validate looks at what a schema cannot say. It refuses with words for the
// model, or returns corrected arguments, which pass every check again.
func validate(_ context.Context, in booking) (json.RawMessage, error) {
	if day := in.Start.Weekday(); day == time.Saturday || day == time.Sunday {
		return nil, errors.New("start: the rooms are closed at weekends, choose Monday to Friday")
	}
	if in.Hours > 0 {
		return nil, nil // keep them as they are
	}
	in.Hours = 1
	return json.Marshal(in)
}

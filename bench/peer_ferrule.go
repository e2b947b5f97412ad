package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// ferruleRuntime is Ferrule by the same measure as the others.
func ferruleRuntime() peer {
	return peer{
		name: "Ferrule", module: "github.com/ferrule-dev/ferrule",
		note:    "View.Do; schema of input and output checked, rules decided, result limited",
		givesUp: 11 * time.Second, // 10 s for a tool that does not say Cancel, and 1 s to return
		prepare: func(ctx context.Context, tools []function, calls []request) (turn, error) {
			list := make([]*tool.Tool, len(tools))
			for i, f := range tools {
				t, err := tool.New(tool.Info{
					Name: f.name, Description: "Search files.",
					Claims: tool.Claims{Parallel: !f.writes}, Cooperative: f.cooperative, Repeatable: true, // all make the same call again and again
				}, f.run)
				if err != nil {
					return nil, err
				}
				list[i] = t
			}
			s, err := own(list...)
			if err != nil {
				return nil, err
			}
			t := &ferruleTurn{view: s.View(ctx), calls: make([]tool.Call, len(calls))}
			for i, c := range calls {
				t.calls[i] = tool.Call{ID: c.id, Name: c.tool, Input: json.RawMessage(c.input)}
			}
			return t, nil
		},
	}
}

type ferruleTurn struct {
	view  *ferrule.View
	calls []tool.Call
	shown []tool.Result
}

// Run never has an error: there is a result for each call.
func (t *ferruleTurn) Run(ctx context.Context) error {
	t.shown = t.view.Do(ctx, t.calls...)
	return nil
}

func (t *ferruleTurn) Results() []result {
	var list []result
	for _, r := range t.shown {
		list = append(list, result{r.CallID, r.String()})
	}
	return list
}

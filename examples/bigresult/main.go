// Command bigresult shows what a model gets of a result that is too long, and how
// it reads the rest: by lines, by a pattern, and page by page.
//
//	go run ./examples/bigresult
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	logs, err := tool.New(tool.Info{
		Name: "read_log", Description: "Read the log of the server.",
		Claims: tool.Claims{ReadOnly: true, Local: true},
		Limit:  tool.Limit{Chars: 120}, // 0 would be 64,000
	}, func(context.Context, struct{}) (string, error) { return serverLog(), nil })
	check(err)

	// What is kept in a directory is there after a restart, too. new(durable.Memory)
	// would keep it in this process.
	dir, err := os.MkdirTemp("", "results")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	store, err := durable.OpenDir(dir)
	check(err)
	defer func() { check(store.Close()) }()

	rt := &ferrule.Runtime{Blobs: store}
	check(rt.Add(logs))
	ctx := context.Background()
	session := rt.Session(tool.Caller{Session: "on call"})
	defer func() { check(session.Close(ctx)) }()

	fmt.Println("offered:", session.View(ctx).Names())
	short := session.Call(ctx, "read_log", "")
	handle := regexp.MustCompile(`r_[0-9a-f]+`).FindString(short.String()) // as the model would read it
	show(short, handle)
	fmt.Println("offered:", session.View(ctx).Names())

	ask := func(more map[string]any) {
		more["handle"] = handle
		input, err := json.Marshal(more)
		check(err)
		fmt.Printf("\nread_result %s\n", strings.ReplaceAll(string(input), handle, "r_…"))
		show(session.Call(ctx, "read_result", string(input)), handle)
	}
	ask(map[string]any{"lines": "499-501"})
	ask(map[string]any{"pattern": "error|panic"})
	ask(map[string]any{"offset": 28_900})

	// What was kept belongs to its session.
	stranger := rt.Session(tool.Caller{Session: "another"})
	defer func() { check(stranger.Close(ctx)) }()
	fmt.Println("\nanother session:", stranger.Call(ctx, "read_result", fmt.Sprintf(`{"handle":%q}`, handle)))
}

// serverLog is a thousand lines, two of which matter.
func serverLog() string {
	var b strings.Builder
	for i := 1; i <= 1000; i++ {
		switch i {
		case 500:
			fmt.Fprintln(&b, "09:00:00.500 error: disk full")
		case 777:
			fmt.Fprintln(&b, "09:00:00.777 panic: no disk")
		default:
			fmt.Fprintf(&b, "09:00:00.%03d GET /health 200\n", i%1000)
		}
	}
	return b.String()
}

// show prints a result without its handle, which is another for each session.
func show(res tool.Result, handle string) {
	fmt.Println(strings.ReplaceAll(strings.TrimRight(res.String(), "\n"), handle, "r_…"))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

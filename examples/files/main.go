// Command files lets a model work on a folder: it looks around, is shown to a
// person before it changes something, and what it changed is undone.
//
//	go run ./examples/files
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	work, err := os.MkdirTemp("", "files")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.WriteFile(filepath.Join(work, "greet.txt"), []byte("Dear all,\nthe meeting is on Monday.\n"), 0o600); err != nil {
		return err
	}

	history, err := undo.Open(ctx, filepath.Join(work, ".ferrule", "undo"))
	if err != nil {
		return err
	}
	tools, err := builtin.Files{Roots: []string{work}, Undo: history}.Tools()
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Answer: person}
	if err := rt.Set(tool.Source{Name: "files", Trust: tool.BuiltIn}, tools...); err != nil {
		return err
	}

	session := rt.Session(tool.Caller{Attended: true})
	for _, call := range [][2]string{
		{"fs_grep", `{"pattern":"monday","ignore_case":true}`},
		{"fs_edit", `{"path":"greet.txt","edits":[{"old":"Friday","new":"Tuesday"}]}`},
		{"fs_edit", `{"path":"greet.txt","edits":[{"old":"Monday","new":"Tuesday"}]}`},
		{"fs_read", `{"path":"greet.md"}`},
	} {
		fmt.Println(call[0], call[1])
		fmt.Println(session.Call(ctx, call[0], call[1]))
		fmt.Println()
	}

	list, err := history.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Outcome != undo.Done {
			continue
		}
		fmt.Println("undo:", e.Tool, e.What(), e.Name)
		if _, err := history.Restore(ctx, e.ID, false); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(filepath.Join(work, "greet.txt"))
	fmt.Print(string(text))
	return err
}

// person sees what a call would do, and says yes.
func person(_ context.Context, q policy.Question) (policy.Answer, error) {
	fmt.Println("A person is shown:")
	fmt.Println(strings.TrimSuffix(q.Preview, "\n"))
	return policy.Answer{Allow: true, By: "ada"}, nil
}

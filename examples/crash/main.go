// Command crash ends in the middle of a call, and goes on.
//
//	go run ./examples/crash
//
// It starts itself once more. That process makes three calls in one turn, and
// ends while the second runs, as one does that is killed. This one then says what
// is known of each, and gives the same calls to the same turn.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if dir := os.Getenv("FERRULE_EXAMPLE"); dir != "" {
		return inDir(ctx, dir, first)
	}
	dir, err := os.MkdirTemp("", "ferrule-crash-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self) //nolint:gosec // it is this program
	child.Env = append(os.Environ(), "FERRULE_EXAMPLE="+dir)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	fmt.Printf("the first process: %v\n\n", child.Run())
	return inDir(ctx, dir, second)
}

type mail struct {
	To string `json:"to" jsonschema:"description=who gets it"`
}

func calls() []tool.Call {
	return []tool.Call{
		{ID: "a", Name: "send_mail", Input: []byte(`{"to":"ada"}`)},
		{ID: "b", Name: "send_mail", Input: []byte(`{"to":"bob"}`)},
		{ID: "c", Name: "send_mail", Input: []byte(`{"to":"cyd"}`)},
	}
}

// first makes the calls, and ends in the second of them.
func first(ctx context.Context, session *ferrule.Session, _ *ferrule.Runtime) error {
	turn := session.View(ctx).Begin(ctx, ferrule.TurnOptions{})
	// A host writes down what the model asked for, and the number of the turn,
	// before anything runs. Here it is always 1.
	turn.Add(calls()...)
	turn.Wait()
	return nil
}

// second goes on with the same turn.
func second(ctx context.Context, session *ferrule.Session, rt *ferrule.Runtime) error {
	const turn = 1
	left, err := rt.Resume(ctx, durable.Place{Session: "mail", Turn: turn})
	if err != nil {
		return err
	}
	for _, r := range left {
		fate, why := r.Fate()
		fmt.Printf("call %s: %s: %s\n", r.CallID, fate, why)
	}
	fmt.Println("call c: no record: it has not begun")
	fmt.Println()
	again := session.View(ctx).Begin(ctx, ferrule.TurnOptions{Number: turn})
	again.Add(calls()...)
	for _, res := range again.Wait() {
		fmt.Printf("call %s: %s\n", res.CallID, res)
	}
	return nil
}

// inDir opens what both processes share.
func inDir(ctx context.Context, dir string, do func(context.Context, *ferrule.Session, *ferrule.Runtime) error) error {
	kept, err := store.Open(ctx, filepath.Join(dir, "ferrule.db"))
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	send, err := tool.New(tool.Info{Name: "send_mail", Description: "Send a mail."}, func(_ context.Context, in mail) (string, error) {
		if in.To == "bob" && os.Getenv("FERRULE_EXAMPLE") != "" {
			os.Exit(3) // was it sent?
		}
		fmt.Println("  sent to", in.To)
		return "sent to " + in.To, nil
	})
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Journal: kept, Ledger: kept, Log: kept}
	if err := rt.Add(send); err != nil {
		return err
	}
	session := rt.Session(tool.Caller{Session: "mail"})
	if err := do(ctx, session, rt); err != nil {
		return err
	}
	return rt.Close(ctx)
}

package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// One process asks, another one answers, and the first goes on.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "ferrule")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := example(context.Background(), filepath.Join(dir, "store.db")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// may git_push run with {"branch":"main"}
	// true by ada
}

func example(ctx context.Context, path string) error {
	asks, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = asks.Close() }()
	digest := policy.Digest("ada", "git_push", `{"branch":"main"}`)
	if err := asks.Ask(ctx, policy.Question{ID: "q1", Digest: digest, Tool: "git_push", Input: `{"branch":"main"}`}); err != nil {
		return err
	}
	answered := make(chan string, 1)
	defer asks.Watch(func(id string) { answered <- id })()

	answers, err := store.Open(ctx, path) // in another process
	if err != nil {
		return err
	}
	defer func() { _ = answers.Close() }()
	pending, err := answers.Pending(ctx)
	if err != nil {
		return err
	}
	for _, q := range pending {
		fmt.Println("may", q.Tool, "run with", q.Input)
		if err := answers.Answer(ctx, q.ID, policy.Answer{Allow: true, By: "ada"}); err != nil {
			return err
		}
	}

	a, err := asks.Use(ctx, <-answered, digest)
	if err != nil {
		return err
	}
	fmt.Println(a.Allow, "by", a.By)
	return nil
}

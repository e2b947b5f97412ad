package undo_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ferrule-dev/ferrule/undo"
)

func Example() {
	ctx := context.Background()
	work, err := os.MkdirTemp("", "work")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	history, err := undo.Open(ctx, filepath.Join(work, ".ferrule", "undo"))
	if err != nil {
		log.Fatal(err)
	}

	content := []byte("hello\n")
	step, err := history.Begin(ctx, undo.Change{Root: work, Name: "a.txt", Left: content, Tool: "fs_write"})
	if err != nil {
		log.Fatal(err) // and nothing is changed
	}
	if err := step.End(ctx, os.WriteFile(filepath.Join(work, "a.txt"), content, 0o644)); err != nil {
		log.Fatal(err)
	}

	list, err := history.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range list {
		fmt.Println(e.Tool, e.What(), e.Name)
	}
	if _, err := history.Restore(ctx, list[0].ID, false); err != nil {
		log.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(work, "a.txt"))
	fmt.Println("gone:", os.IsNotExist(err))
	// Output:
	// fs_write created a.txt
	// gone: true
}

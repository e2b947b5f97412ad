package durable_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// A text is kept once for each owner, and nobody else can open it.
func ExampleMemory() {
	ctx := context.Background()
	texts := &durable.Memory{Max: 1 << 20}
	note := durable.Note{Source: "github", Tool: "list_issues", Trust: tool.MCP}
	handle, err := texts.Put(ctx, "session 1", note, "first line\n", "second line\n")
	if err != nil {
		fmt.Println(err)
		return
	}

	blob, err := texts.Open(ctx, "session 1", handle)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = blob.Close() }()
	page := make([]byte, 11)
	if _, err := blob.ReadAt(page, 11); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, of %s: %d bytes, then %q\n", blob.Note.Tool, blob.Note.Trust, blob.Size, page)

	_, err = texts.Open(ctx, "session 2", handle)
	fmt.Println(errors.Is(err, durable.ErrNotFound))
	// Output:
	// list_issues, of mcp: 23 bytes, then "second line"
	// true
}

// A store on the disk is swept from time to time.
func ExampleDir() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "texts")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	texts, err := durable.OpenDir(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = texts.Close() }()
	if _, err := texts.Put(ctx, "session 1", durable.Note{}, "a long text"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(texts.Sweep(ctx, time.Now().AddDate(0, 0, -7)))
	fmt.Println(texts.Holds(ctx, "session 1"))
	// Output:
	// 0 <nil>
	// true <nil>
}

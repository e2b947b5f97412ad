// Command approvals asks a person who is somewhere else. Its questions wait in a
// store, which the program ferrule opens at the same time from another terminal:
//
//	go run ./examples/approvals -wait
//	go run ./cmd/ferrule approvals --watch
//
// Without -wait it answers itself, through a store of its own, as another process
// would.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	home := flag.String("home", ".ferrule", "where state is kept")
	wait := flag.Bool("wait", false, "wait for `ferrule approvals`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *home, *wait); err != nil {
		log.Fatal(err)
	}
}

type file struct {
	Path string `json:"path" jsonschema:"description=absolute path"`
}

type note struct {
	Text string `json:"text" jsonschema:"description=what to remember"`
}

// tools are one that destroys and one that does no harm. Neither does anything
// here.
func tools() ([]*tool.Tool, error) {
	remove, err1 := tool.Spec[file, string]{
		Info: tool.Info{Name: "remove_file", Description: "Remove a file for good.", AskReason: "a file would be gone"},
		ClaimsOf: func(in file) tool.Claims {
			return tool.Claims{Local: true, Touches: []tool.Access{{Resource: "file:" + in.Path, Write: true}}}
		},
		Preview: func(_ context.Context, in file) (string, error) { return "rm " + in.Path, nil },
		Facts:   func(in file) (tool.Facts, error) { return tool.Facts{Paths: []string{in.Path}}, nil },
		Scopes:  func(in file) ([]string, error) { return []string{"path: " + path.Dir(in.Path) + "/**"}, nil },
		Run:     func(_ context.Context, in file) (string, error) { return "removed " + in.Path, nil },
	}.Tool()
	add, err2 := tool.New(tool.Info{
		Name: "add_note", Description: "Add a note.",
		Claims: tool.Claims{Reversible: true, Local: true, Touches: []tool.Access{{Resource: "notes:mine", Write: true}}},
	}, func(_ context.Context, in note) (string, error) { return "noted: " + in.Text, nil })
	return []*tool.Tool{remove, add}, errors.Join(err1, err2)
}

func run(ctx context.Context, home string, wait bool) error {
	file, err := store.Home(home)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Inbox: s, Ledger: s}
	list, err := tools()
	if err = errors.Join(err, rt.Add(list...)); err != nil {
		return errors.Join(err, s.Close())
	}
	session := rt.Session(tool.Caller{Principal: "ada"})
	turns := [][]tool.Call{
		{
			{Name: "remove_file", Input: []byte(`{"path":"/demo/build/a.o"}`)},
			{Name: "add_note", Input: []byte(`{"text":"The build is clean."}`)},
		},
		// Not asked, if the first was allowed for the session with all of its folder.
		{{Name: "remove_file", Input: []byte(`{"path":"/demo/build/b.o"}`)}},
	}
	for i, calls := range turns {
		var person sync.WaitGroup
		switch {
		case i > 0: // answered by the rule, or by the person who waits
		case wait:
			fmt.Println("waiting for: ferrule approvals --watch --home", home)
		default:
			person.Go(func() { err = answer(ctx, file, len(calls)) })
		}
		results := session.View(ctx).Do(ctx, calls...) // waits for the person
		person.Wait()
		if err != nil {
			break
		}
		for _, r := range results {
			fmt.Println("result:", r)
		}
	}
	return errors.Join(err, session.Close(context.WithoutCancel(ctx)), s.Close())
}

// answer is the person, on the same store as another process would be: yes to
// all, and to what destroys for the whole session, with the second key.
func answer(ctx context.Context, file string, want int) error {
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	var open []policy.Question
	for len(open) < want && err == nil {
		if open, err = s.Pending(ctx); len(open) < want {
			time.Sleep(20 * time.Millisecond)
		}
	}
	slices.SortFunc(open, func(a, b policy.Question) int { return cmp.Compare(a.Index, b.Index) })
	for _, q := range open {
		fmt.Printf("May %s run for %s with %s?\n", q.Tool, q.Caller.Principal, q.Input)
		a := policy.Answer{Allow: true, By: "ada"}
		if i := slices.Index(q.Offers, "remove_file(path: /demo/build/**)"); i >= 0 {
			a.Rule, a.Second = q.Offers[i], true
			fmt.Println("  yes, and in this session all that fits", a.Rule)
		} else {
			fmt.Println("  yes, once")
		}
		err = errors.Join(err, s.Answer(ctx, q.ID, a))
	}
	return errors.Join(err, s.Close())
}

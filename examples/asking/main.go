// Command asking lets a person decide. Two mails wait in an inbox, one gets a
// yes and one a no, and a call that nobody must be asked about goes on meanwhile.
//
//	go run ./examples/asking
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type mail struct {
	To   string `json:"to" jsonschema:"who gets it"`
	Text string `json:"text" jsonschema:"what it says"`
}

func main() {
	send, err1 := tool.Spec[mail, string]{
		Info: tool.Info{
			Name: "send_mail", Description: "Send a mail.",
			Approval: tool.AskAlways, AskReason: "a mail cannot be taken back",
			Claims: tool.Claims{Touches: []tool.Access{{Resource: "mail:outbox", Write: true}}},
		},
		Preview: func(_ context.Context, in mail) (string, error) {
			return fmt.Sprintf("To: %s / %s", in.To, in.Text), nil
		},
		Run: func(_ context.Context, in mail) (string, error) { return "sent to " + in.To, nil },
	}.Tool()

	// It touches nothing that a mail touches, so it need not wait for one.
	read, err2 := tool.New(tool.Info{
		Name: "read_calendar", Description: "Read what is planned for today.",
		Claims: tool.Claims{ReadOnly: true, Local: true, Touches: []tool.Access{{Resource: "calendar:today"}}},
	}, func(context.Context, struct{}) (string, error) { return "nothing is planned", nil })

	inbox := new(policy.Memory)
	news := make(chan string, 10) // an observer must not wait, so there is room for all
	rt := &ferrule.Runtime{Inbox: inbox, Observe: func(e audit.Event) {
		if e.Kind == audit.Asked || e.Kind == audit.Ended {
			news <- fmt.Sprintf("%s: %s", e.Name, e.Kind)
		}
	}}
	if err := errors.Join(err1, err2, rt.Add(send, read)); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	var person sync.WaitGroup
	person.Go(func() {
		first := []string{<-news, <-news, <-news} // two questions, and the calendar
		slices.Sort(first)                        // they come side by side
		fmt.Println(strings.Join(first, "\n"))
		if err := answer(ctx, inbox); err != nil {
			log.Fatal(err)
		}
	})
	session := rt.Session(tool.Caller{Principal: "ada", Attended: true})
	results := session.View(ctx).Do(ctx, // waits for the person
		tool.Call{Name: "send_mail", Input: []byte(`{"to":"grace","text":"Lunch at noon?"}`)},
		tool.Call{Name: "send_mail", Input: []byte(`{"to":"everybody","text":"I am at lunch."}`)},
		tool.Call{Name: "read_calendar"},
	)
	person.Wait()
	for i, result := range results {
		fmt.Printf("call %d: %s\n", i+1, result)
	}
}

// answer is the person. In its place a page, a chat or a terminal would show the
// questions, and could do so hours later.
func answer(ctx context.Context, inbox policy.Inbox) error {
	open, err := inbox.Pending(ctx)
	if err != nil {
		return err
	}
	// Both were put at the same moment: the order of the calls reads better.
	slices.SortFunc(open, func(a, b policy.Question) int { return cmp.Compare(a.Index, b.Index) })
	for _, q := range open {
		fmt.Printf("May %s run for %s? (%s)\n", q.Tool, q.Caller.Principal, q.Reason)
		fmt.Printf("  preview:   %s\n  arguments: %s\n", q.Preview, q.Input)
		if q.Note != "" {
			fmt.Println("  note:     ", q.Note)
		}
		a, said := policy.Answer{By: "ada", Allow: true}, "yes"
		if strings.Contains(q.Preview, "To: everybody") {
			a = policy.Answer{By: "ada", Message: "Do not write to everybody. Tell only the team."}
			said = "no: " + a.Message
		}
		fmt.Println("  answer:   ", said)
		if err := inbox.Answer(ctx, q.ID, a); err != nil {
			return err
		}
	}
	return nil
}

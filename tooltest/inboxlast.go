package tooltest

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// ledger is the inbox as a ledger; only one that is both keeps rules itself.
func (in inbox) ledger() ledger {
	in.Helper()
	l, ok := in.Inbox.(policy.Ledger)
	if !ok {
		in.Skip("this inbox is no ledger, so it keeps no rules")
	}
	return ledger{in.T, l}
}

// lasting asks, and gives the question and a yes to it that lasts.
func (in inbox) lasting(id string) (policy.Question, policy.Answer) {
	in.Helper()
	q := full(in.T)
	q.ID, q.Caller = id, ada()
	in.ask(q)
	return q, policy.Answer{Allow: true, Rule: "send", By: "ada"}
}

// grants are all rules of everybody.
func (l ledger) grants() []policy.Grant {
	l.Helper()
	all, err := l.Grants(l.Context(), policy.Asker{})
	if err != nil {
		l.Fatalf("Grants: %v", err)
	}
	return all
}

func (in inbox) lasts() {
	l := in.ledger()
	want := make(map[string]policy.Grant)
	for i, change := range []func(*policy.Answer){
		func(*policy.Answer) {},
		func(a *policy.Answer) { a.Always = true },
		func(a *policy.Answer) { a.Second = true },
		func(a *policy.Answer) { a.Rule = "send(to: bob)" },
		func(a *policy.Answer) { a.Rule = "" }, // this once
		func(*policy.Answer) {},                // equal to the first, which stays
	} {
		q, yes := in.lasting(fmt.Sprint(i))
		change(&yes)
		before := time.Now().Add(-time.Second)
		in.answer(q.ID, yes)
		if g, ok := q.Grant(yes, time.Now()); ok && want[g.ID].ID == "" {
			want[g.ID] = g
		}
		for _, used := range []bool{false, true} {
			if used {
				if _, err := in.Use(in.Context(), q.ID, q.Digest); err != nil {
					in.Fatal(err)
				}
			}
			all := l.grants()
			if len(all) != len(want) {
				in.Fatalf("answer %d, used %v: got %+v, want %d rules", i, used, all, len(want))
			}
			for _, got := range all {
				if got.Question == q.ID && (got.Made.Before(before) || got.Made.After(time.Now().Add(time.Second))) {
					in.Errorf("answer %d: made: got %s, want now", i, got.Made)
				}
				w := want[got.ID]
				if got.Made = w.Made; got != w {
					in.Errorf("answer %d, used %v: got %+v\nwant %+v", i, used, got, w)
				}
			}
		}
	}
}

func (in inbox) lastsNot() {
	l := in.ledger()
	none := func(why string) {
		in.Helper()
		if all := l.grants(); len(all) != 0 {
			in.Fatalf("%s: got the rules %+v, want none", why, all)
		}
	}
	q, yes := in.lasting("a")
	for why, change := range map[string]func(*policy.Answer){
		"a rule that was not offered": func(a *policy.Answer) { a.Rule = "*" },
		"a no":                        func(a *policy.Answer) { a.Allow = false },
		"edited arguments":            func(a *policy.Answer) { a.Input = []byte("{}") },
		"withdrawn":                   func(a *policy.Answer) { a.Withdrawn = true },
	} {
		bad := yes
		change(&bad)
		if err := in.Answer(in.Context(), "a", bad); err == nil {
			in.Errorf("%s: got no error", why)
		}
		none(why)
	}
	in.refuse("nosuch", yes, policy.ErrNotAsked)
	q.ID, q.Claims.Reversible = "destroys", false
	in.ask(q)
	if err := in.Answer(in.Context(), q.ID, yes); err == nil {
		in.Error("one key for what destroys: got no error")
	}
	q.ID, q.Claims.Reversible = "late", true
	q.Asked, q.Expires = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
	in.ask(q)
	in.refuse(q.ID, yes, policy.ErrExpired)
	in.answer("a", policy.Answer{By: "bob"})
	in.refuse("a", yes, policy.ErrAnswered)
	none("after the first answer, a no")
}

func (in inbox) lastsNoMore() {
	l := in.ledger()
	q, yes := in.lasting("a")
	in.answer("a", yes)
	g, _ := q.Grant(yes, time.Now())
	if err := l.Revoke(l.Context(), g.ID); err != nil {
		in.Fatalf("Revoke: %v", err)
	}
	got, err := in.Use(in.Context(), "a", "d")
	if err != nil || got.Rule != "send" {
		in.Errorf("got %+v, %v, want the answer", got, err)
	}
	in.refuse("a", yes, policy.ErrAnswered)
	if all := l.grants(); len(all) != 0 {
		in.Errorf("got the rules %+v, want none: it was revoked", all)
	}
}

func (in inbox) lastsOfMany() {
	l := in.ledger()
	q, yes := in.lasting("a")
	won := make(chan string, crowd)
	count := atOnce(func(i int) error {
		a := yes
		a.Rule, a.By = q.Offers[i%2], fmt.Sprint("person ", i)
		err := in.Answer(context.Background(), "a", a)
		if err == nil {
			won <- a.By
		}
		return err
	})
	if count[nil] != 1 {
		in.Fatalf("got %v, want one taken", count)
	}
	if all, by := l.grants(), <-won; len(all) != 1 || all[0].By != by {
		in.Errorf("got the rules %+v, want that of %s", all, by)
	}
}

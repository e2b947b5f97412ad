package tooltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrule-dev/ferrule/durable"
)

func (j *journal) opens() {
	at := func(id, principal, session string, turn, index int) {
		r := record(id, 0)
		r.Place = durable.Place{Principal: principal, Session: session, Turn: turn, Index: index}
		j.begins(r, 1)
	}
	at("b", "ada", "s", 1, 1)
	at("a", "ada", "s", 1, 0)
	at("c", "ada", "s", 2, 0)
	at("d", "ada", "t", 1, 0)
	at("e", "bob", "s", 1, 0)
	j.ends(durable.Ending{ID: "b"})
	ada := func(turn int) durable.Place { return durable.Place{Principal: "ada", Session: "s", Turn: turn} }
	j.has(ada(1), "b done", "a running")
	j.has(ada(2), "c running")
	j.has(ada(3))
	j.has(ada(0), "a running", "c running")
	j.has(durable.Place{Principal: "bob", Session: "s"}, "e running")
	j.has(durable.Place{Tenant: "acme", Principal: "ada", Session: "s"})
	j.has(durable.Place{}, "a running", "c running", "d running", "e running")
	j.Journal = j.again()
	j.has(ada(1), "b done", "a left")
	j.has(durable.Place{}, "a left", "c left", "d left", "e left")
}

func (j *journal) leftBehind() {
	both := []bool{false, true}
	for i, was := range both {
		for k, is := range both {
			r := record(fmt.Sprintf("was %v is %v", was, is), 2*i+k)
			r.Repeats = was
			j.begins(r, 1)
		}
	}
	j.Journal = j.again()
	for i, was := range both {
		for k, is := range both {
			id := fmt.Sprintf("was %v is %v", was, is)
			r := record("again "+id, 2*i+k)
			r.Repeats = is
			if was && is {
				j.begins(r, 2)
				j.refused(r, durable.ErrBegun, r.ID)
				if _, err := j.Wait(j.Context(), id); !errors.Is(err, durable.ErrNotFound) {
					j.Errorf("the one that was taken over: got %v, want %v", err, durable.ErrNotFound)
				}
				continue
			}
			if got := j.refused(r, durable.ErrBegun, id); got.State != durable.Running || got.Live {
				j.Errorf("%s: got %+v, want one that was left behind", id, got)
			}
			if got, err := j.Wait(j.Context(), id); err != nil || got.State != durable.Running || got.Live {
				j.Errorf("Wait for %s: got %+v, %v, want one that was left behind", id, got, err)
			}
			r.Given = "another"
			j.refused(r, durable.ErrAnother, id)
		}
	}
	j.Journal = j.again()
	r := record("third", 3)
	r.Repeats = true
	j.begins(r, 3)
	if err := j.End(j.Context(), durable.Ending{ID: "third", Attempt: 2}); !errors.Is(err, durable.ErrStale) {
		j.Errorf("an earlier attempt: got %v, want %v", err, durable.ErrStale)
	}
	j.ends(durable.Ending{ID: "third", Attempt: 3, Result: sent()})
}

func (j *journal) doneStays() {
	j.begins(keyed("a", 0), 1)
	j.ends(durable.Ending{ID: "a", Result: sent()})
	for range 2 {
		j.Journal = j.again()
		if got := j.refused(keyed("again", 0), durable.ErrBegun, "a"); !sameResult(got.Result, sent()) {
			j.Errorf("got %+v, want the result", got)
		}
	}
	j.refused(keyed("b", 1), durable.ErrBegun, "a")
}

func (j *journal) stale() {
	j.begins(record("a", 0), 1)
	repeats := keyed("b", 1)
	j.begins(repeats, 1)
	was := j.Journal
	j.Journal = j.again()
	repeats.ID = "c"
	j.begins(repeats, 2)
	for _, end := range []durable.Ending{{ID: "a", Attempt: 1}, {ID: "b", Attempt: 1}, {ID: "b", Attempt: 1, Undone: true}, {ID: "c", Attempt: 1}} {
		if err := was.End(j.Context(), end); err == nil {
			j.Errorf("End %+v: got nil, want it to be refused", end)
		}
	}
	j.has(durable.Place{}, "a left", "c running")
}

func (j *journal) noTrace() {
	ctx, cancel := context.WithCancel(j.Context())
	cancel()
	if _, err := j.Begin(ctx, record("a", 0)); !errors.Is(err, context.Canceled) {
		j.Errorf("Begin: got %v, want %v", err, context.Canceled)
	}
	j.has(durable.Place{})
	j.begins(record("b", 0), 1)
	if err := j.End(ctx, durable.Ending{ID: "b", Attempt: 1}); !errors.Is(err, context.Canceled) {
		j.Errorf("End: got %v, want %v", err, context.Canceled)
	}
	j.has(durable.Place{}, "b running")
	if _, err := j.Open(ctx, durable.Place{}); !errors.Is(err, context.Canceled) {
		j.Errorf("Open: got %v, want %v", err, context.Canceled)
	}
	if _, err := j.Begin(j.Context(), record("", 1)); err == nil {
		j.Error("without an id: got nil")
	}
	j.has(durable.Place{}, "b running")
}

func (j *journal) takenBack() {
	j.begins(keyed("a", 0), 1)
	j.ends(durable.Ending{ID: "a", Undone: true, Sync: true})
	j.has(turnOf(keyed("", 0)))
	other := keyed("b", 0)
	other.Given, other.Digest = "another", "another"
	j.begins(other, 1)
	j.Journal = j.again()
	j.has(turnOf(other), "b left")
}

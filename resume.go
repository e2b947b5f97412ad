package ferrule

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Left is what an earlier process, or this one, left of a call in the journal.
type Left struct {
	durable.Record
	Fate Fate
	Why  string // for the operator
}

// Fate is what becomes of a call when its turn is gone on with.
type Fate string

// What becomes of a call that the journal knows. One that it does not know has
// not begun, or only reads, and runs.
const (
	FateDone    Fate = "done"    // its recorded result is its result
	FateAgain   Fate = "again"   // it was under way, and runs again: that can do no harm
	FateUnknown Fate = "unknown" // it was under way, and does not run again: a person must look
	FateRuns    Fate = "runs"    // another process is at it, or another turn of this one
)

// Resume says what became of calls, after a crash: of a turn, of what has not
// ended in a session, or, where no session is named, of all that has not ended.
// Nothing runs. To go on, give the same calls to a turn of the same number
// ([TurnOptions]): a host keeps the number of a turn ([Turn.Number]) with its
// calls before it adds them.
func (rt *Runtime) Resume(ctx context.Context, of durable.Place) ([]Left, error) {
	set := rt.freeze()
	if set.journal == nil {
		return nil, errors.New("resume: there is no Runtime.Journal")
	}
	if of.Principal == "" {
		of.Principal = localPrincipal
	}
	records, err := set.journal.Open(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	all := make([]Left, len(records))
	for i, r := range records {
		all[i] = left(r)
	}
	return all, nil
}

func left(r durable.Record) Left {
	switch {
	case r.State == durable.Done && r.Resolved != "":
		return Left{r, FateDone, r.Resolved + " said so"}
	case r.State == durable.Done && r.Result == nil:
		return Left{r, FateDone, "it ended; its result was not to be kept"}
	case r.State == durable.Done:
		return Left{r, FateDone, "it ended"}
	case r.Live:
		return Left{r, FateRuns, "it has not ended, and its process is there"}
	case r.Repeats && r.Key != "":
		return Left{r, FateAgain, "its process is gone; it has an idempotency key"}
	case r.Repeats:
		return Left{r, FateAgain, "its process is gone; its tool says that it is idempotent"}
	}
	return Left{r, FateUnknown, "its process is gone, and its tool does not say that it may run twice"}
}

// journalled is what the journal knows of a turn that is gone on with.
type journalled struct {
	calls map[int]durable.Record
	err   error
}

// lookBack asks the journal for the turn.
func (t *Turn) lookBack() {
	journal := t.set.journal
	if journal == nil || t.held == nil || !t.held.unknown {
		return
	}
	p := &journalled{calls: make(map[int]durable.Record)}
	s := t.view.session
	of := durable.Place{Tenant: s.caller.Tenant, Principal: s.caller.Principal, Session: s.caller.Session, Turn: t.number}
	records, err := bounded(t.ctx, ledgerTime, func(ctx context.Context) ([]durable.Record, error) { return journal.Open(ctx, of) })
	p.err = err
	for _, r := range records {
		p.calls[r.Place.Index] = r
	}
	t.past = p
}

// goesOn lets a call go on where another process left it, as the journal has it,
// and reports whether that settles what becomes of it.
func (c *call) goesOn() bool {
	p := c.turn.past
	if p.err != nil {
		c.known, c.final = &tool.Error{
			Kind: tool.OutcomeUnknown, Text: "It is not known whether this call has run already, so it did not run now.",
			Detail: fmt.Sprintf("Runtime.Journal: %v", p.err), Cause: p.err,
		}, true
		return true
	}
	had, ok := p.calls[c.index]
	if !ok {
		return false // it has not begun
	}
	switch l := left(had); {
	case had.Given != c.given():
		c.known, c.final = c.another(had.Tool), true
	case l.Fate == FateDone:
		res := c.resultOf(&had)
		c.recorded = &res
	case l.Fate == FateUnknown:
		c.known, c.final = leftBehind(&had), true
	default:
		return false // it begins anew, or waits for who runs it
	}
	return true
}

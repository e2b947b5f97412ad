package ferrule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Resume says what became of calls, after a crash: of a turn, of what has not
// ended in a session, or, where no session is named, of all that has not ended.
// [durable.Record.Fate] says of each what will become of it, and why; a call of
// which there is no record has not begun, or only reads. Nothing runs. To go on,
// give the same calls to a turn of the same number ([TurnOptions]): a host keeps
// the number of a turn ([Turn.Number]) with its calls before it adds them.
func (rt *Runtime) Resume(ctx context.Context, of durable.Place) ([]durable.Record, error) {
	set := rt.freeze()
	if set.journal == nil {
		return nil, errors.New("resume: there is no Runtime.Journal")
	}
	if of.Principal == "" {
		of.Principal = localPrincipal
	}
	records, err := safely(func() ([]durable.Record, error) { return set.journal.Open(ctx, of) })
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return records, nil
}

// journalled is what the journal knows of a turn that is gone on with.
type journalled struct {
	calls map[int]durable.Record
	err   error
}

// lookBack asks the journal for the turn.
func (t *Turn) lookBack() {
	journal := t.set.journal
	if journal == nil || t.held == nil {
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

// cutShort reports whether a crash has cut off this call, so that it is not known
// what became of it: that is what the model is told, whatever has become of the
// tool since. It also says so of a call that is done, and of one that could run
// again, where the tool is another now: neither its result nor another run would
// be those of this call.
func (c *call) cutShort() bool {
	p := c.turn.past
	if p == nil || p.err != nil {
		return false
	}
	had, ok := p.calls[c.index]
	if args, _, _ := strings.Cut(had.Given, "/"); !ok || args != c.givenArgs() {
		return false
	}
	changed := !c.unresolved && (c.entry == nil || had.Given != c.given())
	switch fate, _ := had.Fate(); {
	case fate == durable.FateUnknown, changed && fate == durable.FateAgain:
		c.known = leftBehind(&had)
	case changed && fate == durable.FateDone:
		c.known = &tool.Error{
			Kind: tool.Failed, Text: "This call has been made already, and has ended. Its tool has changed since, so what came of it is not given.",
			Detail: fmt.Sprintf("call %s of %s ended at %s: `ferrule journal show %s` has its result", had.ID, had.Tool, had.Ended.Format(time.RFC3339), had.ID),
		}
	default:
		return false
	}
	c.final, c.unresolved = true, false
	return true
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
	switch fate, _ := had.Fate(); {
	case had.Given != c.given():
		c.known, c.final = c.another(had.Tool), true
		return true
	case fate == durable.FateDone:
		res := c.joins(&had)
		c.recorded = &res
		return true
	case fate == durable.FateRunning:
		c.runsBy = had.ID
	}
	return false // it begins anew, or waits for who runs it
}

// joinWho waits for who runs this call, before anybody is asked about it again.
func (c *call) joinWho() {
	had, failure := c.await(c.runsBy)
	c.runsBy = ""
	switch {
	case failure != nil:
		c.known = failure
	case had.State == durable.Done && had.Given == c.given():
		res := c.joins(&had)
		c.recorded = &res
	}
}

package ferrule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// entered is the record of a call in the journal.
type entered struct {
	attempt int
	// Of a call that was given up: the result it was given. Its record ends when
	// its tool returns. Both are guarded by the turn's mutex.
	owed     *tool.Result
	returned bool
}

// enroll puts a call into the journal before its tool starts. Where the journal
// knows what became of the call, or of another that had the same effect, that is
// its result, and the tool does not run.
func (c *call) enroll() (res tool.Result, known bool) {
	journal := c.turn.set.journal
	if journal == nil || c.req.Claims.ReadOnly {
		return tool.Result{}, false
	}
	r := c.record()
	for {
		had, err := atJournal(journal, func(ctx context.Context) (durable.Record, error) {
			had, err := journal.Begin(ctx, r)
			if err == nil && ctx.Err() != nil { // too late: the call has its result
				err = errors.Join(ctx.Err(), journal.End(context.WithoutCancel(ctx), durable.Ending{ID: had.ID, Attempt: had.Attempt, Undone: true}))
			}
			return had, err
		})
		switch {
		case err == nil:
			c.entered = &entered{attempt: had.Attempt}
			return tool.Result{}, false
		case errors.Is(err, durable.ErrAnother) && had.Place == r.Place:
			return tool.Result{Err: c.another(had.Tool)}, true
		case errors.Is(err, durable.ErrAnother):
			return tool.Result{Err: &tool.Error{
				Kind: tool.Failed, Text: "This call has the idempotency key of an earlier call that was another one, so it did not run.",
				Detail: fmt.Sprintf("call %s has the key", had.ID), Cause: err,
			}}, true
		case !errors.Is(err, durable.ErrBegun):
			return tool.Result{Err: unjournalled(fmt.Errorf("Runtime.Journal: %w", err))}, true
		case had.Place == r.Place && c.turn.held == nil:
			return tool.Result{Err: &tool.Error{
				Kind: tool.Failed, Text: "This call has the place of an earlier one, so it did not run.",
				Detail: fmt.Sprintf("session %q had a turn %d already: Runtime.Journal wants a Runtime.Ledger that lasts as long, and a Caller.Session that is used once", r.Place.Session, r.Place.Turn),
			}}, true
		case had.State == durable.Done:
			return c.joins(&had), true
		case !had.Live:
			return tool.Result{Err: leftBehind(&had)}, true
		}
		if failure := c.await(&had); failure != nil {
			return tool.Result{Err: failure}, true
		}
	}
}

// record is the call as the journal keeps it.
func (c *call) record() durable.Record {
	r := durable.Record{
		Place: c.where(), ID: c.first.ID, CallID: c.first.CallID, Source: c.entry.source.Name, Tool: c.entry.tool.Name,
		Given: c.given(), Key: c.req.Key, Repeats: c.mayRepeat(), Input: c.recordableInput(c.req.Args.Text()), Began: time.Now(),
	}
	if r.Key != "" {
		r.Digest = c.digest()
	}
	return r
}

// where is the place of a call.
func (c *call) where() durable.Place {
	p := &c.first.Caller
	return durable.Place{Tenant: p.Tenant, Principal: p.Principal, Session: p.Session, Turn: c.turn.number, Index: c.index}
}

// given is a digest of for whom, which definition, and the arguments as they were
// received.
func (c *call) given() string {
	p := &c.first.Caller
	return policy.Digest(p.Tenant, p.Principal, c.entry.origin().digest(), schema.Canonical(string(c.input)))
}

// await waits for another process, or another turn of this one, that runs the
// same call.
func (c *call) await(had *durable.Record) *tool.Error {
	_, err := guard(c, func(ctx context.Context) (durable.Record, error) { return c.turn.set.journal.Wait(ctx, had.ID) })
	switch {
	case err == nil, errors.Is(err, durable.ErrNotFound):
		return nil
	case c.cut != nil || errors.Is(err, errLost):
		return c.cutOff()
	case errors.Is(err, errTookTooLong):
		return c.timedOut(fmt.Sprintf("call %s, which does the same, has not ended", had.ID))
	}
	return unjournalled(fmt.Errorf("Runtime.Journal: %w", err))
}

// joins is the result of a call that was made before, as its own.
func (c *call) joins(had *durable.Record) tool.Result {
	if c.turn.set.noted() {
		c.emit(audit.Event{Kind: audit.Joined, Text: "it has the result of call " + had.ID})
	}
	c.settled = true
	return c.resultOf(had)
}

// notKept is the result of a call that was done, where that was not to be kept.
const notKept = "done, not kept"

// resultOf is the result that a record holds.
func (c *call) resultOf(had *durable.Record) tool.Result {
	res := tool.Result{Content: []tool.Content{tool.Text(notKept)}}
	if had.Result != nil {
		res = copyResult(*had.Result)
	}
	if res.Err != nil && had.Fatal {
		res.Err.Cause = &tool.Outcome{Err: errors.New(res.Err.Text), Fatal: true, RetryAfter: res.Err.RetryAfter}
	}
	res.ID, res.CallID = c.first.ID, c.first.CallID
	return res
}

// leftBehind is what a call is told that a crash cut off, and that may not run
// twice.
func leftBehind(had *durable.Record) *tool.Error {
	return &tool.Error{
		Kind: tool.OutcomeUnknown, Text: "This call was under way when the program ended. It is not known whether it has happened, so it did not run again.",
		Detail: fmt.Sprintf("call %s of %s began at %s and its process is gone: a person must look, and say with `ferrule journal resolve %s` what became of it", had.ID, had.Tool, had.Began.Format(time.RFC3339), had.ID),
	}
}

// unjournalled is what a call is told that could not be put into the journal.
func unjournalled(err error) *tool.Error {
	return &tool.Error{Kind: tool.Failed, Text: "This call could not be put on the record, so it did not run.", Detail: err.Error(), Cause: err}
}

// atJournal calls the journal in its time. What the host stops meanwhile is
// waited for: a record that was made is known to be there.
func atJournal[T any](journal durable.Journal, f func(context.Context) (T, error)) (T, error) {
	if _, ok := journal.(durable.Prompt); !ok {
		return bounded(context.Background(), ledgerTime, f)
	}
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTime)
	defer cancel()
	return safely(func() (T, error) { return f(ctx) })
}

// strike ends the record of a call, which is there, with its result. One that was given up ends
// when it has returned: until then it may do something yet.
func (c *call) strike(res tool.Result) error {
	if c.lost.Load() && c.owes(res) {
		return nil
	}
	e := durable.Ending{ID: c.first.ID, Attempt: c.entered.attempt, Failed: res.Err != nil, Sync: c.turn.set.syncEnds && (c.req.Key != "" || !c.req.Claims.Idempotent)}
	if e.Failed {
		e.Fatal = endsRun(res.Err)
	}
	e.Undone = !c.ran && len(c.turn.hooks) == 0 // a wrapper may have done it instead
	in, out := c.secret()
	switch {
	case res.Err == nil && out:
	case res.Err != nil && (in || out):
		e.Result = &tool.Result{Err: &tool.Error{Kind: res.Err.Kind, Text: withheld, RetryAfter: res.Err.RetryAfter}}
	default:
		e.Result = &res
	}
	c.entered = nil
	return c.turn.set.close(e)
}

// owes leaves the end of a record to the tool's late return, unless that has come
// already.
func (c *call) owes(res tool.Result) bool {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.entered.returned {
		return false
	}
	kept := copyResult(res)
	c.entered.owed = &kept
	return true
}

// returns ends the record of a call that was given up, and has returned.
func (c *call) returns() error {
	t := c.turn
	t.mu.Lock()
	if c.entered == nil || c.entered.owed == nil {
		if c.entered != nil {
			c.entered.returned = true // who gives it its result ends it
		}
		t.mu.Unlock()
		return nil
	}
	res := *c.entered.owed
	c.entered.returned = true
	t.mu.Unlock()
	return c.strike(res)
}

// takeBack takes the record of a call back that has done nothing yet.
func (c *call) takeBack() *tool.Error {
	if c.entered == nil {
		return nil
	}
	e := durable.Ending{ID: c.first.ID, Attempt: c.entered.attempt, Undone: true}
	c.entered = nil
	if err := c.turn.set.close(e); err != nil {
		return c.unrecorded(err).Err
	}
	return nil
}

// close ends a record.
func (s *settings) close(e durable.Ending) error {
	_, err := atJournal(s.journal, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.journal.End(ctx, e) })
	if err != nil {
		return fmt.Errorf("Runtime.Journal: %w", err)
	}
	return nil
}

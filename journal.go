package ferrule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
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
	c.turn.set.endOwed()
	r := c.record()
	for {
		had, err := c.turn.set.open(r)
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
		if _, failure := c.await(had.ID); failure != nil {
			return tool.Result{Err: failure}, true
		}
	}
}

// record is the call as the journal keeps it.
func (c *call) record() durable.Record {
	r := durable.Record{
		Place: c.where(), ID: c.first.ID, CallID: c.turn.set.scrubText(c.first.CallID), Source: c.entry.source.Name, Tool: c.entry.tool.Name,
		Given: c.given(), Key: keyOf(c.req.Key), Repeats: c.req.Claims.ReadOnly || c.req.Claims.Idempotent, Input: c.recordableInput(c.req.Args.Text(), guard.Store), Began: time.Now(),
	}
	if r.Key != "" {
		r.Digest = c.digest()
	}
	return r
}

// keyOf names a key. What stands in it may be secret, or no text.
func keyOf(key string) string {
	if key == "" {
		return ""
	}
	return policy.Digest("key", key)
}

// where is the place of a call.
func (c *call) where() durable.Place {
	p := &c.first.Caller
	return durable.Place{Tenant: p.Tenant, Principal: p.Principal, Session: p.Session, Turn: c.turn.number, Index: c.index}
}

// given is a digest of for whom, which definition, and the arguments as they were
// received.
func (c *call) given() string {
	return c.givenArgs() + "/" + c.entry.origin().digest()
}

// givenArgs is the part of given that needs no tool.
func (c *call) givenArgs() string {
	p := &c.first.Caller
	return policy.Digest(p.Tenant, p.Principal, schema.Canonical(string(c.input)))
}

// await waits for another process, or another turn of this one, that runs the
// same call.
func (c *call) await(id string) (had durable.Record, failure *tool.Error) {
	had, err := timed(c, func(ctx context.Context) (durable.Record, error) { return c.turn.set.journal.Wait(ctx, id) })
	switch {
	case err == nil:
		return had, nil
	case errors.Is(err, durable.ErrNotFound):
		return durable.Record{}, nil
	case c.cut != nil || errors.Is(err, errLost):
		return had, c.cutOff()
	case errors.Is(err, errTookTooLong):
		return had, c.timedOut(fmt.Sprintf("call %s, which does the same, has not ended", id))
	}
	return had, unjournalled(fmt.Errorf("Runtime.Journal: %w", err))
}

// joins is the result of a call that was made before, as its own.
func (c *call) joins(had *durable.Record) tool.Result {
	if c.turn.noted() {
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
	switch {
	case had.Result != nil:
		res = copyResult(*had.Result)
	case had.Failed:
		res = tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "The call failed. What it said was not kept.", Detail: "call " + had.ID}}
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

package ferrule

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		Given: c.given(), Key: keyOf(c.req.Key), Repeats: c.req.Claims.ReadOnly || c.req.Claims.Idempotent, Input: c.recordableInput(c.req.Args.Text()), Began: time.Now(),
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
	had, err := guard(c, func(ctx context.Context) (durable.Record, error) { return c.turn.set.journal.Wait(ctx, id) })
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
	e.Undone = !c.ran && !c.wrapped() // a wrapper may have done it instead
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

// mostInJournal is how many bytes of a result are kept that are too many for a
// model: who gets them later is shown as much as it may be.
const mostInJournal = 256 << 10

// kept is what the journal keeps of a result, which was made shorter for the
// model.
func (c *call) kept(res, short tool.Result) tool.Result {
	if c.entered == nil || c.excerpt == nil && c.errorCut == nil {
		return res
	}
	size := 0
	for _, b := range res.Content {
		size += len(b.Text) + len(b.JSON)
	}
	if res.Err != nil {
		size += len(res.Err.Text)
	}
	if size > mostInJournal {
		return short
	}
	return res
}

// wrapped reports whether a hook may run something instead of the tool.
func (c *call) wrapped() bool {
	return slices.ContainsFunc(c.turn.hooks, func(h Hook) bool { return h.Around != nil && h.Only.match(c.entry) })
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

// open begins a record. What is made too late is taken back: the call has its
// result by then.
func (s *settings) open(r durable.Record) (durable.Record, error) {
	had, err := atJournal(s.journal, func(ctx context.Context) (durable.Record, error) {
		had, err := s.journal.Begin(ctx, r)
		if err == nil && ctx.Err() != nil {
			err = errTookTooLong
			_ = s.journal.End(context.WithoutCancel(ctx), durable.Ending{ID: had.ID, Attempt: had.Attempt, Undone: true})
			had = durable.Record{}
		}
		return had, err
	})
	if errors.Is(err, errTookTooLong) && had.ID != "" {
		_ = s.close(durable.Ending{ID: had.ID, Attempt: had.Attempt, Undone: true})
	}
	return had, err
}

// mostOwed is how many ends are remembered that could not be written.
const mostOwed = 1000

// close ends a record. What cannot be written is tried again when the next call
// begins: until then the record says that the call is under way.
func (s *settings) close(e durable.Ending) error {
	err := s.end(e)
	if err == nil {
		return nil
	}
	if !errors.Is(err, durable.ErrStale) {
		s.found.Lock()
		if len(s.owed) < mostOwed {
			s.owed = append(s.owed, e)
		}
		s.found.Unlock()
	}
	return fmt.Errorf("Runtime.Journal: %w", err)
}

func (s *settings) end(e durable.Ending) error {
	_, err := atJournal(s.journal, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.journal.End(ctx, e) })
	return err
}

// endOwed writes ends that could not be written before.
func (s *settings) endOwed() {
	s.found.Lock()
	owed := s.owed
	s.owed = nil
	s.found.Unlock()
	for i, e := range owed {
		if err := s.end(e); err != nil && !errors.Is(err, durable.ErrStale) {
			s.found.Lock()
			s.owed = append(owed[i:], s.owed...)
			s.found.Unlock()
			return
		}
	}
}

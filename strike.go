package ferrule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

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

// strike ends the record of a call, which is there, with its result. One that was
// given up ends when it has returned: until then it may do something yet.
func (c *call) strike(res tool.Result) error {
	if c.lost.Load() && c.owes(res) {
		return nil
	}
	e := durable.Ending{ID: c.first.ID, Attempt: c.entered.attempt, Failed: res.Err != nil, Sync: c.turn.set.syncEnds && (c.req.Key != "" || !c.req.Claims.Idempotent)}
	if e.Failed {
		e.Fatal = endsRun(res.Err)
	}
	e.Undone = !c.ran && !c.wrapped() // a wrapper may have done it instead
	in, out := c.refused(guard.Store)
	switch {
	case res.Err == nil && out != "":
	case res.Err != nil && (in != "" || out != ""):
		e.Result = &tool.Result{Err: &tool.Error{Kind: res.Err.Kind, Text: cmp.Or(out, in), RetryAfter: res.Err.RetryAfter}}
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

package ferrule

import (
	"context"
	"fmt"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// unwritten is why a call cannot go on: something that happened since it arrived
// is not on the record.
func (c *call) unwritten() error {
	set := c.turn.set
	if set.missing() == c.missing {
		return nil
	}
	return fmt.Errorf("Runtime.Log: %w", *set.book.why.Load())
}

// announce puts on the record that a call may change something, before it does.
// Where the log is the journal too, the call's record takes that along.
func (c *call) announce() error {
	set := c.turn.set
	if set.book == nil || c.req.Claims.ReadOnly {
		return c.unwritten()
	}
	if c.emit(audit.Event{Kind: audit.Begun}) || set.together {
		return c.unwritten()
	}
	return c.flush()
}

// flush sees to it that what happened to a call stays on the record.
func (c *call) flush() error {
	if err := c.turn.set.flush(context.Background()); err != nil {
		return err
	}
	return c.unwritten()
}

// argsAs are arguments of a call as the record may hold them; where there is none
// nothing is made of them.
func (c *call) argsAs(text string) string {
	if c.turn.set.book == nil {
		return ""
	}
	return c.recordableInput(text, guard.Audit)
}

// argsAsGiven are those that the model sent.
func (c *call) argsAsGiven() string {
	if text := c.first.Args.Received(); text != "" || c.turn.set.book == nil {
		return c.argsAs(text)
	}
	return c.argsAs(string(c.input))
}

// putDown is phase 12: what became of the call is put down for good, and then told,
// once. kept is what the journal keeps of the result.
func (c *call) putDown(res, kept tool.Result) tool.Result {
	end, stays := c.putEnd(res)
	if err := c.stayDown(&res, kept, stays); err != nil {
		res = c.unrecorded(err)
		end, _ = c.putEnd(res)
	}
	c.tellEnd(end)
	return res
}

// stayDown makes sure that what became of the call outlives this process. A call that
// goes on, or that did nothing and says so, need not.
func (c *call) stayDown(res *tool.Result, kept tool.Result, stays bool) (err error) {
	if res.Err != nil && res.Err.Kind == tool.Suspended {
		return nil
	}
	if c.entered != nil {
		err = c.strike(kept)
	}
	switch {
	case err != nil:
	case stays:
		err = c.unwritten()
	default:
		err = c.flush()
	}
	if !c.ran && res.Err != nil {
		return nil
	}
	return err
}

// recordableInput are arguments as records may hold them. What no tool is there
// for may be meant for one whose arguments are secret.
func (c *call) recordableInput(text string, by guard.Sink) string {
	if in, _ := c.refused(by); in != "" {
		return in
	}
	if c.entry == nil && c.turn.view.session.rt.reg.find(c.called()) == nil {
		return withheld
	}
	return c.keyless(c.turn.set.scrubText(text))
}

// unrecorded is the result of a call that has run, and of which that could not be
// written down: what is not on the record is not reported as done.
func (c *call) unrecorded(err error) tool.Result {
	e := &tool.Error{Kind: tool.Failed, Text: "The result of this call could not be put on the record, so it is withheld.", Detail: err.Error(), Cause: err, Own: true}
	if c.ran && !c.req.Claims.ReadOnly {
		e.Kind, e.Text = tool.OutcomeUnknown, "The call ran, but what came of it could not be put on the record."
	}
	return tool.Result{ID: c.first.ID, CallID: c.first.CallID, Err: e}
}

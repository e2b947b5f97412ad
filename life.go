package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is the way of a call, from top to bottom:
//
//	1 resolve   2 schema   3 meaning   4 decide   5 input hooks   6 ask
//	7 run   8 output schema   9 output hooks   10 clean   11 limit   12 observers
//
// arrive does what needs only the call itself. life does the rest once every
// call that it must wait for has ended; finish is the end that every result
// passes, whatever became of the call.

// arrive is phases 1 and 2, the claims, and the rules: all that needs neither
// time nor the tool's own functions beyond its claims.
func (c *call) arrive() {
	t := c.turn
	c.by, c.req = byModel, c.first
	c.missing = t.set.missing()
	c.first.Caller, c.first.Turn, c.first.Index = t.view.session.caller, t.number, c.index
	c.first.Mode = string(t.view.session.conv.mode())
	if t.set.replay != nil {
		c.recall()
		return
	}
	if c.broken != nil {
		c.known, c.final = brokenOff(c.broken), true
	} else {
		c.resolve()
	}
	if c.entry != nil {
		c.meet(c.first)
		c.planned = c.first.Claims
		if t.held == nil && t.view.defers(c.entry) { // who goes on with a turn had it loaded
			c.load()
		}
	}
	hidden := c.hidden()
	c.trace()
	if t.noted() {
		c.emit(audit.Event{Kind: audit.Requested, Args: c.argsAsGiven()})
	}
	if hidden != nil && t.noted() {
		c.emitDecided(*hidden)
	}
	c.keepInput()
	if c.remember(); c.recorded != nil || c.broken != nil {
		return
	}
	c.note()
	if c.known == nil && !c.unresolved {
		c.judge()
	}
	if c.final {
		if again := c.loop(); again != nil {
			c.known = again
		}
	}
	c.here = true
}

// keepInput keeps a copy of the input where it is read when the host has gone on.
func (c *call) keepInput() {
	if t := c.turn; c.unresolved || t.lends || t.held != nil || t.set.journal != nil || t.set.record != nil && !t.quiet {
		c.input = slices.Clone(c.input)
	}
}

// meet brings call and tool together: phase 2 and the claims.
func (c *call) meet(r *tool.Request) {
	r.Tool, r.Source, r.Name, r.Varies = &c.entry.tool.Info, c.entry.source, c.entry.wire, c.entry.varies()
	if r.Args, c.known = c.admit(c.arguments()); c.known == nil {
		c.doubt(r.Args)
		r.Claims, c.known = c.claimsAnew(r.Args)
	}
}

// load has a deferred tool loaded instead of run.
func (c *call) load() {
	if c.known == nil { // what the rules deny is not even shown
		c.judge()
	}
	if !c.final {
		c.known = c.turn.view.notLoaded(c.called(), c.entry)
		c.askEarly, c.ruling, c.judged = false, nil, false
	}
}

// admit is phase 2.
func (c *call) admit(input json.RawMessage) (tool.Args, *tool.Error) {
	return c.admitFor(c.entry, input)
}

func (c *call) admitFor(e *entry, input json.RawMessage) (args tool.Args, failure *tool.Error) {
	var err error
	if c.turn.set.repair != nil {
		args, err = e.tool.AdmitMended(input, c.mend)
	} else {
		args, err = e.tool.Admit(input)
	}
	if err != nil {
		return args, asError(err, tool.InvalidInput)
	}
	return args, nil
}

// mend lets the host repair text that is not JSON, in its time.
func (c *call) mend(text string) (mended string, changes []string, err error) {
	type repaired struct {
		text    string
		changes []string
	}
	r, err := bounded(c.turn.ctx, otherTime, func(context.Context) (r repaired, err error) {
		r.text, r.changes, err = c.turn.set.repair(text)
		return r, err
	})
	return r.text, r.changes, err
}

// claims are those of one form of the input. Failing, nothing is claimed.
func (c *call) claims(a tool.Args) tool.Claims {
	claims, err := c.claimsOf(a)
	if err != nil && c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Found, Name: c.called(), Text: fmt.Sprint(err)}) // fmt stands an error that panics
	}
	return claims
}

// judge asks the rules as soon as the input is there. A denial that no
// correction of the input could change is final; what is sure to be asked for
// can be put to the person before the call's turn has come.
func (c *call) judge() {
	if c.entry.tool.NeedsUser && !c.first.Caller.Attended {
		c.final, c.known = true, &tool.Error{Kind: tool.NeedsUser, Text: "This tool must talk to a person, and nobody is there.", Detail: "Caller.Attended says that no person is there"}
		return
	}
	if err := c.turn.ungoverned(); err != nil {
		c.final, c.known = true, err
		return
	}
	if c.resumed {
		return // phase 4 looks at it, as it stands
	}
	c.factsForRules()
	r, sure := c.turn.set.rule(c)
	c.judged = true
	c.rule(r)
	switch {
	case r.Nobody && c.turn.set.lasting: // somebody may have said it before
	case r.Verdict == tool.Deny && c.entry.tool.Validate == nil && sure:
		c.known, c.final = c.denied(r), true
		if c.turn.noted() {
			c.emitDecided(r)
		}
	case r.Asks():
		c.askEarly = sure && !c.comesAgain()
	}
}

// life leads a call that is ready to its result. It returns without one when
// the call must wait for a person or has other claims now; then it is entered
// again from its top with the input it had. Hooks that ran do not run again.
func (c *call) life() (tool.Result, fate) {
	for {
		late := c.unresolved
		if late {
			c.resolveLate()
		}
		if c.runsBy != "" {
			c.joinWho()
		}
		if c.settled {
			return *c.recorded, ended
		}
		if again := c.loop(); again != nil {
			return tool.Result{Err: again}, ended
		}
		if c.known != nil {
			return tool.Result{Err: c.known}, ended
		}
		if late || !sameClaims(c.req.Claims, c.planned) {
			return tool.Result{}, moved
		}
		if l := c.turn.view.session.conv.inTheWay(c.entry, c.req.Claims); l != nil {
			return tool.Result{Err: l.inTheWay()}, ended
		}
		var changed bool
		err := c.placeholders()
		if err == nil {
			changed, err = c.meaning() // 3
		}
		if err == nil && !changed {
			err = c.decide() // 4
		}
		if err == nil && !changed {
			changed, err = c.inputHooks() // 5
		}
		if err == nil && !changed && c.req.Mode == string(policy.ModeDryRun) {
			return c.dry(), ended
		}
		if err == nil && !changed {
			var waiting bool
			waiting, changed, err = c.ask() // 6
			if waiting {
				c.by = byAnswer // when it goes on, all of 2 to 4 look at it again
				return tool.Result{}, waits
			}
		}
		if err == nil && !changed {
			err = c.charge()
		}
		switch {
		case err != nil && c.cut != nil:
			return tool.Result{Err: c.cutOff()}, ended
		case err != nil:
			return tool.Result{Err: err}, ended
		case changed:
			continue
		}
		if res, done := c.register(); done {
			return res, ended
		}
		c.begun = true
		res := c.run() // 7
		if c.lost.Load() {
			return res, ended // somebody else gave it its result
		}
		if res.Err != nil && res.Err.Kind == tool.Suspended && c.suspends {
			err := c.takeBack()
			if err == nil {
				err = c.want(res.Err.Text)
			}
			if err != nil {
				return tool.Result{Err: err}, ended
			}
			continue // 6 looks for the answer, and the tool runs anew with it
		}
		res = c.checkOutput(res)         // 8
		return c.outputHooks(res), ended // 9
	}
}

// resolveLate is arrive for a call whose tool a fallback supplies. It takes its
// place among the others then, and at the gates of its tool.
func (c *call) resolveLate() {
	e, failure := c.supply()
	t := c.turn
	t.mu.Lock()
	if c.lost.Load() {
		failure = c.cutOff()
	} else {
		c.entry = e
	}
	t.mu.Unlock()
	if c.unresolved, c.known = false, failure; failure != nil {
		return
	}
	r := *c.first
	c.meet(&r)
	if c.lost.Load() {
		return
	}
	if c.req = &r; c.known != nil {
		return
	}
	c.takeUp()
	if c.known == nil {
		c.judge()
	}
}

// change makes another input the input as it stands, if it is another: it is
// checked, and its claims are taken anew. The phases before the one that
// changed it follow.
func (c *call) change(input json.RawMessage, by by, who string) (changed bool, failure *tool.Error) {
	text := strings.TrimSpace(string(input))
	if text == "" || text == "null" || text == strings.TrimSpace(c.req.Args.Text()) {
		return false, nil
	}
	if err := c.round(); err != nil {
		return false, err
	}
	args, e := c.entry.tool.Readmit(c.req.Args, input)
	if e != nil {
		failure = asError(e, tool.InvalidInput)
		failure.Text += by.blames()
		failure.Detail = fmt.Sprintf("input changed by %s: %v", who, e)
		return false, failure
	}
	c.doubt(args)
	r := *c.req
	r.Args = args
	if r.Claims, failure = c.claimsAnew(args); failure != nil {
		return false, failure
	}
	c.req = &r
	c.by, c.judged, c.look = by, false, true
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Changed, By: who, Args: c.argsAs(args.Text())})
	}
	return true, nil
}

// claimsAnew are the claims of one form of the input, for who can be given up.
// Failing, nothing is claimed; a function that does not return ends its call.
func (c *call) claimsAnew(args tool.Args) (tool.Claims, *tool.Error) {
	if c.entry.tool.ClaimsOf == nil || !c.here {
		return c.claims(args), nil
	}
	claims, err := timed(c, func(context.Context) (tool.Claims, error) { return c.claims(args), nil })
	if c.cut != nil || errors.Is(err, errLost) {
		return claims, c.cutOff()
	}
	if err != nil {
		claims = tool.Claims{}
	}
	return claims, nil
}

func (c *call) round() *tool.Error {
	if c.rounds++; c.rounds > maxRounds {
		return &tool.Error{
			Kind: tool.HookBlocked, Text: "The input of this call was changed again and again, so it did not run.",
			Detail: fmt.Sprintf("more than %d rounds of changes and questions", maxRounds),
		}
	}
	return nil
}

// meaning is phase 3. Who changed the input last does not look at it again.
func (c *call) meaning() (changed bool, failure *tool.Error) {
	t := c.entry.tool
	if t.Validate == nil || c.by == byTool {
		return false, nil
	}
	input, err := timed(c, func(ctx context.Context) (json.RawMessage, error) { return t.Validate(ctx, c.req.Args) })
	if err != nil {
		return false, c.invalidValue(err)
	}
	return c.change(input, byTool, "the tool")
}

// invalidValue tells the model what its tool said about the values. What a
// panic said is for the operator.
func (c *call) invalidValue(err error) *tool.Error {
	if errors.Is(err, errTookTooLong) {
		return c.timedOut("Validate: " + err.Error())
	}
	if p := (*panicked)(nil); errors.As(err, &p) {
		return unexpected(fmt.Errorf("the tool's Validate: %w", err))
	}
	e := tool.AsError(err)
	e.Kind = tool.InvalidValue
	if !strings.HasPrefix(e.Text, "ValidationError: ") {
		e.Text = "ValidationError: " + e.Text
	}
	e.Text += c.by.blames()
	return e
}

// finish is phases 10 to 12, which every result passes. What the journal had went
// through 10 when it was recorded.
func (c *call) finish(res tool.Result) tool.Result {
	spoken := len(res.Content)
	if !c.settled {
		for _, text := range c.beside {
			res.Content = append(slices.Clip(res.Content), tool.Text(text))
		}
		res = c.scrubbed(res) // 10
		if c.turn.set.redacts {
			res = c.redacted(res)
			spoken = min(spoken, len(res.Content))
		}
		if res.Err != nil {
			res.Err = wellFormed(res.Err)
		}
		res.Origin = c.origin
		res.Trust = c.trustOf(res.Trust)
	}
	if c.spoke() {
		was := res
		if res = c.cleaned(res, spoken); c.turn.set.redacts && !c.settled && !sameTexts(was, res) {
			res = c.redacted(res)
		}
	}
	res.ID, res.CallID = c.first.ID, c.first.CallID
	c.told = c.nudge(&res)
	short := c.tell(c.limit(res)) // 11
	if err := c.flowNote(short); err != nil {
		short = tool.Result{Err: err, ID: res.ID, CallID: res.CallID}
		res, c.report = short, nil
	}
	return c.dressed(c.putDown(short, c.kept(res, short))) // 12
}

// trustOf is how far a result is believed, below its source; nil: as far.
func (c *call) trustOf(t *tool.Trust) *tool.Trust {
	if low := c.trust; low != nil && (t == nil || *t > *low) {
		t = low // what is not believed does not become so on the way
	}
	if t != nil && c.entry != nil && *t >= c.entry.source.Trust {
		return nil
	}
	return t
}

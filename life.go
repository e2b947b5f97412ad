package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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

// call is one call on its way. Who leads it through its life owns it; what is
// below the line is guarded by the turn's mutex.
type call struct {
	turn  *Turn
	index int
	input json.RawMessage // as it came

	entry   *entry        // nil: the name led to no tool
	req     *tool.Request // the input as it stands; replaced, never changed
	first   *tool.Request // the input as it arrived
	planned tool.Claims   // by which it has its place

	unresolved bool           // a fallback must be asked for its tool
	known      *tool.Error    // why it will not run, as was known on arrival
	final      bool           // nothing later could change that
	recorded   *tool.Result   // it has its result from an earlier turn of this number
	askEarly   bool           // it is sure to be asked for
	ruling     *policy.Ruling // ask or deny; nil: allow
	judged     bool           // ruling is about the input as it stands, by rules that need no tool

	by     by  // what made the input as it stands
	rounds int // forms of the input, and questions about it
	hooked int // input hooks that ran
	look   bool
	beside []string // texts of hooks beside the result

	question *policy.Question // about this call
	allowed  bool             // and its answer was yes
	edited   string           // digest of the arguments that a person put in their place
	wants    *policy.Question // of the tool, while it ran
	reply    *string          // and its answer

	cut     error                   // why it was stopped while it was looked at
	lostAs  func(error) *tool.Error // of the functions that are called now: see lease
	why     error                   // why a check failed
	arrival *arrival                // the goroutine that it arrives on, if that is not the caller's
	mute    bool                    // its function for claims did not return
	trust   *tool.Trust             // as the tool lowered it
	runs    int
	failed  bool      // while it ran
	stops   bool      // its tool wants its siblings stopped
	started time.Time // where there is an observer
	last    *lease    // of the tool

	// --- guarded by turn.mu
	step      step
	state     state
	claimed   bool        // somebody gives it its result
	busy      bool        // its question is put before its turn has come
	pushLater bool        // it became ready meanwhile
	answered  bool        // an answer came while somebody led it
	asks      []string    // ids of its questions that are in the inbox
	asked1    atomic.Bool // it has had one
	answerErr error       // why the host's function could not answer
	inline    bool        // on the goroutine of who waits
	leased    *lease
	stop      *stop
	ran       bool        // the tool was started
	lost      atomic.Bool // given up
	inside    bool        // it holds places in its gates
}

// by is what made the input of a call what it is.
type by int

const (
	byModel  by = -4
	byTool   by = -3 // Validate
	byPerson by = -2
	byAnswer by = -1 // what a person was shown
)

func byHook(i int) by { return by(i) }

// maxRounds is how often the input of one call may change, or be asked about.
const maxRounds = 8

// fate is how far life came.
type fate uint8

const (
	ended fate = iota // there is a result
	waits             // for a person
	moved             // it has other claims now and is scheduled anew
)

// arrive is phases 1 and 2, the claims, and the rules: all that needs neither
// time nor the tool's own functions beyond its claims.
func (c *call) arrive() {
	t := c.turn
	c.by, c.req = byModel, c.first
	c.first.Caller, c.first.Turn, c.first.Index = t.view.session.caller, t.number, c.index
	c.entry, c.unresolved, c.known = t.view.resolve(c.first.Name)
	if c.entry != nil {
		c.meet(c.first)
		c.planned = c.first.Claims
	}
	if t.set.observe != nil {
		c.emit(audit.Event{Kind: audit.Requested})
	}
	switch {
	case t.held != nil:
		c.goOn(t.held)
	case c.known == nil && !c.unresolved:
		c.judge()
	}
}

// meet brings call and tool together: phase 2 and the claims.
func (c *call) meet(r *tool.Request) {
	r.Tool, r.Source = &c.entry.tool.Info, c.entry.source
	if r.Args, c.known = c.admit(c.input); c.known == nil {
		r.Claims = c.claims(r.Args)
	}
	if c.turn.view.defers(c.entry) {
		if c.known == nil { // what the rules deny is not even shown
			c.judge()
		}
		if !c.final {
			c.known = c.turn.view.notLoaded(r.Name, c.entry)
		}
	}
}

// admit is phase 2.
func (c *call) admit(input json.RawMessage) (args tool.Args, failure *tool.Error) {
	var err error
	if mend := c.turn.set.repair; mend != nil {
		args, err = c.entry.tool.AdmitMended(input, mend)
	} else {
		args, err = c.entry.tool.Admit(input)
	}
	if err != nil {
		return args, asError(err, tool.InvalidInput)
	}
	return args, nil
}

// claims are those of one form of the input. Failing, nothing is claimed.
func (c *call) claims(a tool.Args) tool.Claims {
	claims, err := c.claimsOf(a)
	if err != nil && c.turn.set.observe != nil {
		c.emit(audit.Event{Kind: audit.Found, Name: c.first.Name, Text: fmt.Sprint(err)}) // fmt stands an error that panics
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
	r, sure := c.turn.set.rule(c)
	c.judged = true
	c.rule(r)
	switch {
	case r.Verdict == tool.Deny && c.entry.tool.Validate == nil && sure:
		c.known, c.final = c.denied(r), true
		if c.turn.set.observe != nil {
			c.emitDecided(r)
		}
	case r.Asks():
		c.askEarly = sure
	}
}

// life leads a call that is ready to its result. It returns without one when
// the call must wait for a person or has other claims now; then it is entered
// again from its top with the input it had. Hooks that ran do not run again.
func (c *call) life() (tool.Result, fate) {
	for {
		if c.unresolved {
			c.resolveLate()
		}
		if c.known != nil {
			return tool.Result{Err: c.known}, ended
		}
		if !sameClaims(c.req.Claims, c.planned) {
			return tool.Result{}, moved
		}
		if l := c.turn.view.session.conv.inTheWay(c.entry, c.req.Claims); l != nil {
			return tool.Result{Err: l.inTheWay()}, ended
		}
		changed, err := c.meaning() // 3
		if err == nil && !changed {
			err = c.decide() // 4
		}
		if err == nil && !changed {
			changed, err = c.inputHooks() // 5
		}
		if err == nil && !changed {
			var waiting bool
			waiting, changed, err = c.ask() // 6
			if waiting {
				c.by = byAnswer // when it goes on, all of 2 to 4 look at it again
				return tool.Result{}, waits
			}
		}
		switch {
		case err != nil && c.cut != nil:
			return tool.Result{Err: c.cutOff()}, ended
		case err != nil:
			return tool.Result{Err: err}, ended
		case changed:
			continue
		}
		res := c.run() // 7
		if c.lost.Load() {
			return res, ended // somebody else gave it its result
		}
		if res.Err != nil && res.Err.Kind == tool.Suspended {
			if err := c.want(res.Err.Text); err != nil {
				return tool.Result{Err: err}, ended
			}
			continue // 6 looks for the answer, and the tool runs anew with it
		}
		res = c.checkOutput(res)         // 8
		return c.outputHooks(res), ended // 9
	}
}

// cutOff is the result of a call that was stopped while it was looked at.
func (c *call) cutOff() *tool.Error {
	return &tool.Error{Kind: tool.Aborted, Text: "Aborted: the run was stopped.", Cause: c.cut}
}

// safeLife is life where nothing that is thrown leaves it, not even by the
// methods of an error that a tool returned.
func (c *call) safeLife() (res tool.Result, f fate) {
	defer func() {
		if r := recover(); r != nil {
			c.letGo()
			res, f = tool.Result{Err: unexpected(thrown(r))}, ended
		}
	}()
	return c.life()
}

// letGo releases what a function held that did not come back to release it, and
// reports whether the tool itself was under way.
func (c *call) letGo() (ran bool) {
	t := c.turn
	t.mu.Lock()
	l := c.leased
	t.mu.Unlock()
	for ; l != nil; l = l.outer {
		ran = ran || l.runs
		_ = c.release(l)
	}
	return ran
}

// unexpected is what the model reads about a failure that tells it nothing.
func unexpected(err error) *tool.Error {
	return &tool.Error{Kind: tool.Failed, Text: "The tool failed unexpectedly.", Detail: err.Error(), Cause: err}
}

// resolveLate is phases 1 and 2 of a call whose tool a fallback supplies.
func (c *call) resolveLate() {
	c.unresolved = false
	if c.entry, c.known = c.supply(); c.entry == nil {
		return
	}
	r := *c.first
	c.req = &r
	c.meet(&r)
}

// change makes another input the input as it stands, if it is another: it is
// checked, and its claims are taken anew. The phases before the one that
// changed it follow.
func (c *call) change(input json.RawMessage, by by, who string) (changed bool, failure *tool.Error) {
	if input == nil || strings.TrimSpace(string(input)) == strings.TrimSpace(c.req.Args.Text()) {
		return false, nil
	}
	if err := c.round(); err != nil {
		return false, err
	}
	args, e := c.entry.tool.Readmit(c.req.Args, input)
	if e != nil {
		failure = asError(e, tool.InvalidInput)
		failure.Detail = fmt.Sprintf("input changed by %s: %v", who, e)
		return false, failure
	}
	r := *c.req
	r.Args = args
	if r.Claims, failure = c.claimsAnew(args); failure != nil {
		return false, failure
	}
	c.req = &r
	c.by, c.judged, c.look = by, false, true
	c.emitBy(audit.Changed, who, "")
	return true, nil
}

// claimsAnew are the claims of changed input. Failing, nothing is claimed; a
// function that does not return ends its call.
func (c *call) claimsAnew(args tool.Args) (tool.Claims, *tool.Error) {
	if c.entry.tool.ClaimsOf == nil {
		return c.claims(args), nil
	}
	claims, err := guard(c, func(context.Context) (tool.Claims, error) { return c.claims(args), nil })
	if c.cut != nil {
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
	input, err := guard(c, func(ctx context.Context) (json.RawMessage, error) { return t.Validate(ctx, c.req.Args) })
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
	return e
}

// run is phase 7: the tool inside its wrappers.
func (c *call) run() tool.Result {
	t := c.entry.tool
	if t.Key != nil {
		key, err := guard(c, func(ctx context.Context) (string, error) { return t.Key(ctx, c.req.Args) })
		if err == nil && key != "" {
			r := *c.req
			r.Key = key
			c.req = &r
		}
	}
	if l := c.turn.view.session.conv.inTheWay(c.entry, c.req.Claims); l != nil {
		return tool.Result{Err: l.inTheWay()} // it was given up while this one was looked at
	}
	if !t.Admitted(c.req.Args) { // no way leads here; if one did, it ends here
		return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "The tool is not ready.", Detail: "its arguments were not checked"}}
	}
	c.runs = 0
	if len(c.turn.hooks) == 0 {
		return c.runTool(c.turn.ctx)
	}
	return c.around(c.runTool)(c.turn.ctx)
}

// runTool runs the tool itself, in its own time. A context that a wrapper made
// adds its values, and its end if that is earlier.
func (c *call) runTool(outer context.Context) (res tool.Result) {
	t := c.entry.tool
	if c.runs > 0 && !c.mayRepeat() {
		return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "The tool has run already and may not run twice.", Detail: "a wrapper called next again"}}
	}
	c.runs++
	l := &lease{ctx: c.turn.ctx, turn: c.turn, call: c, runs: true}
	c.last = l
	d, _ := t.RunTime()
	if !c.begin(l, d) {
		return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the call is over.", Cause: errOver}}
	}
	if c.turn.set.observe != nil {
		c.started = time.Now()
		c.emit(audit.Event{Kind: audit.Started})
	}
	ctx, done := c.join(outer, c.host(l))
	res, err := c.invoke(ctx)
	done()
	cause := c.release(l)
	if errors.Is(cause, errLost) { // somebody else gave the call its result
		if err != nil {
			res.Err = tool.AsError(err)
		}
		return res
	}
	if err == nil && res.Err != nil {
		err = res.Err
	}
	if err != nil && cause == nil && l.overdue(time.Now()) {
		cause = errTime // nobody looked
	}
	res.Err = c.runFailure(err, cause)
	if res.Trust != nil {
		low := *res.Trust
		c.trust = &low
	}
	return res
}

// invoke calls Run. It is apart so that only this frame pays for recovering.
func (c *call) invoke(ctx context.Context) (res tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = tool.Result{}, thrown(r)
		}
	}()
	return c.entry.tool.Run(ctx, c.req.Args)
}

// runFailure turns what the tool returned beside its content, and why its time
// was over, into the error of its result.
func (c *call) runFailure(err, cause error) *tool.Error {
	if err == nil {
		return nil // it was done, if late
	}
	o := (*tool.Outcome)(nil)
	stopped := cause != nil && !errors.Is(cause, errTime)
	if found := errors.As(err, &o) && o != nil; !stopped && (!found || o.Suspend == "") {
		c.failed = true
		c.stops = c.stops || found && o.StopSiblings
	}
	p := (*panicked)(nil)
	switch {
	case errors.Is(cause, errTime):
		e := c.timedOut("it returned: " + err.Error())
		e.Cause = errors.Join(context.DeadlineExceeded, err)
		return e
	case cause != nil:
		return &tool.Error{Kind: tool.Aborted, Text: "Aborted: the run was stopped.", Detail: err.Error(), Cause: cause}
	case errors.As(err, &p):
		return unexpected(err)
	}
	return tool.AsError(err)
}

// mayRepeat reports whether a second run can do no harm.
func (c *call) mayRepeat() bool {
	return c.req.Claims.ReadOnly || c.req.Claims.Idempotent || c.req.Key != ""
}

// finish is phases 10 to 12, which every result passes.
func (c *call) finish(res tool.Result) tool.Result {
	set := c.turn.set
	for _, text := range c.beside {
		res.Content = append(slices.Clip(res.Content), tool.Text(text))
	}
	res = set.cleaned(c.req, res) // 10
	if c.entry != nil {
		res = limit(res, c.entry.tool.Limit, func(text string) { // 11
			c.emitBy(audit.Cut, "", text)
		})
	}
	if res.Err != nil {
		res.Err = wellFormed(res.Err)
	}
	res.ID, res.CallID = c.first.ID, c.first.CallID
	if low := c.trust; low != nil && (res.Trust == nil || *res.Trust > *low) {
		res.Trust = low // what is not believed does not become so on the way
	}
	if res.Trust != nil && c.entry != nil && *res.Trust >= c.entry.source.Trust {
		res.Trust = nil
	}
	if set.observe != nil { // 12
		c.emitResult(audit.Ended, res)
	}
	return res
}

func (c *call) emitResult(kind audit.Kind, res tool.Result) {
	e := audit.Event{Kind: kind, Result: &res}
	if c.ran {
		e.Took = time.Since(c.started)
	}
	c.emit(e)
}

// cleaned is phase 10.
func (s *settings) cleaned(r *tool.Request, res tool.Result) tool.Result {
	if s.clean == nil {
		return res
	}
	return s.clean(r, res)
}

// stopsSiblings reports whether this call, as it ended, stops those beside it.
func (c *call) stopsSiblings(when Siblings) bool {
	switch when {
	case StopNever:
		return false
	case StopAlways:
		return c.failed
	default:
		return c.stops
	}
}

// cooperative reports whether everything that is done for the call returns soon
// when it is told to, so that it may run on the goroutine of who waits.
func (c *call) cooperative() bool {
	if c.known != nil {
		return true
	}
	set := c.turn.set
	return c.entry != nil && c.entry.tool.Cooperative && len(c.turn.hooks) == 0 && set.decide == nil && set.answer == nil
}

// inTheWay is what another call hears while this one, which was given up, has
// not returned.
func (c *call) inTheWay() *tool.Error {
	return &tool.Error{
		Kind: tool.Failed, Text: fmt.Sprintf("An earlier call of %s was stopped but has not ended, so this call did not run. Try again later.", c.first.Name),
		Detail: fmt.Sprintf("%s (%s) was given up and has not returned", c.first.Name, c.first.ID),
	}
}

// send passes on what a call says while it runs.
func (c *call) send(u tool.Update) {
	if c.turn.set.observe != nil {
		c.emit(audit.Event{Kind: audit.Updated, Update: &u})
	}
}

// emit tells the observer, who must be there.
func (c *call) emit(e audit.Event) {
	e.Request, e.Session, e.Turn = c.req, c.first.Caller.Session, c.turn.number
	if e.Name == "" {
		e.Name = c.first.Name
	}
	c.turn.set.emit(e)
}

func (c *call) emitBy(kind audit.Kind, who, text string) {
	if c.turn.set.observe != nil {
		c.emit(audit.Event{Kind: kind, By: who, Text: text})
	}
}

// asError is the Error in err, or one of that kind.
func asError(err error, kind tool.Kind) *tool.Error {
	if e := (*tool.Error)(nil); errors.As(err, &e) && e != nil {
		c := *e
		return &c
	}
	return &tool.Error{Kind: kind, Text: err.Error(), Cause: err}
}

func sameClaims(a, b tool.Claims) bool {
	return a.ReadOnly == b.ReadOnly && a.Parallel == b.Parallel && a.Reversible == b.Reversible && a.Local == b.Local && a.Idempotent == b.Idempotent &&
		(a.Touches == nil) == (b.Touches == nil) && slices.Equal(a.Touches, b.Touches)
}

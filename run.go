package ferrule

import (
	"context"
	"errors"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

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
	return &tool.Error{Kind: tool.Failed, Text: "The tool failed unexpectedly.", Detail: err.Error(), Cause: err, Own: true}
}

// register is the way into phase 7: the call gets its key, and its record in the
// journal. It is done where it will not run.
func (c *call) register() (res tool.Result, done bool) {
	t := c.entry.tool
	if t.Key != nil {
		key, err := timed(c, func(ctx context.Context) (string, error) { return t.Key(ctx, c.req.Args) })
		switch {
		case errors.Is(err, errLost):
			return tool.Result{}, true
		case c.cut != nil:
			return tool.Result{Err: c.cutOff()}, true
		case err != nil:
			key = ""
		}
		r := *c.req
		r.Key = key
		c.req = &r
	}
	if l := c.turn.view.session.conv.inTheWay(c.entry, c.req.Claims); l != nil {
		return tool.Result{Err: l.inTheWay()}, true // it was given up while this one was looked at
	}
	if !t.Admitted(c.req.Args) { // no way leads here; if one did, it ends here
		return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "The tool is not ready.", Detail: "its arguments were not checked", Own: true}}, true
	}
	if err := c.unisolated(); err != nil {
		return tool.Result{Err: err}, true
	}
	if err := c.announce(); err != nil {
		return tool.Result{Err: unjournalled(err)}, true
	}
	return c.enroll()
}

// run is phase 7: the tool inside its wrappers.
func (c *call) run() tool.Result {
	c.runs, c.failure = 0, nil
	var outer context.Context // there is no wrapper yet
	if len(c.turn.hooks) == 0 {
		return c.tried(outer)
	}
	return c.around(c.tried)(outer)
}

// runTool runs the tool itself, in its own time. A context that a wrapper made
// adds its values, and its end if that is earlier; nil: there is none. A wrapper
// that tries again what may not run twice sees how it failed.
func (c *call) runTool(outer context.Context) (res tool.Result) {
	t := c.entry.tool
	if c.runs > 0 && !c.mayRepeat() {
		if c.failure != nil {
			return copyResult(*c.failure)
		}
		return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "The tool has run already and may not run twice.", Detail: "a wrapper called next again", Own: true}}
	}
	watched, failure := c.watchMemory(outer)
	if failure != nil {
		return tool.Result{Err: failure}
	}
	c.runs++
	c.flow(false).forget()
	l := &lease{ctx: c.context(), turn: c.turn, call: c, runs: true, req: c.req}
	l.env = c.host(l).Env()
	d, _ := t.RunTime()
	if !c.begin(l, d) {
		if watched != nil {
			watched.Drop()
		}
		return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the call is over.", Cause: errOver}}
	}
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Started, Time: l.began, Text: c.isolatedBy()})
	}
	ctx, done := c.join(outer, l)
	var breach *tool.Error
	var err error
	if watched == nil {
		res, err = c.invoke(ctx)
	} else {
		res, breach, err = c.invokeWatched(ctx, watched)
	}
	done()
	cause := c.release(l)
	if errors.Is(cause, errLost) { // somebody else gave the call its result
		switch {
		case breach != nil:
			res = tool.Result{Err: breach}
		case err != nil:
			res.Err = tool.AsError(err)
		}
		return res
	}
	if breach != nil {
		return c.breached(l, breach)
	}
	if err == nil && res.Err != nil {
		err = res.Err
	}
	if err != nil && cause == nil && l.overdue(time.Now()) {
		cause = errTime // nobody looked
	}
	res.Err = c.runFailure(err, cause)
	if streamed := c.streamed(l); len(res.Content) == 0 && !c.suspends {
		res.Content = streamed
	}
	if c.entry.pages {
		c.origin = res.Origin
	}
	c.lower(res.Trust)
	if res.Err != nil {
		failure := copyResult(res)
		c.failure = &failure
	}
	return res
}

// lower keeps how little a result is believed.
func (c *call) lower(t *tool.Trust) {
	if t != nil && (c.trust == nil || *t < *c.trust) {
		low := *t
		c.trust = &low
	}
}

// invoke calls Run. It is apart so that only this frame pays for recovering.
func (c *call) invoke(ctx context.Context) (res tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = tool.Result{}, thrown(r)
		}
	}()
	args := c.req.Args
	if c.turn.set.redacts {
		if args, err = c.filled(args); err != nil {
			return res, err
		}
	}
	return c.entry.tool.Run(ctx, args)
}

// runFailure turns what the tool returned beside its content, and why its time
// was over, into the error of its result.
func (c *call) runFailure(err, cause error) *tool.Error {
	if err == nil {
		return nil // it was done, if late
	}
	o := (*tool.Outcome)(nil)
	stopped := cause != nil && !errors.Is(cause, errTime)
	switch found := errors.As(err, &o) && o != nil; {
	case stopped:
	case found && o.Suspend != "":
		c.suspends = true
	default:
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
		return &tool.Error{Kind: tool.Aborted, Text: "Aborted: the run was stopped." + c.effect(), Detail: err.Error(), Cause: cause}
	case errors.As(err, &p):
		return unexpected(err)
	}
	return tool.AsError(err)
}

// mayRepeat reports whether a second run can do no harm.
func (c *call) mayRepeat() bool {
	return c.req.Claims.ReadOnly || c.req.Claims.Idempotent || c.req.Key != ""
}

package ferrule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// call is one call on its way. Who leads it through its life owns it; what is
// below the line is guarded by the turn's mutex. Each turn makes one for each
// call, so small fields stand together.
type call struct {
	turn  *Turn
	index int
	input json.RawMessage // as it came

	within  *inner        // it is a tool_call, and this is the call that it holds
	entry   *entry        // nil: the name led to no tool
	req     *tool.Request // the input as it stands; replaced, never changed
	first   *tool.Request // the input as it arrived
	planned tool.Claims   // by which it has its place

	known    *tool.Error    // why it will not run, as was known on arrival
	old      *heldCall      // what became of it in an earlier turn of this number
	recorded *tool.Result   // it had its result there, or in a recording
	replayed *line          // of the recording
	ruling   *policy.Ruling // ask or deny; nil: allow
	verdict  *flow.Verdict  // of the flow of data, about the input as it stands; nil: nothing
	noticed  *flow.Noted    // of its result; nil: nothing

	question *policy.Question // about this call
	edited   string           // digest of the arguments that a person put in their place
	wants    *policy.Question // of the tool, while it ran
	reply    *string          // and its answer
	joined   string           // the question of an equal call that it shares, until it has waited for it

	factsOf  tool.Args    // of which it is known, or known to be unknown, what they are about
	beside   []string     // texts of hooks, and of what a person changed, beside the result
	cut      error        // why it was stopped while it was looked at
	why      error        // why a check failed
	arrival  *arrival     // the goroutine that it arrives on, if that is not the caller's
	trust    *tool.Trust  // as the tool lowered it
	failure  *tool.Result // of its last run
	broken   error        // it was received in part
	history  *history     // of its agent; nil: it has no place there
	place    int          // in it
	origin   *tool.Origin // of the page that its tool read
	hosted   string       // the question that the host's function was asked
	told     string       // of a loop, beside its result
	entered  *entered     // it is in the journal
	runsBy   string       // the id of the call that is this one, and is under way elsewhere
	missing  uint64       // events that were not on the record when it arrived
	excerpt  *excerpt     // what is shown of its result, if that was too long
	errorCut *excerpt     // and of its error
	traced   *traced      // nil: nobody keeps its trace

	report    *guard.Report // of what was found in its result, if the model is to see something of that
	undressed *tool.Result  // its result as it was before strangers' text was marked

	by         by    // what made the input as it stands
	rounds     int32 // forms of the input, and questions about it
	hooked     int   // input hooks that ran
	runs       int32
	flowAt     uint64 // flows.news when the flow of data was asked
	unresolved bool   // a fallback must be asked for its tool
	final      bool   // nothing could change that it will not run
	resumed    bool   // it goes on from an earlier turn
	askEarly   bool   // it is sure to be asked for
	judged     bool   // ruling is about the input as it stands, by rules that need no tool
	look       bool   // security hooks must see the input as it stands
	allowed    bool   // the answer to the question about it was yes
	mute       bool   // its function for claims was not waited for
	here       bool   // it has arrived: who leads it can be given up
	suspends   bool   // its tool wants an answer
	failed     bool   // while it ran
	stops      bool   // its tool wants its siblings stopped
	unlooped   bool   // it was looked at as part of a loop
	charged    bool   // it is counted by the rates
	begun      bool   // phase 7 was reached: its result is what a tool said, or stands for it
	settled    bool   // its result is from the journal: only the model's limits are left
	posed      int8   // questions that were put about it

	// --- guarded by turn.mu
	step      step
	asks      []string // ids of its questions that are in the inbox
	answerErr error    // why the host's function could not answer
	leased    *lease
	stop      *stop
	moving    chan struct{} // closed when it should go on in the background; nil: nobody asked
	started   time.Time     // where there is an observer
	out       atomic.Pointer[outflow]
	taken     atomic.Pointer[[]string] // secrets that were taken out before phase 10
	everAsked atomic.Bool              // it has had a question
	lost      atomic.Bool              // given up
	asides    int                      // how often it has stepped aside; guarded by the lock of the gates
	placed    bool                     // it counts at its gates; guarded likewise
	heldUp    atomic.Bool              // it has stood in the queue of its crowd
	state     state
	claimed   bool // somebody gives it its result
	parked    bool // waits for a place of its tool, source or tenant, or in its crowd
	busy      bool // its question is put before its turn has come
	pushLater bool // it became ready meanwhile
	answered  bool // an answer came while somebody led it
	inline    bool // on the goroutine of who waits
	ran       bool // the tool was started
	inside    bool // it was let in by its gates and its crowd
	atGate    bool // it stands in the queue of one; guarded by the lock of the gates
}

// by is what made the input of a call what it is.
type by int32

const (
	byModel  by = -4
	byTool   by = -3 // Validate
	byPerson by = -2
	byAnswer by = -1 // what a person was shown
)

func byHook(i int) by { return by(i) } //nolint:gosec // there are not so many hooks

// blames tells the model that the input it sent was not what is wrong.
func (b by) blames() string {
	switch b {
	case byModel, byAnswer:
		return ""
	case byTool:
		return "\nWhat you sent was valid: the tool itself changed it."
	case byPerson:
		return "\nWhat you sent was valid: the person who was asked changed it."
	default:
		return "\nWhat you sent was valid: this program changed it."
	}
}

// maxRounds is how often the input of one call may change, or be asked about.
const maxRounds = 8

// fate is how far life came.
type fate uint8

const (
	ended fate = iota // there is a result
	waits             // for a person
	moved             // it has other claims now and is scheduled anew
)

// resultEvent is an event about what came of the call.
func (c *call) resultEvent(kind audit.Kind, res tool.Result) audit.Event {
	shown := c.recordable(res)
	if c.turn.observed() {
		shown = copyResult(shown) // who looks cannot change it
	}
	e := audit.Event{Kind: kind, Result: &shown, Time: time.Now()}
	if c.noticed != nil {
		e.Flow = c.noticed.Record()
	}
	if c.ran {
		e.Took = e.Time.Sub(c.started)
	}
	return e
}

// recordable is a result as records may hold it. A page is as sensitive as what it is a
// page of.
func (c *call) recordable(res tool.Result) tool.Result {
	_, out := c.refused(guard.Audit)
	if o := res.Origin; o != nil && !c.turn.set.guard.Accepts(guard.Audit, o.Sensitivity) {
		out = guard.Withheld(o.Sensitivity)
	}
	if out == "" {
		return res
	}
	if len(res.Content) > 0 {
		res.Content = []tool.Content{tool.Text(out)}
	}
	if res.Err != nil {
		res.Err = &tool.Error{Kind: res.Err.Kind, Text: out, RetryAfter: res.Err.RetryAfter}
	}
	return res
}

// recordableUpdate is what a call says while it runs, as records may hold it.
func (c *call) recordableUpdate(u tool.Update) tool.Update {
	_, out := c.refused(guard.Audit)
	if out == "" {
		return u
	}
	if u.Progress {
		u.Message = out
		return u
	}
	return tool.Update{Stream: u.Stream, Text: out}
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
	return c.entry != nil && c.entry.tool.Cooperative && len(c.turn.hooks) == 0 && set.decide == nil && set.answer == nil && set.allowLoop == nil
}

// cancels reports whether the call stops when it is told to: its tool says so,
// or has not begun. The turn's mutex is held.
func (c *call) cancels() bool { return !c.ran || c.entry.tool.Cancel }

// effect warns the model where a call that was under way may have done what it
// should, or a part of it.
func (c *call) effect() string {
	if !c.ran || c.req.Claims.ReadOnly || c.req.Claims.Idempotent {
		return ""
	}
	return " It was running and may have taken effect."
}

// inTheWay is what another call hears while this one, which was given up, has
// not returned.
func (c *call) inTheWay() *tool.Error {
	return &tool.Error{
		Kind: tool.Failed, Text: fmt.Sprintf("An earlier call of %s was stopped but has not ended, so this call did not run. Try again later.", c.called()),
		Detail: fmt.Sprintf("%s (%s) was given up and has not returned", c.called(), c.first.ID),
	}
}

// emit tells the observer, who must be there.
func (c *call) emit(e audit.Event) (kept bool) {
	if c.turn.imagined {
		return true
	}
	return c.emitOf(c.req, e)
}

// emitOf is emit for the call as it stood.
func (c *call) emitOf(r *tool.Request, e audit.Event) (kept bool) {
	c.about(r, &e)
	kept = c.turn.send(&e)
	c.tellTrace(&e)
	return kept
}

// eventOf is an event about the call as it stood.
func (c *call) eventOf(r *tool.Request, e audit.Event) audit.Event {
	c.about(r, &e)
	return e
}

// about makes an event one about the call as it stood.
func (c *call) about(r *tool.Request, e *audit.Event) {
	e.Request, e.Session, e.Turn = r, c.first.Caller.Session, c.turn.number
	if e.Name == "" {
		e.Name = c.called()
	}
}

func (c *call) emitBy(kind audit.Kind, who, text string) {
	if c.turn.noted() {
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

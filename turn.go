package ferrule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Turn is one answer of the model and its calls. Calls start as soon as they
// are added and may; results come in the order of the calls.
//
// Ending the context that it was begun with is the host's stop: calls whose tool
// says Cancel end at once, others have 10 s, and what has not begun is aborted.
// [Turn.Interrupt] is a person's: calls that do not say Cancel run on.
type Turn struct {
	view   *View
	set    *settings
	ctx    context.Context //nolint:containedctx // a turn is a call that takes a while
	number int
	serial uint64 // of all turns of the runtime
	hooks  []Hook
	limit  int
	told   func(audit.Event) // Observe
	crowd  *crowd            // Apart; nil: it looks at no other turn
	lends  bool              // HandBack
	ends   bool              // Ends
	again  bool              // Again
	quiet  bool              // begun by Do: Wait starts the work
	// It is only thought of: nothing runs, and there is no event.
	imagined bool

	adding sync.Mutex // calls are planned in the order in which they are added

	mu       sync.Mutex
	cond     sync.Cond
	schedule *schedule // nil: there is one call, at most
	watching *watch    // nil: nobody needs a clock
	calls    []*call   // that have arrived
	results  []tool.Result
	open     int     // calls without a result
	ready    []*call // wait for a slot, in call order
	early    []*call // have a question that can be put before they are ready
	running  int     // slots in use
	workers  int
	asking   int  // of them: put questions before their time
	helpers  int  // functions of the host that answer questions
	starting bool // a worker was started and has not begun yet
	hired    bool // there has been one
	shared   bool // some context of it was used: others may know of it
	closed   bool
	heard    bool    // that the host's context has ended
	stopped  *stop   // the whole turn was stopped
	fallen   []*stop // calls that stop their siblings, later ones too
	waiting  map[string]*call
	unanswer func()            // stops listening to the inbox
	answers  map[string]*lease // of the host, under way, by question
	held     *heldTurn
	past     *journalled // nil: it is not asked for
	// Why it has no number that no other turn has: nothing runs.
	unnumbered error
	mute       atomic.Bool   // the store did not answer once
	deaf       atomic.Bool   // nor did who counts tokens
	streams    bool          // results are given out one by one
	handing    bool          // results are made ready for the host
	handed     int           // results that are ready for the host
	spent      int           // characters of results that count, of the turn's budget
	feeding    bool          // a stream may add calls
	dropped    bool          // nobody wants the results of the stream
	gone       chan struct{} // closed with that
	patience   *time.Timer   // for a stream that does not end

	// The one call that most turns have, and room for it.
	only                call
	onlyCall, onlyReady [1]*call
	berths              *berths // of several that came together; nil: none did
}

// TurnOptions are how one turn differs. The zero value is an ordinary turn.
type TurnOptions struct {
	// Number is the turn to go on with, after it was handed back or a process
	// ended in the middle of it. 0: the session's next. What is done has its result
	// from the session's memory or the journal, and what the journal has no record
	// of has not begun. Without a journal, of a turn that the session does not
	// remember, or that goes on already, nothing runs that may not run twice.
	Number int
	// HandBack returns the kind suspended for calls that wait for a person, and
	// for what waits behind them, instead of waiting. The same calls given to a
	// turn of the same number go on.
	HandBack bool
	// Hooks of this request come after those of the runtime.
	Hooks []Hook
	// Limit is how many of its calls run at once. 0: as the runtime says.
	Limit int
	// Observe is told what happens in this turn, beside Runtime.Observe and by
	// the same rules. Nil: nobody.
	Observe func(audit.Event)
	// Apart makes the turn one of many that a session has at the same time, each
	// for calls that know nothing of the others: a call starts only while no call
	// of another such turn of the session runs that it conflicts with. Who waits
	// for a person, or for anything else, holds up nobody. A tool that begins such
	// a turn of its own session waits for itself. Zero: turns that run at the same
	// time are not ordered with each other.
	//
	// Loops are not looked for in such turns: who makes them may poll.
	Apart bool
	// Ends says that the turn ends with this process, if not before: nobody goes on
	// with it in another. So nobody need answer its questions then.
	Ends bool
	// Again says that who cannot wait for a person does not go on with the turn, but
	// makes the same call anew, from whichever session of the principal or process:
	// that goes on from the question of this one, and from its answer. Equal calls
	// share a question, and one of them uses the answer. An answer that was made to
	// last before the call came anew does not count for once as well.
	Again bool
}

// Number is the turn's place in its session, from 1. With a ledger numbers are
// taken in blocks: after a restart there is a gap.
func (t *Turn) Number() int { return t.number }

// hostTime is how long calls that are not cancelled go on after the host's stop.
const hostTime = 10 * time.Second

func (v *View) begin(ctx context.Context, o TurnOptions) *Turn {
	s := v.session
	set := &s.rt.set
	t, _ := set.spare.Get().(*Turn)
	if t == nil {
		t = new(Turn)
	}
	t.view, t.set, t.ctx, t.lends, t.ends, t.again, t.told = v, set, ctx, o.HandBack, o.Ends, o.Again, o.Observe
	t.serial = t.set.serials.Add(1)
	t.cond.L = &t.mu
	t.hooks, t.limit = t.set.hooks, t.set.limit
	if len(o.Hooks) > 0 {
		t.hooks = slices.Clone(t.hooks)
		for _, h := range o.Hooks {
			h.Only = h.Only.clone()
			t.hooks = append(t.hooks, h)
		}
	}
	if o.Limit > 0 {
		t.limit = o.Limit
	}
	if o.Apart {
		t.crowd = &s.conv.crowd
	}
	t.number = s.conv.begin(t, o.Number)
	t.lookBack()
	return t
}

// begin counts a turn and gives its number.
func (c *conversation) begin(t *Turn, number int) int {
	c.look(t.ctx)
	c.active.Add(1)
	if c.closed.Load() {
		t.stopped = &stop{text: "The session is closed.", cause: errors.New("the session is closed")}
	}
	if number <= 0 {
		number, t.unnumbered = c.nextTurn(t.ctx)
		return number
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.held = c.held[number]; t.held == nil {
		t.held = &heldTurn{unknown: true}
	}
	delete(c.held, number) // it goes on once
	c.turnsFrom(int64(number))
	return number
}

// Add adds calls; they start when they may. Added to a turn that is over, they
// are aborted.
func (t *Turn) Add(calls ...tool.Call) {
	t.adding.Lock()
	defer t.adding.Unlock()
	t.add(calls)
}

// add is Add for who is the only one that knows the turn.
func (t *Turn) add(calls []tool.Call) {
	if len(calls) == 0 {
		return
	}
	first := t.reserve(len(calls))
	if len(calls) == 1 && first == 0 {
		given := calls[0]
		t.only.turn, t.only.input = t, given.Input
		t.only.first = &tool.Request{ID: t.ids(0, 1), CallID: given.ID, Name: given.Name, CalledAs: given.Name}
		if t.slow(&t.only) {
			t.arriveBeside([]*call{&t.only})
		} else {
			t.only.arrive()
			t.admit(&t.only)
		}
		return
	}
	list, requests := t.berth(first, len(calls)), make([]tool.Request, len(calls))
	ids := t.ids(first, len(calls))
	size := 0
	for i, given := range calls {
		c, r := list[i], &requests[i]
		end := size + t.idSize(first+i)
		r.ID, r.CallID, r.Name, r.CalledAs = ids[size:end], given.ID, given.Name, given.Name
		size = end
		c.turn, c.index, c.input, c.first = t, first+i, given.Input, r
	}
	t.arriveAll(list)
}

// reserve makes room for n results and gives the place of the first.
func (t *Turn) reserve(n int) (first int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = len(t.results)
	if first == 0 && n == 1 {
		t.calls, t.ready = t.onlyCall[:0], t.onlyReady[:0]
	}
	t.results = slices.Grow(t.results, n)[:first+n]
	t.open += n
	if err := t.ctx.Err(); err != nil && t.stopped == nil {
		t.stopped = hostStop(t.ctx)
	}
	return first
}

// ids are Ferrule's ids for n calls, one behind another in one text: unique over
// all processes.
func (t *Turn) ids(first, n int) string {
	var text strings.Builder
	text.Grow(n * t.idSize(first+n-1))
	var room [64]byte // for any
	id := append(append(room[:0], t.set.name...), '-')
	id = append(strconv.AppendUint(id, t.serial, 10), '.')
	for i := range n {
		text.Write(strconv.AppendInt(id, int64(first+i), 10))
	}
	return text.String()
}

// idSize is how long the id of one call is.
func (t *Turn) idSize(index int) int {
	return len(t.set.name) + len("-.") + digits(t.serial) + digits(uint64(index)) //nolint:gosec // never negative
}

func digits(n uint64) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

// admit gives an arrived call its place in the order, or its result if it is
// known that it will not run.
func (t *Turn) admit(c *call) {
	t.mu.Lock()
	t.calls = append(t.calls, c)
	why := t.stopFor(c)
	if t.closed {
		why = &stop{text: "The turn is over.", cause: errOver}
	}
	switch {
	case c.recorded != nil || c.final || why != nil:
		c.claimed = true
		t.mu.Unlock()
		switch {
		case c.settled:
			t.settle(c, *c.recorded)
		case c.recorded != nil:
			t.keep(c, c.putDown(*c.recorded, *c.recorded))
		case why != nil:
			t.settle(c, why.result(c))
		default:
			t.settle(c, tool.Result{Err: c.known})
		}
		return
	}
	t.plan(c)
	free := t.running+len(t.ready) < t.limit
	if c.step.waits > 0 || !free {
		c.judged = false // the rules look again when it is ready
	}
	if c.step.waits == 0 {
		t.push(c)
	}
	if c.askEarly && (c.step.waits > 0 || !free) {
		t.early = append(t.early, c)
	}
	if !t.quiet {
		t.hire()
	}
	t.mu.Unlock()
}

// plan gives a call its place. The first needs none until there is another.
func (t *Turn) plan(c *call) {
	if t.schedule == nil {
		if len(t.calls) == 1 {
			return
		}
		t.schedule = t.order()
		if first := t.calls[0]; !first.claimed {
			t.schedule.plan(first, t.calls)
		}
	}
	t.schedule.plan(c, t.calls)
}

// still names the calls of the turn that run or wait for a person.
func (t *Turn) still() (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		switch {
		case c.claimed:
		case c.state == running:
			names = append(names, fmt.Sprintf("%s (%s)", c.called(), c.first.ID))
		case c.state == waiting:
			names = append(names, fmt.Sprintf("%s (%s, waits for a person)", c.called(), c.first.ID))
		}
	}
	return names
}

// done counts a turn as over.
func (c *conversation) done() {
	if c.active.Add(-1); c.closed.Load() { // else who closes it sees the number
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cond.Broadcast()
	}
}

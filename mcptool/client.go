package mcptool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// client is one client session.
type client struct {
	gate   *Gateway
	joined joining
	caller tool.Caller // with the name of its session; the client's is in each face

	ctx  context.Context //nolint:containedctx // the life of the session, which many requests share
	end  context.CancelCauseFunc
	idle *time.Timer // of a stateless session
	used time.Time   // when the last request came or ended; guarded by mu

	// quiet ends after ctx, when what was under way has its answers.
	quiet  context.Context //nolint:containedctx // as above
	finish context.CancelFunc

	pushing  sync.Mutex // nothing is sent while it is held
	pushes   []stream
	came     int       // how many streams ever came
	pending  []*untold // for a stream that listens
	draining bool      // somebody sends them

	mu       sync.Mutex // before that of a dialogue
	left     bool       // nothing new begins
	leaving  bool       // somebody ends it
	shutting bool
	deserted error         // why nobody is there any more who could be asked; nil: somebody is
	shuts    chan struct{} // closed when it is
	running  int           // requests under way
	coming   int           // messages that have found the stateless session, and are not there yet
	rested   chan struct{} // closed when none is, once it is shut; nil: nobody waits

	agreed   string                      // the version of the old era
	old      *face                       // what the client is in it; nil: it has not said
	faces    map[[sha256.Size]byte]*face // by what they say
	underway map[string]*dialogue        // by the id of the client's request
	talks    map[*dialogue]bool          // all that run, and whether they wait for a person
	early    map[string]time.Time        // cancelled before they were seen
	over     []string                    // ids of requests that were answered last
	overAt   int                         // the oldest of them
	asked    map[string]chan message
	late     map[string]lateAnswer // of what it was asked and nobody waits for
	asks     int
	held     map[string]*dialogue // by the requestState that its client was given
	hearing  map[*listening]bool
	changes  map[string]bool // of lists, that it was not told of yet
	telling  bool            // somebody tells it
	known    *toolList       // what the client was listed last
	session  *ferrule.Session
	gone     chan struct{} // closed when leave is done
}

func newClient(g *Gateway, j joining) *client {
	ctx, end := context.WithCancelCause(context.Background())
	quiet, finish := context.WithCancel(context.Background())
	c := &client{
		gate: g, joined: j, caller: j.caller, ctx: ctx, end: end, quiet: quiet, finish: finish,
		faces: make(map[[sha256.Size]byte]*face), underway: make(map[string]*dialogue), early: make(map[string]time.Time),
		asked: make(map[string]chan message), held: make(map[string]*dialogue), hearing: make(map[*listening]bool),
		talks: make(map[*dialogue]bool), shuts: make(chan struct{}), changes: make(map[string]bool), gone: make(chan struct{}),
	}
	c.used = time.Now()
	c.caller.Session = "mcp-" + random()
	if j.push != nil {
		c.pushes = []stream{j.push}
	}
	return c
}

// handle takes one message of the client. A request is answered by the last
// message that is sent to `to`; handle returns after that. It does not panic. The
// transport calls it on a goroutine for each message of a POST, or for each
// message of stdio in order of arrival (handle itself must keep the order of
// initialize, notifications and answers: those return at once). What the client
// has cancelled by a notification has no answer.
func (c *client) handle(ctx context.Context, m message, to stream) {
	defer func() {
		if r := recover(); r != nil {
			c.gate.logger().LogAttrs(ctx, slog.LevelError, "a panic in the gateway", slog.Any("panic", r), slog.String("method", m.method))
			if m.id != nil && m.method != "" {
				_ = to.send(message{id: m.id, fault: &Fault{Code: codeInternal, Message: "internal error"}}) // the client may be gone
			}
		}
	}()
	switch {
	case m.method == "":
		c.arrive()
		c.answered(m)
	case m.id == nil:
		c.arrive()
		c.notified(ctx, m)
	default:
		c.requested(ctx, m, to)
	}
}

// requested answers a request.
func (c *client) requested(ctx context.Context, m message, to stream) {
	refuse := func(f *Fault) { _ = to.send(message{id: m.id, fault: f}) } // the client may be gone
	if err := c.enter(); err != nil {
		refuse(&Fault{Code: codeInvalid, Message: err.Error()})
		return
	}
	defer c.exit()
	m.params = withoutClientTasks(m.params)
	f, fault := c.faceOf(m)
	if fault != nil {
		refuse(fault)
		return
	}
	defer c.release(f)
	d := newDialogue(c, f, m)
	d.traced(ctx)
	l := &leg{id: m.id, to: to, token: progressToken(m.params), done: make(chan struct{})}
	if d.mayHold() && c.resume(ctx, d, l) {
		d.cancel(nil)
		<-l.done
		return
	}
	if state, _ := member(m.params, "requestState"); state != nil && kindOf(state) != 'n' {
		d.cancel(nil)
		refuse(&Fault{Code: codeInvalidParams, Message: d.refused(textMember(m.params, "requestState"))})
		return
	}
	d.attach(ctx, l)
	if d.mayHold() || d.method == "tools/call" {
		// The call outlives this request where the client is asked for input, or is
		// told that nobody waits for it any longer.
		c.begin()
		c.gate.house.crew.do(func() { //nolint:contextcheck // a dialogue has a context of its own
			defer c.exit()
			d.run()
		})
	} else {
		d.run() //nolint:contextcheck // as above; attach ends it with ctx
	}
	<-l.done
}

// enter counts a request; exit is its end.
func (c *client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming = max(0, c.coming-1)
	switch {
	case c.left:
		return errLeft
	case c.shutting:
		return errShut
	}
	c.running++
	c.used = time.Now()
	if c.idle != nil {
		c.idle.Stop()
	}
	return nil
}

// begin counts what goes on beside a request; false: the session has ended.
func (c *client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left && c.running == 0 {
		return false // nobody would wait for it
	}
	c.running++
	return true
}

func (c *client) exit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running > 0 {
		return
	}
	c.used = time.Now()
	if c.idle != nil && !c.left {
		c.idle.Reset(statelessIdle)
	}
	if c.rested != nil {
		close(c.rested)
		c.rested = nil
	}
}

// version is the protocol version that was agreed on; "": none yet.
func (c *client) version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agreed
}

// why is why the session has ended.
func (c *client) why() error { return context.Cause(c.ctx) }

// until has f called, on a goroutine of its own, when the session ends, whoever
// ends it: its calls have their answers then.
func (c *client) until(f func()) (stop func() bool) { return context.AfterFunc(c.quiet, f) }

// shut takes no more requests, and ends what would not end by itself.
func (c *client) shut() {
	c.mu.Lock()
	c.shutting = true
	var waiting []*dialogue
	for _, d := range c.held {
		waiting = append(waiting, d)
	}
	c.mu.Unlock()
	for _, d := range waiting {
		d.cancel(errShut)
	}
	c.desert(errShut)
}

// rest waits until no request is under way, or ctx has ended.
func (c *client) rest(ctx context.Context) error {
	c.mu.Lock()
	if c.running == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.rested == nil {
		c.rested = make(chan struct{})
	}
	rested := c.rested
	c.mu.Unlock()
	select {
	case <-rested:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the session of %s: calls still ran: %w", c.caller.Principal, context.Cause(ctx))
	}
}

// leaveTime is how long a session's calls have to end once they are stopped: the
// runtime gives those that do not say Cancel 10 s.
const leaveTime = 15 * time.Second

// leave ends the session: its calls are stopped and answered, its connections
// closed. It waits for that.
func (c *client) leave() {
	c.mu.Lock()
	if c.leaving {
		c.mu.Unlock()
		<-c.gone
		return
	}
	c.left, c.leaving = true, true
	if c.idle != nil {
		c.idle.Stop()
	}
	faces := make([]*face, 0, len(c.faces)+1)
	for _, f := range c.faces {
		faces = append(faces, f)
	}
	if c.old != nil {
		faces = append(faces, c.old)
	}
	session := c.session
	for h := range c.hearing {
		h.finish()
	}
	c.mu.Unlock()
	defer close(c.gone)
	defer c.gate.house.remove(c) // at the end: who closes the gateway waits for it
	c.end(errLeft)
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := c.rest(ctx); err != nil {
		c.gate.logger().LogAttrs(ctx, slog.LevelWarn, "a session ended while its calls ran", slog.String("session", c.caller.Session), slog.Any("error", err))
		c.giveUp(errLeft)
	}
	c.finish()
	if c.gate.Hub != nil {
		for _, f := range faces {
			c.gate.Hub.forget(f)
		}
	}
	if session == nil {
		return
	}
	if err := session.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		c.gate.logger().LogAttrs(ctx, slog.LevelWarn, "close a session", slog.String("session", c.caller.Session), slog.Any("error", err))
	}
}

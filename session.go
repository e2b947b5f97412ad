package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Session is one conversation, for one caller in it. Callers of the same tenant,
// principal and session name share it: agents of a session, runs one after
// another. Turns that run at the same time are not ordered with each other, unless
// they were begun with TurnOptions.Apart. A session is kept until it is closed.
type Session struct {
	rt     *Runtime
	caller tool.Caller
	conv   *conversation
}

// Session gives the session of a caller; it begins if it is not there. A caller
// without a session name begins one of its own. Fields of the runtime that were
// set too late are findings when one begins.
func (rt *Runtime) Session(c tool.Caller) *Session {
	set := rt.taken()
	if c.Principal == "" {
		c.Principal = localPrincipal
	}
	if c.Session == "" {
		c.Session = fmt.Sprintf("%s-s%d", set.name, set.serials.Add(1))
	}
	key := sessionKey{c.Tenant, c.Principal, c.Session}
	rt.mu.Lock()
	conv := rt.sessions[key]
	rt.mu.Unlock()
	if conv == nil {
		rt.freeze()
		conv = rt.converse(key)
	}
	return &Session{rt: rt, caller: c, conv: conv}
}

// converse begins a session, unless somebody else just did.
func (rt *Runtime) converse(key sessionKey) *conversation {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	conv := rt.sessions[key]
	if conv == nil {
		conv = &conversation{rt: rt, key: key, name: key.session, governing: make(chan struct{}, 1)}
		conv.cond.L = &conv.mu
		conv.histories.seed = maphash.MakeSeed()
		conv.closed.Store(rt.closed)
		if rt.sessions == nil {
			rt.sessions = make(map[sessionKey]*conversation)
		}
		rt.sessions[key] = conv
	}
	return conv
}

type sessionKey struct{ tenant, principal, session string }

// madeUp reports whether a name looks like one that a runtime gave to a session
// without a name.
func madeUp(name string) bool {
	of, n, ok := strings.Cut(name, "-s")
	_, err := strconv.ParseUint(n, 10, 64)
	return ok && err == nil && len(of) == nameSize && strings.ToLower(of) == of
}

// View is what this session is offered now. While nothing changes it costs
// nothing. Tools that are asked for their form, or whether they are enabled, have
// as long as ctx; what it cuts short stands in its static form, or is not
// enabled, for this view only.
func (s *Session) View(ctx context.Context) *View {
	s.conv.recall(ctx)
	c := s.rt.reg.catalogue()
	tools := c.toolset
	if c.dynamic {
		tools = s.conv.forms(ctx, c, s.caller)
	}
	s.conv.look(ctx)
	tools, stands := s.conv.stand(c, tools, s.caller)
	s.rt.reg.mu.Lock()
	fallback := s.rt.reg.fallback
	s.rt.reg.mu.Unlock()
	return &View{session: s, of: c, tools: tools, loaded: s.conv.loadedIn(c, tools), fallback: fallback, stands: stands}
}

// Call runs one call by name and JSON text, through every gate, in a turn of its
// own.
func (s *Session) Call(ctx context.Context, name, input string) tool.Result {
	return s.View(ctx).Do(ctx, tool.Call{Name: name, Input: json.RawMessage(input)})[0]
}

// Scrub takes secrets that were given out so far, and what Guard.Keys finds, out of
// a text that goes to a client beside results: a notification, a resource. An event
// says which were in it. Where there are none, it is the same slice; JSON stays JSON.
func (s *Session) Scrub(text []byte) []byte {
	set := &s.rt.set
	if len(text) == 0 || !set.secrets.Live() && !set.redacts {
		return text
	}
	return s.scrubWith(text, scrubber{vault: set.secrets, keys: s.conv.keys()})
}

func (s *Session) scrubWith(text []byte, with scrubber) []byte {
	clean, set := string(text), &s.rt.set
	if !with.text(&clean) {
		return text
	}
	if set.noted() && len(with.found) > 0 {
		set.emit(audit.Event{Kind: audit.Scrubbed, Session: s.caller.Session, Text: strings.Join(with.found, ", ")})
	}
	return []byte(clean)
}

// ScrubKnown is Scrub without what only looks like a key, for what is long and holds
// no content of calls: lists of tools.
func (s *Session) ScrubKnown(text []byte) []byte {
	if set := &s.rt.set; len(text) > 0 && set.secrets.Live() {
		return s.scrubWith(text, scrubber{vault: set.secrets})
	}
	return text
}

// Refresh asks the host for the program's own tools, and has descriptions,
// schemas and Enabled, where they are functions, evaluated anew. The next view
// shows it. An error
// leaves everything as it was.
func (s *Session) Refresh(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	s.conv.forming.Lock()
	defer s.conv.forming.Unlock()
	s.conv.seen, s.conv.formed = nil, nil
	return nil
}

// refresh asks the host for the program's own tools.
func (s *Session) refresh(ctx context.Context) error {
	set := &s.rt.set
	if set.refresh == nil {
		return nil
	}
	tools, err := bounded(context.WithoutCancel(ctx), otherTime, func(ctx context.Context) ([]*tool.Tool, error) { return set.refresh(ctx, s.caller) })
	changed := false
	if err == nil && tools != nil {
		changed, err = s.rt.own(tools)
	}
	if set.noted() && (err != nil || changed) {
		e := audit.Event{Kind: audit.Refreshed, Session: s.caller.Session}
		if err != nil {
			e.Text = fmt.Sprint(err) // fmt stands an error that panics
		}
		set.emit(e)
	}
	return err
}

// own makes these the program's own tools. Those that are registered already
// stay as they are, so that an unchanged set costs nothing.
func (rt *Runtime) own(tools []*tool.Tool) (changed bool, err error) {
	old := rt.reg.of("")
	if len(old) == len(tools) {
		same := true
		for i, t := range tools {
			same = same && old[i].given == t
		}
		if same {
			return false, nil
		}
	}
	return true, rt.Set(tool.Source{}, tools...)
}

// Close stops the session from taking calls and waits, until ctx ends, for its
// turns and for calls that were given up; it stops neither: ending the context of
// a turn does. Then it ends what calls have left in the background, which may take
// 15 s more. The error names what still runs or waits.
func (s *Session) Close(ctx context.Context) error { return s.conv.close(ctx) }

// conversation is what the callers of one session share.
type conversation struct {
	rt   *Runtime
	key  sessionKey
	name string

	anyLoaded atomic.Bool
	recallAt  atomic.Pointer[time.Time] // when to look for results that an earlier process kept; nil: now
	lostCount atomic.Int64              // of lost, so that nobody looks for nothing

	turns  atomic.Int64 // begun so far
	active atomic.Int64 // of them: not over; and feeds
	feeds  atomic.Int64 // streams of calls that are being read
	closed atomic.Bool

	mu   sync.Mutex
	cond sync.Cond
	lost []lostCall
	held map[int]*heldTurn
	// The recorded session that answers this one; guarded by the Replay.
	replay *recording
	// Turns with workers. What runs on the goroutine of who waits is only counted.
	working map[*Turn]bool

	loaded   []string // names of deferred tools, in the order of loading
	loadedAs map[*toolset]*loadedSet
	loadedOf *catalogue
	indexes  map[indexKey]string // of tools that can be found; guarded by mu

	histories histories
	flows     flows
	redactor  atomic.Pointer[redact.Redactor] // nil: nothing was looked through yet, or nothing is
	crowd     crowd

	chosen    atomic.Pointer[policy.Mode] // nil: as the runtime says
	lookedAt  atomic.Pointer[time.Time]   // when the ledger was last asked for it
	unknown   atomic.Pointer[error]       // why the ledger does not say it
	governing chan struct{}               // what the ledger says is taken over in its order
	reserved  int64                       // numbers of turns that are this process's

	standing   sync.Mutex
	standingOf *catalogue
	standings  map[standKey]*standingSet
	// stoodBefore are those of the catalogue before, until they are asked for.
	stoodBefore map[standKey]*standingSet

	endings []func()      // what is to be done when it ends; guarded by mu
	ended   chan struct{} // closed when it has been done; nil: nobody has begun; guarded by mu

	forming sync.Mutex // guards what tools said of themselves; held for moments
	seen    map[*entry]*entry
	formed  map[string]formedSet // by agent
}

// lostCall is a call that was given up and has not returned.
type lostCall struct {
	*call
	at time.Time
}

// lose remembers a call that did not return; found forgets it.
func (c *conversation) lose(l *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, lostCall{l, time.Now()})
	c.lostCount.Add(1)
}

func (c *conversation) found(l *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = slices.DeleteFunc(c.lost, func(o lostCall) bool { return o.call == l })
	c.lostCount.Add(-1)
	c.cond.Broadcast()
}

// inTheWay is a call that was given up, has not returned, and is of the same
// tool or conflicts with these claims; nil: none.
func (c *conversation) inTheWay(e *entry, claims tool.Claims) *call {
	if c.lostCount.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lost {
		if l.entry != nil && l.entry.same(e) || conflict(l.planned, claims) {
			return l.call
		}
	}
	return nil
}

// close waits for turns and lost calls until ctx ends.
func (c *conversation) close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cond.Broadcast()
	})
	defer stop()
	c.mu.Lock()
	c.closed.Store(true)
	for (c.active.Load() > 0 || len(c.lost) > 0) && ctx.Err() == nil {
		c.cond.Wait()
	}
	over := c.active.Load() == 0 && len(c.lost) == 0
	c.mu.Unlock()
	err := c.end()
	if !over {
		return errors.Join(fmt.Errorf("close session %q: still running: %s: %w", c.name, c.still(), context.Cause(ctx)), err)
	}
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	if c.rt.sessions[c.key] == c {
		delete(c.rt.sessions, c.key)
	}
	return err
}

// still names what runs, and what was given up and has not returned.
func (c *conversation) still() string {
	var names []string
	c.mu.Lock()
	for _, l := range c.lost {
		names = append(names, fmt.Sprintf("%s (%s, given up %s ago)", l.called(), l.first.ID, time.Since(l.at).Round(time.Second)))
	}
	turns := slices.Collect(maps.Keys(c.working))
	c.mu.Unlock()
	for _, t := range turns {
		names = append(names, t.still()...)
	}
	slices.Sort(names)
	feeds := c.feeds.Load()
	if n := c.active.Load() - feeds; n > 0 {
		names = append(names, fmt.Sprintf("turns that are not over: %d", n))
	}
	if feeds > 0 {
		names = append(names, fmt.Sprintf("streams of calls that have not ended: %d", feeds))
	}
	return strings.Join(names, ", ")
}

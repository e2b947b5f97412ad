package mcptool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// house is who is there: the clients of a gateway.
type house struct {
	mu        sync.Mutex
	opened    bool
	closed    bool
	over      chan struct{} // closed when it closes; nil: nobody waits for that
	clients   map[*client]bool
	stateless map[statelessKey]*client
	unwatch   func()
	// What has changed and was not told yet, by kind: tools, prompts, resources.
	changed map[string]bool
	wake    chan struct{}
	tellers sync.WaitGroup
	stop    context.CancelFunc
	lists   listCache
	waiters waiters
	turns   map[*ferrule.Turn]bool // that are under way; guarded by mu
	crew    crew                   // that requests run on
	secret  [32]byte               // that states are sealed with
	sealing sync.Once
}

// key is what states are sealed with: those of another process are expired.
func (h *house) key() []byte {
	h.sealing.Do(func() { _, _ = rand.Read(h.secret[:]) }) // it never fails
	return h.secret[:]
}

func (g *Gateway) patience() time.Duration { return cmp.Or(g.Patience, waitTime) }

func (h *house) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// closing is closed when the gateway closes: who waits for a person waits no longer, and
// can call again when there is another one.
func (h *house) closing() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil {
		h.over = make(chan struct{})
		if h.closed {
			close(h.over)
		}
	}
	return h.over
}

// turn makes a call in a turn that a person can stop.
func (g *Gateway) turn(ctx context.Context, view *ferrule.View, o ferrule.TurnOptions, call tool.Call) tool.Result {
	t, h := view.Begin(ctx, o), &g.house
	h.mu.Lock()
	if h.turns == nil {
		h.turns = make(map[*ferrule.Turn]bool)
	}
	h.turns[t] = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.turns, t)
	}()
	t.Add(call)
	return t.Wait()[0]
}

// Stop is a person who stops one call of a client, by Ferrule's id. It reports whether
// the call was under way.
func (g *Gateway) Stop(call string) bool {
	g.house.mu.Lock()
	turns := slices.Collect(maps.Keys(g.house.turns))
	g.house.mu.Unlock()
	return slices.ContainsFunc(turns, func(t *ferrule.Turn) bool { return t.Stop(call) })
}

// statelessKey names the session of clients that have none of their own.
type statelessKey struct{ tenant, principal, name string }

var (
	errLeft = errors.New("the session has ended")
	errShut = errors.New("the gateway is closed")
)

// statelessIdle is how long a stateless session lasts without a call.
const statelessIdle = time.Hour

// maxStateless is how many stateless sessions a principal has at most.
const maxStateless = 64

// joining is who joins.
type joining struct {
	caller tool.Caller // principal, tenant, attended; session and client are set by the gateway
	// stateless: each request stands for itself, and the session is that of the
	// principal and the client's name (M2), in which many may be at once.
	stateless bool
	name      string // of a stateless client, as it calls itself
	push      stream // where what belongs to no request goes; nil: see client.listen
}

// join makes a client session of the old era or of stdio, or finds that of a
// stateless client, which is then kept for one message that it is given to handle.
func (g *Gateway) join(j joining) (*client, error) {
	h := &g.house
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errShut
	}
	g.open()
	key := statelessKey{j.caller.Tenant, j.caller.Principal, j.name}
	if j.stateless {
		if c := h.stateless[key]; c != nil && c.stay() {
			return c, nil
		}
	}
	if j.stateless {
		if err := h.makeRoom(key); err != nil {
			return nil, err
		}
	}
	c := newClient(g, j)
	h.clients[c] = true
	if j.stateless {
		h.stateless[key] = c
		c.coming = 1
		c.idle = time.AfterFunc(statelessIdle, c.expire)
	}
	return c, nil
}

// makeRoom has the stateless session of a principal that was idle for longest leave,
// where there are too many: their names are the client's choice. The mutex is held.
func (h *house) makeRoom(key statelessKey) error {
	for {
		n, idle := h.longestIdle(key)
		switch {
		case n < maxStateless:
			return nil
		case idle == nil:
			return errManySessions
		case idle.retire():
			delete(h.stateless, statelessKey{key.tenant, key.principal, idle.joined.name})
			go idle.leave() // who closes the gateway waits for it: it is one of the clients until then
			return nil
		}
	}
}

// longestIdle is how many stateless sessions a principal has, and which was not
// used for longest; nil: all are. The mutex is held.
func (h *house) longestIdle(key statelessKey) (n int, idle *client) {
	var since time.Time
	for k, c := range h.stateless {
		if k.tenant != key.tenant || k.principal != key.principal {
			continue
		}
		n++
		if used, busy := c.lastUsed(); !busy && (idle == nil || used.Before(since)) {
			idle, since = c, used
		}
	}
	return n, idle
}

// open readies the house for its first client. Its mutex is held.
func (g *Gateway) open() {
	h := &g.house
	if h.opened {
		return
	}
	h.opened = true
	h.clients, h.stateless = make(map[*client]bool), make(map[statelessKey]*client)
	h.changed, h.wake = make(map[string]bool), make(chan struct{}, 1)
	if g.Hub == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.tellers.Go(func() { g.tellChanges(ctx) })
	h.unwatch = g.Hub.watch(func(_, what string) { h.note(what) })
}

// note remembers that a list has changed: to find out which clients are told takes
// a while, and the hub does not wait for it.
func (h *house) note(what string) {
	h.mu.Lock()
	h.changed[what] = true
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // somebody was told already
	}
}

// tellChanges tells clients of changed lists, until ctx ends.
func (g *Gateway) tellChanges(ctx context.Context) {
	h := &g.house
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
		h.mu.Lock()
		what := h.changed
		h.changed = make(map[string]bool)
		h.mu.Unlock()
		for _, c := range h.all() {
			c.tell(what)
		}
	}
}

func (h *house) all() []*client {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*client, 0, len(h.clients))
	for c := range h.clients {
		list = append(list, c)
	}
	return list
}

// remove forgets a client that leaves.
func (h *house) remove(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	key := statelessKey{c.caller.Tenant, c.caller.Principal, c.joined.name}
	if h.stateless[key] == c {
		delete(h.stateless, key)
	}
}

// stopTime is how long before the end of its context Close stops what runs, so that
// it can still be answered.
const stopTime = 2 * time.Second

// toldTime is how long clients have to read that their calls did not stop.
const toldTime = 500 * time.Millisecond

// Close takes no more requests, stops those that wait for a person, waits for the
// others until shortly before the deadline of ctx, stops what is left, and ends all
// sessions. Every call under way is answered. What has not stopped when ctx ends is
// not waited for; where ctx ends without a deadline it has 2 s.
func (g *Gateway) Close(ctx context.Context) error {
	h := &g.house
	h.mu.Lock()
	if h.over != nil && !h.closed {
		close(h.over)
	}
	h.closed = true
	unwatch, stop := h.unwatch, h.stop
	h.unwatch, h.stop = nil, nil
	h.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	if stop != nil {
		stop()
	}
	clients := h.all()
	for _, c := range clients {
		c.shut()
	}
	stopping := stopTimeOf(ctx)
	err := restAll(ctx, stopping, clients)
	began := time.Now()
	left := make(chan struct{})
	go func() { // each ends: see leaveTime
		defer close(left)
		var leaving sync.WaitGroup
		for _, c := range clients {
			leaving.Go(c.leave)
		}
		leaving.Wait()
		h.tellers.Wait()
		h.crew.close()
	}()
	select {
	case <-left:
		return err
	case <-ctx.Done():
	}
	if within(left, time.Until(began.Add(stopping))) {
		return err
	}
	told := make(chan struct{})
	go func() { // until the transports give up
		defer close(told)
		var telling sync.WaitGroup
		for _, c := range clients {
			telling.Go(func() { c.giveUp(errShut) })
		}
		telling.Wait()
	}()
	within(told, toldTime)
	return errors.Join(err, fmt.Errorf("close the gateway: sessions did not end: %w", context.Cause(ctx)))
}

// restAll waits until nothing runs, or there is just the time to stop what does.
func restAll(ctx context.Context, stopping time.Duration, clients []*client) (err error) {
	if end, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-stopping))
		defer cancel()
	}
	for _, c := range clients {
		err = errors.Join(err, c.rest(ctx))
	}
	return err
}

// stopTimeOf is how much of a context's time is for stopping.
func stopTimeOf(ctx context.Context) time.Duration {
	if end, has := ctx.Deadline(); has {
		return min(stopTime, max(0, time.Until(end)/2))
	}
	return stopTime
}

// within waits for done, for so long only; false: it was not.
func within(done <-chan struct{}, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// closing says that the gateway takes no more requests.
func (g *Gateway) closing() bool {
	g.house.mu.Lock()
	defer g.house.mu.Unlock()
	return g.house.closed
}

// safely runs what must not end the program.
func (g *Gateway) safely(ctx context.Context, f func()) {
	defer func() {
		if r := recover(); r != nil {
			g.logger().LogAttrs(ctx, slog.LevelError, "a panic in the gateway", slog.Any("panic", r))
		}
	}()
	f()
}

func (g *Gateway) logger() *slog.Logger {
	if g.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(scrubbing{g.Log.Handler(), g.Hub.scrub})
}

// servers are those that were reached, in the order of their configuration.
func (g *Gateway) servers() []*server {
	if g.Hub == nil {
		return nil
	}
	return g.Hub.all()
}

// alone is the server that is the only one there is, whether the others were
// reached or not; nil: there are more, or it was not reached yet.
func (g *Gateway) alone() *server {
	if g.Hub == nil || len(g.Hub.Servers) != 1 {
		return nil
	}
	if servers := g.servers(); len(servers) == 1 {
		return servers[0]
	}
	return nil
}

// server is the server of a name; nil: none.
func (g *Gateway) server(name string) *server {
	if g.Hub == nil || name == "" {
		return nil
	}
	return g.Hub.server(name)
}

// settleTime is how long a client's greeting waits for servers that have never
// answered: what they can do is said once.
const settleTime = 5 * time.Second

// settle waits for servers of which nothing is known yet, or not whether clients may
// hear of them.
func (g *Gateway) settle(ctx context.Context) {
	if g.Hub == nil {
		return
	}
	for _, s := range g.Hub.Servers {
		if known := g.Hub.server(s.Name); known == nil || known.greeting() == nil || g.Hub.Pins != "" && known.listedAt() == nil {
			ctx, cancel := context.WithTimeout(ctx, settleTime)
			defer cancel()
			_ = g.Hub.Settled(ctx) // what is not there by then is not in the greeting
			return
		}
	}
}

// random is a name that nobody can guess.
func random() string { return rand.Text() }

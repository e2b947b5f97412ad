package mcptool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// lane is the connections of one client session to one server.
//
// A session of the old era has one: the server may keep state there that belongs
// to the session. A stateless one shares a connection of the new era, where each
// request stands for itself; to a server of the old era it has several, and a
// request has one to itself while it runs, so that what the server asks meanwhile
// is surely about it.
type lane struct {
	s      *server
	a      audience
	ctx    context.Context //nolint:containedctx // it lasts as long as the session, not as a call
	cancel context.CancelFunc
	going  sync.WaitGroup // dials and closings
	slots  chan struct{}  // holds one for each exclusive connection in use

	mu     sync.Mutex
	closed bool
	one    *strand   // that all requests share
	flight *flight   // that makes one
	idle   []*strand // exclusive ones; the last was used last
	all    map[*strand]bool
	reaper *time.Timer
	again  []resent // what a new connection is told first
	// followed are streams about resources, at a server of the new era.
	followed map[string]context.CancelFunc
}

// flight is a connection that is being made, for all who wait for it.
type flight struct {
	done chan struct{}
	made *strand // nil: it is of use to one request at a time only, and is idle
	err  error
}

const (
	maxExclusive = 16
	// giveUpTime is how long a server has to hear that a request was given up, and
	// to tidy up, before the connection ends that it came over.
	giveUpTime = 2 * time.Second
	strandIdle = 5 * time.Minute
)

var errLaneClosed = errors.New("the client session has ended")

// lane is that of a client session, made if there is none.
func (s *server) lane(a audience) (*lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("server " + s.Name + ": the program ends")
	}
	ln := s.lanes[a]
	if ln == nil && a.left() { // nobody would close it
		return nil, unsent(errLaneClosed)
	}
	if ln == nil {
		ln = &lane{s: s, a: a, all: make(map[*strand]bool), slots: make(chan struct{}, maxExclusive)}
		ln.ctx, ln.cancel = context.WithCancel(context.Background())
		s.lanes[a] = ln
	}
	return ln, nil
}

// forget closes the connections of a client session.
func (s *server) forget(a audience) {
	a.leave() // first: who has not looked yet makes none
	s.mu.Lock()
	ln := s.lanes[a]
	delete(s.lanes, a)
	s.mu.Unlock()
	if ln != nil {
		ln.close()
	}
}

// take is a connection for one request.
func (ln *lane) take(ctx context.Context, method string) (*strand, error) {
	stateless := eraOf(ln.a.introduction().version) == newEra
	if method == methodSubscribe || method == methodUnsubscribe {
		stateless = false // a subscription lasts as long as its connection
	}
	if stateless && ln.s.onlyOld() {
		return ln.exclusive(ctx)
	}
	c, err := ln.shared(ctx, stateless)
	if err == nil && c == nil {
		return ln.exclusive(ctx)
	}
	return c, err
}

// onlyOld reports whether the server is known not to speak the new era.
func (s *server) onlyOld() bool { return s.Era == eraWord(oldEra) || s.lacksEra(newEra) }

// shared is the connection that all requests of the session share; made by one of
// those who want it, for all of them. Nil: it turned out that it cannot be shared.
func (ln *lane) shared(ctx context.Context, stateless bool) (*strand, error) {
	ln.mu.Lock()
	if ln.closed {
		ln.mu.Unlock()
		return nil, errLaneClosed
	}
	if c := ln.one; c != nil && !c.over() {
		ln.mu.Unlock()
		if stateless && c.link.greeting().era == oldEra {
			return nil, nil //nolint:nilnil // said above
		}
		return c, nil
	} else if c != nil {
		ln.one = nil
		ln.dropLocked(c)
	}
	f := ln.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		ln.flight = f
		ln.going.Go(func() { ln.make(f, stateless) })
	}
	ln.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.made, nil
}

// make makes the shared connection. It does so in the time of the session: who
// wanted it first may be gone before it is there.
func (ln *lane) make(f *flight, stateless bool) {
	c, err := ln.made()
	ln.mu.Lock()
	defer ln.mu.Unlock()
	defer close(f.done)
	ln.flight = nil
	if f.err = err; err != nil {
		return
	}
	if stateless && c.link.greeting().era == oldEra {
		c.used = time.Now()
		ln.idle = append(ln.idle, c)
		ln.reapLocked()
		return
	}
	ln.one, f.made = c, c
}

// made is a new connection that is listened to.
func (ln *lane) made() (c *strand, err error) {
	defer survive(ln.s.hub.log(), func(fault error) { c, err = nil, fault })
	if c, err = ln.dial(ln.ctx); err == nil {
		ln.listen(c)
	}
	return c, err
}

// exclusive is a connection that nobody else uses until it is given back.
func (ln *lane) exclusive(ctx context.Context) (*strand, error) {
	if err := ln.slot(ctx); err != nil {
		return nil, err
	}
	ln.mu.Lock()
	for len(ln.idle) > 0 {
		c := ln.idle[len(ln.idle)-1]
		ln.idle = ln.idle[:len(ln.idle)-1]
		if !c.over() {
			c.exclusive = true
			ln.mu.Unlock()
			return c, nil
		}
		ln.dropLocked(c)
	}
	ln.mu.Unlock()
	c, err := ln.dial(ctx)
	if err != nil {
		<-ln.slots
		return nil, err
	}
	c.exclusive = true
	return c, nil
}

// give gives a connection back. One on which a request was given up is closed: the
// server may still be at it, and what it asks then would be put to the next.
func (ln *lane) give(c *strand, givenUp bool) {
	if !c.exclusive {
		return
	}
	ln.mu.Lock()
	defer ln.mu.Unlock()
	c.exclusive = false
	switch {
	case c.over() || ln.closed:
		ln.dropLocked(c)
	case givenUp:
		ln.going.Go(func() {
			defer survive(ln.s.hub.log(), func(error) {})
			rest(ln.ctx, giveUpTime)
			ln.mu.Lock()
			defer ln.mu.Unlock()
			ln.dropLocked(c)
		})
	default:
		c.used = time.Now()
		ln.idle = append(ln.idle, c)
		ln.reapLocked()
	}
	<-ln.slots
}

// dial makes a connection as the client would.
func (ln *lane) dial(ctx context.Context) (c *strand, err error) {
	defer survive(ln.s.hub.log(), func(fault error) { c, err = nil, fault })
	if err := ln.s.down(); err != nil {
		return nil, err
	}
	if err := ln.s.admit(ctx); err != nil {
		return nil, err
	}
	c = &strand{lane: ln, rested: time.Now()}
	there := false
	defer func() {
		if !there {
			ln.s.dismiss()
		}
	}()
	l, err := ln.s.reach(ctx, ln.a.introduction(), &listener{notified: c.notified, requested: c.requested, faulty: ln.s.wrote})
	if err != nil {
		return nil, err
	}
	c.link, there = l, true // from here on closing it counts it out
	ln.mu.Lock()
	if !ln.closed {
		ln.all[c] = true
		again := slices.Clone(ln.again)
		ln.mu.Unlock()
		c.resend(ctx, again)
		return c, nil
	}
	ln.mu.Unlock()
	c.close()
	return nil, errLaneClosed
}

// dropLocked closes a connection, on the side.
func (ln *lane) dropLocked(c *strand) {
	if !ln.all[c] {
		return // the lane closes, and this with it
	}
	delete(ln.all, c)
	if ln.closed {
		return
	}
	ln.going.Go(c.close)
}

// reapLocked sees to it that connections that nobody uses are closed in time.
func (ln *lane) reapLocked() {
	if ln.reaper == nil {
		ln.reaper = time.AfterFunc(strandIdle, ln.reap)
	}
}

func (ln *lane) reap() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.reaper = nil
	if ln.closed {
		return
	}
	ln.idle = slices.DeleteFunc(ln.idle, func(c *strand) bool {
		unused := !c.over() && time.Since(c.used) < strandIdle
		if !unused {
			ln.dropLocked(c)
		}
		return !unused
	})
	if len(ln.idle) > 0 { // the first was not used for the longest time
		ln.reaper = time.AfterFunc(strandIdle-time.Since(ln.idle[0].used), ln.reap)
	}
}

// links are the connections there are.
func (ln *lane) links() []link {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	var all []link
	for c := range ln.all {
		all = append(all, c.link)
	}
	return all
}

// close ends all connections, and waits until they have.
func (ln *lane) close() {
	ln.mu.Lock()
	ln.closed = true
	all := ln.all
	ln.all, ln.idle, ln.one = nil, nil, nil
	if ln.reaper != nil {
		ln.reaper.Stop()
	}
	ln.mu.Unlock()
	ln.cancel()
	var closing sync.WaitGroup
	for c := range all {
		closing.Go(c.close)
	}
	closing.Wait()
	ln.going.Wait()
}

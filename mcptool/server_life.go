package mcptool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// States of a server.
const (
	stateConnecting = "connecting"
	stateReady      = "ready"
	stateWaiting    = "waiting" // to be tried again
	stateLogin      = "needs login"
	stateFailed     = "failed" // it was reached, and its tools cannot be registered
	stateStopped    = "stopped"
)

// server is one server with its connections: one of the hub's own, for lists, and
// those of client sessions (lanes).
type server struct {
	Server
	hub     *Hub
	settled chan struct{} // closed when it has answered or failed once
	settle  func()
	wake    chan struct{} // something is in changed
	listing chan struct{} // holds one: whoever asks for a list that is not kept
	pins    pinning

	mu       sync.Mutex
	state    string
	since    time.Time
	moved    chan struct{} // closed when the state changes
	why      string
	broken   error // why its process could not be started the last time; nil: it could
	restarts int
	missed   bool      // somebody wanted a list while it was not there
	said     *greeting // what it said last; from the cache: until it answers
	lacks    [2]bool   // eras that it was found not to speak, since it was last reached
	link     link      // the hub's own; nil: none now
	tools    catalogue
	// remembered is a digest of what was last kept on the disk.
	remembered [sha256.Size]byte
	lists      map[string]heldList // by method
	changes    map[string]int      // of each list, ever
	changed    map[string]bool     // lists, not looked at yet
	toldOne    bool                // a client, that its tools have changed
	judged     bool                // tools are what it listed in this process, not the last time
	faults     faultNotes
	breaker    breaker
	lanes      map[audience]*lane
	children   int // processes of clients
	closed     bool
}

func newServer(h *Hub, s Server) *server {
	s.scrub, s.ward, s.isolated = h.scrub, &h.ward, new(isolation)
	made := &server{
		Server: s, hub: h,
		settled: make(chan struct{}), wake: make(chan struct{}, 1), listing: make(chan struct{}, 1),
		state: stateConnecting, since: time.Now(), moved: make(chan struct{}),
		lists: make(map[string]heldList), changes: make(map[string]int), changed: make(map[string]bool),
		lanes: make(map[audience]*lane),
	}
	made.why = made.beginning()
	made.settle = sync.OnceFunc(func() { close(made.settled) })
	return made
}

// Times of connecting anew.
const (
	firstPause = 500 * time.Millisecond
	longPause  = time.Minute
	// upTime is how long a connection must have lasted for the pauses to begin
	// anew: a server that dies at its first breath each time is tried ever less.
	upTime = time.Minute
)

// live keeps the hub's own connection until ctx ends.
func (s *server) live(ctx context.Context) {
	defer s.enter(stateStopped, "")
	defer s.settle()
	pause := firstPause
	for {
		s.enter(stateConnecting, s.beginning())
		lasted, err := s.connection(ctx)
		if ctx.Err() != nil {
			return
		}
		if lasted >= upTime {
			pause = firstPause
		}
		if lasted > 0 {
			s.fault(faultBroken, err.Error())
		}
		s.failed(err)
		s.enter(standing(err))
		// Status says that it cannot be reached; the tries are for who looks for the cause.
		s.hub.log().LogAttrs(ctx, slog.LevelDebug, "server is not there", slog.String("server", s.Name), slog.String("why", err.Error()), slog.Duration("pause", pause))
		s.settle()
		if !s.rest(ctx, jitter(pause)) {
			return
		}
		pause = min(2*pause, longPause)
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
	}
}

// beginning is what is waited for first.
func (s *server) beginning() string {
	if len(s.Command) > 0 {
		return "it was started, and has not answered yet"
	}
	return "it was called, and has not answered yet"
}

// doing notes what is waited for next, until the server is ready.
func (s *server) doing(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stateConnecting {
		s.why = what
	}
}

// standing is the state of a server that is not there, and why it is not.
func standing(err error) (state, why string) {
	if login, ok := errors.AsType[*loginError](err); ok && login.needs {
		return stateLogin, login.how
	}
	return stateWaiting, err.Error()
}

// loginLook is how often it is looked whether somebody has logged in elsewhere.
const loginLook = time.Second

// rest waits until the server is tried again, and reports whether ctx has not ended.
func (s *server) rest(ctx context.Context, d time.Duration) bool {
	s.mu.Lock()
	login := s.state == stateLogin
	s.mu.Unlock()
	if !login {
		return rest(ctx, d)
	}
	for ; d > 0; d -= loginLook {
		if !rest(ctx, min(d, loginLook)) {
			return false
		}
		if s.access.entered(ctx) {
			return true
		}
	}
	return true
}

// failed notes that the server's process cannot be started.
func (s *server) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken = nil; len(s.Command) > 0 && errors.Is(err, errUnreachable) {
		s.broken = err
	}
}

// down is why no process is to be started for a client: the hub's own could not be,
// and it is not tried again yet. Else each call would start one, and wait for it.
func (s *server) down() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != stateWaiting {
		return nil
	}
	if s.broken == nil {
		return nil
	}
	return &downError{s.broken}
}

// downError is why a process was not even tried.
type downError struct{ error }

func (e *downError) Unwrap() error { return e.error }

// jitter is a time from three quarters to the whole of d: many that were cut off
// at once do not all come back at once.
func jitter(d time.Duration) time.Duration {
	return d - rand.N(d/4) //nolint:gosec // nobody gains by guessing when a connection is tried
}

// rest waits, and reports whether ctx has not ended.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// connection is one life of the hub's own connection, and how long it was there.
func (s *server) connection(ctx context.Context) (lasted time.Duration, err error) {
	s.mu.Lock()
	s.lacks = [2]bool{} // it may be another program by now
	s.mu.Unlock()
	defer survive(s.hub.log(), func(fault error) { err = fault })
	l, err := s.reach(ctx, s.hub.introduction(), &listener{notified: s.heard, requested: s.asked, faulty: s.wrote, most: maxPage})
	if err != nil {
		return 0, err
	}
	defer l.close()
	s.breaker.there()
	began := time.Now()
	s.mu.Lock()
	s.link, s.said = l, l.greeting()
	anew := len(s.lists) > 0 || s.missed
	s.missed = false
	clear(s.lists) // what was not heard meanwhile is not known
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.link = nil
		s.mu.Unlock()
	}()
	if anew {
		s.change("prompts")
		s.change("resources")
	}
	s.doing("it has answered, and its tools were asked for")
	err = s.attend(ctx, l)
	return time.Since(began), err
}

// enter is the one place where the state changes.
func (s *server) enter(state, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != state {
		s.state, s.since = state, time.Now()
	}
	s.why = why
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *server) status() Status {
	paused := s.hub.scrub(s.paused())
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.Name, State: s.state, Tools: len(s.tools.offered()), Restarts: s.restarts, Since: s.since, Why: s.hub.scrub(s.why), Login: s.hub.scrub(s.access.due()),
		Quarantined: slices.Clone(s.tools.bad), Faults: s.faults.told(),
		Paused: paused, Isolation: s.isolation(), Notes: s.unheard(),
	}
	for i, text := range st.Faults {
		st.Faults[i] = s.hub.scrub(text)
	}
	for i, q := range st.Quarantined {
		st.Quarantined[i] = Quarantined{s.hub.scrub(q.Tool), s.hub.scrub(q.Why)}
	}
	if s.state == stateConnecting && s.why != "" {
		st.Why += fmt.Sprintf(", for %s now", time.Since(s.since).Round(time.Second))
	}
	if s.said != nil {
		st.Era = s.said.version
		st.Server = textMember(s.said.info, "name")
		if v := textMember(s.said.info, "version"); v != "" {
			st.Server += " " + v
		}
		st.Server = s.hub.scrub(st.Server)
		st.Instructions = s.hub.scrub(s.said.instructions)
	}
	return st
}

// greeting is what the server said of itself when it was last reached, or what
// the cache says; nil: it never was.
func (s *server) greeting() *greeting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// connected is the hub's own connection. While it is being made that is waited
// for.
func (s *server) connected(ctx context.Context) (link, error) {
	for {
		s.mu.Lock()
		l, state, why, moved := s.link, s.state, s.why, s.moved
		s.mu.Unlock()
		switch {
		case l != nil:
			return l, nil
		case state != stateConnecting:
			return nil, fmt.Errorf("server %s is %s (%w): %s", s.Name, state, errUnreachable, why)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// close ends the connections of all clients; the hub's own ends with its context.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	lanes := s.lanes
	s.lanes = nil
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, ln := range lanes {
		closing.Go(ln.close)
	}
	closing.Wait()
	s.saveFaults()
	s.access.close()
}

// introduction is how the hub introduces itself: it can do all, so that servers
// list all.
func (h *Hub) introduction() introduction {
	return introduction{
		version:      newVersion,
		info:         h.info(),
		capabilities: json.RawMessage(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`),
	}
}

func (h *Hub) info() json.RawMessage {
	name, version := h.Name, h.Version
	if name == "" {
		name = "ferrule"
	}
	if version == "" {
		version = "0" // servers want one
	}
	return setMembers(nil, pair{"name", quote(name)}, pair{"version", quote(version)})
}

// wrote takes what came that was of no use.
func (s *server) wrote(text string) { s.fault(faultWrote, text) }

// asked refuses what the server asks of the hub itself.
func (s *server) asked(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	result, err := refuse(ctx, method, params)
	if err != nil {
		s.fault(faultAsked, short(method))
	}
	return result, err
}

// refuse answers what a server asks where no client is.
func refuse(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	if method == "roots/list" {
		return json.RawMessage(`{"roots":[]}`), nil
	}
	return nil, &Fault{Code: codeNoMethod, Message: method + ": nobody is there to be asked"}
}

package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellKey tells one session from another.
type shellKey struct{ tenant, principal, session string }

// folder is the one below the state of a sandbox for this principal: what others
// run shall not find its caches, nor what it put into HOME.
func (k shellKey) folder() string {
	if k.tenant == "" && (k.principal == "" || k.principal == "local") {
		return "local"
	}
	sum := sha256.Sum256([]byte(k.tenant + "\x00" + k.principal))
	return hex.EncodeToString(sum[:8])
}

// shellSession is what the commands of a session share: a Box, and what goes on
// in the background.
type shellSession struct {
	host   *shellHost
	key    shellKey
	lasts  bool // there is a session, at whose end it is closed
	mu     sync.Mutex
	closed bool
	box    *sandbox.Box // nil: not needed yet, or lost
	old    []*process   // in the background, by age
	booked int          // places for those that begin there
	next   int          // the number of the last one
}

// errShellClosed is what a call gets whose session has ended while it ran.
var errShellClosed = errors.New("the session has ended")

// session is that of a call, made if there is none yet. A call without a session
// has one of its own; done must be called in any case.
func (h *shellHost) session(ctx context.Context) (s *shellSession, done func()) {
	key, ok := shellKeyOf(ctx)
	if s := h.find(key); ok && s != nil {
		return s, func() {}
	}
	s = &shellSession{host: h, key: key}
	if !ok || !tool.From(ctx).AtEnd(func() { h.end(key, s) }) {
		return s, s.close
	}
	s.lasts = true
	h.mu.Lock()
	defer h.mu.Unlock()
	if first := h.sessions[key]; first != nil {
		return first, func() {} // another call was faster
	}
	if !s.isClosed() { // it may have ended meanwhile, and would be in the way of the next
		h.sessions[key] = s
	}
	return s, func() {}
}

// shellKeyOf is false for a call that belongs to no session.
func shellKeyOf(ctx context.Context) (shellKey, bool) {
	c := tool.From(ctx).Request().Caller
	return shellKey{c.Tenant, c.Principal, c.Session}, c.Session != ""
}

func (h *shellHost) find(key shellKey) *shellSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[key]
}

// end closes what a session left behind. It is closed first, so that it is not
// put among the others afterwards, and taken from them before it is waited for.
func (h *shellHost) end(key shellKey, s *shellSession) {
	box := s.shut()
	h.mu.Lock()
	if h.sessions[key] == s {
		delete(h.sessions, key)
	}
	h.mu.Unlock()
	shellEnd(box)
}

// close ends all that runs and waits for it.
func (s *shellSession) close() { shellEnd(s.shut()) }

// shut lets nothing more begin, and gives what is to be closed.
func (s *shellSession) shut() *sandbox.Box {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.box
	s.closed, s.box = true, nil
	return box
}

func (s *shellSession) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func shellEnd(box *sandbox.Box) {
	if box != nil {
		_ = box.Close() // what it could not remove is temporary, and nobody is left to be told
	}
}

// take gives the Box, which must isolate as was promised when the tools were made.
func (s *shellSession) take() (*sandbox.Box, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShellClosed
	}
	if s.box != nil {
		return s.box, nil
	}
	config := s.host.config
	if config.State != "" {
		config.State = filepath.Join(config.State, s.key.folder())
	}
	box, err := sandbox.New(config)
	if err != nil {
		return nil, err
	}
	if now := box.Applied(); s.host.confined && !s.host.isConfined(now) {
		return nil, errors.Join(fmt.Errorf("isolation: got %s, want %s as before", shellIsolation(now), shellIsolation(s.host.applied)), box.Close())
	}
	s.box = box
	return box, nil
}

// lost lets go of a Box that has died. The next command gets a new one.
func (s *shellSession) lost(box *sandbox.Box) {
	s.mu.Lock()
	mine := s.box == box
	if mine {
		s.box = nil
	}
	s.mu.Unlock()
	if mine {
		_ = box.Close() // it is dead: what matters is that its folders go
	}
}

// shellForgotten is how many processes that have ended are remembered.
const shellForgotten = 16

// book keeps a place for a process that is to begin in the background, so that
// nothing runs for which there is none. done gives it back.
func (s *shellSession) book() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := s.booked
	for _, o := range s.old {
		if !o.ended() {
			running++
		}
	}
	if running >= s.host.Background {
		return nil, fmt.Errorf("background: got %d processes, want at most %d: end one with process_stop", running, s.host.Background)
	}
	s.booked++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.booked--
	}, nil
}

// adopt gives a process a name and keeps it.
func (s *shellSession) adopt(p *process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errShellClosed
	}
	ended := 0
	for _, o := range s.old {
		if o.ended() {
			ended++
		}
	}
	if ended >= shellForgotten {
		i := slices.IndexFunc(s.old, (*process).ended)
		s.old = slices.Delete(s.old, i, i+1)
	}
	s.next++
	p.id = "p" + strconv.Itoa(s.next)
	s.old = append(s.old, p)
	return nil
}

// processes are those in the background.
func (s *shellSession) processes() []*process {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.old)
}

package mcptool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about time between what was judged and what runs. Who allows a call
// has seen a tool as it was, perhaps minutes ago, or as the cache has it from the
// last time. The server may have said something else since.

var (
	errNotCurrent = errors.New("the tool is not what it was when the call was made")
	errUnlisted   = errors.New("the server has not listed its tools yet")
)

// current is an error unless the server lists the tool now as it did then, and it is
// offered. Where the server was not listed yet in this process, that is waited for.
func (s *server) current(ctx context.Context, as *tool.Info) error {
	if err := s.awaitJudged(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tools.byName[as.Name]; t == nil || t.tool.Pin != as.Pin {
		return fmt.Errorf("server %s: %s: %w", s.Name, as.Name, errNotCurrent)
	}
	return nil
}

// awaitJudged waits until the server's own list was judged in this process. A server
// that cannot be reached is not waited for.
func (s *server) awaitJudged(ctx context.Context) error {
	var late <-chan time.Time // made by who waits, which is seldom
	for {
		s.mu.Lock()
		judged, state, why, moved := s.judged, s.state, s.why, s.moved
		s.mu.Unlock()
		switch {
		case judged:
			return nil
		case state != stateConnecting:
			if err := s.down(); err != nil {
				return err
			}
			return fmt.Errorf("server %s is %s (%w): %s", s.Name, state, errUnreachable, why)
		}
		if late == nil {
			t := time.NewTimer(s.timeout())
			defer t.Stop()
			late = t.C
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return fmt.Errorf("server %s: %w: waited for %s", s.Name, errUnlisted, s.timeout())
		}
	}
}

// wasJudged reports whether the tools are those of this process's own list.
func (s *server) wasJudged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judged
}

// judgedOnce notes that the tools are those of this process's own list, and tells
// who waits for that.
func (s *server) judgedOnce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.judged {
		return
	}
	s.judged = true
	close(s.moved)
	s.moved = make(chan struct{})
}

package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

const (
	pollEvery = 200 * time.Millisecond
	// pollShare is how much longer than reading the list the pause after it is at
	// least, so that a long list leaves the machine time for other things.
	pollShare = 4
)

type (
	pollMsg    struct{}
	pendingMsg struct {
		list []policy.Question
		err  error
		took time.Duration
	}
)

// polling is how the list is asked for: by one loop, however often something else
// asks for it too.
type polling struct {
	reads bool // it is being read
	armed bool // a pollMsg is on its way
	again bool // what is being read may be too old
}

// read asks for the list now.
func (s *screen) read() tea.Cmd {
	if s.polling.reads {
		s.polling.again = true
		return nil
	}
	s.polling.reads = true
	return s.poll
}

func (s *screen) poll() tea.Msg {
	start := s.clock()
	list, err := s.desk.Pending(s.ctx)
	return pendingMsg{list, err, s.clock().Sub(start)}
}

// polled is what follows from a pollMsg.
func (s *screen) polled() tea.Cmd {
	s.polling.armed = false
	if s.polling.reads { // which arms it again when it is done
		return nil
	}
	return s.read()
}

// arrived is what follows from a list.
func (s *screen) arrived(m pendingMsg) tea.Cmd {
	s.polling.reads = false
	if s.polling.again {
		s.polling.again = false
		return s.read()
	}
	s.take(m)
	if s.polling.armed {
		return nil
	}
	s.polling.armed = true
	return tea.Tick(max(pollEvery, pollShare*m.took), func(time.Time) tea.Msg { return pollMsg{} })
}

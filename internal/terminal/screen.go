package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

// Desk is what the screen acts through.
type Desk struct {
	// Pending lists what waits; Answer answers it.
	Pending func(context.Context) ([]policy.Question, error)
	Answer  func(ctx context.Context, id string, a policy.Answer) error
	// By is who answers.
	By string
}

// look is which part of the screen has the keys.
type look int

const (
	looksAtList   look = iota
	looksAtHelp        // what the keys do
	looksAtDenial      // a message is written
	looksAtReply       // what a tool wanted to know is written
	looksAtEdit        // arguments are written
	looksAtRules       // a rule is chosen
	looksAtSecond      // the second key is awaited
)

// screen is the state of the interactive screen.
type screen struct {
	ctx   context.Context //nolint:containedctx // of the program that runs it: messages carry none
	desk  Desk
	clock func() time.Time
	theme theme

	width, height int
	list          []policy.Question
	chosen        string    // its id
	moved         time.Time // when another was chosen without a key
	scroll        int       // first line of the detail that is shown
	seen          int       // lines of the detail that were shown
	look          look
	field         field
	offer         int
	always        bool
	note          string // what came of the last key
	broken        error  // why the list cannot be read
	busy          bool   // an answer is on its way
}

const (
	pollEvery = 200 * time.Millisecond
	// settle is how long a question that came under the cursor by itself cannot
	// be allowed: the key was meant for the one before.
	settle = 800 * time.Millisecond
)

type (
	pendingMsg struct {
		list []policy.Question
		err  error
	}
	answeredMsg struct {
		text string
		err  error
	}
	pollMsg struct{}
)

// Init asks for the list.
func (s *screen) Init() tea.Cmd { return s.poll }

func (s *screen) poll() tea.Msg {
	list, err := s.desk.Pending(s.ctx)
	return pendingMsg{list, err}
}

// Update takes a message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		s.seen = 0
	case pollMsg:
		return s, s.poll
	case pendingMsg:
		s.take(m)
		return s, tea.Tick(pollEvery, func(time.Time) tea.Msg { return pollMsg{} })
	case answeredMsg:
		s.busy = false
		s.note = m.text
		if m.err != nil {
			s.note = "not done: " + m.err.Error()
		}
		return s, s.poll
	case tea.PasteMsg:
		if s.writes() {
			s.field.write(m.Content)
		}
	case tea.KeyPressMsg:
		if m.String() == "ctrl+c" {
			return s, tea.Interrupt
		}
		return s, s.key(m)
	}
	return s, nil
}

// take puts a new list in the place of the old one. What was chosen stays so
// while it is there.
func (s *screen) take(m pendingMsg) {
	if s.broken = m.err; m.err != nil {
		return
	}
	place := s.place()
	s.list = m.list
	if s.place() >= 0 {
		return
	}
	gone := s.chosen != ""
	s.chosen = ""
	if len(s.list) > 0 {
		s.choose(min(max(place, 0), len(s.list)-1))
		s.moved = s.clock()
	}
	if gone && s.look != looksAtList && s.look != looksAtHelp {
		s.look = looksAtList
		s.note = "the question is gone: somebody else answered it, it was withdrawn, or it has expired"
	}
}

// place is where the chosen question stands; -1: it is not there.
func (s *screen) place() int {
	return slices.IndexFunc(s.list, func(q policy.Question) bool { return q.ID == s.chosen })
}

func (s *screen) choose(i int) {
	if i < 0 || i >= len(s.list) {
		return
	}
	s.chosen, s.scroll, s.seen = s.list[i].ID, 0, 0
}

// question is the chosen one.
func (s *screen) question() (q policy.Question, ok bool) {
	if i := s.place(); i >= 0 {
		return s.list[i], true
	}
	return q, false
}

func (s *screen) writes() bool {
	return s.look == looksAtDenial || s.look == looksAtReply || s.look == looksAtEdit
}

// answer sends what a person said. It is checked first: the text of a refusal
// says what is missing.
func (s *screen) answer(a policy.Answer, text string) tea.Cmd {
	q, ok := s.question()
	if !ok || s.busy {
		return nil
	}
	a.By = s.desk.By
	if err := q.Check(a); err != nil {
		s.note = err.Error()
		return nil
	}
	s.look, s.busy, s.note = looksAtList, true, ""
	ctx, answer := s.ctx, s.desk.Answer
	return func() tea.Msg {
		if err := answer(ctx, q.ID, a); err != nil {
			return answeredMsg{err: fmt.Errorf("%s: %w", Visible(q.Tool), err)}
		}
		return answeredMsg{text: fmt.Sprintf("%s: %s", Visible(q.Tool), text)}
	}
}

// edited are arguments that a person wrote, on one line.
func edited(text string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("not JSON at character %d: %w", syntax.Offset, err)
		}
		return nil, errors.New("want a JSON object, { … }")
	}
	if object == nil {
		return nil, errors.New("want a JSON object, { … }")
	}
	return json.RawMessage(text), nil
}

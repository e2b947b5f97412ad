package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
	ctx     context.Context //nolint:containedctx // of the program that runs it: messages carry none
	desk    Desk
	clock   func() time.Time
	theme   theme
	polling polling

	width, height int
	list          []policy.Question
	chosen        string    // its id
	moved         time.Time // when something else came under the cursor without a key
	page          page      // of all about the chosen one
	laid          laid
	look          look

	// While an answer is made:
	about  policy.Question // what it is an answer to
	was    int             // where that stood
	gone   bool            // it waits no more
	field  field
	offer  int
	always bool
	part   page // of the rules, or of the help

	note    string // what came of the last key
	broken  error  // why the list cannot be read
	busy    bool   // an answer is on its way
	leaving bool   // and then it ends

	interrupted bool // by ctrl+c
}

// settle is how long a question that came under the cursor by itself cannot be
// allowed: the key was meant for the one before.
const settle = 800 * time.Millisecond

type answeredMsg struct {
	text string
	err  error
}

// Init asks for the list.
func (s *screen) Init() tea.Cmd { return s.read() }

// Update takes a message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := s.receive(msg)
	s.show()
	return s, cmd
}

func (s *screen) receive(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize(m.Width, m.Height)
	case pollMsg:
		return s.polled()
	case pendingMsg:
		return s.arrived(m)
	case answeredMsg:
		return s.answered(m)
	case tea.PasteMsg:
		if s.writes() {
			s.field.write(m.Content)
		}
	case tea.KeyPressMsg:
		if m.String() == "ctrl+c" {
			s.interrupted = true
			return tea.Quit
		}
		return s.key(m)
	}
	return nil
}

// resize lays everything out anew. Where a line was, another is: what was shown
// is to be shown again.
func (s *screen) resize(width, height int) {
	if width == s.width && height == s.height {
		return
	}
	s.width, s.height = width, height
	s.page, s.laid, s.part = page{}, laid{}, page{}
	if s.look == looksAtRules {
		s.pick(s.offer)
	}
}

// show takes down what is on the screen now.
func (s *screen) show() {
	if s.small() {
		return
	}
	switch s.look {
	case looksAtList:
		s.page.show(len(s.detail()), s.room())
	case looksAtHelp:
		s.part.show(len(s.help()), s.room())
	case looksAtRules:
		lines, _, _ := s.rules()
		s.part.show(len(lines), s.room())
	case looksAtSecond:
		s.part.show(len(s.second()), s.room())
	case looksAtDenial, looksAtReply, looksAtEdit:
	}
}

// take puts a new list in the place of the old one. What was chosen stays so
// while it is there. An answer that is being made stays on the screen without its
// question, for the keys are meant for it.
func (s *screen) take(m pendingMsg) {
	if s.broken = m.err; m.err != nil {
		return
	}
	if s.gone { // the next one is chosen when that was seen
		s.list = m.list
		return
	}
	before, was := s.question()
	place := s.place()
	s.list = m.list
	now, is := s.question()
	if was && is && reflect.DeepEqual(before, now) {
		return
	}
	s.chosen = ""
	if was && s.look != looksAtList && s.look != looksAtHelp {
		s.gone, s.was = true, place
		return
	}
	if is {
		place = slices.IndexFunc(s.list, func(q policy.Question) bool { return q.ID == now.ID })
	}
	s.settleAt(place)
}

// settleAt chooses what stands at a place without having been asked to.
func (s *screen) settleAt(place int) {
	if len(s.list) > 0 {
		s.choose(min(max(place, 0), len(s.list)-1))
		s.moved = s.clock()
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
	s.chosen, s.page, s.laid = s.list[i].ID, page{}, laid{}
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
	switch {
	case !ok || s.busy:
		return nil
	case a.Allow && s.small():
		s.note = tooSmall
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

// answered says what came of an answer. Who has quit meanwhile hears of it only
// if it was not taken.
func (s *screen) answered(m answeredMsg) tea.Cmd {
	quit := s.leaving && m.err == nil
	s.busy, s.leaving, s.note = false, false, m.text
	if quit {
		return tea.Quit
	}
	if m.err != nil {
		s.note = "not done: " + m.err.Error()
	}
	return s.read()
}

// edited are arguments that a person wrote.
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

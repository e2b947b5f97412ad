package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Memory is an Inbox and a Ledger of this process. The zero value is empty and
// ready; it must not be copied.
//
// It keeps nothing for ever but the grants that a principal has in every session.
// A question that is over is forgotten after a day, one that never expires 90 days
// after it was asked or answered; a session that nobody asked for in 90 days with
// its grants, and a budget that nobody charged in 90 days.
type Memory struct {
	ledger memoryLedger

	mu       sync.Mutex
	byID     map[string]*asked
	open     map[string]*asked // of them: not answered
	swept    time.Time
	watchers map[int]func(string)
	next     int // of watchers and questions
}

var (
	_ Inbox  = (*Memory)(nil)
	_ Ledger = (*Memory)(nil)
)

// asked is a question and what became of it.
type asked struct {
	Question
	place  int       // in the order of arrival
	answer *Answer   // nil: none yet
	used   bool      // the answer was taken
	yes    bool      // and it was this
	late   bool      // it was found to have expired, and stays so whatever the clock says
	until  time.Time // when it is forgotten
}

const (
	// remembered is how long a question that is over is kept: a late answer hears
	// why it is refused.
	remembered = 24 * time.Hour
	// idle is how long it is kept what nobody asks for and what has no end.
	idle = 90 * 24 * time.Hour
)

func (a *asked) over(now time.Time) bool {
	return a.late || !a.Expires.IsZero() && !now.Before(a.Expires)
}

// Ask puts a question.
func (m *Memory) Ask(_ context.Context, q Question) error {
	if q.ID == "" {
		return fmt.Errorf("inbox: got a question without an id")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.sweep(now)
	if m.byID[q.ID] != nil {
		return nil
	}
	if m.byID == nil {
		m.byID, m.open = make(map[string]*asked), make(map[string]*asked)
	}
	a := &asked{Question: q.clone(), place: m.next}
	m.next++
	a.forget(now.Add(idle))
	m.byID[q.ID], m.open[q.ID] = a, a
	return nil
}

// sweep forgets what was over a day ago, and of what is over since then all that
// nobody can see any more. It looks at every question, so not each time.
func (m *Memory) sweep(now time.Time) {
	if now.Sub(m.swept) < time.Minute {
		return
	}
	m.swept = now
	for id, a := range m.byID {
		if a.over(now) {
			a.late = true
			delete(m.open, id)
			a.strip()
			a.stripAnswer()
		}
		if now.After(a.until) {
			delete(m.byID, id)
		}
	}
}

// Answer answers a question, the first time.
func (m *Memory) Answer(_ context.Context, id string, answer Answer) error {
	m.mu.Lock()
	a, now := m.byID[id], time.Now()
	err := a.answerable(now, answer)
	var tell []func(string)
	if err == nil {
		answer = answer.clone()
		a.answer = &answer
		a.forget(now.Add(idle))
		if g, ok := a.Grant(answer, now); ok {
			m.ledger.keep(g, now)
		}
		delete(m.open, id)
		if answer.Withdrawn {
			a.strip()
			a.forget(now.Add(remembered))
		}
		for _, f := range m.watchers {
			tell = append(tell, f)
		}
	}
	m.mu.Unlock()
	for _, f := range tell {
		f(id)
	}
	if err != nil {
		return fmt.Errorf("inbox: answer to %q: %w", id, err)
	}
	return nil
}

func (a *asked) answerable(now time.Time, answer Answer) error {
	switch {
	case a == nil:
		return ErrNotAsked
	case a.answer != nil:
		return ErrAnswered
	}
	if err := a.stillOpen(now); err != nil {
		return err
	}
	return a.Check(answer)
}

func (a *asked) stillOpen(now time.Time) error {
	if a.late {
		return ErrExpired
	}
	return a.Open(now)
}

// strip drops what only who can still answer or use it needs to see, stripAnswer
// what only the call that can still use it.

func (a *asked) strip() { a.Question = Question{ID: a.ID, Digest: a.Digest, Expires: a.Expires} }

func (a *asked) stripAnswer() {
	if a.answer != nil {
		a.answer = new(Answer)
	}
}

// forget says when a question is forgotten: a day after it expires, or, where it
// never does, at that time.
func (a *asked) forget(otherwise time.Time) {
	if a.until = otherwise; !a.Expires.IsZero() {
		a.until = a.Expires.Add(remembered)
	}
}

// Use takes the answer, once.
func (m *Memory) Use(_ context.Context, id, digest string) (Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, now := m.byID[id], time.Now()
	if err := a.usable(digest, now); err != nil {
		return Answer{}, fmt.Errorf("inbox: use of %q: %w", id, err)
	}
	answer := *a.answer
	a.used, a.yes = true, answer.Allow
	a.strip()
	a.stripAnswer()
	a.forget(now.Add(remembered))
	return answer, nil
}

func (a *asked) usable(digest string, now time.Time) error {
	switch {
	case a == nil:
		return ErrNotAsked
	case a.Digest != digest:
		return ErrChanged
	case a.used:
		return ErrUsed
	}
	if err := a.stillOpen(now); err != nil {
		return err
	}
	if a.answer == nil {
		return ErrWaiting
	}
	return nil
}

// Find gives a question that is not over.
func (m *Memory) Find(_ context.Context, id string) (Question, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.byID[id]
	var err error
	switch {
	case a == nil:
		err = ErrNotAsked
	case a.used && !a.yes:
		err = ErrRejected
	case a.used || a.answer != nil && a.answer.Withdrawn:
		err = ErrUsed
	case a.over(time.Now()):
		err = ErrExpired
	default:
		return a.clone(), nil
	}
	return Question{}, fmt.Errorf("inbox: find %q: %w", id, err)
}

// Pending lists what can still be answered, oldest first.
func (m *Memory) Pending(context.Context) ([]Question, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var waiting []*asked
	for _, a := range m.open {
		if !a.over(now) {
			waiting = append(waiting, a)
		}
	}
	return inOrder(waiting), nil
}

// Again lists the questions of a digest that equal calls go on from.
func (m *Memory) Again(_ context.Context, digest string) ([]Question, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var answered, waiting []*asked
	for _, a := range m.byID {
		switch {
		case a.Digest != digest || !a.Again || a.used || a.over(now):
		case a.answer == nil:
			waiting = append(waiting, a)
		default:
			answered = append(answered, a)
		}
	}
	return append(inOrder(answered), inOrder(waiting)...), nil
}

// inOrder are questions by the time of asking, then in the order of arrival.
func inOrder(all []*asked) []Question {
	slices.SortFunc(all, func(a, b *asked) int {
		return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.place, b.place))
	})
	var list []Question
	for _, a := range all {
		list = append(list, a.clone())
	}
	return list
}

// Watch tells of answers.
func (m *Memory) Watch(f func(id string)) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watchers == nil {
		m.watchers = make(map[int]func(string))
	}
	key := m.next
	m.next++
	m.watchers[key] = f
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, key)
	}
}

package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Memory is an Inbox of this process. The zero value is empty and ready; it
// must not be copied.
type Memory struct {
	mu       sync.Mutex
	open     []*asked // in the order of asking
	byID     map[string]*asked
	watchers map[int]func(string)
	next     int
}

var _ Inbox = (*Memory)(nil)

type asked struct {
	Question
	answer *Answer
	used   bool
}

func (a *asked) over(now time.Time) bool { return !a.Expires.IsZero() && !now.Before(a.Expires) }

// Ask puts a question.
func (m *Memory) Ask(_ context.Context, q Question) error {
	if q.ID == "" {
		return fmt.Errorf("inbox: got a question without an id")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(time.Now())
	if m.byID[q.ID] != nil {
		return nil
	}
	if m.byID == nil {
		m.byID = make(map[string]*asked)
	}
	a := &asked{Question: q}
	m.byID[q.ID] = a
	m.open = append(m.open, a)
	return nil
}

// sweep forgets what was used, and what expired a day ago: until then a late
// answer hears why it is refused.
func (m *Memory) sweep(now time.Time) {
	m.open = slices.DeleteFunc(m.open, func(a *asked) bool {
		old := !a.Expires.IsZero() && now.Sub(a.Expires) > 24*time.Hour
		if old {
			delete(m.byID, a.ID)
		}
		return old
	})
}

// Answer answers a question, the first time.
func (m *Memory) Answer(_ context.Context, id string, answer Answer) error {
	m.mu.Lock()
	a := m.byID[id]
	err := a.answerable(time.Now())
	var tell []func(string)
	if err == nil {
		a.answer = &answer
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

func (a *asked) answerable(now time.Time) error {
	switch {
	case a == nil:
		return ErrNotAsked
	case a.answer != nil:
		return ErrAnswered
	case a.over(now):
		return ErrExpired
	}
	return nil
}

// Use takes the answer, once.
func (m *Memory) Use(_ context.Context, id, digest string) (Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.byID[id]
	if err := a.usable(digest, time.Now()); err != nil {
		return Answer{}, fmt.Errorf("inbox: use of %q: %w", id, err)
	}
	a.used = true
	return *a.answer, nil
}

func (a *asked) usable(digest string, now time.Time) error {
	switch {
	case a == nil:
		return ErrNotAsked
	case a.Digest != digest:
		return ErrChanged
	case a.used:
		return ErrUsed
	case a.over(now):
		return ErrExpired
	case a.answer == nil:
		return ErrWaiting
	}
	return nil
}

// Pending lists what can still be answered, oldest first.
func (m *Memory) Pending(context.Context) ([]Question, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var list []Question
	for _, a := range m.open {
		if a.answerable(now) == nil {
			list = append(list, a.Question)
		}
	}
	return list, nil
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

package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// MemoryJournal is a journal in this process, for tests and for programs that
// need no more than that one effect is had once. The zero value is empty and
// ready; it must not be copied. It forgets nothing.
type MemoryJournal struct {
	mu     sync.Mutex
	ids    map[string]*memoryRecord
	places map[Place]*memoryRecord
	keys   map[effect]*memoryRecord
	number int // of the last one
	owner  int // those before it are gone
}

var _ Journal = (*MemoryJournal)(nil)

// effect is what a key names.
type effect struct{ tenant, principal, source, tool, key string }

// memoryRecord is a record, and who runs it.
type memoryRecord struct {
	Record
	number int // grows in the order in which they began
	owner  int
	ended  chan struct{} // is closed when it is not running any more, or another one
}

// Leave has all that is running be left behind, as if this process had ended and
// another had begun in its place. It is for tests.
func (m *MemoryJournal) Leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owner++
	for _, r := range m.ids {
		if r.State == Running && r.Live {
			r.Live = false
			close(r.ended)
		}
	}
}

// Begin keeps a record.
func (m *MemoryJournal) Begin(ctx context.Context, r Record) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, fmt.Errorf("journal: begin: %w", err)
	}
	if r.ID == "" {
		return Record{}, errors.New("journal: begin: got a record without an id")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places == nil {
		m.ids, m.places, m.keys = make(map[string]*memoryRecord), make(map[Place]*memoryRecord), make(map[effect]*memoryRecord)
	}
	now := time.Now()
	if r.Began.IsZero() {
		r.Began = now
	}
	r.Began = r.Began.UTC().Round(0)
	n := &memoryRecord{owner: m.owner, ended: make(chan struct{}), Record: Record{
		Place: r.Place, ID: r.ID, CallID: r.CallID, Source: r.Source, Tool: r.Tool, Given: r.Given, Key: r.Key, Digest: r.Digest,
		Repeats: r.Repeats, Input: r.Input, Began: r.Began, State: Running, Attempt: 1, Live: true,
	}}
	at := m.places[r.Place]
	if at != nil {
		switch {
		case at.Given != r.Given || at.Key == r.Key && at.Digest != r.Digest:
			return at.copy(), refused(r, ErrAnother)
		case at.State == Done || at.Live || !at.RunsAs(&r):
			return at.copy(), refused(r, ErrBegun)
		}
		n.Attempt = at.Attempt + 1
	}
	of := m.keys[n.effect()]
	if of != nil && of != at && r.Key != "" && of.counts(now) {
		switch {
		case of.Digest != r.Digest:
			return of.copy(), refused(r, ErrAnother)
		case of.State == Running:
			return of.copy(), refused(r, ErrBegun)
		}
		n.finish(Ending{Result: of.Result, Fatal: of.Fatal}, of.Ended)
		m.put(n, at)
		return of.copy(), refused(r, ErrBegun)
	}
	if r.Key != "" {
		m.keys[n.effect()] = n
	}
	m.put(n, at)
	return n.copy(), nil
}

func refused(r Record, why Refusal) error { return fmt.Errorf("journal: begin %s: %w", r.ID, why) }

func (r *memoryRecord) effect() effect {
	return effect{r.Place.Tenant, r.Place.Principal, r.Source, r.Tool, r.Key}
}

// counts reports whether a record answers for others of its key.
func (r *memoryRecord) counts(now time.Time) bool {
	return r.State == Running && r.Live || r.State == Done && !r.Failed && now.Sub(r.Ended) < KeyTime
}

// put keeps a record at its place, instead of the one that was left behind there.
func (m *MemoryJournal) put(r, instead *memoryRecord) {
	if instead != nil {
		r.number = instead.number
		delete(m.ids, instead.ID)
	} else {
		m.number++
		r.number = m.number
	}
	m.ids[r.ID], m.places[r.Place] = r, r
}

// finish makes a record one that is done.
func (r *memoryRecord) finish(e Ending, now time.Time) {
	r.State, r.Live, r.Ended, r.Failed, r.Fatal = Done, false, now.UTC().Round(0), e.Failed, e.Fatal
	if e.Result != nil {
		r.Result = copyResult(*e.Result)
	}
	close(r.ended)
}

// copyResult copies what a caller could change, and leaves out the cause of an
// error, as a journal on a disk does.
func copyResult(r tool.Result) *tool.Result {
	r.Content = append([]tool.Content(nil), r.Content...)
	if r.Err != nil {
		failure := *r.Err
		failure.Cause = nil
		r.Err = &failure
	}
	return &r
}

func (r *memoryRecord) copy() Record {
	c := r.Record
	if c.Result != nil {
		c.Result = copyResult(*c.Result)
	}
	return c
}

// End ends a record.
func (m *MemoryJournal) End(ctx context.Context, e Ending) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("journal: end: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.ids[e.ID]
	if r == nil || r.State != Running || r.owner != m.owner || r.Attempt != e.Attempt {
		return fmt.Errorf("journal: end of %s: %w", e.ID, ErrStale)
	}
	if e.Undone || e.Failed {
		if m.keys[r.effect()] == r {
			delete(m.keys, r.effect())
		}
	}
	if !e.Undone {
		r.finish(e, time.Now())
		return nil
	}
	delete(m.ids, r.ID)
	delete(m.places, r.Place)
	close(r.ended)
	return nil
}

// Wait waits for the end of a record.
func (m *MemoryJournal) Wait(ctx context.Context, id string) (Record, error) {
	for {
		m.mu.Lock()
		r := m.ids[id]
		if r == nil {
			m.mu.Unlock()
			return Record{}, fmt.Errorf("journal: wait for %s: %w", id, ErrNotFound)
		}
		had, running := r.copy(), r.State == Running && r.Live
		m.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return Record{}, fmt.Errorf("journal: wait for %s: %w", id, err)
		}
		if !running {
			return had, nil
		}
		select {
		case <-r.ended:
		case <-ctx.Done():
		}
	}
}

// Open lists records.
func (m *MemoryJournal) Open(ctx context.Context, of Place) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("journal: open: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []*memoryRecord
	for _, r := range m.ids {
		p := r.Place
		same := p.Tenant == of.Tenant && p.Principal == of.Principal && p.Session == of.Session
		switch {
		case of.Session == "" && r.State == Running,
			of.Session != "" && of.Turn == 0 && same && r.State == Running,
			of.Session != "" && of.Turn != 0 && same && p.Turn == of.Turn:
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *memoryRecord) int { return a.number - b.number })
	all := make([]Record, len(found))
	for i, r := range found {
		all[i] = r.copy()
	}
	return all, nil
}

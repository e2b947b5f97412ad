package durable

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// MemoryJournal keeps records in this process: calls of one key run once, and a
// turn that was handed back goes on. The zero value is empty and ready; it must
// not be copied. Nothing is ever forgotten but what was taken back.
type MemoryJournal struct {
	once  sync.Once
	book  *records
	owner int
}

var _ Journal = (*MemoryJournal)(nil)

// records are what several journals share, one after another.
type records struct {
	mu      sync.Mutex
	owners  int
	all     []*entry // in the order in which they began
	byPlace map[Place]*entry
	byID    map[string]*entry
	byKey   map[keyName]*entry
}

type entry struct {
	Record
	owner int
	over  chan struct{} // closed when it is not running any more, or gone
}

// keyName is all that two calls of one effect have in common.
type keyName struct{ tenant, principal, source, tool, key string }

func nameOf(r *Record) keyName {
	return keyName{r.Place.Tenant, r.Place.Principal, r.Source, r.Tool, r.Key}
}

func (m *MemoryJournal) records() *records {
	m.once.Do(func() {
		if m.book == nil {
			m.book = &records{byPlace: make(map[Place]*entry), byID: make(map[string]*entry), byKey: make(map[keyName]*entry)}
		}
	})
	return m.book
}

// Successor is the journal as another process would find it that takes this one
// for gone: what it began is left behind, and it can end nothing any more.
func (m *MemoryJournal) Successor() *MemoryJournal {
	b := m.records()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owners++
	for _, e := range b.all { // who waits sees that the owner is gone
		if e.State == Running && e.owner != b.owners {
			e.wake()
		}
	}
	return &MemoryJournal{book: b, owner: b.owners}
}

func (e *entry) wake() {
	select {
	case <-e.over:
	default:
		close(e.over)
	}
}

// shown is a record as it is given out.
func (b *records) shown(e *entry) Record {
	r := e.Record
	r.Live = r.State == Running && e.owner == b.owners
	if r.Result != nil {
		r.Result = copied(r.Result)
	}
	return r
}

func copied(r *tool.Result) *tool.Result {
	c := *r
	c.Content = slices.Clone(r.Content)
	for i := range c.Content {
		c.Content[i].JSON, c.Content[i].Data = slices.Clone(c.Content[i].JSON), slices.Clone(c.Content[i].Data)
	}
	if r.Err != nil {
		e := *r.Err
		e.Cause = nil // as a record on a disk has none
		c.Err = &e
	}
	return &c
}

// Begin keeps a record as running.
func (m *MemoryJournal) Begin(ctx context.Context, r Record) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	b := m.records()
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.owner != b.owners {
		return Record{}, ErrStale
	}
	if at := b.byPlace[r.Place]; at != nil {
		switch left := at.State == Running && at.owner != b.owners; {
		case at.Given != r.Given || at.Key == r.Key && at.Digest != r.Digest:
			return b.shown(at), ErrAnother
		case !left || !at.Repeats || !r.Repeats || at.Key != r.Key:
			return b.shown(at), ErrBegun
		}
	}
	r.State, r.Attempt, r.Ended, r.Result, r.Failed, r.Fatal, r.Resolved, r.Note = Running, 1, time.Time{}, nil, false, false, "", ""
	if r.Key != "" {
		if had := b.answers(&r); had != nil {
			if had.Digest != r.Digest {
				return b.shown(had), ErrAnother
			}
			if had.State == Done { // it is done here, too
				r.State, r.Ended, r.Result, r.Fatal = Done, had.Ended, had.Result, had.Fatal
				b.keep(&entry{Record: r, owner: m.owner, over: closed()})
			}
			return b.shown(had), ErrBegun
		}
	}
	if at := b.byPlace[r.Place]; at != nil {
		r.Attempt = at.Attempt + 1
	}
	e := &entry{Record: r, owner: m.owner, over: make(chan struct{})}
	b.keep(e)
	if r.Key != "" {
		b.byKey[nameOf(&r)] = e
	}
	return b.shown(e), nil
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// answers is the record that a call of its key gets the result of.
func (b *records) answers(r *Record) *entry {
	had := b.byKey[nameOf(r)]
	switch {
	case had == nil || had.Place == r.Place:
		return nil
	case had.State == Running && had.owner != b.owners: // left behind
		return nil
	case had.State == Done && r.Began.Sub(had.Ended) >= KeyTime:
		return nil
	}
	return had
}

// keep puts a record in its place.
func (b *records) keep(e *entry) {
	if old := b.byPlace[e.Place]; old != nil {
		b.forget(old)
	}
	b.all = append(b.all, e)
	b.byPlace[e.Place], b.byID[e.ID] = e, e
}

func (b *records) forget(e *entry) {
	b.all = slices.DeleteFunc(b.all, func(o *entry) bool { return o == e })
	delete(b.byPlace, e.Place)
	delete(b.byID, e.ID)
	if name := nameOf(&e.Record); b.byKey[name] == e {
		delete(b.byKey, name)
	}
	e.wake()
}

// End says what became of a call.
func (m *MemoryJournal) End(ctx context.Context, end Ending) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := m.records()
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.byID[end.ID]
	if e == nil || m.owner != b.owners || e.owner != m.owner || e.State != Running || e.Attempt != end.Attempt {
		return ErrStale
	}
	if end.Undone {
		b.forget(e)
		return nil
	}
	e.State, e.Ended, e.Failed, e.Fatal = Done, time.Now(), end.Failed, end.Fatal
	if end.Result != nil {
		e.Result = copied(end.Result)
	}
	if name := nameOf(&e.Record); end.Failed && b.byKey[name] == e {
		delete(b.byKey, name)
	}
	e.wake()
	return nil
}

// Wait waits for the end of a call.
func (m *MemoryJournal) Wait(ctx context.Context, id string) (Record, error) {
	b := m.records()
	b.mu.Lock()
	e := b.byID[id]
	b.mu.Unlock()
	if e == nil {
		return Record{}, ErrNotFound
	}
	select {
	case <-e.over:
	case <-ctx.Done():
		return Record{}, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID[id] != e {
		return Record{}, ErrNotFound
	}
	return b.shown(e), nil
}

// Open lists records.
func (m *MemoryJournal) Open(ctx context.Context, of Place) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := m.records()
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Record
	for _, e := range b.all {
		p := e.Place
		same := of.Session == "" || p.Tenant == of.Tenant && p.Principal == of.Principal && p.Session == of.Session
		if same && (of.Session != "" && of.Turn != 0 && p.Turn == of.Turn || of.Turn == 0 && e.State == Running) {
			all = append(all, b.shown(e))
		}
	}
	return all, nil
}

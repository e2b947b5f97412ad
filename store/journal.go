package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
)

var _ durable.Prompt = (*Store)(nil)

// Prompt says that Begin and End wait for no disk that hangs: see [durable.Prompt].
func (s *Store) Prompt() {}

// SQL of the journal. A record is changed only by who has it, and while it runs.
const (
	insertCall = `INSERT INTO calls (id, tenant, principal, session, turn, place, key, owner, attempt, touched, call, outcome)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	callAtPlace = `SELECT ` + entryColumns + ` FROM calls WHERE session = ? AND turn = ? AND place = ? AND principal = ? AND tenant = ?`
	callOfKey   = `SELECT ` + entryColumns + ` FROM calls WHERE key = ? AND key <> ''`
	freeKey     = `UPDATE calls SET key = '' WHERE number = ?`
	replaceCall = `UPDATE calls SET id = ?, key = ?, owner = ?, attempt = ?, touched = ?, call = ?, outcome = ? WHERE number = ? AND id = ? AND owner = ? AND attempt = ? AND outcome = ''`
	endCall     = `UPDATE calls SET outcome = ?, touched = ? WHERE number = ? AND id = ? AND owner = ? AND attempt = ? AND outcome = ''`
	failCall    = `UPDATE calls SET outcome = ?, touched = ?, key = '' WHERE number = ? AND id = ? AND owner = ? AND attempt = ? AND outcome = ''`
	undoCall    = `DELETE FROM calls WHERE number = ? AND id = ? AND owner = ? AND attempt = ? AND outcome = ''`
)

// Begin keeps a call as running. It is synced, together with others that begin at
// the same time.
func (s *Store) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	what := "begin of call " + r.ID
	if err := checkRecord(&r); err != nil {
		return durable.Record{}, s.fault(ctx, what, err)
	}
	if r.Began.IsZero() {
		r.Began = s.now()
	}
	o, err := s.owner()
	if err != nil {
		return durable.Record{}, s.fault(ctx, what, err)
	}
	e := entry{key: claim(&r), owner: o.id, Record: durable.Record{
		Place: r.Place, ID: r.ID, CallID: r.CallID, Source: r.Source, Tool: r.Tool, Given: r.Given, Key: r.Key, Digest: r.Digest, Repeats: r.Repeats, Input: r.Input,
		Began: r.Began.UTC().Round(0), State: durable.Running, Attempt: 1, Live: true,
	}}
	call, err := e.sealCall()
	if err != nil {
		return durable.Record{}, s.fault(ctx, what, err)
	}
	var has entry
	var refused error
	err = s.commitBy(ctx, what, true, func(ctx context.Context, p *pen) (err error) {
		if err := s.sweep(ctx, p.conn, s.now()); err != nil {
			return err
		}
		has, refused, err = s.enlist(ctx, p, e, call)
		return err
	}, func(err error) {
		if err == nil && refused == nil { // nobody waits for it any more
			s.running.begin(has)
			_ = s.End(s.life, durable.Ending{ID: has.ID, Attempt: has.Attempt, Undone: true})
		}
	})
	if err != nil {
		return durable.Record{}, err
	}
	if refused != nil {
		s.running.note(has)
		return has.Record, s.fault(ctx, what, refused)
	}
	s.running.begin(has)
	return has.Record, nil
}

// enlist writes a record, or gives the one that is there with the refusal.
func (s *Store) enlist(ctx context.Context, p *pen, e entry, call string) (has entry, refused, err error) {
	now := s.now()
	insert := func(e entry, call, outcome string) (bool, error) {
		n, err := p.exec(ctx, insertCall, e.ID, e.Place.Tenant, e.Place.Principal, e.Place.Session, e.Place.Turn, e.Place.Index,
			e.key, e.owner, e.Attempt, writeTime(now), call, outcome)
		return n == 1, err
	}
	if done, err := insert(e, call, ""); err != nil || done {
		e.number = p.inserted
		return e, nil, err
	}
	at, placed, err := s.lookUp(ctx, p, callAtPlace, e.Place.Session, e.Place.Turn, e.Place.Index, e.Place.Principal, e.Place.Tenant)
	if err != nil {
		return e, nil, err
	}
	if placed {
		switch {
		case at.Given != e.Given || at.Key == e.Key && at.Digest != e.Digest:
			return at, durable.ErrAnother, nil
		case at.State == durable.Done || at.Live || !at.RunsAs(&e.Record):
			return at, durable.ErrBegun, nil
		}
		e.Attempt = at.Attempt + 1
		if call, err = e.sealCall(); err != nil {
			return e, nil, err
		}
	}
	of, keyed, err := s.lookUp(ctx, p, callOfKey, e.key)
	if err != nil {
		return e, nil, err
	}
	outcome := ""
	if keyed && (!placed || of.number != at.number) {
		counts := of.Live || of.answers(now)
		switch {
		case counts && of.Digest != e.Digest:
			return of, durable.ErrAnother, nil
		case of.Live:
			return of, durable.ErrBegun, nil
		case counts:
			e.key = "" // the other one answers for it
			if outcome, err = e.sealOutcome(of.outcome()); err != nil {
				return e, nil, err
			}
		default:
			if _, err := p.exec(ctx, freeKey, of.number); err != nil {
				return e, nil, err
			}
		}
	}
	done := false
	if placed {
		var n int64
		n, err = p.exec(ctx, replaceCall, e.ID, e.key, e.owner, e.Attempt, writeTime(now), call, outcome, at.number, at.ID, at.owner, at.Attempt)
		e.number, done = at.number, n == 1
	} else {
		done, err = insert(e, call, outcome)
		e.number = p.inserted
	}
	switch {
	case err != nil:
		return e, nil, err
	case !done:
		return e, nil, &damage{"the call " + e.ID + " has neither a place nor is it refused one"}
	case outcome != "":
		return of, durable.ErrBegun, nil
	}
	return e, nil, nil
}

// lookUp reads a record, if it is there, and whether it is Live.
func (s *Store) lookUp(ctx context.Context, p *pen, query string, args ...any) (e entry, ok bool, err error) {
	e, err = scanEntry(func(to ...any) error { return p.row(ctx, query, args, to...) })
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, false, nil
	}
	if err == nil && e.State == durable.Running {
		e.Live, err = s.alive(e.owner)
	}
	return e, err == nil, err
}

// End ends a call that this store has begun. A result of more than 16 MiB is not
// kept: then it is only known that the call was done.
func (s *Store) End(ctx context.Context, end durable.Ending) error {
	what := "end of call " + end.ID
	e, ok := s.running.begun(end.ID)
	if !ok || e.Attempt != end.Attempt {
		return s.fault(ctx, what, durable.ErrStale)
	}
	now := s.now()
	query, args := undoCall, make([]any, 0, 6)
	if !end.Undone {
		outcome, err := e.sealOutcome(keptOutcome{Ended: now.UTC(), Result: keepResult(end.Result), Failed: end.Failed, Fatal: end.Fatal})
		if err != nil {
			return s.fault(ctx, what, err)
		}
		query, args = endCall, append(args, outcome, writeTime(now))
		if end.Failed && e.key != "" {
			query = failCall
		}
	}
	args = append(args, e.number, e.ID, e.owner, e.Attempt)
	over := func(err error) {
		if err == nil || errors.Is(err, durable.ErrStale) {
			s.running.end(end.ID)
		}
	}
	err := s.commitBy(ctx, what, end.Sync, func(ctx context.Context, p *pen) error {
		n, err := p.exec(ctx, query, args...)
		if err == nil && n != 1 {
			err = durable.ErrStale
		}
		return err
	}, over)
	over(err)
	return err
}

// Wait waits for the end of a call. Of another process it hears of that, and that
// it is gone, after 25 ms or so.
func (s *Store) Wait(ctx context.Context, id string) (durable.Record, error) {
	heard, leave := s.running.wait(id)
	defer leave()
	tick := time.NewTicker(journalGlance)
	defer tick.Stop()
	for number := s.running.number(id); ; {
		e, err := s.call(ctx, id, number)
		if err != nil || !e.Live {
			return e.Record, err
		}
		number = e.number
		select {
		case <-heard:
			heard = nil // it is looked at again, and then from time to time
		case <-tick.C:
		case <-ctx.Done():
			return durable.Record{}, s.fault(ctx, "wait for call "+id, ctx.Err())
		case <-s.life.Done():
			return durable.Record{}, s.fault(ctx, "wait for call "+id, errClosed)
		}
	}
}

// journalGlance is how often it is looked for the end of another process's call.
const journalGlance = 25 * time.Millisecond

// call reads the record of an id, which has that number; 0: it is not known.
func (s *Store) call(ctx context.Context, id string, number int64) (e entry, err error) {
	query, args := `SELECT `+entryColumns+` FROM calls WHERE id = ?`, []any{id}
	if number != 0 {
		query, args = query+` AND number = ?`, append(args, number)
	}
	err = s.read(ctx, "call "+id, func(db *sql.DB) error {
		e, err = scanEntry(db.QueryRowContext(ctx, query, args...).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return durable.ErrNotFound
		}
		if err == nil && e.State == durable.Running {
			e.Live, err = s.alive(e.owner)
		}
		return err
	})
	if err != nil {
		return entry{}, err
	}
	return e, nil
}

// Open lists records.
func (s *Store) Open(ctx context.Context, of durable.Place) ([]durable.Record, error) {
	query := `SELECT ` + entryColumns + ` FROM calls`
	args := []any{of.Session, of.Principal, of.Tenant}
	switch {
	case of.Session == "":
		query, args = query+` WHERE outcome = ''`, nil
	case of.Turn == 0:
		query += ` WHERE session = ? AND principal = ? AND tenant = ? AND outcome = ''`
	default:
		query, args = query+` WHERE session = ? AND principal = ? AND tenant = ? AND turn = ?`, append(args, of.Turn)
	}
	return s.records(ctx, "open calls", query+` ORDER BY number`, args...)
}

// records lists what a query finds.
func (s *Store) records(ctx context.Context, what, query string, args ...any) ([]durable.Record, error) {
	entries, err := list(ctx, s, what, scanRows, query, args...)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool)
	all := make([]durable.Record, len(entries))
	for i, e := range entries {
		if e.State == durable.Running {
			live, ok := there[e.owner]
			if !ok {
				if live, err = s.alive(e.owner); err != nil {
					return nil, s.fault(ctx, what, err)
				}
				there[e.owner] = live
			}
			e.Live = live
		}
		all[i] = e.Record
	}
	return all, nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Calls lists the calls that began or ended at that time or later, newest last.
// Those that have not ended are listed by [Store.Open].
func (s *Store) Calls(ctx context.Context, since time.Time) ([]durable.Record, error) {
	return s.records(ctx, "calls", `SELECT `+entryColumns+` FROM calls WHERE touched >= ? ORDER BY number`, writeTime(since))
}

// CallIDs are those of calls that begin so, in the order in which they began: a
// hundred at most.
func (s *Store) CallIDs(ctx context.Context, prefix string) ([]string, error) {
	return list(ctx, s, "calls", func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, `SELECT id FROM calls WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number LIMIT 100`, prefix)
}

// Call is the record of an id; [durable.ErrNotFound].
func (s *Store) Call(ctx context.Context, id string) (durable.Record, error) {
	e, err := s.call(ctx, id, s.running.number(id))
	return e.Record, err
}

// Resolve has a person say what became of a call that was left behind: that it was
// done, and then that is its result, or that it was not, and then it is taken back
// and may run. It refuses a call that is done, one whose process is there, and one
// that nobody knows ([durable.ErrNotFound]).
func (s *Store) Resolve(ctx context.Context, id string, done bool, by, note string) error {
	what := "resolve call " + id
	if strings.TrimSpace(by) == "" {
		return s.fault(ctx, what, errors.New("got nobody, want the name of the person who says so"))
	}
	return s.recorded(ctx, what, func(ctx context.Context, p *pen) ([]audit.Event, error) {
		e, found, err := s.lookUp(ctx, p, `SELECT `+entryColumns+` FROM calls WHERE id = ?`, id)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, durable.ErrNotFound
		case e.State == durable.Done:
			return nil, fmt.Errorf("it is done since %s: nothing is left to say", e.Ended.Format(time.RFC3339))
		case e.Live:
			return nil, errors.New("its process is there, and will say what became of it: wait for it, or end that process first")
		}
		e.Resolved, e.Note = by, note
		args := []any{e.number, e.ID, e.owner, e.Attempt}
		query := undoCall
		if done {
			now := s.now()
			text := "A person says that this call was done."
			if note != "" {
				text += "\n" + note
			}
			e.State, e.Ended, e.Result = durable.Done, now.UTC().Round(0), &tool.Result{ID: e.ID, CallID: e.CallID, Content: []tool.Content{tool.Text(text)}}
			outcome, err := e.sealOutcome(e.outcome())
			if err != nil {
				return nil, err
			}
			query, args = endCall, append([]any{outcome, writeTime(now)}, args...)
		}
		n, err := p.exec(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		if n != 1 {
			return nil, &damage{"the call " + id + " is not as it was read"}
		}
		return []audit.Event{s.resolved(e.Record)}, nil
	})
}

// resolved is what a person said of a call, whose record is as they left it; one
// that is running was not done.
func (s *Store) resolved(r durable.Record) audit.Event {
	text := "it was not done"
	if r.State == durable.Done {
		text = "it was done"
	}
	if r.Note != "" {
		text += ": " + r.Note
	}
	name := tool.WireName(r.Source, r.Tool)
	return audit.Event{Kind: audit.Resolved, Time: s.now(), By: r.Resolved, Text: text, Request: &tool.Request{
		Caller: tool.Caller{Tenant: r.Place.Tenant, Principal: r.Place.Principal, Session: r.Place.Session}, Source: tool.Source{Name: r.Source},
		Name: name, CalledAs: name, ID: r.ID, CallID: r.CallID, Turn: r.Place.Turn, Index: r.Place.Index,
	}}
}

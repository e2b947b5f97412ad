package store

import (
	"context"
	"database/sql"
	"errors"
)

// pen is the one connection of this process that writes, and the statements that
// were prepared on it. Only who has the turn may use it.
type pen struct {
	turn     chan struct{} // is full while somebody has it
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	unsynced bool // a commit is not synced
	wrote    bool // something was changed since this was set to false
}

func newPen(conn *sql.Conn) *pen {
	return &pen{turn: make(chan struct{}, 1), conn: conn, prepared: make(map[string]*sql.Stmt)}
}

// take waits for the turn; leave gives it on.
func (p *pen) take(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pen) leave() { <-p.turn }

// sync has the commits from now on be synced, or not. Of the log of SQLite a sync
// is always one of all that stands in it, so a commit that is synced makes last
// what was committed before it, by whomever.
//
// SQLite obeys this statement where it is prepared, not where it is run, and
// not within a transaction.
func (p *pen) sync(ctx context.Context, yes bool) error {
	if yes != p.unsynced {
		return nil
	}
	to := "PRAGMA synchronous = NORMAL"
	if yes {
		to = "PRAGMA synchronous = FULL"
	}
	if _, err := p.conn.ExecContext(ctx, to); err != nil {
		return err
	}
	p.unsynced = !yes
	return nil
}

// prepare prepares a statement, the first time.
func (p *pen) prepare(ctx context.Context, query string) error {
	if p.prepared[query] != nil {
		return nil
	}
	st, err := p.conn.PrepareContext(ctx, query) //nolint:sqlclosecheck // close closes it
	if err == nil {
		p.prepared[query] = st
	}
	return err
}

// exec runs a statement and says how many rows it changed. The statement is kept
// prepared: its text should be one of few.
func (p *pen) exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	if err := p.prepare(ctx, query); err != nil {
		return 0, err
	}
	res, err := p.prepared[query].ExecContext(ctx, args...)
	if err == nil {
		changed, err = res.RowsAffected()
	}
	p.wrote = p.wrote || changed > 0 || err != nil
	return changed, err
}

// row reads one row; [sql.ErrNoRows].
func (p *pen) row(ctx context.Context, query string, args []any, to ...any) error {
	if err := p.prepare(ctx, query); err != nil {
		return err
	}
	return p.prepared[query].QueryRowContext(ctx, args...).Scan(to...)
}

// current is that of the store: it refuses what a newer program has written.
func (p *pen) current(ctx context.Context) error {
	var version int
	if err := p.row(ctx, "PRAGMA user_version", nil, &version); err != nil {
		return err
	}
	return notNewer(version)
}

// begin begins a transaction that may write. It waits for other processes.
func (p *pen) begin(ctx context.Context) error {
	return patient(ctx, func() error {
		_, err := p.exec(ctx, "BEGIN IMMEDIATE")
		return err
	})
}

// end ends it: it is committed, or undone and that is the error.
func (p *pen) end(ctx context.Context) error {
	_, err := p.exec(ctx, "COMMIT")
	if err != nil {
		p.undo(ctx)
	}
	return err
}

// undo ends it without a trace. SQLite may have undone it by itself.
func (p *pen) undo(ctx context.Context) { _, _ = p.exec(ctx, "ROLLBACK") }

// close lets go of the statements and the connection.
func (p *pen) close() error {
	if p == nil {
		return nil
	}
	var faults []error
	for _, st := range p.prepared {
		faults = append(faults, st.Close())
	}
	return errors.Join(append(faults, p.conn.Close())...)
}

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"

	"modernc.org/sqlite"
)

// pen is the one connection of this process that writes, and the statements that
// were prepared on it. Only who has the turn may use it.
//
// Its statements are those of the driver: what database/sql does for a statement
// costs a fifth of a commit, and does nothing where there is one connection.
type pen struct {
	turn     chan struct{} // is full while somebody has it
	conn     *sql.Conn
	bare     driverConn // what conn is, as long as that is held
	prepared map[string]driver.Stmt
	args     []driver.NamedValue // of the statement that runs

	wal      *os.File // the log, to sync it; nil: SQLite syncs each commit
	seen     uint32   // the data version in which the version of the store was looked at
	inserted int64    // the number of the row that was inserted last
	wrote    bool     // something was changed since this was set to false
	synced   int      // how often the log was
	closed   bool
}

// driverConn is what is used of a connection of the driver.
type driverConn interface {
	driver.ConnPrepareContext
	driver.ExecerContext
	sqlite.FileControl
}

func newPen(conn *sql.Conn) (*pen, error) {
	p := &pen{turn: make(chan struct{}, 1), conn: conn, prepared: make(map[string]driver.Stmt)}
	err := conn.Raw(func(c any) (err error) {
		var ok bool
		if p.bare, ok = c.(driverConn); !ok {
			err = fmt.Errorf("got the connection %T, want one of SQLite", c)
		}
		return err
	})
	return p, err
}

// take waits for the turn, which leave gives on.
func (p *pen) take(ctx context.Context) error {
	if p.try() {
		return nil
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.closed {
		p.leave()
		return errClosed
	}
	return nil
}

// try takes the turn if nobody has it.
func (p *pen) try() bool {
	select {
	case p.turn <- struct{}{}:
	default:
		return false
	}
	if p.closed {
		p.leave()
		return false
	}
	return true
}

func (p *pen) leave() { <-p.turn }

// syncs takes the sync of commits over from SQLite, which cannot leave one out but
// by a statement that costs a third of what a commit does.
//
// All that is committed stands in the log until a checkpoint, by whichever process,
// has put it into the file, and a checkpoint syncs both first. So what was committed
// is on the disk when the log is synced after that. SQLite does no more, with
// synchronous = FULL: with NORMAL, as here, it leaves out this sync, and no other.
// The log stays the same file as long as somebody has the store open, which [Store.moved]
// looks after. A sync by any descriptor is one of the whole file.
func (p *pen) syncs(ctx context.Context, wal string) error {
	f, err := os.OpenFile(wal, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if _, err := p.exec(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return errors.Join(err, f.Close())
	}
	p.wal = f
	return nil
}

// sync has all that was committed be on the disk, by whomever it was.
func (p *pen) sync() error {
	if p.wal == nil {
		return nil
	}
	if err := p.wal.Sync(); err != nil {
		return &unsynced{err}
	}
	p.synced++
	return nil
}

// begin begins a transaction that may write. It waits for other processes.
func (p *pen) begin(ctx context.Context) error {
	return patient(ctx, func() error {
		_, err := p.exec(ctx, "BEGIN IMMEDIATE")
		return err
	})
}

// current refuses what a newer program has written, as that of the store does. It
// looks only where another one has written.
func (p *pen) current(ctx context.Context) error {
	seen, err := p.bare.FileControlDataVersion("main")
	if err != nil || seen == p.seen {
		return err
	}
	var version int
	if err := p.row(ctx, "PRAGMA user_version", nil, &version); err != nil {
		return err
	}
	if err := notNewer(version); err != nil {
		return err
	}
	p.seen = seen
	return nil
}

// end ends the transaction: it is committed, or undone and that is the error.
func (p *pen) end(ctx context.Context) error {
	known, before := p.bare.FileControlDataVersion("main")
	_, err := p.exec(ctx, "COMMIT")
	if err != nil {
		p.undo(ctx)
		return err
	}
	// What is committed here is no change by others.
	if now, after := p.bare.FileControlDataVersion("main"); before == nil && after == nil && known == p.seen {
		p.seen = now
	}
	return nil
}

// undo ends it without a trace. SQLite may have undone it by itself.
func (p *pen) undo(ctx context.Context) { _, _ = p.exec(ctx, "ROLLBACK") }

// prepare gives a statement, which is kept: its text should be one of few.
func (p *pen) prepare(ctx context.Context, query string, args []any) (driver.Stmt, error) {
	p.args = p.args[:0]
	for i, arg := range args {
		switch v := arg.(type) {
		case int:
			arg = int64(v)
		case int64, string, []byte:
		default:
			return nil, fmt.Errorf("got an argument %T, want a number, a text or bytes", v)
		}
		p.args = append(p.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	if st := p.prepared[query]; st != nil {
		return st, nil
	}
	st, err := p.bare.PrepareContext(ctx, query)
	if err == nil {
		p.prepared[query] = st
	}
	return st, err
}

// exec runs a statement and says how many rows it changed.
func (p *pen) exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	st, err := p.prepare(ctx, query, args)
	if err != nil {
		return 0, err
	}
	run, ok := st.(driver.StmtExecContext)
	if !ok {
		return 0, fmt.Errorf("got the statement %T, want one of SQLite", st)
	}
	res, err := run.ExecContext(ctx, p.args)
	if err == nil {
		changed, err = res.RowsAffected()
	}
	if err == nil && changed > 0 {
		p.inserted, err = res.LastInsertId()
	}
	p.wrote = p.wrote || changed > 0 || err != nil
	return changed, err
}

// row reads one row; [sql.ErrNoRows].
func (p *pen) row(ctx context.Context, query string, args []any, to ...any) error {
	st, err := p.prepare(ctx, query, args)
	if err != nil {
		return err
	}
	run, ok := st.(driver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("got the statement %T, want one of SQLite", st)
	}
	rows, err := run.QueryContext(ctx, p.args)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(values)
	if errors.Is(err, io.EOF) {
		err = sql.ErrNoRows
	}
	if err := errors.Join(err, rows.Close()); err != nil {
		return err
	}
	if len(values) != len(to) {
		return fmt.Errorf("got %d columns, want %d", len(values), len(to))
	}
	for i, one := range to {
		if err := assign(one, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// assign gives a value of a row to a variable. Columns have strict types: what
// does not fit was changed.
func assign(to any, v driver.Value) error {
	switch to := to.(type) {
	case *string:
		if text, ok := v.(string); ok {
			*to = text
			return nil
		}
	case *[]byte:
		if bytes, ok := v.([]byte); ok {
			*to = bytes
			return nil
		}
	case *int64:
		if n, ok := v.(int64); ok {
			*to = n
			return nil
		}
	case *int:
		if n, ok := v.(int64); ok {
			*to = int(n)
			return nil
		}
	}
	return &damage{fmt.Sprintf("got %T in a row, want what fits %T", v, to)}
}

// close lets go of the statements and the connection, when nobody writes any more.
func (p *pen) close() error {
	if p == nil {
		return nil
	}
	p.turn <- struct{}{}
	defer p.leave()
	p.closed = true
	var faults []error
	for _, st := range p.prepared {
		faults = append(faults, st.Close())
	}
	if p.wal != nil {
		faults = append(faults, p.wal.Close())
	}
	return errors.Join(append(faults, p.conn.Close())...)
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
)

var _ audit.Log = (*Store)(nil)

const (
	// mostWaiting is how many lines can wait to be written, and mostText how many
	// bytes.
	mostWaiting = 100_000
	mostText    = 64 << 20
	// rowsAtOnce is how many lines one statement inserts.
	rowsAtOnce = 32
	// maxSpare is how much room is kept for the next lines, in bytes.
	maxSpare = 1 << 20
)

// logging is what is to be written to the log.
type logging struct {
	mu      sync.Mutex
	enc     audit.Encoder
	open    *sheet   // takes lines; nil: the next one makes one
	sheets  []*sheet // that are not committed, in their order; open is the last
	spare   *sheet   // was written: its room can be used again
	most    int      // lines that can wait; 0: mostWaiting
	waiting int      // lines that were appended and are not written yet
	bytes   int      // of those
	number  int64    // of the line that was appended last
	jots    jots

	ends ends
}

// ends is what a writer knows of the end of its own chain, so that it notices
// where somebody else has changed that. Nil knows nothing.
type ends struct {
	mu    sync.Mutex
	sure  audit.Mark   // of what was committed last, as far as is known
	maybe []audit.Mark // written since then: committed, undone or under way
}

// check refuses a mark that is not the end of what this writer wrote.
func (e *ends) check(has audit.Mark) *damage {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sure.Writer == "" {
		e.sure = audit.Begin(has.Writer)
	}
	switch {
	case has == e.sure:
		e.maybe = e.maybe[:0] // were they committed they would be the end
	case !slices.Contains(e.maybe, has):
		return &damage{fmt.Sprintf("the log ends with number %d of the writer %s, but that is not where this process left it, at number %d: lines were taken away, put in or changed", has.Number, has.Writer, e.sure.Number)}
	}
	return nil
}

// wrote notes a mark that may be committed.
func (e *ends) wrote(m audit.Mark) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.maybe = append(e.maybe, m)
}

// kept notes a mark that is committed.
func (e *ends) kept(m audit.Mark) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.Number > e.sure.Number {
		e.sure = m
		e.maybe = slices.DeleteFunc(e.maybe, func(o audit.Mark) bool { return o.Number <= m.Number })
	}
}

// sheet is lines that are written together, by one job. It takes more until it is
// written the first time: then it stays as it is, because it may be written again.
type sheet struct {
	writer string
	text   []byte
	lines  []inked
	last   int64      // the number of its last line, of those that were appended; 0: it was not
	end    audit.Mark // of its writer, once it is written
}

// inked is a line of a sheet.
type inked struct {
	call string
	end  int // in its text
}

// Append takes events. They are written with the next thing that is, or a little
// later. Where they cannot be written they wait, and once too many do it is an
// error, until there is room again.
func (s *Store) Append(events ...audit.Event) (kept bool, err error) {
	const what = "append to the log"
	if err := s.usable(); err != nil {
		return false, s.fault(s.life, what, err)
	}
	l := &s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= cmp.Or(l.most, mostWaiting) || l.bytes >= mostText {
		return false, s.fault(s.life, what, fmt.Errorf("%d lines wait that could not be written: see what else the store says", l.waiting))
	}
	if l.open == nil {
		o, err := s.owner()
		if err != nil {
			return false, s.fault(s.life, what, err)
		}
		l.open, l.spare = cmp.Or(l.spare, new(sheet)), nil
		l.open.writer = o.id
	}
	lines, text := len(l.open.lines), len(l.open.text)
	l.open.add(&l.enc, events)
	sh := l.open
	l.waiting += len(sh.lines) - lines
	l.bytes += len(sh.text) - text
	l.number += int64(len(sh.lines) - lines)
	sh.last = l.number
	if lines > 0 || len(sh.lines) == 0 { // its job is queued, or there is nothing to do
		return false, nil
	}
	err = s.queue(&job{
		lazy: true,
		do:   func(ctx context.Context, p *pen) error { return s.ink(ctx, p, sh) },
		kept: func() { s.kept(sh) },
	})
	if err != nil {
		l.number -= int64(len(sh.lines))
		l.written(sh)
		l.open = nil
	} else {
		l.sheets = append(l.sheets, sh)
	}
	return false, s.fault(s.life, what, err)
}

// add writes events to the sheet.
func (sh *sheet) add(enc *audit.Encoder, events []audit.Event) {
	for i := range events {
		had := len(sh.text)
		if sh.text = enc.Append(sh.text, &events[i]); len(sh.text) > had {
			sh.lines = append(sh.lines, inked{events[i].Call(), len(sh.text)})
		}
	}
}

// ink writes a sheet, which takes nothing more from now on.
func (s *Store) ink(ctx context.Context, p *pen, sh *sheet) error {
	s.log.mu.Lock()
	if s.log.open == sh {
		s.log.open = nil
	}
	s.log.mu.Unlock()
	return s.writeSheet(ctx, p, sh, &s.log.ends)
}

// kept counts a sheet that was written.
func (s *Store) kept(sh *sheet) {
	l := &s.log
	l.ends.kept(sh.end)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jots.committed(s.own.Load(), sh.last)
	l.written(sh)
}

// recorded is commit of something synced that a person did, which goes on the
// record in the same transaction: do gives the events.
func (s *Store) recorded(ctx context.Context, what string, do func(context.Context, *pen) ([]audit.Event, error)) error {
	var sh sheet
	err := s.commit(ctx, what, true, func(ctx context.Context, p *pen) error {
		sh = sheet{} // it may be done again
		events, err := do(ctx, p)
		if err != nil || len(events) == 0 {
			return err
		}
		o, err := s.owner()
		if err != nil {
			return err
		}
		sh.writer = o.id
		sh.add(new(audit.Encoder), events)
		return s.writeSheet(ctx, p, &sh, &s.log.ends)
	})
	if err == nil {
		s.log.ends.kept(sh.end)
	}
	return err
}

// Flush waits until all that was appended is committed: the end of this process
// does not undo it, but that of the machine may, until something is synced.
func (s *Store) Flush(ctx context.Context) error {
	s.log.mu.Lock()
	waiting := s.log.waiting
	s.log.mu.Unlock()
	if waiting == 0 {
		return nil
	}
	return s.flush(ctx, "write the log")
}

const (
	endOfLog     = `SELECT coalesce(max(place), 0) FROM log`
	markOfWriter = `SELECT key, number, hash FROM log_writers WHERE writer = ?`
	newWriter    = `INSERT INTO log_writers (writer, number, hash) VALUES (?, ?, ?)`
	setMark      = `UPDATE log_writers SET number = ?, hash = ?, jotted = max(jotted, ?) WHERE key = ?`
	insertLines  = `INSERT INTO log (place, writer, number, call, line, hash) VALUES (?, ?, ?, ?, ?, ?)`
)

// writeSheet gives lines their places, numbers and links, and writes them. All
// that these follow from is read in the same transaction, so where it is undone
// nothing of it stays. known is what is known of the writer's end.
func (s *Store) writeSheet(ctx context.Context, p *pen, sh *sheet, known *ends) error {
	var place int64
	if err := p.row(ctx, endOfLog, nil, &place); err != nil {
		return err
	}
	key, chain, err := s.chainOf(ctx, p, sh.writer, known)
	if err != nil {
		return err
	}
	start := 0
	args := make([]any, 0, 6*min(len(sh.lines), rowsAtOnce))
	for i, l := range sh.lines {
		line := sh.text[start:l.end]
		start = l.end
		place++
		hash := chain.Add(place, line)
		args = append(args, place, key, chain.Number, l.call, string(line), hash[:])
		if rows := len(args) / 6; rows == rowsAtOnce || i == len(sh.lines)-1 {
			if err := insert(ctx, p, args); err != nil {
				return err
			}
			args = args[:0]
		}
	}
	sh.end = chain.Mark
	known.wrote(sh.end)
	_, err = p.exec(ctx, setMark, chain.Number, chain.Hash[:], sh.last, key)
	return err
}

// insert inserts rows by as few statements as there are bits in their number, so
// that a few statements serve every number.
func insert(ctx context.Context, p *pen, args []any) error {
	for rows := rowsAtOnce; rows > 0; rows /= 2 {
		if len(args) < 6*rows {
			continue
		}
		query := insertLines + strings.Repeat(", (?, ?, ?, ?, ?, ?)", rows-1)
		if _, err := p.exec(ctx, query, args[:6*rows]...); err != nil {
			return err
		}
		args = args[6*rows:]
	}
	return nil
}

// chainOf is where the chain of a writer ends, and its key in the log. An end that
// is not as it is known is damage, which nothing goes on with: the lines before it
// would be missed by nobody.
func (s *Store) chainOf(ctx context.Context, p *pen, writer string, known *ends) (key int64, c audit.Chain, err error) {
	var hash []byte
	c.Mark = audit.Begin(writer)
	err = p.row(ctx, markOfWriter, []any{writer}, &key, &c.Number, &hash)
	found := !errors.Is(err, sql.ErrNoRows)
	switch {
	case found && err != nil:
		return 0, c, err
	case found:
		c.Hash = hashOf(hash)
	}
	if d := known.check(c.Mark); d != nil {
		s.broken.CompareAndSwap(nil, d) // also where nobody waits for the line
		return 0, c, d
	}
	if !found {
		_, err = p.exec(ctx, newWriter, writer, 0, c.Hash[:])
		key = p.inserted
	}
	return key, c, err
}

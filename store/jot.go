package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/ferrule-dev/ferrule/internal/lock"
)

// This file is about lines of the log that must outlive this process at once. A
// commit of the database for each is what a call would wait for longest. So they
// are written to the file of the owner first, by one write; the database has them
// a little later, and then they are taken out of that file. Where the process ends
// in between, the next who opens the store finds them there and commits them.

// mostJots is how large the file of an owner may grow.
const mostJots = 1 << 20

// jots is what stands in the file of the owner. logging.mu is held.
type jots struct {
	room   []byte // to write them with
	last   int64  // the number of the last line that stands there
	size   int64
	failed bool // it cannot be written, or may not be whole
}

// Jot keeps all that was appended, so that the end of this process does not undo
// it (see [audit.Log]). False: it cannot be done so, and [Store.Flush] may.
func (s *Store) Jot() (kept bool) {
	l := &s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	o, j := s.own.Load(), &l.jots
	if len(l.sheets) == 0 {
		return true
	}
	if o == nil || j.failed || j.size > mostJots || s.broken.Load() != nil || s.unsure.Load() != nil {
		return false
	}
	j.room = j.room[:0]
	for _, sh := range l.sheets {
		j.room = sh.jot(j.room, j.last)
	}
	if len(j.room) > mostJots {
		return false
	}
	if _, err := o.file.WriteAt(j.room, j.size); err != nil {
		j.failed = true // half of one may stand there: nothing can stand behind it
		return false
	}
	j.size += int64(len(j.room))
	j.last = l.sheets[len(l.sheets)-1].last
	return true
}

// committed takes out of the file what the database has. logging.mu is held.
func (j *jots) committed(o *owner, last int64) {
	if j.size == 0 && !j.failed || last < j.last {
		return
	}
	if j.failed = o.file.Truncate(0) != nil; !j.failed {
		j.size = 0
	}
}

// emptyHanded reports whether the owner leaves nothing to others, after it has
// written down what could not be committed.
func (s *Store) emptyHanded() bool {
	s.Jot()
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.jots.size == 0
}

// A jot is its length and its sum, then its number, the length of the name of the
// call, that name, and the line.
const (
	jotHead = 4 + 4
	jotFace = 8 + 2
)

// jot adds to text those lines of the sheet that come after one.
func (sh *sheet) jot(text []byte, after int64) []byte {
	start, number := 0, sh.last-int64(len(sh.lines))
	for _, l := range sh.lines {
		line := sh.text[start:l.end]
		start = l.end
		if number++; number > after {
			text = appendJot(text, number, l.call, line)
		}
	}
	return text
}

func appendJot(text []byte, number int64, call string, line []byte) []byte {
	at := len(text)
	text = append(text, make([]byte, jotHead)...)
	text = binary.BigEndian.AppendUint64(text, uint64(number)) //nolint:gosec // it counts from one
	text = binary.BigEndian.AppendUint16(text, uint16(min(len(call), 1<<16-1)))
	text = append(text, call[:min(len(call), 1<<16-1)]...)
	text = append(text, line...)
	body := text[at+jotHead:]
	binary.BigEndian.PutUint32(text[at:], uint32(len(body))) //nolint:gosec // far less than 4 GiB wait
	binary.BigEndian.PutUint32(text[at+4:], crc32.ChecksumIEEE(body))
	return text
}

// readJots makes a sheet of those that come after one, up to the first that is not
// whole: that was never said to be kept.
func readJots(text []byte, after int64) *sheet {
	sh := &sheet{last: after}
	for len(text) >= jotHead {
		n, sum := binary.BigEndian.Uint32(text), binary.BigEndian.Uint32(text[4:])
		if text = text[jotHead:]; uint64(n) > uint64(len(text)) {
			break
		}
		body := text[:n]
		text = text[n:]
		if n < jotFace || crc32.ChecksumIEEE(body) != sum {
			break
		}
		number, call := int64(binary.BigEndian.Uint64(body)), int(binary.BigEndian.Uint16(body[8:])) //nolint:gosec // compared below
		if body = body[jotFace:]; call > len(body) {
			break
		}
		if number <= after {
			continue // the database has it
		}
		if number != sh.last+1 {
			break
		}
		sh.last = number
		sh.text = append(sh.text, body[call:]...)
		sh.lines = append(sh.lines, inked{string(body[:call]), len(sh.text)})
	}
	return sh
}

const jottedOf = `SELECT jotted FROM log_writers WHERE writer = ?`

// recover commits what those have left who ended before they could. It is called
// when nobody else uses this store yet.
func (s *Store) recover(ctx context.Context) error {
	all, err := os.ReadDir(s.ownerDir())
	if err != nil {
		return nil //nolint:nilerr // there was nobody yet, or owner says why
	}
	for _, one := range all {
		info, err := one.Info()
		if err != nil || info.Size() == 0 || !isOwner(one.Name()) {
			continue
		}
		if err := s.recoverOf(ctx, one.Name()); err != nil {
			return err
		}
	}
	return nil
}

// recoverOf is recover for one. Who has the lock of its file knows that it is gone,
// and is the only one who does this.
func (s *Store) recoverOf(ctx context.Context, id string) error {
	f, err := os.OpenFile(s.ownerFile(id), os.O_RDWR, 0)
	if err != nil {
		return nil //nolint:nilerr // somebody else was quicker
	}
	free, err := lock.File(f, false)
	if err != nil || !free {
		return f.Close()
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*mostJots+jotHead))
	if err == nil {
		err = s.pen.take(ctx)
	}
	if err == nil {
		err = s.commitJots(ctx, id, text)
		s.pen.leave()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return remove(f, s.ownerFile(id))
}

// commitJots commits the lines of somebody who is gone. Who has the turn calls it.
func (s *Store) commitJots(ctx context.Context, id string, text []byte) error {
	if err := s.pen.begin(ctx); err != nil {
		return err
	}
	var had int64
	err := s.pen.row(ctx, jottedOf, []any{id}, &had)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	sh := readJots(text, had)
	sh.writer = id
	if err == nil && len(sh.lines) > 0 {
		err = s.writeSheet(ctx, s.pen, sh, nil)
	}
	if err != nil || len(sh.lines) == 0 {
		s.pen.undo(ctx)
		return err
	}
	return s.pen.end(ctx)
}

// written takes a sheet from those that wait, and gives its room to the next.
func (l *logging) written(sh *sheet) {
	l.sheets = slices.DeleteFunc(l.sheets, func(o *sheet) bool { return o == sh })
	l.waiting -= len(sh.lines)
	l.bytes -= len(sh.text)
	if cap(sh.text) <= maxSpare {
		sh.text, sh.lines = sh.text[:0], sh.lines[:0]
		l.spare = sh
	}
}

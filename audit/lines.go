package audit

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// Lines is a log that writes each event as an [Entry] on a line of its own. Its
// lines are not linked: whoever can write where they go can change them unseen.
type Lines struct {
	mu   sync.Mutex
	w    io.Writer
	enc  Encoder
	room []byte
	err  error
}

var _ Log = (*Lines)(nil)

// NewLines makes a log that writes to w. What w has taken counts as kept.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Append writes events, in one Write. After one that failed nothing more is
// written, so that what there is can be read.
func (l *Lines) Append(events ...Event) (kept bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return false, l.err
	}
	b := l.room[:0]
	for i := range events {
		had := len(b)
		if b = l.enc.Append(b, &events[i]); len(b) > had {
			b = append(b, '\n')
		}
	}
	if len(b) > 0 {
		if n, err := l.w.Write(b); err != nil {
			l.err = fmt.Errorf("audit: %w", err)
		} else if n != len(b) {
			l.err = fmt.Errorf("audit: %w", io.ErrShortWrite)
		}
	}
	if l.room = b; cap(b) > maxRoom {
		l.room = nil
	}
	return l.err == nil, l.err
}

// maxRoom is how much room is kept for what comes next.
const maxRoom = 64 << 10

// Flush says whether all was written.
func (l *Lines) Flush(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

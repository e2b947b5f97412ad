package mcptool

import (
	"context"
	"time"
)

// What belongs to no request is written by the handler of its GET, not by who
// sends it: that may be who tells all clients of something, and does not wait for
// one that does not read.

// seat is where a client is on a track without end.
type seat struct {
	after int // the last event that it has
	first []byte
	left  <-chan struct{}
	more  <-chan struct{}
}

// open gives the track to a client that has seen nothing of it; false: another
// one has it. It is sent what nobody was sent.
func (t *track) open(out *sink) (seat, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != nil {
		return seat{}, false
	}
	after := t.written
	if _, last, ok := t.s.kept.after(t, after); !ok {
		after = last // more than is kept
	}
	first := []byte(sign)
	if t.prime {
		first = appendPrime(nil, t.eventID(after))
	}
	left := t.attachLocked(out)
	return seat{after, first, left, t.more}, true
}

// reopen gives the track to a client that has seen the events up to number after,
// whoever had it; false: what it missed is no longer kept.
func (t *track) reopen(out *sink, after int) (seat, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, _, ok := t.s.kept.after(t, after); !ok {
		return seat{}, false
	}
	left := t.attachLocked(out)
	return seat{after, []byte(sign), left, t.more}, true
}

// revive has a track that was given up go on.
func (t *track) revive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.over = false, make(chan struct{})
	t.s.kept.reopen(t)
}

// nudge has the handler look for what is to be written. The mutex is held.
func (t *track) nudge() {
	select {
	case t.more <- struct{}{}:
	default: // it was told already
	}
}

// feed writes what is sent until ctx, the session or the client's seat ends. A
// client that fell behind what is kept has to come again.
func (t *track) feed(ctx context.Context, out *sink, p seat) {
	beat := time.NewTicker(t.s.d.beat)
	defer beat.Stop()
	next := p.first
	for {
		if next != nil && out.write(next, false) != nil {
			return
		}
		next = nil
		missed, last, ok := t.s.kept.after(t, p.after)
		if !ok {
			return
		}
		for _, event := range missed {
			if out.write(event, false) != nil {
				return
			}
		}
		p.after = last
		t.wrote(out, last)
		t.s.kept.sent(t, last)
		select {
		case <-p.more:
		case <-beat.C:
			next = []byte(sign)
		case <-p.left:
			return
		case <-ctx.Done():
			return
		case <-t.s.ctx.Done():
			return
		}
	}
}

// wrote remembers what the client was sent, while it has the track.
func (t *track) wrote(out *sink, last int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == out {
		t.written = max(t.written, last)
	}
}

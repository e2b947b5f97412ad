package mcptool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about what to do when connections run out.

// awayTime is how long a client may leave open what it was asked once other calls
// of its session want the connection. A client that has failed meanwhile, or was
// killed, never says so.
const awayTime = 30 * time.Second

// restTime is how long the connection of a session is unused before another client
// may have its process: the server may keep something there for the session.
const restTime = 10 * time.Minute

// errBusy is in the tree of an error about a server that has no room for a call:
// nothing was sent.
var errBusy = errors.New("there is no room for more")

func (s *server) busy(why string) error {
	return &unreachableError{server: s.Name, place: s.place(), cause: fmt.Errorf("%w: %s", errBusy, why)}
}

// slot waits for a place among the exclusive connections. Meanwhile the call holds
// up no other: those of other servers need no place here.
func (ln *lane) slot(ctx context.Context) error {
	select {
	case ln.slots <- struct{}{}:
		return nil
	default:
	}
	defer tool.From(ctx).Aside()()
	late := time.After(ln.s.timeout())
	for {
		select {
		case ln.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return ln.s.busy(fmt.Sprintf("got %d calls of the session under way, want no more", maxExclusive))
		case <-time.After(ln.giveUpLongest()):
		}
	}
}

// giveUpLongest gives up the call whose client has been asked for longest, if it
// was long enough, and says when to look again.
func (ln *lane) giveUpLongest() (next time.Duration) {
	var longest *clock
	since := time.Now()
	ln.mu.Lock()
	for c := range ln.all {
		x := c.alone()
		if x == nil || c == ln.one {
			continue
		}
		if at, ok := x.clock.standing(); ok && at.Before(since) {
			longest, since = x.clock, at
		}
	}
	ln.mu.Unlock()
	if left := awayTime - time.Since(since); left > 0 {
		return left
	}
	longest.giveUp(errExpired)
	return time.Second
}

// retireOne ends the connection that can best be done without, and waits until it
// has ended; false: there is none.
func retireOne(ctx context.Context, lanes []*lane) bool {
	for {
		var (
			from *lane
			best spare
		)
		for _, ln := range lanes {
			if s := ln.spare(); s.strand != nil && (from == nil || s.better(best)) {
				from, best = ln, s
			}
		}
		if from == nil {
			return false
		}
		if ended := from.retire(best.strand); ended != nil { // else it is used again
			select {
			case <-ended:
			case <-ctx.Done():
			}
			return true
		}
	}
}

// spare is a connection that nobody uses.
type spare struct {
	*strand
	rests time.Duration
	kept  bool // for a session, and not for any request that comes
}

func (s spare) better(o spare) bool {
	if s.kept != o.kept {
		return o.kept
	}
	return s.rests > o.rests
}

// spare is the connection that the session can best do without.
func (ln *lane) spare() spare {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	return ln.spareLocked()
}

func (ln *lane) spareLocked() spare {
	if len(ln.idle) > 0 { // the first was not used for the longest time
		return spare{strand: ln.idle[0], rests: ln.idle[0].restsFor()}
	}
	if c := ln.one; c != nil && len(ln.again) == 0 && len(ln.followed) == 0 { // else it is told of changes
		if rests := c.restsFor(); rests >= restTime {
			return spare{strand: c, rests: rests, kept: true}
		}
	}
	return spare{}
}

// retire ends a connection that is spare; nil: it no longer is.
func (ln *lane) retire(c *strand) (ended <-chan struct{}) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.closed || ln.spareLocked().strand != c {
		return nil
	}
	if c == ln.one {
		ln.one = nil
	} else {
		ln.idle = ln.idle[1:]
	}
	delete(ln.all, c)
	done := make(chan struct{})
	ln.going.Go(func() {
		defer close(done)
		c.close()
	})
	return done
}

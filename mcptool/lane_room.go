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

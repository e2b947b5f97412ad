package mcptool

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	// steady is how long a stream must last for its end to be nothing unusual.
	steady = 10 * time.Second
	// minPause is the least between two streams, whatever the server says.
	minPause = 200 * time.Millisecond
)

// listen keeps the stream open on which a server of the old era says what belongs
// to no request, until the link ends. A server need not have one; asked is called
// when the server has said whether it does.
func (l *httpLink) listen(asked func()) {
	var at place
	wait, opened := resumeWait, false
	for l.life.Err() == nil {
		began := time.Now()
		r, err := l.get(l.life, at.id, opened)
		asked()
		switch {
		case err == nil:
			opened = true
			_, err = l.read(l.life, nil, r, &at)
			r.close()
			if at.moved || time.Since(began) > steady {
				wait = resumeWait
			}
			if errors.Is(err, errUnheard) {
				wait = maxWait
			}
			if errors.Is(err, errLong) {
				l.faults.add(err.Error())
				l.log.LogAttrs(l.life, slog.LevelWarn, "the stream of an MCP server is not read on", slog.String("why", err.Error()))
				return
			}
		case !passing(err):
			// A server that had the stream, and cannot go on from where it was, begins
			// anew.
			if !opened || at.id == "" {
				l.log.LogAttrs(l.life, slog.LevelDebug, "an MCP server has no stream of its own", slog.String("why", err.Error()))
				return
			}
			at.id = ""
		}
		pause := wait
		if at.wait > 0 {
			pause = max(at.wait, wait-resumeWait, minPause)
		}
		// Many links of one server do not come back all at once.
		if !l.pause(l.life, pause+rand.N(pause/4+1)) { //nolint:gosec // nothing depends on its being guessed
			return
		}
		wait = min(2*wait, maxWait)
	}
}

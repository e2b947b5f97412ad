package mcptool

import (
	"encoding/json"
	"time"
)

// A client that is told that nobody waits for an answer any more need not take the
// form away, and its user may still fill it in. Where the question is one that stays,
// that is an answer.

const (
	maxLate  = 64 // of a session
	lateTime = 10 * time.Minute
)

// lateAnswer is what is done with an answer that comes when nobody waits for it.
type lateAnswer struct {
	take  func(json.RawMessage)
	until time.Time
}

// mayBeLate keeps what to do with the answer to what the client was asked. Where
// there are too many, the oldest is forgotten. The mutex is held.
func (c *client) mayBeLate(id string, take func(json.RawMessage)) {
	if c.late == nil {
		c.late = make(map[string]lateAnswer)
	}
	now, oldest := time.Now(), ""
	for old, l := range c.late {
		if !l.until.After(now) {
			delete(c.late, old)
		} else if oldest == "" || l.until.Before(c.late[oldest].until) {
			oldest = old
		}
	}
	if len(c.late) >= maxLate {
		delete(c.late, oldest)
	}
	c.late[id] = lateAnswer{take, now.Add(lateTime)}
}

// answeredLate takes an answer that nobody waits for, beside all else.
func (c *client) answeredLate(m message) {
	c.mu.Lock()
	l, ok := c.late[string(m.id)]
	delete(c.late, string(m.id))
	c.mu.Unlock()
	if !ok || m.fault != nil || !l.until.After(time.Now()) || !c.begin() {
		return
	}
	c.gate.house.crew.do(func() {
		defer c.exit()
		l.take(m.result)
	})
}

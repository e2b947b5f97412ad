package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
)

// Bounds of what a client is asked and told.
const (
	maxQuestions = 256 // questions without an answer
	maxEarly     = 64  // cancelled requests that were not seen yet
	maxOver      = 256 // ids of requests that were answered last
	maxID        = 256 // bytes of an id that is remembered
	earlyTime    = time.Second
)

var errManyQuestions = errors.New("too many questions to the client without an answer")

// ask puts a request to a client of the old era and waits for its answer. It is
// errGone where the stream is no longer one that the client reads.
func (c *client) ask(ctx context.Context, to stream, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.askOrLate(ctx, to, method, params, nil)
}

// askOrLate is ask; late takes an answer that comes after ctx has ended.
func (c *client) askOrLate(ctx context.Context, to stream, method string, params json.RawMessage, late func(json.RawMessage)) (json.RawMessage, error) {
	answer := make(chan message, 1)
	c.mu.Lock()
	if len(c.asked) >= maxQuestions {
		c.mu.Unlock()
		return nil, errManyQuestions
	}
	c.asks++
	id := json.RawMessage(strconv.Itoa(c.asks))
	c.asked[string(id)] = answer
	c.mu.Unlock()
	taken := func(m message) (json.RawMessage, error) {
		if m.fault != nil {
			return nil, m.fault
		}
		return m.result, nil
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asked, string(id))
	}()
	if err := to.send(message{id: id, method: method, params: c.scrub(params)}); err != nil {
		return nil, fmt.Errorf("ask the client (%s): %w", method, err)
	}
	select {
	case m := <-answer:
		return taken(m)
	case <-unread(to):
		return nil, fmt.Errorf("ask the client (%s): %w", method, errGone)
	case <-c.shuts: // its answer would not be taken
		return nil, errShut
	case <-c.ctx.Done():
		return nil, c.why()
	case <-ctx.Done():
		c.mu.Lock()
		_, open := c.asked[string(id)]
		if open && late != nil {
			delete(c.asked, string(id))
			c.mayBeLate(string(id), late)
		}
		c.mu.Unlock()
		if !open { // it came at this moment
			return taken(<-answer)
		}
		why := setMembers(nil, pair{"requestId", id}, pair{"reason", quote("the server no longer waits for it")})
		_ = to.send(message{method: "notifications/cancelled", params: why}) // the client may be gone
		return nil, context.Cause(ctx)
	}
}

// answered takes an answer of the client to what it was asked.
func (c *client) answered(m message) {
	c.mu.Lock()
	answer := c.asked[string(m.id)]
	delete(c.asked, string(m.id))
	c.mu.Unlock()
	if answer != nil {
		answer <- m // there is room: it is answered once
		return
	}
	c.answeredLate(m)
}

// scrub takes secrets, and what looks like a key, out of what goes to the client.
func (c *client) scrub(text json.RawMessage) json.RawMessage {
	return c.cleaned(text, (*ferrule.Session).Scrub)
}

// scrubKnown takes out only the secrets that were given to somebody.
func (c *client) scrubKnown(text json.RawMessage) json.RawMessage {
	return c.cleaned(text, (*ferrule.Session).ScrubKnown)
}

// cleaned is a text as the session of the client cleans it, where it has one.
func (c *client) cleaned(text json.RawMessage, by func(*ferrule.Session, []byte) []byte) json.RawMessage {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s == nil || len(text) == 0 {
		return text
	}
	return by(s, text)
}

// notify tells the client what a server says beside all requests. Changed lists
// are told when the hub knows the new ones.
func (f *face) notify(server, method string, params json.RawMessage) {
	c := f.client
	switch changedBy(method) {
	case "tools":
		f.said.Store(true)
		return
	case "prompts", "resources":
		return
	}
	if f.era == newEra {
		if method == "notifications/resources/updated" {
			c.updated(f, textMember(params, "uri"), params)
		}
		return // in this era all else belongs to a request
	}
	c.push(message{method: method, params: c.scrub(params)})
}

// request asks the client what a server asks beside all requests.
func (f *face) request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "ping" {
		return json.RawMessage("{}"), nil
	}
	if fault := f.refuses(method, params); fault != nil {
		return nil, fault
	}
	if f.era == newEra {
		return nil, &Fault{Code: codeInvalid, Message: "the client can be asked only while it waits for an answer"}
	}
	for {
		to, err := f.client.waitStream(ctx)
		if err != nil {
			return nil, fmt.Errorf("server %s asks the client (%s): %w", server, method, err)
		}
		answer, err := f.client.ask(ctx, to, method, params)
		if _, others := to.(presence); !others || !errors.Is(err, errGone) {
			return answer, err
		}
	}
}

// notified takes a notification of the client.
func (c *client) notified(ctx context.Context, m message) {
	c.mu.Lock()
	f, gone := c.old, c.left
	c.mu.Unlock()
	switch {
	case gone || m.method == "notifications/initialized":
	case m.method == "notifications/cancelled":
		c.cancelled(m.params)
	case f == nil || c.joined.stateless: // no server has a connection that it belongs to
	case !strings.HasPrefix(m.method, "notifications/"), strings.HasPrefix(m.method, "notifications/tasks/"):
		// A request without an id: a server that runs it would run it past all rules.
	default:
		servers := c.gate.servers()
		if m.method != "notifications/roots/list_changed" {
			alone := c.gate.alone()
			if alone == nil {
				return // nobody knows whom it is for
			}
			servers = []*server{alone}
		}
		for _, s := range servers {
			if err := s.notify(ctx, f, m.method, m.params); err != nil {
				c.gate.logger().LogAttrs(ctx, slog.LevelDebug, "pass a notification on", slog.String("server", s.Name), slog.String("method", m.method), slog.Any("error", err))
			}
		}
	}
}

// cancelled stops a request of the client. One that has not been seen yet is
// stopped when it comes: requests run side by side. One that was answered a moment
// ago is over, and the next with its id is another.
func (c *client) cancelled(params json.RawMessage) {
	if c.joined.stateless {
		return // many clients, whose ids are not their own
	}
	id, ok := member(params, "requestId")
	if !ok {
		return
	}
	c.mu.Lock()
	d := c.underway[string(id)]
	if d == nil && len(c.early) < maxEarly && len(id) <= maxID && !slices.Contains(c.over, string(id)) {
		c.early[string(id)] = time.Now()
	}
	c.mu.Unlock()
	if d != nil {
		d.cancel(errCancelled)
	}
}

// register remembers a request by its id, so that it can be cancelled.
func (c *client) register(d *dialogue, id json.RawMessage) {
	if c.joined.stateless {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underway[string(id)] = d
	for old, at := range c.early {
		switch {
		case time.Since(at) > earlyTime:
			delete(c.early, old)
		case old == string(id):
			delete(c.early, old)
			d.cancel(errCancelled)
		}
	}
}

func (c *client) unregister(d *dialogue, id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underway[string(id)] != d {
		return
	}
	delete(c.underway, string(id))
	switch {
	case len(id) > maxID:
	case len(c.over) < maxOver:
		c.over = append(c.over, string(id))
	default:
		c.over[c.overAt] = string(id)
		c.overAt = (c.overAt + 1) % maxOver
	}
}

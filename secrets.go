package ferrule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file gives secrets to tools, and takes the values that were given out of
// everything that leaves: results and errors (phase 10), what calls say while
// they run, events, questions and recordings. Until a value is given out, all of
// it costs one look at a pointer.

// useSecret hands a secret to a function of the tool. Each use and each refusal
// is an event. The model is told no more than that it failed.
func (c *call) useSecret(ctx context.Context, l *lease, name string, use func([]byte) error) error {
	if !l.open() || c.lost.Load() {
		return errOver
	}
	set, used := c.turn.set, false
	var err error
	switch v := set.secrets; {
	case !l.runs:
		err = fmt.Errorf("secret %s: refused: secrets are given out only while the tool runs", name)
	case v == nil:
		err = fmt.Errorf("secret %s: refused: Runtime.Secrets is not set", name)
	default:
		err = v.Use(ctx, c.entry.wire, c.entry.tool.Secrets, name, func(value []byte) error {
			if c.turn.noted() {
				c.emitOf(l.req, audit.Event{Kind: audit.Used, Text: name})
			}
			if err := c.unwritten(); err != nil {
				return err
			}
			used = true
			return use(value)
		})
	}
	if used || err == nil {
		return err
	}
	if c.turn.noted() {
		c.emitOf(l.req, audit.Event{Kind: audit.Blocked, By: "secrets", Text: err.Error()})
	}
	return &tool.Error{Kind: tool.Failed, Text: "The tool could not have a secret that it needs.", Detail: err.Error(), Cause: err, Own: true}
}

// scrubbed is phase 10: a result without values. The observer is told which were
// in it, or in what the call has said.
func (c *call) scrubbed(res tool.Result) tool.Result {
	set := c.turn.set
	if !set.secrets.Live() {
		return res
	}
	s := scrubber{vault: set.secrets}
	res = s.result(res)
	if o := c.flow(false); o != nil {
		o.mu.Lock()
		s.note(o.scrubbed)
		o.mu.Unlock()
	}
	if taken := c.taken.Load(); taken != nil {
		s.note(*taken)
	}
	if len(s.found) > 0 {
		slices.Sort(s.found)
		c.emitBy(audit.Scrubbed, "", strings.Join(s.found, ", "))
	}
	return res
}

// shownToHooks is a result as output hooks see it: some of them are programs.
func (c *call) shownToHooks(res tool.Result) tool.Result {
	if len(c.turn.hooks) == 0 || !c.turn.set.secrets.Live() && !c.turn.set.redacts {
		return res
	}
	s := scrubber{vault: c.turn.set.secrets, keys: c.keys()}
	if res = s.result(res); s.failed != nil {
		res = c.unlooked(s.failed)
	}
	if len(s.found) > 0 {
		c.took(s.found)
	}
	return res
}

// took remembers secrets that were taken out, for who leads the call.
func (c *call) took(names []string) {
	s := scrubber{found: names}
	if before := c.taken.Load(); before != nil {
		s.note(*before)
	}
	c.taken.Store(&s.found)
}

// scrubQuestion takes values out of what a person is shown beside the arguments,
// which an answer is bound to.
func (c *call) scrubQuestion(q *policy.Question) {
	if !c.turn.set.secrets.Live() && !c.turn.set.redacts {
		return
	}
	s := scrubber{vault: c.turn.set.secrets, keys: c.keys()}
	s.text(&q.Preview)
	s.text(&q.Reason)
	s.text(&q.Wants)
	for i := range q.From {
		s.text(&q.From[i])
	}
	s.question(q)
	if len(s.found) > 0 {
		c.took(s.found)
	}
}

// scrubText is a text without values.
func (s *settings) scrubText(text string) string {
	if s.secrets.Live() {
		text, _ = s.secrets.Scrub(text)
	}
	return text
}

// scrubEvent takes values out of the texts of an event. Results and updates have
// been scrubbed before. The arguments in the request are as they were made.
func (s *settings) scrubEvent(e *audit.Event) {
	if !s.secrets.Live() {
		return
	}
	for _, text := range []*string{&e.Session, &e.Name, &e.By, &e.Text, &e.Args, &e.Flow} {
		*text = s.scrubText(*text)
	}
	if e.Decision != nil {
		d := *e.Decision
		d.Reason, d.Rule, d.Message = s.scrubText(d.Reason), s.scrubText(d.Rule), s.scrubText(d.Message)
		e.Decision = &d
	}
	if e.Request != nil {
		r := *e.Request
		who := &r.Caller
		for _, text := range []*string{&r.Name, &r.CalledAs, &r.CallID, &who.Tenant, &who.Principal, &who.Session, &who.Client, &who.Agent, &who.Run} {
			*text = s.scrubText(*text)
		}
		e.Request = &r
	}
}

// scrubLine withholds arguments that hold a value from a recording.
func (c *call) scrubLine(l *line) {
	if len(c.turn.set.secrets.Within(l.call.Input)) > 0 || c.hasKeys(string(l.call.Input)) {
		l.call.Input, l.isJSON, l.withheld = []byte(withheld), false, true
	}
}

// took remembers secrets that were taken out. The mutex is held.
func (o *outflow) took(names []string) {
	for _, name := range names {
		if !slices.Contains(o.scrubbed, name) {
			o.scrubbed = append(o.scrubbed, name)
		}
	}
}

// sieve is what can be passed on of a stream by now, without values. The mutex of
// the outflow is held.
func (c *call) sieve(o *outflow, l *lease, stream, text string) string {
	v, i := c.turn.set.secrets, streamIndex(stream)
	if (v.Live() || c.turn.set.redacts) && l.sieves == nil {
		l.sieves = new(sieves)
	}
	if v.Live() {
		if l.sieves.known == nil {
			l.sieves.known = &[2]secret.Stream{*v.Stream(), *v.Stream()}
		}
		s := &l.sieves.known[i]
		text = s.Write(text)
		o.took(s.Found())
	}
	return c.redactPiece(o, l, i, c.strain(l, i, text), false)
}

// passSieved passes on what was held back. The mutex of the outflow is held.
func (c *call) passSieved(o *outflow, l *lease) {
	for i := range len(l.strains) {
		var text string
		if l.sieves != nil && l.sieves.known != nil {
			s := &l.sieves.known[i]
			text = s.Flush()
			o.took(s.Found())
		}
		text = c.redactPiece(o, l, i, c.strainAll(l, i, text), true)
		if text = l.halves.join(streamName(i), text); text != "" {
			c.pass(o, l, tool.Update{Stream: streamName(i), Text: text})
		}
	}
}

// passHeld passes on what was held back of a function that has returned.
func (c *call) passHeld(l *lease) {
	if o := c.flow(false); o != nil && !c.lost.Load() {
		o.mu.Lock()
		defer o.mu.Unlock()
		c.passSieved(o, l)
	}
}

// scrubUpdate takes values out of an update that stands for itself. The mutex of
// the outflow is held.
func (c *call) scrubUpdate(o *outflow, u *tool.Update) {
	if v := c.turn.set.secrets; v.Live() {
		s := scrubber{vault: v}
		s.update(u)
		o.took(s.found)
	}
	c.cleanUpdate(u)
	if c.turn.set.redacts { // what was taken out may have stood in a key
		s := scrubber{keys: c.keys()}
		s.update(u)
		o.took(s.found)
	}
}

func (s *scrubber) update(u *tool.Update) {
	s.text(&u.Text)
	s.text(&u.Message)
	if u.Content != nil {
		b := *u.Content
		s.block(&b)
		u.Content = &b
	}
}

package ferrule

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file takes keys, tokens and personal data that nobody told Ferrule of out of
// all that leaves a call, where Guard says so: results, what calls say while they
// run, events, questions, recordings. It goes the way of the secrets that tools are
// given.

// unlooked stands for a text that could not be looked through.
const unlooked = "[withheld: it could not be looked through for keys]"

// keys takes keys out of the texts of the session; nil: they stay.
func (c *conversation) keys() *redact.Redactor {
	if r := c.redactor.Load(); r != nil || !c.rt.set.redacts {
		return r
	}
	c.redactor.CompareAndSwap(nil, c.rt.set.guard.Redactor())
	return c.redactor.Load()
}

func (c *call) keys() *redact.Redactor {
	if !c.turn.set.redacts {
		return nil
	}
	return c.turn.view.session.conv.keys()
}

// redact takes keys out of a text, and reports whether it is another now. What
// could not be looked through is withheld.
func (s *scrubber) redact(text *string) bool {
	if s.keys == nil || *text == "" {
		return false
	}
	var found []redact.Found
	clean, err := safely(func() (clean string, err error) { // the scanner may be the host's
		clean, found, err = s.keys.Redact(*text)
		return clean, err
	})
	if err != nil {
		s.failed, *text = err, unlooked
		return true
	}
	s.noteFound(found)
	if clean == *text {
		return false
	}
	*text = clean
	return true
}

func (s *scrubber) noteFound(found []redact.Found) {
	for _, f := range found {
		if !slices.Contains(s.found, f.Placeholder) {
			s.found = append(s.found, f.Placeholder)
		}
	}
}

// redactBytes takes keys out of what a block holds that is no string.
func (s *scrubber) redactBytes(b *tool.Content) (changed bool) {
	if s.keys == nil {
		return false
	}
	if len(b.JSON) > 0 {
		var found []redact.Found
		clean, err := safely(func() (clean []byte, err error) {
			clean, found, err = s.keys.RedactJSON(b.JSON)
			return clean, err
		})
		if err != nil {
			s.failed, clean = err, []byte(`"`+unlooked+`"`)
		}
		s.noteFound(found)
		if string(clean) != string(b.JSON) {
			b.JSON, changed = clean, true
		}
	}
	if len(b.Data) > 0 && utf8.Valid(b.Data) { // a file that is text
		if text := string(b.Data); s.redact(&text) {
			b.Data, changed = []byte(text), true
		}
	}
	return changed
}

// redacted is a part of phase 10: a result without keys. What could not be looked
// through is not given to anybody.
func (c *call) redacted(res tool.Result) tool.Result {
	s := scrubber{keys: c.keys()}
	if s.keys == nil {
		return res
	}
	if res = s.result(res); s.failed != nil {
		return c.unlooked(s.failed)
	}
	if !c.turn.set.secrets.Live() { // else it was told with the secrets
		if o := c.flow(false); o != nil {
			o.mu.Lock()
			s.note(o.scrubbed)
			o.mu.Unlock()
		}
		if taken := c.taken.Load(); taken != nil {
			s.note(*taken)
		}
	}
	if len(s.found) > 0 {
		slices.Sort(s.found)
		c.emitBy(audit.Scrubbed, "", strings.Join(s.found, ", "))
	}
	return res
}

// sameTexts reports whether the sanitizing has left a result as it was. Else what it
// took out may have stood in the middle of a key.
func sameTexts(was, is tool.Result) bool {
	if len(was.Content) != len(is.Content) || (was.Err == nil) != (is.Err == nil) || is.Err != nil && is.Err.Text != was.Err.Text {
		return false
	}
	for i := range is.Content {
		if a, b := &was.Content[i], &is.Content[i]; a.Text != b.Text || a.Name != b.Name || a.URI != b.URI || string(a.JSON) != string(b.JSON) {
			return false
		}
	}
	return true
}

// unlooked stands in the place of a result that could not be looked through.
func (c *call) unlooked(err error) tool.Result {
	why := fmt.Sprintf("it could not be looked through for keys: %v", err) // fmt stands an error that panics
	c.emitBy(audit.Blocked, "guard", why)
	c.report = nil
	return tool.Result{ID: c.first.ID, CallID: c.first.CallID, Err: &tool.Error{
		Kind: tool.UnsafeContent, Text: "What the tool returned could not be looked through for keys, so it was withheld.", Detail: why, Own: true,
	}}
}

// keyless is a text for the record.
func (c *call) keyless(text string) string {
	if c.turn.set.redacts {
		s := scrubber{keys: c.keys()}
		s.redact(&text)
	}
	return text
}

// hasKeys reports whether a text holds keys, or may.
func (c *call) hasKeys(text string) bool {
	s := scrubber{keys: c.keys()}
	return s.redact(&text)
}

// redactEvent takes keys out of what an event says. Its result and what a call said
// have none any more, and the request is as it was made.
func (t *Turn) redactEvent(e *audit.Event) {
	s := scrubber{keys: t.view.session.conv.keys()}
	s.redact(&e.Text)
	s.redact(&e.Args)
	s.redact(&e.Flow)
	if e.Decision != nil {
		d := *e.Decision
		s.redact(&d.Reason)
		s.redact(&d.Message)
		e.Decision = &d
	}
}

// question takes keys out of what a person is shown of the arguments. A rule that
// would hold one is not offered.
func (s *scrubber) question(q *policy.Question) {
	if s.keys == nil {
		return
	}
	s.redact(&q.Input)
	for i := range q.Claims.Touches {
		s.redact(&q.Claims.Touches[i].Resource)
	}
	q.Offers = slices.DeleteFunc(q.Offers, func(rule string) bool { return s.redact(&rule) })
}

// sieves are what the two streams of a function pass.
type sieves struct {
	known *[2]secret.Stream // nil: no value is known
	keys  [2]*redact.Stream
	over  [2]bool // keys could not be looked for
}

// redactPiece is what can be passed on of a stream by now, without keys; at its end
// all of it. The mutex of the outflow is held.
func (c *call) redactPiece(o *outflow, l *lease, i int, text string, last bool) string {
	if l.sieves == nil || !c.turn.set.redacts {
		return text
	}
	in := l.sieves
	if in.keys[i] == nil {
		in.keys[i] = c.keys().Stream()
	}
	clean, err := safely(func() (string, error) {
		clean, err := in.keys[i].Write(text)
		if err == nil && last {
			text, err = in.keys[i].Flush()
			clean += text
		}
		return clean, err
	})
	for _, f := range in.keys[i].Found() {
		o.took([]string{f.Placeholder})
	}
	switch {
	case err == nil:
		return clean
	case in.over[i]:
		return ""
	}
	in.over[i] = true
	return unlooked
}

package ferrule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about calls that run something outside this process: how it is
// isolated, that it can go on in the background, and that it ends with its
// session.

// inProcess is what stands on the record of a call that claims nothing and is a
// function of this program.
const inProcess = "in-process: it is a function of this program, which cannot be isolated, and runs alone"

// unisolated is why a call does not run: its tool was written by a stranger, and
// nothing stands between it and this process.
func (c *call) unisolated() *tool.Error {
	if c.entry.source.Trust != tool.SkillUntrusted || c.entry.believed || c.entry.tool.Isolation != "" {
		return nil
	}
	return &tool.Error{
		Kind: tool.Sandbox, Text: "This tool cannot be isolated, and its source is not trusted, so it does not run.",
		Detail: fmt.Sprintf("a function of %s would run in this process: trust the source, or have its tools run a program in a sandbox and say so in Info.Isolation", c.entry.source.Name),
	}
}

// isolatedBy is what the record says of a call that starts: that nothing isolates
// it, if it claims nothing.
func (c *call) isolatedBy() string {
	if c.entry.tool.Isolation == "" && c.req.Claims.Class() == "unsafe" {
		return inProcess
	}
	return ""
}

// Isolated is for [tool.Host]: see [tool.Env.Isolated].
func (l *lease) Isolated(how string) { l.note(audit.Isolated, how) }

// WentOn is for [tool.Host]: see [tool.Env.WentOn].
func (l *lease) WentOn(name string) { l.note(audit.WentOn, name) }

// note puts on the record what a function says of what it runs, unless it has
// returned or was given up. It is about the request that the function was given:
// who leads the call may hold another by now.
func (l *lease) note(kind audit.Kind, text string) {
	if !l.underway() || l.call.lost.Load() || !l.turn.noted() {
		return
	}
	l.call.emitOf(l.req, audit.Event{Kind: kind, Text: l.turn.set.scrubText(text)})
}

// underway reports whether a function has not returned. If it has, nothing of its
// turn may be looked at: it may be another's by now.
func (l *lease) underway() bool {
	l.touched.Store(true)
	return !l.returned.Load()
}

// Background is for [tool.Host]: see [tool.Env.Background].
func (l *lease) Background() <-chan struct{} {
	if !l.underway() {
		return nil
	}
	t, c := l.turn, l.call
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.returned.Load() { // meanwhile
		return nil
	}
	if c.moving == nil {
		c.moving = make(chan struct{})
	}
	return c.moving
}

// Background lets a running call end and what it runs go on, by Ferrule's id. It
// reports whether the call runs and its tool can do so; an event says when it has.
func (t *Turn) Background(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.calls, func(c *call) bool { return c.first.ID == id && !c.claimed && c.state == running && c.moving != nil })
	if i < 0 {
		return false
	}
	select {
	case <-t.calls[i].moving:
	default:
		close(t.calls[i].moving)
	}
	return true
}

// AtEnd is for [tool.Host]: see [tool.Env.AtEnd].
func (l *lease) AtEnd(f func()) bool {
	if f == nil || !l.underway() {
		return false
	}
	c := l.turn.view.session.conv
	c.mu.Lock()
	if c.ended == nil {
		c.endings = append(c.endings, f)
		c.mu.Unlock()
		return true
	}
	c.mu.Unlock()
	f()
	return true
}

// endTime is how long what is to be done at the end of a session may take.
const endTime = 15 * time.Second

// end does what is to be done when a session ends, once, and waits for it: the
// last that was begun first. Who closes the session meanwhile waits too.
func (c *conversation) end() error {
	c.mu.Lock()
	if over := c.ended; over != nil {
		c.mu.Unlock()
		<-over
		return nil // who was first has the error
	}
	over := make(chan struct{})
	defer close(over)
	endings := c.endings
	c.endings, c.ended = nil, over
	c.mu.Unlock()
	if len(endings) == 0 {
		return nil
	}
	all := make(chan error, 1)
	go func() {
		var errs []error
		for _, f := range slices.Backward(endings) {
			_, err := safely(func() (struct{}, error) { f(); return struct{}{}, nil })
			errs = append(errs, err)
		}
		all <- errors.Join(errs...)
	}()
	wait := time.NewTimer(endTime)
	defer wait.Stop()
	select {
	case err := <-all:
		if err != nil {
			return fmt.Errorf("close session %q: what it left behind: %w", c.name, err)
		}
		return nil
	case <-wait.C:
		return fmt.Errorf("close session %q: what it left behind has not ended within %s", c.name, endTime)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/lock"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
)

// trusted is what became of an answer.
type trusted struct {
	Server   string   `json:"server"`
	Answer   string   `json:"answer"`
	Allowed  []string `json:"allowed"`  // as models call them
	Accepted []string `json:"accepted"` // of these: what waited
	Out      []string `json:"out"`
	Whole    bool     `json:"whole"`   // none is offered
	Revoked  int      `json:"revoked"` // rules of the answer before
	// Stay are tools that rules which were made in other ways allow.
	Stay []string `json:"stay"`
	// Waiting are tools that are not offered until somebody accepts them.
	Waiting []string `json:"waiting"`
}

// settle does what was answered. Rules go before anything else is done, and come
// last: where it ends in between, less is allowed and not more.
func (t *trustee) settle(ctx context.Context, shown *trustScreen, c choice) (trusted, error) {
	done := trusted{Server: shown.Server, Answer: c.said, Allowed: []string{}, Accepted: append([]string{}, c.accept...), Out: append([]string{}, c.out...), Whole: c.whole, Stay: []string{}, Waiting: []string{}}
	unlock, err := t.alone(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	now, err := t.screen(ctx)
	if err != nil {
		return done, err
	}
	if now.Digest != shown.Digest {
		return done, fmt.Errorf("trust: %s: %w: look again: ferrule trust %s", shown.Server, errNotAsShown, shown.Server)
	}
	by, reason := t.p.user(), "ferrule trust "+shown.Server
	var give []policy.Grant
	kept := make(map[string]bool)
	for _, one := range c.allow {
		g := policy.Grant{Rule: one.Name, Caller: policy.Asker{Principal: localUser}, Source: shown.Server, Pin: one.pin.Key, By: by, Made: t.p.now()}
		g.ID = g.Name()
		give, kept[g.ID] = append(give, g), true
		done.Allowed = append(done.Allowed, one.Name)
	}
	var revoke []string
	for _, g := range now.rules {
		if !kept[g.ID] {
			revoke = append(revoke, g.ID)
		}
	}
	done.Revoked = len(revoke)
	if err := t.h.kept.Regrant(ctx, revoke, nil, by, reason); err != nil {
		return done, fmt.Errorf("trust: %w", err)
	}
	answer := mcptool.PinAnswer{Said: c.said, By: by, At: t.p.now().UTC(), Out: c.out, Whole: c.whole}
	if err := t.pins.Settle(now.pinned, answer, c.accept...); err != nil {
		return done, fmt.Errorf("trust: %w%s", t.overtaken(ctx, now, err), prefixed("; taken back meanwhile: ", pluralRules(done.Revoked)))
	}
	// It is on the record before anything is allowed.
	if err := t.note(by, done.events(now)...); err != nil { //nolint:contextcheck // a log has none
		return done, err
	}
	if err := t.h.kept.Regrant(ctx, nil, give, by, reason); err != nil {
		err = fmt.Errorf("trust: the answer is noted, but nothing more is allowed: %w", err)
		return done, errors.Join(err, t.note(by, "the answer for server "+done.Server+" allows nothing more: its rules could not be kept")) //nolint:contextcheck // a log has none
	}
	done.rest(now, c)
	return done, nil
}

// overtaken says of an answer that was refused whether that is because the server, or
// the answer for it, became another after it was looked at.
func (t *trustee) overtaken(ctx context.Context, was *trustScreen, err error) error {
	now, looked := t.screen(ctx)
	if looked != nil {
		return err
	}
	if now.rules = was.rules; now.digest() == was.Digest { // some were just taken back
		return err
	}
	return fmt.Errorf("%w: %w", errNotAsShown, err)
}

func pluralRules(n int) string {
	if n == 0 {
		return ""
	}
	return plural(int64(n), "rule", "rules") + " of the answer before"
}

// rest says what an answer leaves as it is.
func (d *trusted) rest(s *trustScreen, c choice) {
	for i := range s.Tools {
		t := &s.Tools[i]
		switch {
		case c.whole || slices.Contains(c.out, t.Tool):
		case t.waits() && !slices.Contains(c.accept, t.Tool) && t.State != mcptool.PinNew:
			d.Waiting = append(d.Waiting, t.Tool)
		case t.Stands == becomes("allow") && !t.trusted && !slices.Contains(c.allow, t):
			d.Stay = append(d.Stay, t.Name)
		}
	}
}

// note puts on the record what was done for the server.
func (t *trustee) note(by string, texts ...string) error {
	events := make([]audit.Event, 0, len(texts))
	for _, text := range texts {
		events = append(events, audit.Event{Kind: audit.Governed, Time: t.p.now(), Name: t.server.Name, By: by, Text: text})
	}
	if _, err := t.h.kept.Append(events...); err != nil {
		return fmt.Errorf("trust: the answer is kept, but cannot be put on the record, so that nothing more is allowed: %w", err)
	}
	return nil
}

// events are what an answer has done, but for its rules, which are on the record by
// themselves: every tool by name, and what was accepted as exactly what it is.
func (d *trusted) events(s *trustScreen) []string {
	texts := []string{"answered for server " + d.Server + ": " + d.words()}
	for i := range s.Tools {
		t := &s.Tools[i]
		if slices.Contains(d.Accepted, t.Tool) {
			texts = append(texts, fmt.Sprintf("accepted %s of server %s as it was shown, %s", mcptool.Visible(t.Tool), d.Server, t.pin.Digest))
		}
		if slices.Contains(d.Out, t.Tool) {
			texts = append(texts, fmt.Sprintf("left out %s of server %s", mcptool.Visible(t.Tool), d.Server))
		}
	}
	return texts
}

// words are what was answered.
func (d *trusted) words() string {
	switch {
	case d.Whole:
		return "it is left out"
	case d.Answer == trustOut:
		return "left out: " + someNames(d.Out) + "; the rest is asked for"
	case len(d.Allowed) == 0:
		return "every call is asked for"
	case d.Answer == trustReads:
		return "allowed what says that it only reads: " + someNames(d.Allowed) + "; the rest is asked for"
	}
	return "allowed: " + someNames(d.Allowed) + "; the rest is asked for"
}

// printTrusted says what became of an answer.
func (p *program) printTrusted(d trusted) {
	p.printf("%s: %s\n", d.Server, d.words())
	for _, line := range []struct {
		text  string
		names []string
	}{
		{"accepted as it was shown", d.Accepted},
		{"allowed all the same, by rules that were made in another way and stay (`ferrule rules`, ferrule.yaml)", d.Stay},
		{"not offered until it is accepted", d.Waiting},
	} {
		if len(line.names) > 0 {
			p.printf("  %s: %s\n", line.text, someNames(line.names))
		}
	}
	if d.Revoked > 0 {
		p.printf("  taken back: %s\n", pluralRules(d.Revoked))
	}
	if len(d.Allowed) > 0 {
		p.printf("  `ferrule rules revoke` takes single ones back; a tool that changes loses its own\n")
	}
	if d.Whole {
		p.printf("  off: true in ferrule.yaml does not even start it\n")
	}
}

// How long another trust is waited for, and how often it is looked for.
const (
	trustWait  = 5 * time.Second
	trustPause = 20 * time.Millisecond
)

// alone waits until no other process answers for a server.
func (t *trustee) alone(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(t.p.homeOf(t.h.config), "trust.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	tick := time.NewTicker(trustPause)
	defer tick.Stop()
	for began := time.Now(); ; {
		ok, err := lock.File(f, false)
		if err == nil && !ok && time.Since(began) > trustWait {
			err = errors.New("another process answers for a server just now: try again")
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("trust: %w", err), f.Close())
		}
		if ok {
			return func() { _ = f.Close() }, nil // nothing was written to it
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-tick.C:
		}
	}
}

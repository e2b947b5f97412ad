package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// showServers gives the pages the servers.
func (d *door) showServers(c *web.Console) {
	c.Servers = func(context.Context) ([]web.Server, error) { return d.servers(), nil }
	c.Settle = d.settlePins
}

func (d *door) servers() (all []web.Server) {
	pins := d.pinned()
	for i, status := range d.h.servers() {
		s := standingOf(status)
		one := web.Server{
			Name: s.Name, State: s.State, Era: s.Era, Server: s.Server, Since: status.Since, Tools: s.Tools, Restarts: s.Restarts, Why: s.Why,
			Login: s.Login, Paused: s.Paused, Isolation: s.Isolation, Faults: s.Faults, Notes: s.Notes, Rules: d.h.config.Servers[i].Rules(),
		}
		if s.State == "waiting" {
			one.Missing = d.missing(d.h.config.Servers[i])
		}
		for _, q := range status.Quarantined {
			one.Quarantined = append(one.Quarantined, web.Quarantined{Tool: q.Tool, Why: q.Why})
		}
		known, reached := pins[s.Name]
		if reached {
			d.showPins(&one, &known)
		}
		all = append(all, one)
	}
	return all
}

// missing is the program of a server that there is not; "": it is there, or it cannot be
// told here.
func (d *door) missing(s config.Server) string {
	if len(s.Command) == 0 || slices.ContainsFunc(s.Env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }) {
		return ""
	}
	name := s.Command[0]
	at := name
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		at = filepath.Join(cmp.Or(s.Dir, filepath.FromSlash(d.h.config.Workspace)), name)
	}
	if _, err := exec.LookPath(at); err == nil || errors.Is(err, exec.ErrDot) {
		return ""
	}
	return name
}

// showPins says how the tools of a server stand to what was accepted, and what was found
// in what they say.
func (d *door) showPins(s *web.Server, known *mcptool.Pinned) {
	for i := range known.Tools {
		if t := &known.Tools[i]; t.State != mcptool.PinGone {
			for _, line := range d.looked.at(d.h, t) {
				s.Found = append(s.Found, t.Tool+": "+line)
			}
		}
	}
	for i := range known.Tools {
		t := &known.Tools[i]
		one := web.Pin{Tool: t.Tool, State: string(t.State), Why: t.Why, By: t.Rejected, As: pinsAs(known, known.Tools[i:i+1])}
		if t.Waits() || leftOut(t) {
			one.Diff, one.Found = t.Diff(), d.looked.at(d.h, t)
		}
		switch {
		case t.Waits():
			s.Pins = append(s.Pins, one)
		case leftOut(t):
			s.LeftOut = append(s.LeftOut, one)
		}
	}
	waiting := known.Waiting()
	if len(waiting) > 0 {
		s.As = pinsAs(known, waiting)
	}
}

// leftOut reports whether somebody did not want a tool as it is now.
func leftOut(t *mcptool.Pin) bool { return t.Now != nil && t.Rejected != "" }

// settlePins accepts the tools of a server that wait, or one of them, as they were shown,
// or leaves them out.
func (d *door) settlePins(ctx context.Context, server, as string, accept bool) error {
	known, err := d.h.hub.Pinned(server)
	if err != nil {
		return err
	}
	chosen := known.Waiting()
	for i := range known.Tools {
		if t := &known.Tools[i]; (t.Waits() || accept && leftOut(t)) && pinsAs(&known, known.Tools[i:i+1]) == as {
			chosen = known.Tools[i : i+1]
			break
		}
	}
	switch {
	case len(chosen) == 0:
		return fmt.Errorf("no tool of %s waits any more", server)
	case pinsAs(&known, chosen) != as:
		return fmt.Errorf("the tools of %s are not what was shown any more: look at them again", server)
	}
	pins := d.p.pinsOf(d.h.config)
	done, do := "left out", pins.Reject
	if accept {
		done, do = "accepted", pins.Accept
	}
	if err := do(known, d.p.user(), pinNames(chosen)...); err != nil {
		return err
	}
	if _, err := pins.Withdraw(ctx, d.h.kept.Store, server); err != nil {
		d.log.LogAttrs(ctx, slog.LevelWarn, "a question about pins could not be withdrawn", slog.String("server", server), slog.Any("error", err))
	}
	return d.p.notePins(d.h.kept.Store, server, done+" of server "+server+": "+definitions(chosen)) //nolint:contextcheck // a log has none
}

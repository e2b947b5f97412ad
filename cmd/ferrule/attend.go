package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
)

// How often servers and questions are looked at.
const (
	lookEvery = 300 * time.Millisecond
	askEvery  = 500 * time.Millisecond
)

// say prints where the gateway is, and how clients are connected to it.
func (d *door) say() {
	d.board.print(func() {
		p, at := d.p, d.url()
		p.printf("ferrule serves %s\n", filepath.FromSlash(d.h.config.Workspace))
		p.printf("  address   %s\n", at)
		home := p.homeOf(d.h.config)
		switch {
		case d.token == "":
			p.printf("  token     none is wanted: whoever can open the address can call\n")
		case p.managed():
			p.printf("  token     in %s\n", filepath.Join(home, tokenFile))
		default:
			p.printf("  token     %s\n", d.token)
		}
		if p.managed() {
			p.printf("  console   %s/?key=, and behind it what is in %s\n", d.root(), filepath.Join(home, consoleKeyFile))
		} else {
			p.printf("  console   %s/?key=%s\n", d.root(), d.pages.Key)
		}
		p.printf("  tools     %s\n", d.offers())
		for _, note := range openTo(d.listen.Where(), d.keys != nil) {
			p.printf("  note      %s\n", note)
		}
		if p.quiet || p.managed() {
			return // the rest is for a person who has just typed the command
		}
		p.printf("\nClaude Code:\n  claude mcp add --transport http ferrule %s", at)
		if d.token != "" {
			p.printf(" --header \"Authorization: Bearer %s\"", d.token)
		}
		p.printf("\nCursor, VS Code, and servers that a client has already: ferrule connect --help, docs/clients.md\n\n")
		if p.talks() {
			p.printf("Questions are put here and in the console. Ctrl-C stops.\n")
		} else {
			p.printf("Questions wait in the console, or for `ferrule approvals`. Ctrl-C stops.\n")
		}
	})
}

// openTo says what follows from an address that other machines can reach.
func openTo(address string, encrypted bool) (notes []string) {
	host, _, err := net.SplitHostPort(address)
	ip, bad := netip.ParseAddr(host)
	if err != nil || host == "localhost" || bad == nil && ip.Unmap().IsLoopback() {
		return nil
	}
	if host == "" || bad == nil && ip.IsUnspecified() {
		notes = append(notes, "other machines can reach it; they must name it by one of listen.hosts")
	}
	if !encrypted {
		notes = append(notes, "it is not encrypted: tokens and calls go over the network in the clear, and who reads along can call; listen.tls encrypts")
	}
	return notes
}

// offers says what is served, in words.
func (d *door) offers() string {
	servers := 0
	for _, s := range d.h.config.Servers {
		if on(s) {
			servers++
		}
	}
	own, of := d.h.own(), plural(int64(servers), "server", "servers")
	switch {
	case servers == 0 && len(d.h.config.Servers) == 0:
		return fmt.Sprintf("%d of the program's own; `ferrule servers add` and `servers import` add servers", own)
	case servers == 0:
		return fmt.Sprintf("%d of the program's own; every server is off", own)
	case own <= 1: // which reads what was kept
		return fmt.Sprintf("those of %s; --builtin adds the program's own", of)
	}
	return fmt.Sprintf("those of %s, and %d of the program's own", of, own)
}

// own is how many tools there are that are of no server: what a server said when it was
// last reached is there before it is reached again.
func (h *host) own() (n int) {
	for t := range h.rt.All() {
		if !slices.ContainsFunc(h.config.Servers, func(s config.Server) bool { return s.Name == t.Source.Name }) {
			n++
		}
	}
	return n
}

// tellServers says how servers stand whenever that changes, until ctx ends. One that
// is tried again and again stands as before.
func (h *host) tellServers(ctx context.Context, tell func(line string, well bool)) {
	if len(h.config.Servers) == 0 {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told := make(map[string]string)
	for {
		for _, s := range h.servers() {
			text := serverLine(s)
			if is := standsAs(s); is != "" && told[s.Name] != is {
				told[s.Name] = is
				tell(fmt.Sprintf("server %s: %s", s.Name, text), s.State == "ready")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// standsAs is what is told of a server once; "": nothing is. The reason of a failure
// may read a little different at each try.
func standsAs(s mcptool.Status) string {
	switch s.State {
	case "connecting":
		return ""
	case "ready":
		return serverLine(s)
	}
	return s.State
}

// serverLine is how a server stands, in words.
func serverLine(s mcptool.Status) string {
	if s.State != "ready" {
		return notReady(s)
	}
	text := fmt.Sprintf("ready, %s, %d tools", s.Era, s.Tools)
	if n := len(s.Quarantined); n > 0 {
		text += fmt.Sprintf(", %d not offered (`ferrule tools` says why)", n)
	}
	if s.Login != "" {
		text += "; needs login: " + terminal.Visible(s.Login)
	}
	if s.Paused != "" {
		text += "; not asked now: " + terminal.Visible(s.Paused)
	}
	return text
}

// ask puts questions to who sits at the terminal, until ctx ends; elsewhere it only
// waits for that. An error of terminal.ErrInterrupted is a wish to stop.
func (d *door) ask(ctx context.Context) error {
	if !d.p.talks() {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	left := new(sync.Map) // ids of questions that were looked at and not answered
	for {
		list, err := d.h.kept.Pending(ctx)
		if err == nil && slices.ContainsFunc(list, func(q policy.Question) bool { _, known := left.Load(q.ID); return !known }) {
			if err := d.screen(ctx, left); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// screen shows what waits until nothing does, or the person leaves it: what waits
// then is put again only with a new question.
func (d *door) screen(ctx context.Context, left *sync.Map) error {
	screen, none := context.WithCancel(ctx)
	defer none()
	d.board.leave()
	err := terminal.Watch(screen, d.p.stdin, d.p.stdout, d.p.environ, terminal.Desk{
		By: d.p.user(),
		Pending: func(ctx context.Context) ([]policy.Question, error) {
			list, err := d.h.kept.Pending(ctx)
			if err == nil && len(list) == 0 {
				none()
			}
			for _, q := range list {
				left.Store(q.ID, true)
			}
			return list, err
		},
		Answer: func(ctx context.Context, id string, a policy.Answer) error {
			return d.p.settle(ctx, d.h.config, d.h.kept.Store, id, a)
		},
	})
	d.board.comeBack()
	switch {
	case screen.Err() != nil: // answered, or stopped
		return nil
	case errors.Is(err, terminal.ErrInterrupted):
		return err
	case err != nil:
		return fmt.Errorf("questions could not be shown: %w", err)
	}
	d.board.print(func() {
		d.p.printf("What waits is left: the console or `ferrule approvals` answers it, and the next question is put here.\n")
	})
	return nil
}

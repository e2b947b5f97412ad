package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/tool"
)

// settling is how long commands that end wait for servers.
const settling = 20 * time.Second

// sampleEvery is how often they are looked at meanwhile.
const sampleEvery = 50 * time.Millisecond

// on reports whether a server is to be connected to.
func on(s config.Server) bool { return !s.Off }

// govern tells a runtime what the configuration says of the sources that servers
// are.
func govern(rt *ferrule.Runtime, hub *mcptool.Hub, c *config.Config) {
	rt.Believe, rt.About = hub.Believes, hub.About
	rt.Trust, rt.SourceLimits = make(map[string]tool.Trust), make(map[string]int)
	for _, s := range c.Servers {
		if s.Trust != "" {
			rt.Trust[s.Name] = trustOf(s)
		}
		if s.AtOnce > 0 {
			rt.SourceLimits[s.Name] = s.AtOnce
		}
		rt.Rates = append(rt.Rates, ratesOf(s)...)
	}
}

// trustOf is the class of a server's source.
func trustOf(s config.Server) tool.Trust {
	t := tool.MCP
	if s.Trust != "" {
		if err := t.UnmarshalText([]byte(s.Trust)); err != nil { // the configuration was checked
			return tool.Web
		}
	}
	return t
}

// connect begins with the servers that are needed.
func (p *program) connect(ctx context.Context, h *host, state string, o hosting) error {
	if !o.servers {
		return nil
	}
	h.unmade, h.asked = make(map[string]string), make(map[string]bool)
	h.logins = p.loginsOf(h.config)
	for _, s := range h.config.Servers {
		h.hub.Others = append(h.hub.Others, s.Name)
		if s.Unprefixed {
			h.hub.OthersBare = append(h.hub.OthersBare, s.Name)
		}
		if s.Off || !h.needs(s, o.names) || o.only != "" && s.Name != o.only {
			continue
		}
		h.asked[s.Name] = true
		server, err := p.serverOf(ctx, h, s, state, o.looks)
		if err != nil {
			h.unmade[s.Name] = err.Error()
			continue
		}
		h.hub.Servers = append(h.hub.Servers, server)
	}
	if len(h.hub.Servers) > 0 {
		h.hub.Noted = filepath.Join(p.homeOf(h.config), listsDir)
		h.hub.Pins = filepath.Join(state, pinsDir)
		if o.looks {
			if err := copyPins(p.homeOf(h.config), state); err != nil {
				return err
			}
		} else {
			h.hub.Cache = filepath.Join(state, listsDir)
		}
		h.atEnd(h.hub.Close)
		if err := h.hub.Start(context.WithoutCancel(ctx)); err != nil { // it is closed, not stopped
			return err
		}
	}
	if o.waits && len(h.asked) > 0 {
		if err := h.settled(ctx); err != nil {
			return err
		}
		for _, s := range h.servers() {
			if s.State != "ready" && s.State != stateOff && s.State != stateIdle {
				p.complain(fmt.Sprintf("ferrule: server %s: %s", s.Name, notReady(s)))
			}
		}
	}
	return nil
}

// pinsDir is where in the state directory the pins are, listsDir where it is kept what
// servers listed last, and what they did wrong.
const (
	pinsDir  = "pins"
	listsDir = "servers"
)

// copyPins gives who only looks the pins as they are: what is seen is judged by
// them, and nothing is written.
func copyPins(home, state string) error {
	from := filepath.Join(home, pinsDir)
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(state, pinsDir), 0o700)
	}
	for _, e := range list {
		if err != nil {
			break
		}
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if err = copyPin(filepath.Join(from, e.Name()), filepath.Join(state, pinsDir, e.Name())); errors.Is(err, fs.ErrNotExist) {
			err = nil // it was just taken away
		}
	}
	if err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	return nil
}

// copyPin copies a file with its time, which says how a server was last reached.
func copyPin(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// settled waits until servers have answered, or long enough, and notes which of
// their tools are not offered. An error is that ctx has ended.
func (h *host) settled(ctx context.Context) error {
	if len(h.hub.Servers) > 0 {
		h.wait(ctx)
	}
	for _, s := range h.hub.Status() {
		for _, q := range s.Quarantined {
			h.absent = append(h.absent, absent{s.Name + "__" + q.Tool, q.Why})
		}
	}
	return ctx.Err()
}

// wait waits for servers, and remembers what first went wrong with each: one that is
// just tried again has nothing to say.
func (h *host) wait(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, h.patience)
	defer cancel()
	all := make(chan struct{})
	go func() {
		defer close(all)
		_ = h.hub.Settled(waiting) // which of them are not ready is what counts
	}()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	h.troubles = make(map[string]mcptool.Status)
	defer h.busy(h.startText())()
	for over := false; !over; {
		select {
		case <-all:
			over = true
		case <-tick.C:
		}
		for _, s := range h.hub.Status() {
			if _, known := h.troubles[s.Name]; s.Why != "" && s.State != "connecting" && !known {
				h.troubles[s.Name] = s
			}
		}
	}
}

// startText is which servers are waited for. Those that a package manager starts may have to
// be downloaded the first time.
func (h *host) startText() string {
	var names []string
	loads := ""
	for _, s := range h.hub.Servers {
		names = append(names, s.Name)
		if len(s.Command) > 0 && slices.Contains([]string{"npx", "bunx", "pnpx", "uvx", "pipx", "docker"}, filepath.Base(s.Command[0])) {
			loads = " (" + filepath.Base(s.Command[0]) + " may have to download it)"
		}
	}
	return "waiting for " + plural(int64(len(names)), "server", "servers") + ": " + someNames(names) + loads
}

// notReady says why a server is not ready.
func notReady(s mcptool.Status) string {
	return terminal.Visible(strings.TrimSuffix(s.State+": "+s.Why, ": "))
}

// needs reports whether a server must be connected to so that tools can be called:
// it is if one of them is not there yet, and may be of this server.
func (h *host) needs(s config.Server, names []string) bool {
	if names == nil {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		if h.rt.Has(name) {
			return false
		}
		of := slices.IndexFunc(h.config.Servers, func(o config.Server) bool { return ofServer(name, o) })
		return of < 0 || h.config.Servers[of].Name == s.Name
	})
}

// ofServer reports whether a tool has the name of a server in front.
func ofServer(tool string, s config.Server) bool { return strings.HasPrefix(tool, s.Name+"__") }

// serverOf is a server as it is connected to, with the values that it is given.
func (p *program) serverOf(ctx context.Context, h *host, s config.Server, state string, looks bool) (mcptool.Server, error) {
	filled, err := s.Filled(
		func(name string) (string, bool) { return p.lookup(name) },
		func(name string) (string, error) { return valueFor(ctx, h.rt.Secrets, serverUses+s.Name, name) },
	)
	if err != nil {
		return mcptool.Server{}, err
	}
	made := mcptool.Server{
		Name: s.Name, Command: s.Command, Dir: cmp.Or(s.Dir, filepath.FromSlash(h.config.Workspace)), Env: filled.Env, WrittenEnv: s.Env,
		URL: filled.URL, Written: s.URL, Header: filled.Header, Trust: trustOf(s), Believe: s.Believe, BelieveAll: s.BelieveAll,
		Unprefixed: s.Unprefixed, Timeout: s.Timeout, AtOnce: s.AtOnce, Era: s.Era, Follow: s.Follow,
		Claims: s.Claims, ArgumentBytes: s.ArgumentBytes, ResultBytes: s.ResultBytes, BreakerAfter: s.BreakerAfter, BreakerPause: s.BreakerPause,
	}
	if s.BreakerOff {
		made.BreakerAfter = tool.Unlimited
	}
	passed, _ := s.Passed(p.environ)
	if err := hidePassed(h.rt.Secrets, passed); err != nil {
		return mcptool.Server{}, err
	}
	made.Env = append(passed, made.Env...)
	if s.Isolate.Level != "" {
		box := p.boxOf(h.config, s, state, looks)
		made.Start = box.start
		h.atEnd(box.close) // after the hub
	}
	if s.CanLogin() == nil {
		made.Login = loginOf(h.logins, filled)
	}
	return made, nil
}

// What a server is that is not connected to: switched off, or not needed.
const (
	stateOff  = "off"
	stateIdle = "idle"
)

// servers says how each server of the configuration stands, in its order.
func (h *host) servers() []mcptool.Status {
	known := make(map[string]mcptool.Status)
	for _, s := range h.hub.Status() {
		known[s.Name] = s
	}
	list := make([]mcptool.Status, 0, len(h.config.Servers))
	for _, s := range h.config.Servers {
		status, ok := known[s.Name]
		if trouble, had := h.troubles[s.Name]; had && status.State != "ready" {
			status = trouble
		}
		switch why := h.unmade[s.Name]; {
		case ok:
		case s.Off:
			status = mcptool.Status{Name: s.Name, State: stateOff}
		case why != "":
			status = mcptool.Status{Name: s.Name, State: "failed", Why: why}
		default:
			status = mcptool.Status{Name: s.Name, State: stateIdle}
		}
		if !s.Off {
			status.Notes = append(h.notes(s), status.Notes...)
		}
		list = append(list, status)
	}
	return list
}

package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

// host is a runtime as the configuration describes it, with all that it needs.
type host struct {
	config  *config.Config
	environ []string // of the program
	rt      *ferrule.Runtime
	kept    *kept // nil: it only looks
	hub     *mcptool.Hub
	tells   *telemetry.Telemetry // nil: nobody is told
	logins  *logins
	unmade  map[string]string // servers that could not be begun with, and why
	asked   map[string]bool   // servers that were; nil: all
	// Troubles are what went wrong with servers while they were waited for, for as
	// long as patience lasts.
	troubles map[string]mcptool.Status
	patience time.Duration
	busy     func(text string) (done func())
	absent   []absent
	ends     []func(context.Context) error // what is to be closed, the last first
}

// hosting is what a command says beside the configuration.
type hosting struct {
	// Looks: nothing is to be run, so nothing is kept, and nothing is made.
	looks bool
	// Servers: those of the configuration are connected to. Names are the tools that
	// are needed; nil: all. Waits: until each server has answered, or some time.
	servers bool
	names   []string
	only    string // the one server that is connected to; "": all
	waits   bool
	// Serves: it is for clients, which have tools of their own. The program's tools
	// are offered where there is no server, or where they are asked for: builtin.
	serves, builtin bool
	// Asks: it is for one question of a client about its own tool, and must answer at
	// once: content passes here only as arguments on the record.
	asks bool
	// Bare: it is about servers, and nobody calls the program's own tools. To make
	// them takes its time: see needed.
	bare    bool
	fetched bool         // metrics can be fetched
	log     *slog.Logger // what servers say; nil: nobody hears it
	mode    string       // "": that of the configuration
	limit   int          // calls at once; 0: the default
	observe func(audit.Event)
	// Prepare changes the runtime before it has tools; nil: nothing is changed.
	prepare func(*host)
}

// builtinSource is where the tools come from that are part of the program.
func builtinSource() tool.Source { return tool.Source{Name: "builtin", Trust: tool.BuiltIn} }

// localUser is what a runtime calls a principal that nobody named.
const localUser = "local"

// client is what questions and records call this program.
const client = "ferrule"

// closing is how long it may take to end what calls have left behind.
const closing = 20 * time.Second

// host makes a runtime. It must be closed, also where ctx has ended.
func (p *program) host(ctx context.Context, o hosting) (h *host, err error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	h = &host{config: c, environ: p.environ, busy: p.busy, patience: cmp.Or(p.patience, settling)}
	defer func() {
		if err != nil {
			err, h = errors.Join(err, h.close(ctx)), nil
		}
	}()
	rt := &ferrule.Runtime{
		Mode: c.Policy.Mode, Rates: c.Limits.Rates, Workspace: filepath.FromSlash(c.Workspace), Protected: p.protected(c),
		Limit: o.limit, Observe: o.observe,
	}
	h.rt = rt
	h.hub = &mcptool.Hub{Runtime: rt, Name: client, Version: thisVersion().Version, Log: o.log}
	govern(rt, h.hub, c)
	if o.mode != "" {
		if err := readMode(&rt.Mode, o.mode); err != nil {
			return h, err
		}
	}
	if rt.Policy, err = p.rules(); err != nil {
		return h, err
	}
	if rt.Hooks, err = hookList(c); err != nil {
		return h, &status{statusUsage, fmt.Errorf("the hooks are wrong:\n%w", err)}
	}
	if rt.Secrets, err = vaultOf(c); err != nil {
		return h, &status{statusUsage, err}
	}
	rt.Embedder = embedderOf(c, rt.Secrets)
	if rt.Guard, err = guardOf(c); err != nil {
		return h, &status{statusUsage, err}
	}
	p.redact(h, o)
	rt.Observe = logCalls(rt.Guard, o.log, rt.Observe) //nolint:contextcheck // events have none
	if err := p.telemetry(ctx, h, o); err != nil {
		return h, err
	}
	h.hub.Look = func(definition json.RawMessage) []string { return pointOut(rt.Guard.Finder())(definition) }
	state, err := p.state(ctx, h, o.looks)
	if err != nil {
		return h, err
	}
	if o.prepare != nil {
		o.prepare(h)
	}
	if err := p.equip(ctx, h, state, o); err != nil {
		return h, err
	}
	return h, p.connect(ctx, h, state, o)
}

// state opens what outlives the process, and gives the directory of it. Who only
// looks gets one that is gone afterwards.
func (p *program) state(ctx context.Context, h *host, looks bool) (dir string, err error) {
	c := h.config
	dir = p.homeOf(c)
	if err := store.Closed(dir); err != nil {
		return "", homeError(err)
	}
	if looks {
		h.rt.Inbox, h.rt.Blobs = new(policy.Memory), new(durable.Memory) // there will be somebody to ask, and a place for long results
		dir, done, err := lookingIn()
		if err == nil {
			h.atEnd(func(context.Context) error { return done() })
		}
		return dir, err
	}
	root := filepath.FromSlash(c.Workspace)
	if info, err := os.Stat(root); err != nil || !info.IsDir() { // the state would be made below it
		return "", usage("workspace: %s is no folder: make it, or name another in ferrule.yaml", root)
	}
	if err := makeHome(dir); err != nil {
		return "", err
	}
	s, err := store.Open(ctx, p.storeOf(c))
	if err != nil {
		return "", err
	}
	h.atEnd(func(context.Context) error { return s.Close() })
	blobs, err := s.Blobs(filepath.Join(dir, "results"))
	if err != nil {
		return "", err
	}
	h.atEnd(func(context.Context) error { return blobs.Close() })
	h.kept = &kept{Store: s}
	for _, a := range c.Policy.Always {
		h.kept.always = append(h.kept.always, answers(a.Grant(c.Workspace)))
	}
	rt := h.rt
	rt.Inbox, rt.Ledger, rt.Journal, rt.Log, rt.Blobs = h.kept, h.kept, h.kept, h.kept, blobs
	return dir, nil
}

// equip gives the runtime its tools.
func (p *program) equip(ctx context.Context, h *host, state string, o hosting) error {
	h.atEnd(h.rt.Close)
	var own []*tool.Tool
	if p.own != nil {
		own = p.own()
	}
	others := slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { // of the program's, or nobody's
		return slices.ContainsFunc(own, func(t *tool.Tool) bool { return t.Name == name }) ||
			slices.ContainsFunc(h.config.Servers, func(s config.Server) bool { return ofServer(name, s) })
	})
	if !o.bare && (!o.serves || o.builtin || h.config.Tools.Written || !slices.ContainsFunc(h.config.Servers, on)) {
		list, missing, err := p.tools(ctx, h.config, state, others)
		if err != nil {
			return err
		}
		h.absent = missing
		if err := h.rt.Set(builtinSource(), list...); err != nil {
			return err
		}
	}
	if own == nil {
		return nil
	}
	return h.rt.Add(own...)
}

func (h *host) atEnd(f func(context.Context) error) { h.ends = append(h.ends, f) }

// close ends every session with what it has left running, then closes the rest.
// It does not mind that ctx has ended.
func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	var errs []error
	for _, end := range slices.Backward(h.ends) {
		errs = append(errs, end(ctx))
	}
	h.ends = nil
	return errors.Join(errs...)
}

// with makes a runtime, calls f and closes it.
func (p *program) with(ctx context.Context, o hosting, f func(*host) error) error {
	h, err := p.host(ctx, o)
	if err != nil {
		return err
	}
	err = f(h)
	defer p.busy("ending what was started")()
	if end := h.close(ctx); end != nil {
		return errors.Join(err, fmt.Errorf("not everything could be closed: %w", end))
	}
	return err
}

// newSession is the name of a session that there is not yet.
func newSession() string { return "call-" + strings.ToLower(rand.Text()[:8]) }

// session is one for calls of this program: somebody has typed the command.
func (h *host) session(name, run string) *ferrule.Session {
	return h.rt.Session(tool.Caller{Session: name, Client: client, Run: run, Attended: true})
}

// kept is the store, with the rules that stand in the configuration beside those
// that are in it: they answer as long as they stand there.
type kept struct {
	*store.Store

	mu     sync.Mutex
	always []policy.Grant // each with its ID
}

// answers is a rule of the configuration as a runtime asks for it: with a principal.
func answers(g policy.Grant) policy.Grant {
	g.Caller.Principal = cmp.Or(g.Caller.Principal, localUser)
	g.ID = g.Name()
	return g
}

// standing are the rules of the configuration that answer.
func (k *kept) standing() []policy.Grant {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.always)
}

// exchange has a rule of the configuration answer no more, and others in its place.
func (k *kept) exchange(id string, others ...policy.Grant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.always = append(slices.DeleteFunc(k.always, func(g policy.Grant) bool { return g.ID == id }), others...)
}

// Grants lists the rules of the store, then those of the configuration.
func (k *kept) Grants(ctx context.Context, of policy.Asker, tools ...policy.Grant) ([]policy.Grant, error) {
	list, err := k.Store.Grants(ctx, of, tools...)
	if err != nil {
		return nil, err
	}
	for _, g := range k.standing() {
		named := func(o policy.Grant) bool { return o.ID == g.ID }
		if (of == policy.Asker{} || g.For(of)) && (len(tools) == 0 || slices.ContainsFunc(tools, g.About)) && !slices.ContainsFunc(list, named) {
			list = append(list, g)
		}
	}
	return list, nil
}

// Append puts events on the record, but for those that are the same in each run of
// this program: which tools there are, and what was found about them.
func (k *kept) Append(events ...audit.Event) (bool, error) {
	same := func(e audit.Event) bool {
		return e.Request == nil && (e.Kind == audit.Registered || e.Kind == audit.Removed || e.Kind == audit.Found)
	}
	if !slices.ContainsFunc(events, same) {
		return k.Store.Append(events...)
	}
	if events = slices.DeleteFunc(slices.Clone(events), same); len(events) == 0 {
		return true, nil
	}
	return k.Store.Append(events...)
}

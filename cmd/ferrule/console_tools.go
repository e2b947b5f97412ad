package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/tool"
)

// showTools gives the pages the tools, and a call of one.
func (d *door) showTools(c *web.Console) {
	d.trials.session = d.h.rt.Session(callerOfConsole())
	c.Tools = func(ctx context.Context) ([]web.Tool, error) { return d.tools(ctx), nil }
	c.Try = d.trials.begin
	c.Says = func(name string) tool.Claims {
		t, _ := d.h.rt.Find(name)
		return t.Info.Claims
	}
	stop := c.Stop
	c.Stop = func(call string) bool { return d.trials.stop(call) || stop != nil && stop(call) }
}

// tools are all that there are: those that are registered, those that servers have and
// that are not offered, and those that cannot be had on this machine.
func (d *door) tools(ctx context.Context) (all []web.Tool) {
	h := d.h
	tokens := make(map[string]int)
	for t, n := range d.trials.session.View(ctx).Costs() {
		tokens[t.Name] = n
	}
	pins := d.pinned()
	byKey := make(map[string]*mcptool.Pin)
	for _, known := range pins {
		for i := range known.Tools {
			byKey[known.Tools[i].Key] = &known.Tools[i]
		}
	}
	for t := range h.rt.All() {
		l := h.listed(t)
		ruling, _ := h.ruled(t)
		one := web.Tool{
			Name: l.Name, Source: l.Source, Trust: l.Trust.String(), Class: l.Class, SideEffect: l.SideEffect, Claims: l.Claims,
			Policy: l.Policy, Rule: l.Rule, Why: ruling.Reason, Description: l.Description, Hidden: l.Hidden, Findings: l.Findings,
			Timeout: timeout(t.Info), Result: limitText(t.Info.Limit), Isolation: t.Info.Isolation, Person: t.Info.NeedsUser,
			Aliases: t.Info.Aliases, Tags: t.Info.Tags, Secrets: t.Info.Secrets, Examples: t.Info.Examples, Input: t.Info.Input, Output: t.Info.Output,
		}
		if l.Hidden == "" {
			one.Tokens = tokens[l.Name]
		}
		if pin := byKey[t.Info.Pin]; pin != nil && t.Info.Pin != "" {
			describePin(&one, pin)
			one.Found = d.looked.at(h, pin)
		}
		all = append(all, one)
	}
	for _, s := range h.servers() {
		for _, q := range s.Quarantined {
			one := web.Tool{Name: s.Name + "__" + q.Tool, Source: s.Name, Trust: d.trustIn(s.Name), Hidden: q.Why}
			if i := slices.IndexFunc(pins[s.Name].Tools, func(p mcptool.Pin) bool { return p.Tool == q.Tool }); i >= 0 {
				pin := &pins[s.Name].Tools[i]
				describePin(&one, pin)
				one.Found = d.looked.at(h, pin)
				one.Description, one.Input = saidIn(pin.Definition())
			}
			all = append(all, one)
		}
	}
	for _, a := range h.absent {
		all = append(all, web.Tool{Name: a.Name, Source: builtinSource().Name, Trust: builtinSource().Trust.String(), Hidden: a.Why})
	}
	return all
}

// trustIn is the class of a server's source.
func (d *door) trustIn(server string) string {
	for _, s := range d.h.config.Servers {
		if s.Name == server {
			return trustOf(s).String()
		}
	}
	return ""
}

// pinned is what is known of the tools of each server that is connected to.
func (d *door) pinned() map[string]mcptool.Pinned {
	all := make(map[string]mcptool.Pinned)
	for _, s := range d.h.hub.Servers {
		if known, err := d.h.hub.Pinned(s.Name); err == nil { // else how the server stands says it
			all[s.Name] = known
		}
	}
	return all
}

// describePin says how the definition of a tool stands.
func describePin(t *web.Tool, pin *mcptool.Pin) {
	t.Waits, t.LeftOut = pin.Waits(), leftOut(pin)
	words := []string{string(pin.State)}
	if pin.State == mcptool.PinAccepted && pin.By != "" {
		words = append(words, "by "+pin.By)
	}
	if !pin.Since.IsZero() {
		words = append(words, "since "+pin.Since.Local().Format("2 Jan 2006 15:04"))
	}
	if pin.Rejected != "" {
		words = append(words, "left out by "+pin.Rejected)
	}
	if pin.RenameOf != "" {
		words = append(words, "it may be "+pin.RenameOf+" under another name")
	}
	t.Pin = strings.Join(words, ", ")
}

// saidIn is what a definition says that is not registered.
func saidIn(definition json.RawMessage) (description string, input json.RawMessage) {
	var d struct {
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
	}
	_ = json.Unmarshal(definition, &d) // the rest is shown as it is
	return d.Description, d.Input
}

// looks remembers what was found in definitions, by their digests: what nobody sees, and
// what reads like an attempt to steer a model. To look takes its time, and a page shows a
// thousand of them.
type looks struct {
	mu    sync.Mutex
	found map[string][]string
}

// maxLooks is how many are remembered.
const maxLooks = 10_000

func (l *looks) at(h *host, pin *mcptool.Pin) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, known := l.found[pin.Digest]
	if known {
		return found
	}
	if l.found == nil || len(l.found) >= maxLooks {
		l.found = make(map[string][]string)
	}
	found = slices.Concat(pin.Findings, pointOut(h.rt.Guard.Finder())(pin.Definition()))
	l.found[pin.Digest] = found
	return found
}

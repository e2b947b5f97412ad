package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/tool"
)

// guardOf is how content is kept safe, as the configuration says.
func guardOf(c *config.Config) (*guard.Guard, error) {
	said := c.Content
	g := &guard.Guard{
		Sanitize: guard.Sanitizing(said.Sanitize), FailClosed: said.FailClosed,
		Tools: make(map[string]guard.Handling), Sinks: make(map[guard.Sink][]tool.Sensitivity),
		Flow: flow.Rules{Mode: flow.Mode(said.Flow), Labels: make(map[string]flow.Label), OnlyOne: capabilitiesOf(said.OnlyOne)},
	}
	for name, t := range said.Tools {
		if t.Sanitize != "" || t.FailClosed != nil {
			g.Tools[name] = guard.Handling{Sanitize: guard.Sanitizing(t.Sanitize), FailClosed: t.FailClosed}
		}
		if t.Is != nil || t.Not != nil || t.To != nil {
			g.Flow.Labels[name] = flow.Label{Is: capabilitiesOf(t.Is), Not: capabilitiesOf(t.Not), To: t.To}
		}
	}
	for _, s := range c.Servers {
		if s.Sanitize == "" && s.FailClosed == nil {
			continue
		}
		h := g.Tools[s.Name+"__*"] // of the two, one says each
		if s.Sanitize != "" {
			h.Sanitize = guard.Sanitizing(s.Sanitize)
		}
		if s.FailClosed != nil {
			h.FailClosed = s.FailClosed
		}
		g.Tools[s.Name+"__*"] = h
	}
	for sink, words := range said.Sinks {
		list := make([]tool.Sensitivity, len(words))
		for i, w := range words {
			if err := list[i].UnmarshalText([]byte(w)); err != nil { // the configuration was checked
				return nil, err
			}
		}
		g.Sinks[guard.Sink(sink)] = list
	}
	for _, f := range said.Trusted {
		g.Flow.Trusted = append(g.Flow.Trusted, flow.Trusted{From: f.From, To: f.To, At: f.At})
	}
	var err error
	if g.Scanner, err = scannerOf(c); err != nil {
		return nil, err
	}
	return g, g.Check()
}

// finder is the scanner that the configuration describes.
func (p *program) finder() (*scan.Scanner, error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	own, err := scannerOf(c)
	if err != nil {
		return nil, &status{statusUsage, err}
	}
	return (&guard.Guard{Scanner: own}).Finder(), nil
}

// scannerOf is the scanner where there are rules of the operator's; nil: there are
// none.
func scannerOf(c *config.Config) (*scan.Scanner, error) {
	var own []scan.Rule
	for _, r := range c.Content.Rules {
		rule := scan.Rule{ID: r.ID, Pattern: r.Pattern, Family: scan.Family(r.Family)}
		own = append(own, rule)
	}
	if own == nil {
		return nil, nil //nolint:nilnil // that of the default rules
	}
	s, err := scan.New(own...)
	if err == nil {
		return s, nil
	}
	for _, r := range c.Content.Rules {
		if strings.Contains(err.Error(), fmt.Sprintf("rule %q", r.ID)) {
			return nil, &config.Error{File: c.File, Line: r.Line, Column: r.Column, Text: "content.rules: " + err.Error()}
		}
	}
	return nil, fmt.Errorf("content.rules: %w", err)
}

func capabilitiesOf(words []string) (list []flow.Capability) {
	for _, w := range words {
		list = append(list, flow.Capability(w))
	}
	return list
}

// examineContent says how content is kept safe.
func (p *program) examineContent(ctx context.Context, c *config.Config) finding {
	g, err := guardOf(c)
	if err != nil {
		return finding{"content", "failed", err.Error()}
	}
	text := "results are handled by the trust of their source"
	if g.Sanitize != "" {
		text = "sanitize: " + string(g.Sanitize)
	}
	if g.FailClosed {
		text += ", and withheld where something is found"
	}
	if n := len(g.Tools); n > 0 {
		text += fmt.Sprintf(", but for what is said of %s", plural(int64(n), "tool or source", "tools or sources"))
	}
	text += "; data flow: " + cmp.Or(c.Content.Flow, string(flow.Enforce))
	text += "; " + redactedText(c)
	if n := len(c.Content.Rules); n > 0 {
		text += fmt.Sprintf("; %s of your own", plural(int64(n), "rule", "rules"))
	}
	if list := c.Content.OnlyOne; len(list) > 0 {
		text += "; a session has only one of " + strings.Join(list, ", ")
	}
	for _, n := range p.contentNotes(ctx, c) {
		text += "\nnote: " + n.Text
	}
	return finding{"content", "ok", text}
}

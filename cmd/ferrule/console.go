package main

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// console gives the pages what they show and do, of an up.
func (d *door) console(c *web.Console) error {
	key, err := consoleKey(d.p.homeOf(d.h.config))
	if err != nil {
		return err
	}
	s := d.h.kept.Store
	c.Key, c.Place, c.Version, c.Hosts, c.By = key, filepath.FromSlash(d.h.config.Workspace), thisVersion().Version, d.hosts(), d.p.user()
	c.Pending = s.Pending
	c.Answer = func(ctx context.Context, id string, a policy.Answer) error {
		if err := d.fits(ctx, id, a); err != nil {
			return err
		}
		return d.p.settle(ctx, d.h.config, s, id, a)
	}
	c.Stop = d.gateway.Stop
	c.Writes = func(writer string) bool {
		there, err := s.Writes(writer)
		return there || err != nil // which says nothing of it
	}
	c.Left = func(ctx context.Context) ([]web.Left, error) { return leftIn(ctx, s) }
	c.Resolve = func(ctx context.Context, call string, done bool, note string) error {
		return s.Resolve(ctx, call, done, d.p.user(), note)
	}
	c.Last = func(ctx context.Context) (int64, error) {
		_ = s.Flush(ctx) // what cannot be written is told elsewhere, and what is there can be read
		return s.LastPlace(ctx)
	}
	c.Lines = func(ctx context.Context, f web.Filter) ([]web.Line, error) { return linesOf(ctx, s, f) }
	c.Withheld, c.Result = d.withheld, d.result
	d.showHistory(c)
	d.showTools(c)
	d.showRules(c)
	d.showServers(c)
	return nil
}

// leftIn are the calls of the journal that have not ended, and whose process is gone.
func leftIn(ctx context.Context, s *store.Store) (all []web.Left, err error) {
	open, err := s.Open(ctx, durable.Place{})
	for i := range open {
		r := &open[i]
		fate, why := r.Fate()
		if fate == durable.FateRunning {
			continue
		}
		all = append(all, web.Left{
			Call: r.ID, Tool: tool.WireName(r.Source, r.Tool), Source: r.Source, For: whoseOf(r), Session: r.Place.Session, Turn: r.Place.Turn,
			Began: r.Began, Args: r.Input, Why: why, Again: fate == durable.FateAgain,
		})
	}
	return all, err
}

// fits refuses edited arguments that the tool cannot take, before the answer is spent.
func (d *door) fits(ctx context.Context, id string, a policy.Answer) error {
	if a.Input == nil {
		return nil
	}
	q, err := d.h.kept.Find(ctx, id)
	if err != nil {
		return err
	}
	plan := d.h.session(newSession(), "").View(ctx).Plan(ctx, tool.Call{Name: q.Tool, Input: a.Input})
	if e := plan[0].Err; e != nil && e.Kind == tool.InvalidInput {
		return usage("the arguments do not fit: %s", strings.TrimPrefix(e.Text, "InputValidationError: "))
	}
	return nil
}

// linesOf are lines of the record.
func linesOf(ctx context.Context, s *store.Store, f web.Filter) ([]web.Line, error) {
	_ = s.Flush(ctx) // as above
	var entries iter.Seq2[store.Logged, error]
	switch {
	case f.Calls != nil:
		entries = s.Lives(ctx, f.Calls...)
	case f.Questions != nil:
		entries = s.Questioned(ctx, f.Questions...)
	default:
		entries = s.Entries(ctx, store.Filter{Session: f.Session, Tool: f.Tool, Kind: f.Kind, Verdict: f.Verdict, Text: f.Text, After: f.After, Before: f.Before, Newest: f.Newest})
	}
	all, err := collect(first(entries, f.Oldest))
	lines := make([]web.Line, len(all))
	for i, l := range all {
		lines[i] = web.Line{Place: l.Place, Writer: l.Writer, Entry: l.Entry}
	}
	return lines, err
}

// first are so many entries at most; 0: all.
func first(entries iter.Seq2[store.Logged, error], most int) iter.Seq2[store.Logged, error] {
	if most <= 0 {
		return entries
	}
	return func(yield func(store.Logged, error) bool) {
		n := 0
		for l, err := range entries {
			if n++; !yield(l, err) || n == most {
				return
			}
		}
	}
}

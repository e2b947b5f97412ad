package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/undo"
)

// showHistory gives the pages what was changed in files, and how the record stands.
func (d *door) showHistory(c *web.Console) {
	past := &past{d: d}
	c.Changes, c.Diff, c.Undo = past.changes, past.diff, past.undo
	c.Verify = func(ctx context.Context) (web.Chain, error) {
		r, err := d.h.kept.Verify(ctx, nil)
		return chainOf(r), err
	}
}

// chainOf is what was found, for pages.
func chainOf(r audit.Report) web.Chain {
	chain := web.Chain{Rows: int(r.Rows), Writers: len(r.Marks), Text: counted(r.Rows, len(r.Marks))}
	for _, f := range r.Faults {
		chain.Faults = append(chain.Faults, f.Error())
	}
	if r.More > 0 {
		chain.Faults = append(chain.Faults, "and "+plural(r.More, "fault", "faults")+" more")
	}
	return chain
}

// past is what tools changed in files. The history is opened when there is one, and
// once: to open it is to sweep it.
type past struct {
	d  *door
	mu sync.Mutex
	h  *undo.History
}

// open gives the history, and what is in it, newest first; nil: nothing ever was.
func (p *past) open(ctx context.Context) (*undo.History, []undo.Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.h == nil {
		h, err := p.d.p.historyOf(ctx, p.d.h.config)
		if h == nil || err != nil {
			return nil, nil, err
		}
		p.h = h
	}
	list, err := changesOf(ctx, p.h)
	return p.h, list, err
}

func (p *past) changes(ctx context.Context) ([]web.Change, error) {
	_, list, err := p.open(ctx)
	all := make([]web.Change, len(list))
	for i, e := range list {
		all[i] = web.Change{
			ID: e.ID, At: e.At, Path: e.Path(), File: p.short(e), What: e.What(), Tool: e.Tool, Call: e.Call, Session: e.Session,
			Of: e.Of, UndoneBy: e.UndoneBy,
		}
	}
	return all, err
}

// short is a file as people name it: from the workspace on.
func (p *past) short(e undo.Entry) string {
	rel, err := filepath.Rel(filepath.FromSlash(p.d.h.config.Workspace), e.Path())
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return e.Path()
	}
	return filepath.ToSlash(rel)
}

// entry is one change by its id, with all of them.
func (p *past) entry(ctx context.Context, id string) (h *undo.History, e undo.Entry, list []undo.Entry, err error) {
	h, list, err = p.open(ctx)
	if err != nil {
		return nil, e, nil, err
	}
	i := slices.IndexFunc(list, func(e undo.Entry) bool { return e.ID == id })
	if i < 0 {
		return nil, e, nil, fmt.Errorf("undo: %q: %w, or it is not kept any more", id, undo.ErrUnknown)
	}
	return h, list[i], list, nil
}

// diff is what undoing a change would do, and who has changed its file since.
func (p *past) diff(ctx context.Context, id string) (diff, since string, err error) {
	h, e, list, err := p.entry(ctx, id)
	if err != nil {
		return "", "", err
	}
	now, err := asItIs(h, e.Path(), nil)
	if err != nil {
		return "", "", err
	}
	diff, what, err := restoreDiff(h, e, now)
	if err != nil || what == "" || now.digest == e.Left.Digest {
		return diff, "", err
	}
	since = "somebody"
	for _, o := range list { // newest first
		if o.ID != e.ID && o.Path() == e.Path() && o.UndoneBy == "" && o.Left.Digest == now.digest {
			since = cmp.Or(o.Tool, "undo") + " (change " + o.ID + ")"
			break
		}
	}
	return diff, since, nil
}

// undo puts a file back, and that on the record.
func (p *past) undo(ctx context.Context, id string, force bool) (said string, err error) {
	h, e, _, err := p.entry(ctx, id)
	if err != nil {
		return "", err
	}
	by, err := h.Restore(ctx, id, force)
	changed, ok := errors.AsType[*undo.ChangedError](err)
	switch {
	case ok && changed.By.ID != "":
		return "", fmt.Errorf("%s was left as it is: %s has changed it since (change %s). Undo that one first, or put this one back all the same", p.short(e), cmp.Or(changed.By.Tool, "undo"), changed.By.ID)
	case ok:
		return "", fmt.Errorf("%s was left as it is: somebody has changed it since. Look at what would be lost; it can be put back all the same, and that can be undone too", p.short(e))
	case errors.Is(err, undo.ErrAsItWas):
		return p.short(e) + " is as it was before: there was nothing to do", nil
	case err != nil:
		return "", err
	}
	said = p.short(e) + " was put back as it was"
	if by.What() == "removed" {
		said = p.short(e) + " was removed again"
	}
	return said, p.d.p.noteUndone(p.d.h.kept, reversal{e, by})
}

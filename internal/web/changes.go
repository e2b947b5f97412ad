package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// changes are those that tools made to files, newest first.
type changes struct {
	Changes []Change `json:"changes"`
	Older   string   `json:"older,omitempty"` // what to ask for those before them (before=); "": there are none
	All     int      `json:"all"`             // how many there are
	Undoes  bool     `json:"-"`
}

// pageChanges is how many are shown at once.
const pageChanges = 100

// changed is one change, and what undoing it would do.
type changed struct {
	Change Change `json:"change"`
	Diff   string `json:"diff,omitempty"`
	// Since is who has changed the file since: undoing takes force, and loses that.
	Since  string `json:"since,omitempty"`
	Wrong  string `json:"wrong,omitempty"` // why it cannot be said what undoing would do
	Undoes bool   `json:"-"`
}

// undoing says how a change is undone.
type undoing struct {
	Force bool `json:"force,omitempty"` // also where the file was changed since
}

func (c *Console) changeRoutes(m *http.ServeMux) {
	pairAt(c, m, "/history/changes", "/changes", "changes", "Changed files", func(r *http.Request) (changes, error) {
		return c.changesPage(r.Context(), r.URL.Query().Get("before"))
	})
	pairAt(c, m, "/history/changes/{id}", "/changes/{id}", "change", "Changed file", func(r *http.Request) (*changed, error) {
		return c.change(r.Context(), r.PathValue("id"))
	})
	read := func(v url.Values) (undoing, error) { return undoing{v.Get("force") == "true"}, nil }
	act(c, m, "/changes/{id}/undo", read, func(r *http.Request, in undoing) (string, error) {
		if c.Undo == nil {
			return "", missing("changes are not undone here")
		}
		one, err := c.changeOf(r.Context(), r.PathValue("id"))
		if err != nil {
			return "", err
		}
		said, err := c.Undo(r.Context(), one.ID, in.Force)
		c.Changed()
		return said, err
	})
}

// changesPage are some changes: the newest, or those before one.
func (c *Console) changesPage(ctx context.Context, before string) (p changes, err error) {
	p = changes{Changes: []Change{}, Undoes: c.Undo != nil}
	if c.Changes == nil {
		return p, nil
	}
	list, err := c.Changes(ctx)
	if err != nil {
		return p, err
	}
	p.All = len(list)
	if before != "" {
		at := slices.IndexFunc(list, func(one Change) bool { return one.ID == before })
		if at < 0 {
			return p, missing(fmt.Sprintf("no change %q is kept any more: see the newest ones", before))
		}
		list = list[at+1:]
	}
	if len(list) > pageChanges {
		list = list[:pageChanges]
		p.Older = list[pageChanges-1].ID
	}
	p.Changes = append(p.Changes, list...)
	return p, nil
}

// changeOf is a change by its id.
func (c *Console) changeOf(ctx context.Context, id string) (Change, error) {
	if c.Changes != nil {
		list, err := c.Changes(ctx)
		if err != nil {
			return Change{}, err
		}
		if at := slices.IndexFunc(list, func(one Change) bool { return one.ID == id }); at >= 0 {
			return list[at], nil
		}
	}
	return Change{}, missing(fmt.Sprintf("no change has the id %q, or it is not kept any more: /history/changes lists those that are", id))
}

// change is one, with what undoing it would do.
func (c *Console) change(ctx context.Context, id string) (*changed, error) {
	change, err := c.changeOf(ctx, id)
	if err != nil {
		return nil, err
	}
	one := &changed{Change: change, Undoes: c.Undo != nil}
	if c.Diff == nil || change.UndoneBy != "" {
		return one, nil
	}
	if one.Diff, one.Since, err = c.Diff(ctx, id); err != nil {
		one.Wrong = err.Error()
	}
	return one, nil
}

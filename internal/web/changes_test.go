package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/web"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	list := []web.Change{
		{ID: "c3", File: "a.txt", What: "removed", Of: "c1"},
		{ID: "c2", File: "b.txt", What: "changed", Tool: "write", Call: "call-2"},
		{ID: "c1", File: "a.txt", What: "created", Tool: "write", UndoneBy: "c3"},
	}
	t.Run("U1 newest first, with what was undone by what", func(t *testing.T) {
		t.Parallel()
		p := (&pastHost{changes: list}).console(t)
		text := p.get("/history/changes", http.StatusOK)
		places := []int{strings.Index(text, `id="f-c3"`), strings.Index(text, `id="f-c2"`), strings.Index(text, `id="f-c1"`)}
		if !slices.IsSorted(places) || places[0] < 0 {
			t.Errorf("got %s, want the newest first", text)
		}
		for _, want := range []string{`undone by <a href="/history/changes/c3">`, `undo of <a href="/history/changes/c1">`, `href="/history/call-2"`, `action="/api/changes/c3/undo"`} {
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %q", text, want)
			}
		}
		if strings.Contains(text, `action="/api/changes/c1/undo"`) {
			t.Error("what is undone is offered to be undone")
		}
	})
	t.Run("U1 none is lost or twice between pages", func(t *testing.T) {
		t.Parallel()
		h := new(pastHost)
		var want []string
		for i := range 310 {
			h.changes = append(h.changes, web.Change{ID: fmt.Sprint("c", i)})
			want = append(want, fmt.Sprint("c", i))
		}
		p := h.console(t)
		var got []string
		for before := ""; ; {
			var page struct {
				Changes []web.Change
				Older   string
			}
			p.json("/api/changes?before="+before, &page)
			for _, c := range page.Changes {
				got = append(got, c.ID)
			}
			if before = page.Older; before == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("U1 undone by a form, without a script", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{changes: list, diff: "--- b.txt\n+++ b.txt\n-new\n+old\n"}
		p := h.console(t)
		word := p.browser()
		text := p.get("/history/changes/c2", http.StatusOK)
		if !strings.Contains(text, `<span class="del">-new`) || !strings.Contains(text, "Put it back") || strings.Contains(text, "force") {
			t.Errorf("got %s, want what it would do", text)
		}
		status, _, header := p.do(http.MethodPost, "/api/changes/c2/undo", form, url.Values{"form": {word}, "back": {"/history/changes/c2"}}.Encode())
		if to := header.Get("Location"); status != http.StatusSeeOther || !strings.HasPrefix(to, "/history/changes/c2?") || !strings.Contains(to, "said=it+was+put+back") {
			t.Errorf("got %d to %q, want back to the change", status, to)
		}
		if !slices.Equal(h.undone, []string{"c2"}) {
			t.Errorf("got %q undone, want c2", h.undone)
		}
	})
	t.Run("U1 a file that somebody changed since takes a second form", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{changes: list, since: "somebody"}
		p := h.console(t)
		word := p.browser()
		_, _, header := p.do(http.MethodPost, "/api/changes/c2/undo", form, url.Values{"form": {word}, "back": {"/history/changes/c2"}}.Encode())
		to := header.Get("Location")
		if !strings.Contains(to, "failed=1") || len(h.undone) != 0 {
			t.Fatalf("got %q, %q undone, want that it was left", to, h.undone)
		}
		text := p.get(to, http.StatusOK)
		if !strings.Contains(text, "somebody has changed it since") || !strings.Contains(text, "Put it back all the same") || !strings.Contains(text, `name="force" value="true"`) {
			t.Errorf("got %s, want why, and the form", text)
		}
		p.do(http.MethodPost, "/api/changes/c2/undo", form, url.Values{"form": {word}, "back": {"/history/changes/c2"}, "force": {"true"}}.Encode())
		if !slices.Equal(h.undone, []string{"c2 force"}) {
			t.Errorf("got %q undone, want c2 by force", h.undone)
		}
	})
	t.Run("U1 a form of another site undoes nothing", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{changes: list}
		p := h.console(t)
		p.browser()
		for _, word := range []string{"", "guessed"} {
			if status, _, _ := p.do(http.MethodPost, "/api/changes/c2/undo", form, url.Values{"form": {word}}.Encode()); status != http.StatusForbidden {
				t.Errorf("got %d, want %d", status, http.StatusForbidden)
			}
		}
		if len(h.undone) != 0 {
			t.Errorf("got %q undone, want nothing", h.undone)
		}
	})
	t.Run("U1 by a program", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{changes: list, since: "somebody"}
		p := h.console(t)
		if status, text, _ := p.do(http.MethodPost, "/api/changes/c2/undo", asJSON, ""); status != http.StatusUnprocessableEntity || !strings.Contains(text, "has changed it since") {
			t.Errorf("got %d: %s, want why not", status, text)
		}
		if status, text, _ := p.do(http.MethodPost, "/api/changes/c2/undo", asJSON, `{"force": true}`); status != http.StatusOK || !strings.Contains(text, "it was put back") {
			t.Errorf("got %d: %s, want what was done", status, text)
		}
		if status, text, _ := p.do(http.MethodPost, "/api/changes/c2/undo", asJSON, `{"force": "yes"}`); status != http.StatusBadRequest {
			t.Errorf("got %d: %s, want that it is not understood", status, text)
		}
		if !slices.Equal(h.undone, []string{"c2 force"}) {
			t.Errorf("got %q undone, want c2 by force", h.undone)
		}
	})
}

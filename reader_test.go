package ferrule_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// firstPage keeps the result of a tool log, and reads the first page of it.
func firstPage(t testing.TB, v *ferrule.View) tool.Result {
	t.Helper()
	s := ferrule.SessionOf(v)
	page := s.Call(t.Context(), "read_result", fmt.Sprintf(`{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", ""))))
	if page.Err != nil {
		t.Fatal(page.Err)
	}
	return page
}

func TestReader(t *testing.T) {
	t.Parallel()
	log := fixed("log", sayText(logOf(10_000)))
	t.Run("H1 a hook for one tool does not see pages", func(t *testing.T) {
		t.Parallel()
		var seen []string
		firstPage(t, viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), Hooks: []ferrule.Hook{{
			Name: "shell", Only: ferrule.Filter{Names: []string{"shell"}},
			Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
				seen = append(seen, r.Name)
				return nil, nil
			},
		}}}, log))
		if len(seen) > 0 {
			t.Errorf("a hook of shell saw %q", seen)
		}
	})
	for name, h := range map[string]ferrule.Hook{
		"that makes it anew": {Output: func(_ context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
			return &tool.Result{Content: now.Content}, nil
		}},
		"that wraps it": {Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			return tool.Result{Content: next(ctx).Content}
		}},
		"that says it is another's": {Output: func(_ context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
			now.Origin = &tool.Origin{Tool: "liar"}
			return &now, nil
		}},
	} {
		t.Run("O5 a page keeps its origin through a hook "+name, func(t *testing.T) {
			t.Parallel()
			h.Name = "hook"
			page := firstPage(t, viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), Hooks: []ferrule.Hook{h}}, log))
			if page.Origin == nil || page.Origin.Tool != "log" {
				t.Errorf("origin = %v, want log", page.Origin)
			}
		})
	}
	t.Run("O5 what a hook says beside a page is not cut out of it", func(t *testing.T) {
		t.Parallel()
		note := ferrule.Hook{Name: "note", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Context: strings.Repeat("note ", 400)}, nil
		}}
		page := firstPage(t, viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), Hooks: []ferrule.Hook{note}}, log))
		if strings.Contains(page.String(), "Truncated") || len(page.Content) != 3 || len(page.Content[0].Text) != 63_000 {
			t.Errorf("page = %.60q…, want all of it, and the note", page)
		}
	})
	for name, v := range map[string]*ferrule.View{
		"its own read_result":    viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, log, fixed("read_result", sayText("own"))),
		"a view without it":      viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, log).Only(ferrule.Filter{Names: []string{"read_result"}, Not: true}),
		"a store that is silent": viewWith(t, &ferrule.Runtime{Blobs: new(silentBlobs)}, log),
	} {
		t.Run("O5 nobody is told to read on who cannot: "+name, func(t *testing.T) {
			t.Parallel()
			res := v.Do(t.Context(), tool.Call{Name: "log"})[0]
			if strings.Contains(res.String(), "Read on") || !strings.Contains(res.String(), "showing first 32000 and last 32000]") {
				t.Errorf("result = %.60q…, want its middle cut, and no more said", res)
			}
		})
	}
	t.Run("R10 it cannot be removed", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Blobs: new(durable.Memory)}
		v := viewWith(t, rt, log)
		if rt.Remove("read_result") {
			t.Error("it was")
		}
		firstPage(t, v)
	})
	t.Run("R11 it is no finding", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Blobs: new(durable.Memory)}
		rt.Session(tool.Caller{})
		if got := rt.Findings(); len(got) > 0 {
			t.Errorf("findings = %v", got)
		}
	})
	t.Run("R11 a tool that has its name is one", func(t *testing.T) {
		t.Parallel()
		for _, trust := range []tool.Trust{tool.Own, tool.BuiltIn} {
			rt := &ferrule.Runtime{Blobs: new(durable.Memory), Collisions: ferrule.Refuse}
			source := tool.Source{Name: "aaa", Trust: trust}
			if trust == tool.Own {
				source.Name = ""
			}
			if err := rt.Set(source, checkedTool(t, fixed("read_result", sayText("own")))); err != nil {
				t.Error(err)
			}
			if !slices.ContainsFunc(rt.Findings(), func(f ferrule.Finding) bool {
				return strings.Contains(f.Text, `"read_result" of source "ferrule" is not seen`)
			}) {
				t.Errorf("%s: findings = %v, want that kept results cannot be read", trust, rt.Findings())
			}
		}
	})
}

// silentBlobs is a store that keeps texts and does not say as what.
type silentBlobs struct{ durable.Memory }

func (*silentBlobs) Put(context.Context, string, durable.Note, ...string) (string, error) {
	return "", nil
}

func TestOddStore(t *testing.T) {
	t.Parallel()
	log := fixed("log", sayText(logOf(10_000)))
	for name, sweep := range map[string]func(){"panics": func() { panic("oh") }, "hangs": hang} {
		t.Run("O5 a sweep that "+name+" does not cost the result that it came with", func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				var found []string
				rt := &ferrule.Runtime{Blobs: &oddBlobs{sweep: sweep}, Observe: func(e audit.Event) {
					if e.Kind == audit.Found && e.Name == "Runtime.Blobs" {
						found = append(found, e.Text)
					}
				}}
				began := time.Now()
				handleIn(t, callOne(t, rt, log, ""))
				if took := time.Since(began); took > 20*time.Second || len(found) != 1 || !strings.HasPrefix(found[0], "sweep: ") {
					t.Errorf("it took %s, and the operator was told %.60q", took, found)
				}
			})
		})
	}
	t.Run("O5 a store that does not say what it holds holds up a view for seconds, once", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			s := (&ferrule.Runtime{Blobs: &oddBlobs{holds: hang}}).Session(tool.Caller{})
			began := time.Now()
			for range 3 {
				s.View(t.Context())
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("three views took %s", took)
			}
		})
	})
	t.Run("D6 a store that hangs does not hold up the host's stop", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, &ferrule.Runtime{Blobs: &oddBlobs{put: hang}}, log)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			v.Do(ctx, tool.Call{Name: "log"})
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("it took %s, want a second until the stop and a little", took)
			}
		})
	})
	t.Run("O5 a directory that was deleted: the operator is told, the model reads that it cannot be read now", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		store, err := durable.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Blobs: store}, log))
		in := fmt.Sprintf(`{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", "")))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		res := s.Call(t.Context(), "read_result", in)
		wantFailure(t, res, tool.Failed, "The kept result cannot be read now. Call the tool that gave it again, if you need it.")
		if !strings.Contains(res.Err.Detail, "the store is gone") || !strings.Contains(res.Err.Detail, dir) {
			t.Errorf("the operator reads %q", res.Err.Detail)
		}
	})
}

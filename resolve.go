package ferrule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// resolve is phase 1: name, alias, fallback.
func (v *View) resolve(ctx context.Context, name string) (*entry, *tool.Error) {
	if e := v.tools.find(name); e != nil {
		if e.deferred() && !slices.Contains(v.loaded.entries(), e) {
			v.session.conv.load(e)
			return e, &tool.Error{Kind: tool.NotLoaded, Text: fmt.Sprintf("Tool %s was not loaded. It is now: call it again.\nIts input schema: %s", name, e.tool.Input)}
		}
		return e, nil
	}
	detail := ""
	if v.fallback != nil {
		s := v.session
		t, err := bounded(ctx, otherTime, func(ctx context.Context) (*tool.Tool, error) { return v.fallback(ctx, s.caller, name) })
		if err == nil && t != nil {
			var made []*entry
			if made, err = s.rt.reg.entries(tool.Source{Trust: tool.Own}, []*tool.Tool{t}); err == nil {
				return made[0], nil
			}
		}
		if err != nil {
			detail = "the fallback failed: " + err.Error()
		}
	}
	return nil, &tool.Error{Kind: tool.UnknownTool, Text: v.notFound(name), Detail: detail}
}

// notFound says what names of the view are near the one that was called.
func (v *View) notFound(name string) string {
	shown := name
	if len(shown) > 128 {
		shown = strings.ToValidUTF8(shown[:128], "") + "…"
	}
	text := "Tool not found: " + shown
	if near := nearest(name, v.Names()); len(near) > 0 {
		text += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// nearest are up to three names that differ little from the one given.
func nearest(name string, names []string) []string {
	if len(name) > 128 {
		name = name[:128]
	}
	type near struct {
		name string
		far  int
	}
	var all []near
	low := strings.ToLower(name)
	for _, n := range names {
		most := max(len(n), len(name))/3 + 1
		other := strings.ToLower(n)
		d := distance(low, other, most)
		if d > most && (strings.Contains(other, low) || strings.Contains(low, other)) && len(low) >= 3 {
			d = most
		}
		if d <= most {
			all = append(all, near{n, d})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.far - b.far })
	var list []string
	for _, n := range all[:min(len(all), 3)] {
		list = append(list, n.name)
	}
	return list
}

// distance is how many letters must be changed to make b of a, or more than
// most.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(b)]
}

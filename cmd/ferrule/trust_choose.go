package main

import (
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// choice is an answer for a server, and what follows from it.
type choice struct {
	said   string
	allow  []*trustedTool // by a rule each
	accept []string       // of these: what waits
	out    []string
	whole  bool // all are out
}

// choose is what an answer comes to; names are of its tools.
func (s *trustScreen) choose(said string, names []string) (choice, error) {
	c := choice{said: said}
	switch said {
	case trustReads:
		for i := range s.Tools {
			if t := &s.Tools[i]; t.Reads {
				c.allow = append(c.allow, t)
			}
		}
		return c, nil
	case trustAsk:
		return c, nil
	}
	if c.whole = said == trustOut && len(names) == 0; c.whole {
		return c, nil
	}
	for _, name := range names {
		t, err := s.tool(name)
		if err != nil {
			return c, err
		}
		switch {
		case said == trustOut && !slices.Contains(c.out, t.Tool):
			c.out = append(c.out, t.Tool)
		case said == trustThese && !slices.Contains(c.allow, t):
			if c.allow = append(c.allow, t); t.waits() {
				c.accept = append(c.accept, t.Tool)
			}
		}
	}
	return c, nil
}

// tool is the tool of a name: the server's own, else that for models.
func (s *trustScreen) tool(name string) (*trustedTool, error) {
	name = strings.TrimSpace(name)
	for _, same := range []func(*trustedTool) bool{
		func(t *trustedTool) bool { return t.Tool == name },
		func(t *trustedTool) bool { return t.Name == name },
	} {
		for i := range s.Tools {
			if same(&s.Tools[i]) {
				return &s.Tools[i], nil
			}
		}
	}
	for _, a := range s.Unusable {
		if a.Name == name {
			return nil, usage("trust: %s of %s cannot be offered, whatever is answered: %s", name, s.Server, a.Why)
		}
	}
	known := make([]string, 0, len(s.Tools))
	for i := range s.Tools {
		known = append(known, s.Tools[i].Tool)
	}
	return nil, usage("trust: %s has no tool %q%s", s.Server, mcptool.Visible(name), orList(nearest(name, known), "`ferrule trust "+s.Server+"` lists them"))
}

// someNames lists some names.
func someNames(names []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, terminal.Brief(n, 80))
	}
	text := strings.Join(shown, ", ")
	if n := len(names) - most; n > 0 {
		text += " and " + plural(int64(n), "other", "others")
	}
	return text
}

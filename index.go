package ferrule

import (
	"fmt"
	"strings"
)

// maxSources is how many sources the index of a deferred view names.
const maxSources = 100

// index is what stands in a prompt of the tools that can be found: how many each
// source has, or all names, with what they begin with said once.
func (s *toolset) index(names bool) string {
	var sources []string
	of := make(map[string][]string)
	for _, e := range s.list {
		if e.tool.AlwaysLoad || e.pages {
			continue
		}
		source, name := e.source.Name, e.wire
		if names {
			var prefixed bool
			if name, prefixed = strings.CutPrefix(e.wire, source+"__"); !prefixed || source == "" {
				source, name = "", e.wire
			}
		}
		if of[source] == nil {
			sources = append(sources, source)
		}
		of[source] = append(of[source], name)
	}
	var b strings.Builder
	if names {
		b.WriteString("\nTheir names; what stands before a colon is the beginning of each:")
		for _, source := range sources {
			front := ""
			if source != "" {
				front = source + "__: "
			}
			b.WriteString("\n" + front + strings.Join(of[source], " "))
		}
		return b.String()
	}
	b.WriteString("\nTools by source: ")
	for i, source := range sources {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxSources {
			fmt.Fprintf(&b, "and %d sources more", len(sources)-i)
			break
		}
		if source == "" {
			b.WriteString("this program")
		}
		fmt.Fprintf(&b, "%s %d", source, len(of[source]))
	}
	if len(sources) == 0 {
		b.WriteString("none")
	}
	return b.String()
}

// indexKey is whose prompt an index stands in.
type indexKey struct {
	client, agent string
	names         bool
	filter        string
}

// index is that of the first view of its kind in the session: what stands at the
// beginning of a prompt stays, whatever sources have since.
func (c *conversation) index(v *View, names bool) string {
	key := indexKey{v.session.caller.Client, v.session.caller.Agent, names, v.tools.filter}
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.indexes[key]
	if !ok {
		text = v.tools.index(names)
		keep(&c.indexes, key, text)
	}
	return text
}

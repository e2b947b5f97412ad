package flow

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Graph is the flow of data through a session, made of what records hold of its
// calls, in their order. The zero value is one of a session without calls.
type Graph struct {
	steps []*graphStep
	by    map[string]*graphStep
}

// graphStep is one call.
type graphStep struct {
	call, tool, decided, ended string
	verdict                    Verdict
	noted                      Noted
}

// Decided adds a decision about a call: its id, its tool as models call it, what was
// decided (allow, ask, deny) and what the record holds of the flow of data; nil:
// nothing. A later one counts.
func (g *Graph) Decided(call, tool, verdict string, flow json.RawMessage) error {
	s := g.step(call, tool)
	s.decided = verdict
	if len(flow) == 0 {
		return nil
	}
	v, err := ReadVerdict(flow)
	if err != nil {
		return fmt.Errorf("flow: decision about call %q: %w", call, err)
	}
	s.verdict = v
	if v.Shadow && len(v.Flows) > 0 {
		s.decided = "would ask"
	}
	return nil
}

// Ended adds the end of a call: the kind of its error, "": it went well, and what
// the record holds of the flow of data; nil: nothing.
func (g *Graph) Ended(call, tool, kind string, flow json.RawMessage) error {
	s := g.step(call, tool)
	if s.ended = kind; kind == "" {
		s.ended = "ran"
	}
	if len(flow) == 0 {
		return nil
	}
	n, err := ReadNoted(flow)
	if err != nil {
		return fmt.Errorf("flow: result of call %q: %w", call, err)
	}
	s.noted = n
	return nil
}

func (g *Graph) step(call, tool string) *graphStep {
	if s := g.by[call]; s != nil {
		return s
	}
	s := &graphStep{call: call, tool: tool}
	if g.by == nil {
		g.by = make(map[string]*graphStep)
	}
	g.by[call] = s
	g.steps = append(g.steps, s)
	return s
}

// told are the calls that have to do with the flow of data.
func (g *Graph) told() []*graphStep {
	return slices.DeleteFunc(slices.Clone(g.steps), func(s *graphStep) bool { return s.verdict.Empty() && s.noted == (Noted{}) })
}

// Text writes the graph for people, a line for each call and one below it for each
// argument that was copied.
func (g *Graph) Text(w io.Writer) error {
	var b strings.Builder
	var strangers, private []string
	for _, s := range g.told() {
		var parts []string
		if f := s.verdict.Flows; len(f) > 0 {
			parts = append(parts, fmt.Sprintf("(%s) %s", strings.Join(f, ", "), s.decided))
		}
		if s.verdict.Refused != "" {
			parts = append(parts, s.decided+": "+shown(s.verdict.Refused))
		}
		if s.ended != "" {
			parts = append(parts, s.ended)
		}
		if to := s.verdict.To; len(to) > 0 {
			parts = append(parts, "to "+list(to))
		}
		from := place{s.noted.Source, s.noted.Tool}.name()
		if s.noted.Untrusted {
			parts, strangers = append(parts, "strangers' content"), append(strangers, from)
		}
		if s.noted.Sensitive {
			parts, private = append(parts, "private data"), append(private, from)
		}
		fmt.Fprintf(&b, "%s %s: %s\n", shown(s.call), shown(s.tool), strings.Join(parts, ", "))
		for _, line := range s.verdict.From() {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	fmt.Fprintf(&b, "strangers' content stands in the session: %s\n", names(strangers))
	fmt.Fprintf(&b, "private data stands in the session: %s\n", names(private))
	_, err := io.WriteString(w, b.String())
	return err
}

// DOT writes the graph for Graphviz: calls are boxes, what was copied are arrows
// from the call that brought it, and destinations are what calls that were asked
// for lead to.
func (g *Graph) DOT(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph flow {\n\trankdir=LR;\n\tnode [shape=box];\n")
	told := g.told()
	for _, s := range told {
		label := shown(s.tool) + "\n" + shown(s.call)
		if f := s.verdict.Flows; len(f) > 0 {
			label += "\n(" + strings.Join(f, ", ") + ") " + s.decided + " " + s.ended
		}
		color := "black"
		switch {
		case s.noted.Untrusted && s.noted.Sensitive:
			color = "purple"
		case s.noted.Untrusted:
			color = "red"
		case s.noted.Sensitive:
			color = "blue"
		}
		fmt.Fprintf(&b, "\t%s [label=%s, color=%s];\n", quoted("call "+s.call), quoted(label), color)
	}
	for _, s := range told {
		var had []string
		for _, c := range s.verdict.Copied {
			edge := fmt.Sprintf("\t%s -> %s [label=%s];\n", quoted("call "+c.Call), quoted("call "+s.call), quoted(shown(c.Argument)+" ("+string(c.How)+")"))
			if !slices.Contains(had, edge) {
				had = append(had, edge)
				b.WriteString(edge)
			}
		}
		for _, to := range s.verdict.To {
			fmt.Fprintf(&b, "\t%s [label=%s, shape=ellipse];\n", quoted("to "+to), quoted(shown(to)))
			fmt.Fprintf(&b, "\t%s -> %s [style=dashed];\n", quoted("call "+s.call), quoted("to "+to))
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted is a string of DOT. It escapes quotes and backslashes as Go does; what else
// could pass for markup is not printed as it is.
func quoted(s string) string {
	return strconv.Quote(strings.ToValidUTF8(s, "?"))
}

func names(all []string) string {
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return "none"
	}
	for i, n := range all {
		all[i] = shown(n)
	}
	return strings.Join(all, ", ")
}

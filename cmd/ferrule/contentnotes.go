package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/tool"
)

// contentNotes are what stands under content and fits nothing that is known here, or
// does nothing. It is no error, as a server may have such a tool tomorrow; but who mistypes a name has
// no protection, and nothing else would say so.
func (p *program) contentNotes(ctx context.Context, c *config.Config) (notes []fault) {
	said := &c.Content
	if len(said.Tools)+len(said.Trusted)+len(said.Sinks) == 0 {
		return nil
	}
	k := p.knownTools(ctx, c)
	note := func(line, column int, what, text string) {
		if text != "" {
			notes = append(notes, fault{File: c.File, Line: line, Column: column, Text: what + ": " + text, Note: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(said.Tools)) {
		t := said.Tools[name]
		what := "content.tools." + terminal.Visible(name)
		if text := k.lacks(name); text != "" {
			note(t.Line, t.Column, what, "it fits nothing: "+text)
			continue
		}
		for _, arg := range t.To {
			note(t.Line, t.Column, what+".to", k.lacksArgument(name, arg))
		}
	}
	for _, f := range said.Trusted {
		note(f.Line, f.Column, "content.flow.trusted.from", k.lacksAny(f.From, true))
		note(f.Line, f.Column, "content.flow.trusted.to", k.lacksAny(f.To, false))
	}
	for _, sink := range slices.Sorted(maps.Keys(said.Sinks)) {
		switch line, what := said.SinkLines[sink], "content.sinks."+sink; {
		case sink == string(guard.Page):
			note(line, 1, what, "nothing acts on it yet: the default counts")
		case sink == string(guard.Exporter) && !c.Telemetry.Content:
			note(line, 1, what, "nothing is exported that it is about: telemetry.content is not true")
		case sink == string(guard.Model) && !slices.Contains(said.Sinks[sink], "internal"):
			note(line, 1, what, "without internal the model is given nothing of what most tools return: it is internal unless they say otherwise")
		}
	}
	slices.SortStableFunc(notes, func(a, b fault) int { return a.Line - b.Line })
	return notes
}

// knownTools are the names that content can speak of, as far as they are known without
// a server being started.
type knownTools struct {
	sources []string
	servers []string
	// tools are the names that labels go by, each with its arguments; nil: those are
	// not known. Own are source__name of those that have another.
	tools map[string][]string
	own   []string
	// unseen are servers whose tools are not known; bare: one of them gives its tools
	// no prefix.
	unseen []string
	bare   bool
}

func (p *program) knownTools(ctx context.Context, c *config.Config) *knownTools {
	k := &knownTools{tools: make(map[string][]string)}
	builtin := builtinSource().Name
	k.sources = []string{builtin, hookClient, "ferrule"}
	program := []string{"read_result", "tool_search", "tool_describe", "tool_call"}
	for _, group := range p.toolGroups(ctx, c, "") { // none of them is made
		program = append(program, group.tools...)
	}
	if p.own != nil {
		for _, t := range p.own() {
			program = append(program, t.Name)
		}
	}
	for _, name := range program {
		k.tools[name], k.own = nil, append(k.own, builtin+"__"+name)
	}
	for name := range clientKinds() {
		k.tools[name], k.own = nil, append(k.own, hookClient+"__"+name)
	}
	for _, s := range c.Servers {
		k.sources, k.servers = append(k.sources, s.Name), append(k.servers, s.Name)
		known, err := p.pinsOf(c).As(reached(c, s))
		if err != nil || known.First.IsZero() {
			k.unseen, k.bare = append(k.unseen, s.Name), k.bare || s.Unprefixed
			continue
		}
		for i := range known.Tools {
			if known.Tools[i].State != mcptool.PinGone {
				k.add(s, &known.Tools[i])
			}
		}
	}
	return k
}

// add adds a tool of a server by the names that it goes by.
func (k *knownTools) add(s config.Server, pin *mcptool.Pin) {
	args := argumentsOf(pin.Definition())
	names := []string{s.Name + "__" + pin.Tool, tool.WireName(s.Name, pin.Tool)}
	if k.own = append(k.own, names[0]); s.Unprefixed && !strings.Contains(pin.Tool, "__") {
		names = []string{pin.Tool, tool.WireName("", pin.Tool)}
	}
	for _, name := range names {
		k.tools[name] = args
	}
}

// argumentsOf are the names of a tool's arguments, also of those within others; nil:
// it does not name them.
func argumentsOf(definition json.RawMessage) (names []string) {
	var d struct {
		Input any `json:"inputSchema"`
	}
	_ = json.Unmarshal(definition, &d) // it names none
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if args, ok := v["properties"].(map[string]any); ok {
				names = slices.AppendSeq(names, maps.Keys(args))
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(d.Input)
	slices.Sort(names)
	return slices.Compact(names)
}

// lacks says why a name of content.tools fits nothing; "": it fits, or may.
func (k *knownTools) lacks(name string) string {
	if _, known := k.tools[name]; known || strings.HasPrefix(name, "mcp__") { // which are a client's
		return ""
	}
	source, rest, within := strings.Cut(name, "__")
	switch {
	case within && !slices.Contains(k.sources, source):
		return fmt.Sprintf("there is no server %q", terminal.Visible(source)) + instead(source, k.servers, "the servers are ")
	case within && (rest == "*" || slices.Contains(k.unseen, source)):
		return ""
	case within && !slices.Contains(k.servers, source):
		return "tools of the program and of a client have their names alone" + didYouMean(nearest(rest, k.names("")))
	case within:
		return source + " has no such tool, as far as is known" + didYouMean(nearest(name, k.names(source+"__")))
	case slices.Contains(k.sources, name):
		return "it is a source and no tool: did you mean " + name + "__*?"
	case k.bare:
		return ""
	}
	return "no tool has that name" + didYouMean(nearest(name, append(k.names(""), k.servers...)))
}

// names are those of tools that begin so.
func (k *knownTools) names(prefix string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(k.tools)) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, name)
		}
	}
	return list
}

// instead is what may have been meant, or what there is.
func instead(name string, known []string, are string) string {
	if near := nearest(name, known); len(near) > 0 || len(known) == 0 {
		return didYouMean(near)
	}
	return ": " + are + someNames(known)
}

// lacksArgument says that a tool, or every tool of a source, has no such argument.
func (k *knownTools) lacksArgument(name, arg string) string {
	args := k.tools[name]
	if source, all := strings.CutSuffix(name, "*"); all {
		for _, name := range k.names(source) {
			args = append(slices.Clone(args), k.tools[name]...)
		}
	}
	if slices.Sort(args); len(args) == 0 || slices.Contains(args, arg) {
		return ""
	}
	args = slices.Compact(args)
	return fmt.Sprintf("there is no argument %q", terminal.Visible(arg)) + instead(arg, args, "want one of ")
}

// lacksAny says that a pattern of a trusted flow fits no tool and, where it may be
// one, no source.
func (k *knownTools) lacksAny(pattern string, from bool) string {
	names := k.names("")
	if from {
		names = slices.Concat(names, k.sources, k.own)
	}
	begins, _, _ := strings.Cut(pattern, "*")
	if slices.ContainsFunc(names, func(name string) bool { return fitsPattern(pattern, name) }) ||
		slices.ContainsFunc(k.unseen, func(s string) bool {
			return strings.HasPrefix(strings.ToLower(begins), strings.ToLower(s)+"__") || begins != pattern && strings.HasPrefix(strings.ToLower(s)+"__", strings.ToLower(begins))
		}) {
		return ""
	}
	text := fmt.Sprintf("%q fits no tool", terminal.Visible(pattern))
	if from {
		text = fmt.Sprintf("%q fits no source and no tool", terminal.Visible(pattern))
	} else if slices.Contains(k.sources, pattern) {
		return text + ": did you mean " + pattern + "__*?"
	}
	return text + didYouMean(nearest(pattern, names))
}

// fitsPattern is how guard/flow reads a pattern: * is any text, and case is none.
func fitsPattern(pattern, s string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	rest, ok := strings.CutPrefix(strings.ToLower(s), parts[0])
	if len(parts) == 1 || !ok {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

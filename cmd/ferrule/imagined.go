package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/tool"
)

// request is the call. It is made of a tool that cannot run.
func (f *imagined) request(c *config.Config) (q *tool.Request, notes []string, err error) {
	source := tool.Source{Name: f.source, Trust: tool.Own}
	if f.source != "" {
		source.Trust = tool.MCP
	}
	if f.trust != "" {
		if source.Trust.UnmarshalText([]byte(f.trust)) != nil {
			return nil, nil, oneOf("--trust", f.trust, "built-in", "own", "skill-trusted", "skill-untrusted", "mcp", "web", "inbound")
		}
	}
	mode := c.Policy.Mode
	if f.mode != "" {
		if err := readMode(&mode, f.mode); err != nil {
			return nil, nil, err
		}
	}
	claims, err := f.claimed()
	if err != nil {
		return nil, nil, err
	}
	for _, line := range f.commands {
		if err := oneCommand(line); err != nil {
			return nil, nil, err
		}
	}
	own, name, note := f.names(source)
	t, err := tool.Tool{
		Info: tool.Info{
			Name: own, Description: "A tool that is only spoken about.", Input: json.RawMessage(`{"type":"object"}`), Open: true,
			Claims: claims, Tags: f.tags, NeedsUser: f.needsUser,
		},
		Facts: func(tool.Args) (tool.Facts, error) { return f.facts(c), nil },
		Run: func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{}, errors.New("nothing runs here")
		},
	}.Check()
	if err != nil {
		return nil, nil, usage("--tool: %w", err)
	}
	args, err := t.Admit(json.RawMessage(f.args))
	if wrong, ok := errors.AsType[*tool.Error](err); ok {
		return nil, nil, usage("--args: %s", wrong.Text)
	} else if err != nil {
		return nil, nil, usage("--args: %w", err)
	}
	if note != "" {
		notes = append(notes, note)
	}
	if source.Trust.Untrusted() && !f.believe {
		if len(f.claims) > 0 || claims.Touches != nil {
			claims = tool.Claims{}
			notes = append(notes, fmt.Sprintf("what a source of trust %s claims is not believed; --believe counts it", source.Trust))
		}
		args.FailFacts(errors.New("its source is not believed"))
		if len(f.paths)+len(f.hosts)+len(f.commands) > 0 {
			notes = append(notes, fmt.Sprintf("what a source of trust %s says that a call is about (--path, --host, --command) is not believed; --believe counts it", source.Trust))
		}
	}
	return &tool.Request{
		Caller: tool.Caller{Principal: f.principal, Session: f.session, Client: f.client, Tenant: f.tenant, Attended: f.attended},
		Source: source, Tool: &t.Info, Name: name, CalledAs: name, Turn: 1, Args: args, Claims: claims, Mode: string(mode),
	}, notes, nil
}

// names are the tool's own name and what models call it: --tool is one of them.
func (f *imagined) names(source tool.Source) (own, wire, note string) {
	from := source.Name
	if source.Trust == tool.BuiltIn { // they have no prefix
		from = ""
	}
	const taken = "--tool is taken as what models call the tool"
	if rest, ok := strings.CutPrefix(f.tool, from+"__"); ok && from != "" && tool.WireName(from, rest) == f.tool {
		return rest, f.tool, taken
	}
	switch wire = tool.WireName(from, f.tool); {
	case regexp.MustCompile(`_x[a-z2-7]{10}$`).MatchString(f.tool): // so end those that had to be changed
		return f.tool, f.tool, taken
	case wire != f.tool:
		note = "--tool is taken as its own name: models call it " + wire
	case from == "" && strings.Contains(f.tool, "__"):
		note = "--tool is taken as one of the program itself: --source names another"
	}
	return f.tool, wire, note
}

// claimed are the claims that the flags make.
func (f *imagined) claimed() (c tool.Claims, err error) {
	for _, word := range f.claims {
		switch strings.ReplaceAll(word, "-", "_") {
		case "read_only":
			c.ReadOnly = true
		case "parallel":
			c.Parallel = true
		case "reversible":
			c.Reversible = true
		case "local":
			c.Local = true
		case "idempotent":
			c.Idempotent = true
		default:
			return c, oneOf("--claims", word, "read_only", "parallel", "reversible", "local", "idempotent")
		}
	}
	if f.nothing {
		c.Touches = []tool.Access{}
	}
	for _, text := range f.touches {
		how, resource, ok := strings.Cut(text, ":")
		if !ok || how != "read" && how != "write" {
			return c, usage("--touches: got %q, want read:RESOURCE or write:RESOURCE, such as write:file:/a", text)
		}
		c.Touches = append(c.Touches, tool.Access{Resource: resource, Write: how == "write"})
	}
	if err := c.Check(); err != nil {
		return c, &status{statusUsage, err}
	}
	return c, nil
}

// oneCommand refuses a line of a shell: it may be more than one command, and only
// the tool that runs it knows.
func oneCommand(line string) error {
	if i := strings.IndexAny(line, ";&|<>`$()\"'\\\n\r"); i >= 0 {
		return usage("--command: got %q in %q, want the words of one command, without what a shell would read: give each command of a line a --command of its own", line[i:i+1], line)
	}
	if strings.TrimSpace(line) == "" {
		return usage("--command: got nothing, want the words of one command")
	}
	return nil
}

// facts are what the call is about. A kind that has no flag is not known.
func (f *imagined) facts(c *config.Config) (facts tool.Facts) {
	for _, name := range f.paths {
		if name = filepath.ToSlash(name); !filepath.IsAbs(name) && !strings.HasPrefix(name, "/") {
			name = strings.TrimSuffix(c.Workspace, "/") + "/" + name // not cleaned: a .. is to be seen
		}
		facts.Paths = append(facts.Paths, name)
	}
	facts.Hosts = slices.Clone(f.hosts)
	for _, line := range f.commands { // oneCommand has looked at each
		facts.Commands = append(facts.Commands, strings.Fields(line))
	}
	return facts
}

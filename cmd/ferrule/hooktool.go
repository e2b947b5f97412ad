package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// clientCall is a call of a tool that the client runs itself, as the rules see it.
// What is said of it here is what is known of Claude Code's tools; of others nothing
// is claimed.
type clientCall struct {
	name      string // the client's tool
	kind      clientKind
	dir       string   // where relative paths begin
	root      string   // the workspace, without symlinks
	protected []string // with slashes: who changes them changes the rules
	hidden    []string // what nobody reads
	given     json.RawMessage
}

// clientKind is what is known of a tool.
type clientKind int

const (
	clientUnknown  clientKind = iota // also every tool of the client's own MCP servers
	clientReads                      // a file
	clientLooks                      // through a folder
	clientWrites                     // a file
	clientShell                      // runs a line in bash
	clientFetches                    // opens a page
	clientSearches                   // asks a search engine
	clientInside                     // does something within the client: a list of its own
	clientPersonal                   // puts a question to the user
)

// clientKinds are the tools that are known, and which argument names the file.
func clientKinds() map[string]struct {
	kind clientKind
	path string
} {
	type row = struct {
		kind clientKind
		path string
	}
	return map[string]row{
		"Read": {clientReads, "file_path"}, "NotebookRead": {clientReads, "notebook_path"},
		"LS": {clientLooks, "path"}, "Glob": {clientLooks, "path"}, "Grep": {clientLooks, "path"},
		"Write": {clientWrites, "file_path"}, "Edit": {clientWrites, "file_path"}, "MultiEdit": {clientWrites, "file_path"},
		"NotebookEdit": {clientWrites, "notebook_path"},
		"Bash":         {clientShell, ""},
		"WebFetch":     {clientFetches, ""}, "WebSearch": {clientSearches, ""},
		"TodoWrite": {clientInside, ""}, "TodoRead": {clientInside, ""}, "BashOutput": {clientInside, ""}, "TaskOutput": {clientInside, ""}, "ToolSearch": {clientInside, ""},
		"TaskCreate": {clientInside, ""}, "TaskGet": {clientInside, ""}, "TaskList": {clientInside, ""}, "TaskUpdate": {clientInside, ""},
		"AskUserQuestion": {clientPersonal, ""}, "EnterPlanMode": {clientPersonal, ""}, "ExitPlanMode": {clientPersonal, ""},
	}
}

func newClientCall(p *program, c *config.Config, ev hookEvent) *clientCall {
	k := &clientCall{
		name: ev.Tool, kind: clientKinds()[ev.Tool].kind, root: filepath.FromSlash(c.Workspace),
		dir: ev.Dir, protected: p.clientProtected(c), hidden: p.hidden(c), given: ev.Input,
	}
	if !filepath.IsAbs(k.dir) {
		k.dir = k.root
	}
	return k
}

// personal reports whether the tool itself is a question to the user.
func (k *clientCall) personal() bool { return k.kind == clientPersonal }

// source is where the tool comes from. What this program knows of a tool it believes.
func (k *clientCall) source() tool.Source {
	if k.kind == clientUnknown {
		return tool.Source{Name: hookClient, Trust: tool.MCP}
	}
	return tool.Source{Name: hookClient, Trust: tool.BuiltIn}
}

// tool is the client's, with a function that only notes that it may run.
func (k *clientCall) tool(note func(tool.Args)) (*tool.Tool, error) {
	return tool.Tool{
		Info: tool.Info{
			Name: k.name, Description: "A tool that Claude Code runs itself.", Input: json.RawMessage(`{"type":"object"}`),
			Tags: []string{hookClient}, Cooperative: true, Cancel: true, Repeatable: true,
		},
		ClaimsOf: func(a tool.Args) (tool.Claims, error) { return k.claims(clientArgsOf(a)), nil },
		Facts:    func(a tool.Args) (tool.Facts, error) { return k.facts(clientArgsOf(a)), nil },
		Scopes:   func(a tool.Args) ([]string, error) { return k.scopes(clientArgsOf(a)), nil },
		Permit: func(_ context.Context, a tool.Args) (tool.Decision, error) {
			return k.permit(clientArgsOf(a)), nil
		},
		Preview: func(_ context.Context, a tool.Args) (string, error) { return k.preview(clientArgsOf(a)), nil },
		Run: func(ctx context.Context, a tool.Args) (tool.Result, error) {
			note(a)
			tool.From(ctx).Isolated(hookClient + " runs it itself: nothing of Ferrule's isolates it")
			return tool.Result{Content: []tool.Content{tool.Text("Allowed: " + hookClient + " runs it itself.")}}, nil
		},
	}.Check()
}

// clientArgs are the arguments of a call by their exact names.
type clientArgs map[string]json.RawMessage

func clientArgsOf(a tool.Args) clientArgs { return readClientArgs([]byte(a.Text())) }

func readClientArgs(text []byte) (args clientArgs) {
	if json.Unmarshal(text, &args) != nil {
		return nil
	}
	return args
}

// text is an argument that is one; ok is false where it is another thing, or not there.
func (a clientArgs) text(name string) (text string, ok bool) {
	raw, there := a[name]
	if !there || json.Unmarshal(raw, &text) != nil || string(raw) == "null" {
		return "", false
	}
	return text, true
}

// words are all texts in the arguments, as they are meant, each in a line.
func (a clientArgs) words() string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				b.WriteString(name + "\n")
				walk(one)
			}
		}
	}
	for _, raw := range a {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			walk(v)
		}
	}
	return b.String()
}

// says reports whether an argument is true, or anything but false.
func (a clientArgs) says(name string) bool {
	raw, there := a[name]
	return there && string(raw) != "false" && string(raw) != "null"
}

// path is the file that a call is about. A search without one begins where the
// client's shell stands.
func (k *clientCall) path(a clientArgs) (place clientPlace, ok bool) {
	name := clientKinds()[k.name].path
	given, there := a.text(name)
	if !there && k.kind == clientLooks && a[name] == nil {
		given, there = k.dir, true
	}
	if !there || given == "" || name == "" {
		return clientPlace{}, false
	}
	if pattern, is := a.text("pattern"); is && k.name == "Glob" { // it may begin elsewhere
		if strings.Contains(pattern, "..") || strings.HasPrefix(pattern, "~") || strings.TrimFunc(pattern, blank) != pattern {
			return clientPlace{}, false
		}
		if filepath.IsAbs(pattern) {
			fixed := pattern
			if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
				fixed = pattern[:i]
			}
			given = filepath.Dir(fixed + "x")
		}
	}
	return k.place(given)
}

// claims are what a call is known to do.
func (k *clientCall) claims(a clientArgs) tool.Claims {
	none := tool.Claims{}
	switch k.kind {
	case clientReads, clientLooks:
		c := tool.Claims{ReadOnly: true, Local: true, Parallel: true, Idempotent: true}
		if at, ok := k.path(a); ok {
			c.Touches = []tool.Access{{Resource: at.resource()}}
		} else {
			return none // which file is not known
		}
		return checked(c)
	case clientWrites:
		if at, ok := k.path(a); ok {
			return checked(tool.Claims{Local: true, Touches: []tool.Access{{Resource: at.resource(), Write: true}}})
		}
		return none
	case clientShell:
		return k.shellClaims(a)
	case clientFetches, clientSearches:
		return tool.Claims{ReadOnly: true, Parallel: true, Idempotent: true}
	case clientInside, clientPersonal:
		return tool.Claims{ReadOnly: true, Local: true, Parallel: true, Touches: []tool.Access{}}
	case clientUnknown:
	}
	return none
}

// checked are claims that can be made, or none.
func checked(c tool.Claims) tool.Claims {
	if c.Check() != nil {
		return tool.Claims{}
	}
	return c
}

// facts are what rules match.
func (k *clientCall) facts(a clientArgs) (f tool.Facts) {
	switch k.kind {
	case clientReads, clientLooks, clientWrites:
		if at, ok := k.path(a); ok {
			f.Paths = at.names()
		}
		f.Hosts, f.Commands = []string{}, [][]string{}
	case clientShell:
		line, _ := a.text("command")
		f.Commands = shell.Judge(line).Commands
		f.Paths, _ = k.shellPaths(line)
	case clientFetches:
		if host := hostOf(a); host != "" {
			f.Hosts = []string{host}
		}
		f.Paths, f.Commands = []string{}, [][]string{}
	case clientUnknown, clientSearches, clientInside, clientPersonal:
	}
	return f
}

// hostOf is the host of the page that a call opens; "": that cannot be said.
func hostOf(a clientArgs) string {
	text, _ := a.text("url")
	to, err := url.Parse(text)
	if err != nil || to.Scheme != "https" && to.Scheme != "http" || to.Opaque != "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(to.Hostname()), ".")
}

// scopes are rules that would cover this call and others like it.
func (k *clientCall) scopes(a clientArgs) (list []string) {
	switch k.kind {
	case clientReads, clientLooks, clientWrites:
		if at, ok := k.path(a); ok {
			list = append(list, "path: "+strconv.Quote(at.slash()), "path: "+strconv.Quote(strings.TrimSuffix(filepath.ToSlash(filepath.Dir(at.real)), "/")+"/**"))
		}
	case clientShell:
		line, _ := a.text("command")
		return k.shellScopes(line)
	case clientFetches:
		if host := hostOf(a); host != "" {
			list = append(list, "host: "+strconv.Quote(host))
		}
	case clientUnknown, clientSearches, clientInside, clientPersonal:
	}
	return list
}

// outside reports whether a call that reads may read what does not lie in the
// workspace: it is asked for then, unless a rule speaks about it.
func (k *clientCall) outside() bool {
	if k.kind != clientReads && k.kind != clientLooks {
		return false // a line that reads elsewhere does not claim to read
	}
	at, ok := k.path(readClientArgs(k.given))
	return !ok || !at.inside
}

// describe is the call in a line, for a person.
func (k *clientCall) describe(a clientArgs) string {
	for _, name := range []string{"command", "file_path", "notebook_path", "url", "query", "pattern", "path"} {
		if text, ok := a.text(name); ok {
			return fmt.Sprintf("%s: %s", k.name, text)
		}
	}
	return k.name
}

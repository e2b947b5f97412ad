package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/tool"
)

// Tool is one that there is, offered or not.
type Tool struct {
	Name        string       `json:"name"`
	Source      string       `json:"source,omitempty"` // "": the program's own
	Trust       string       `json:"trust"`
	Class       string       `json:"class,omitempty"`       // "": it depends on the arguments
	SideEffect  string       `json:"side_effect,omitempty"` // "": it depends on the arguments
	Claims      *tool.Claims `json:"claims,omitempty"`      // nil: they depend on the arguments
	Policy      string       `json:"policy,omitempty"`      // allow, ask, deny; "": it depends on the call
	Rule        string       `json:"rule,omitempty"`        // what says so
	Why         string       `json:"why,omitempty"`         // and why
	Description string       `json:"description"`
	Tokens      int          `json:"tokens"` // that its definition takes of every prompt
	// Hidden is why it is not offered, or by whom it is quarantined; "": it is offered.
	Hidden   string   `json:"hidden,omitempty"`
	Findings []string `json:"findings,omitempty"` // what works but could be better
	Found    []string `json:"found,omitempty"`    // what is hidden in what it says, or may try to steer a model
	Pin      string   `json:"pin,omitempty"`      // how its definition stands beside what was accepted
	Waits    bool     `json:"waits,omitempty"`    // that somebody accepts it
	LeftOut  bool     `json:"left_out,omitempty"` // somebody did not want it as it is now
	// What bounds a call, and what else it says of itself.
	Timeout   string          `json:"timeout,omitempty"`
	Result    string          `json:"result_limit,omitempty"`
	Isolation string          `json:"isolation,omitempty"`
	Person    bool            `json:"needs_person,omitempty"` // it must talk to one
	Aliases   []string        `json:"aliases,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	Secrets   []string        `json:"secrets,omitempty"`
	Examples  []tool.Example  `json:"examples,omitempty"`
	Input     json.RawMessage `json:"input_schema,omitempty"`
	Output    json.RawMessage `json:"output_schema,omitempty"`
}

// Path is where its page is.
func (t Tool) Path() string {
	path := "/tools/" + url.PathEscape(t.Name)
	if t.Hidden != "" { // another may have its name
		path += "?" + url.Values{"source": {t.Source}}.Encode()
	}
	return path
}

// Becomes is what becomes of its calls, in a word.
func (t Tool) Becomes() string {
	if t.Hidden != "" {
		return "not offered"
	}
	return cmp.Or(map[string]string{"allow": "allowed", "ask": "asked for", "deny": "denied"}[t.Policy], "by arguments")
}

// Brief is the first line of its description.
func (t Tool) Brief() string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	return line
}

// catalogue is all tools, or those that fit, by source.
type catalogue struct {
	Query   string        `json:"query,omitempty"`
	Show    string        `json:"show,omitempty"`
	Source  *string       `json:"source,omitempty"` // nil: those of all
	All     int           `json:"all"`              // before the filter
	Tools   int           `json:"tools"`            // that fit
	Offered int           `json:"offered"`          // of those
	Tokens  int           `json:"tokens"`           // of those that are offered
	Sources []sourceTools `json:"sources"`
	Many    bool          `json:"-"` // so many that the page is not made again all the time
}

// Narrow reports whether not all are wanted.
func (c catalogue) Narrow() bool { return c.Query != "" || c.Show != "" || c.Source != nil }

// sourceTools are the tools of a source.
type sourceTools struct {
	Name    string `json:"name"` // "": the program's own
	Trust   string `json:"trust"`
	Tokens  int    `json:"tokens"`
	Offered int    `json:"offered"`
	Noted   int    `json:"suspicious"` // have something hidden, or that may try to steer a model
	Waiting int    `json:"waiting"`    // to be accepted
	Tools   []Tool `json:"tools"`
}

// Share is how much of a prompt's tools it takes, in hundredths.
func (s sourceTools) Share(of int) int {
	return 100 * s.Tokens / max(of, 1)
}

// Folded reports whether there are too many of them to be shown beside others.
func (s sourceTools) Folded() bool { return len(s.Tools) > manyTools }

// Path is where only they are shown.
func (s sourceTools) Path() string { return "/tools?" + url.Values{"source": {s.Name}}.Encode() }

// manyTools is how many of a source are shown where nobody has asked for them.
const manyTools = 100

// shows are what the list can be narrowed to.
func shows() map[string]func(*Tool) bool {
	becomes := func(word string) func(*Tool) bool { return func(t *Tool) bool { return t.Becomes() == word } }
	return map[string]func(*Tool) bool{
		"": func(*Tool) bool { return true }, "allowed": becomes("allowed"), "asked": becomes("asked for"), "denied": becomes("denied"),
		"arguments": becomes("by arguments"), "hidden": becomes("not offered"),
		"noted": func(t *Tool) bool { return len(t.Found) > 0 || t.Waits },
	}
}

func (c *Console) toolRoutes(m *http.ServeMux) {
	if c.Tools == nil {
		return
	}
	pair(c, m, "/tools", "tools", "Tools", c.catalogue)
	pair(c, m, "/tools/{name}", "tool", "Tool", c.toolPage)
	c.tryRoutes(m)
}

func (c *Console) catalogue(r *http.Request) (all catalogue, err error) {
	all.Query, all.Show, all.Sources = strings.TrimSpace(r.URL.Query().Get("q")), r.URL.Query().Get("show"), []sourceTools{}
	if r.URL.Query().Has("source") {
		source := r.URL.Query().Get("source")
		all.Source = &source
	}
	tools, err := c.Tools(r.Context())
	if err != nil {
		return all, err
	}
	fits := shows()[all.Show]
	if fits == nil {
		all.Show, fits = "", shows()[""]
	}
	all.All = len(tools)
	words := strings.Fields(strings.ToLower(all.Query))
	at := make(map[string]int)
	for _, t := range tools {
		if !fits(&t) || !t.has(words) || all.Source != nil && t.Source != *all.Source {
			continue
		}
		i, known := at[t.Source]
		if !known {
			i = len(all.Sources)
			at[t.Source] = i
			all.Sources = append(all.Sources, sourceTools{Name: t.Source, Trust: t.Trust})
		}
		t.Input, t.Output, t.Examples = nil, nil, nil // its page has them
		all.Tools++
		all.Sources[i].add(t)
		if t.Hidden == "" {
			all.Offered++
			all.Tokens += t.Tokens
		}
	}
	all.Many = all.Tools > manyTools
	return all, nil
}

func (s *sourceTools) add(t Tool) {
	s.Tools = append(s.Tools, t)
	if t.Hidden == "" {
		s.Offered++
		s.Tokens += t.Tokens
	}
	s.Noted += truth(len(t.Found) > 0)
	s.Waiting += truth(t.Waits)
}

// has reports whether all of the words stand in what a tool says.
func (t *Tool) has(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{t.Name, t.Source, t.Description, strings.Join(t.Tags, " "), strings.Join(t.Aliases, " ")}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// toolPage is all about one tool, and a form to try it.
type toolPage struct {
	Tool
	Calls []*Call `json:"calls"` // its last ones, newest first
	Try   bool    `json:"can_be_tried"`
	Form  blank   `json:"-"`
	From  string  `json:"-"` // the call whose arguments stand in the form
}

func (p toolPage) heading() string { return terminal.Visible(p.Name) }

// toolCalls is how many of its last calls are shown.
const toolCalls = 5

// tool is the one that a request names.
func (c *Console) tool(r *http.Request) (Tool, error) {
	tools, err := c.Tools(r.Context())
	if err != nil {
		return Tool{}, err
	}
	name, source := r.PathValue("name"), r.URL.Query().Get("source")
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name && (!r.URL.Query().Has("source") || t.Source == source) })
	if i < 0 {
		return Tool{}, missing("there is no tool of that name: the list under Tools has all that there are now")
	}
	return tools[i], nil
}

func (c *Console) toolPage(r *http.Request) (p toolPage, err error) {
	if p.Tool, err = c.tool(r); err != nil {
		return p, err
	}
	p.Try, p.Form = c.Try != nil && p.Hidden == "", formOf(p.Input)
	last, err := c.requests(r.Context(), Filter{Tool: p.Name, Newest: toolCalls})
	if err != nil {
		return p, err
	}
	if p.Calls, err = c.callsOf(r.Context(), last); err != nil {
		return p, err
	}
	slices.Reverse(p.Calls)
	p.Calls = append([]*Call{}, p.Calls...)
	id := r.URL.Query().Get("call")
	if id == "" || c.Lines == nil {
		return p, nil
	}
	lines, err := c.read(r.Context(), Filter{Calls: []string{id}})
	if err != nil {
		return p, err
	}
	for _, call := range fold(lines) {
		if call.Tool == p.Name && !call.ArgsCut {
			p.From = id
			p.Form.fillAll(json.RawMessage(call.Args))
		}
	}
	return p, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func (p *program) toolsCommand() *cobra.Command {
	var check, cost, builtin bool
	cmd := &cobra.Command{
		Use:        "tools [NAME]",
		SuggestFor: []string{"ls", "list"},
		Short:      "List the tools, what they claim and what the rules say of them",
		Long: `List the tools: what they claim, where they come from, what the rules say of
their calls, and which are not offered here, and why. With NAME, all about one.
The rules are those of the configuration: what ` + "`ferrule trust`" + ` or a yes that lasts
has allowed beside them is listed by ` + "`ferrule rules`" + `.
Servers of the configuration are connected to; no tool runs. --check lists what works
but should be looked at; it refuses nothing, so the exit status is 0.

--cost lists what the definitions take of every prompt, in tokens, by server and by tool,
what it would be if they were deferred, and whether auto (listen.tools) would defer them:
it does where they take more than a tenth of a context of 200,000 tokens. It counts what a
client of ` + "`ferrule up`" + ` gets: the program's own tools beside servers only with --builtin,
or where ferrule.yaml has the key tools.`,
		Example: `  ferrule tools
  ferrule tools fs_read
  ferrule tools --cost`,
		Args: atMostOne("NAME"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if err := one(cmd, "check", "cost"); err != nil {
				return err
			}
			if cost && len(args) > 0 {
				return usage("got --cost and %s, want one of them", args[0])
			}
			if builtin && !cost {
				return usage("got --builtin without --cost: the list has the program's own tools anyway")
			}
			return p.with(cmd.Context(), hosting{looks: true, servers: true, waits: true, names: needed(args), serves: cost, builtin: builtin}, func(h *host) error {
				switch {
				case cost:
					return p.printCosts(cmd.Context(), h)
				case check:
					return p.listFindings(cmd.Context(), h, args)
				case len(args) == 1:
					return p.showTool(cmd.Context(), h, args[0])
				}
				return p.listTools(h)
			})
		}),
		ValidArgsFunction: p.completeTools,
	}
	cmd.Flags().BoolVar(&check, "check", false, "list what works but should be looked at")
	cmd.Flags().BoolVar(&cost, "cost", false, "list what definitions take of every prompt, in tokens")
	cmd.Flags().BoolVar(&builtin, "builtin", false, "with --cost: count the program's own tools beside those of servers")
	p.jsonFlag(cmd)
	return cmd
}

// needed are the tools that are named; nil: all are needed.
func needed(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return args
}

// atMostOne wants one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exactly(name)(cmd, args)
		}
		return nil
	}
}

// listed is what a list says of a tool.
type listed struct {
	Name       string       `json:"name"`
	Source     string       `json:"source"` // "": the program's own
	Trust      tool.Trust   `json:"trust"`
	Class      string       `json:"class"`       // "": it depends on the arguments
	SideEffect string       `json:"side_effect"` // "": it depends on the arguments
	Claims     *tool.Claims `json:"claims"`      // null: they depend on the arguments
	// Policy is what becomes of its calls by the rules: allow, ask, deny, or "" where
	// it depends on the call.
	Policy      string   `json:"policy"`
	Rule        string   `json:"rule,omitempty"`
	Description string   `json:"description"`
	Hidden      string   `json:"hidden,omitempty"`
	Findings    []string `json:"findings"`
}

func (h *host) listed(t ferrule.Resolved) listed {
	l := listed{
		Name: t.Name, Source: t.Source.Name, Trust: t.Source.Trust, Description: t.Info.Description, Hidden: t.Hidden, Findings: append([]string{}, t.Findings...),
	}
	if !t.Varies {
		l.Class, l.SideEffect, l.Claims = t.Class, t.SideEffect, &t.Claims
	}
	l.Policy, l.Rule = h.beforehand(t)
	return l
}

// beforehand is what becomes of every call of a tool by the rules, and which rule
// says so; "": that depends on the call.
func (h *host) beforehand(t ferrule.Resolved) (verdict, rule string) {
	ruling, ok := h.ruled(t)
	if !ok {
		return "", ""
	}
	return ruling.Verdict.String(), ruling.Rule
}

// ruled is what becomes of every call of a tool by the rules; false: that depends on the
// call.
func (h *host) ruled(t ferrule.Resolved) (policy.Ruling, bool) {
	r := &tool.Request{
		Caller: tool.Caller{Principal: localUser, Client: client}, Source: t.Source, Tool: &t.Info, Name: t.Name, CalledAs: t.Name,
		Claims: t.Claims, Varies: t.Varies, Mode: string(h.rt.Mode),
	}
	said, ok := h.rt.Policy.Fixed(r)
	if !ok {
		return policy.Ruling{}, false
	}
	of := func(c tool.Claims) policy.Ruling {
		return policy.Combine(policy.Case{
			Name: t.Name, Claims: c, Trust: t.Source.Trust, Person: true, Mode: h.rt.Mode, Workspace: h.config.Workspace, New: t.Info.New,
		}, policy.Voice{By: policy.ByPolicy, Decision: said}, policy.Voice{By: policy.ByApproval, Decision: policy.Approval(&t.Info, t.Source.Trust)})
	}
	if !t.Varies {
		return of(t.Claims), true
	}
	// Of the most and the least that a call can claim.
	most, least := of(tool.Claims{ReadOnly: true, Local: true, Reversible: true, Idempotent: true, Touches: []tool.Access{}}), of(tool.Claims{})
	if most.Verdict != least.Verdict {
		return policy.Ruling{}, false
	}
	return least, true
}

// orByArguments is a word of a list.
func orByArguments(word string) string {
	if word == "" {
		return "by arguments"
	}
	return word
}

func (p *program) listTools(h *host) error {
	list := []listed{}
	for t := range h.rt.All() {
		list = append(list, h.listed(t))
	}
	if p.json {
		return p.printJSON(struct {
			Tools  []listed `json:"tools"`
			Absent []absent `json:"absent"`
		}{list, append([]absent{}, h.absent...)})
	}
	rows := [][]string{{"TOOL", "CALLS ARE", "CLASS", "SIDE EFFECT", "SOURCE", "DESCRIPTION"}}
	for _, l := range list {
		first, _, _ := strings.Cut(strings.TrimSpace(l.Description), "\n")
		source := l.Source
		if source == "" {
			source = "own"
		}
		rows = append(rows, []string{l.Name, becomes(l.Policy), orByArguments(l.Class), orByArguments(l.SideEffect), source, terminal.Brief(first, 60)})
	}
	p.printTable(rows)
	if len(h.absent) > 0 {
		p.printf("\nNot offered:\n")
		for _, a := range together(h.absent) {
			p.printf("  %s: %s\n", a.Name, strings.ReplaceAll(a.Why, "\n", "\n    "))
		}
	}
	return nil
}

// becomes is what becomes of calls, in a word.
func becomes(verdict string) string {
	switch verdict {
	case "allow":
		return "allowed"
	case "ask":
		return "asked for"
	case "deny":
		return "denied"
	}
	return orByArguments("")
}

func (p *program) listFindings(ctx context.Context, h *host, names []string) error {
	for _, name := range names {
		if _, err := h.toolOf(ctx, name); err != nil {
			return err
		}
	}
	type found struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	list := []found{}
	for _, f := range h.rt.Findings() {
		if len(names) == 0 || f.Name == names[0] {
			list = append(list, found{f.Name, f.Text})
		}
	}
	if p.json {
		return p.printJSON(list)
	}
	for _, f := range list {
		p.printf("%s: %s\n", f.Name, f.Text)
	}
	if len(list) == 0 {
		p.printf("nothing was found\n")
	}
	return nil
}

// toolOf is the tool of a name. The error names what is near, or says why it is
// not offered.
func (h *host) toolOf(ctx context.Context, name string) (ferrule.Resolved, error) {
	if t, ok := h.rt.Find(name); ok {
		return t, nil
	}
	for _, a := range h.absent {
		if a.Name == name {
			return ferrule.Resolved{}, usage("%s is not offered: %s", name, a.Why)
		}
	}
	plan := h.session(newSession(), "").View(ctx).Plan(ctx, tool.Call{Name: name})
	return ferrule.Resolved{}, usage("%s\n`ferrule tools` lists what there is", plan[0].Err.Text)
}

func (p *program) showTool(ctx context.Context, h *host, name string) error {
	t, err := h.toolOf(ctx, name)
	if err != nil {
		return err
	}
	l := h.listed(t)
	if p.json {
		return p.printJSON(struct {
			listed
			Input     json.RawMessage `json:"input_schema"`
			Output    json.RawMessage `json:"output_schema,omitempty"`
			Timeout   string          `json:"timeout"`
			Result    string          `json:"result_limit"`
			Isolation string          `json:"isolation,omitempty"`
			Aliases   []string        `json:"aliases,omitempty"`
			Tags      []string        `json:"tags,omitempty"`
			Secrets   []string        `json:"secrets,omitempty"`
			Examples  []tool.Example  `json:"examples,omitempty"`
		}{l, t.Info.Input, t.Info.Output, timeout(t.Info), limitText(t.Info.Limit), t.Info.Isolation, t.Info.Aliases, t.Info.Tags, t.Info.Secrets, t.Info.Examples})
	}
	p.printLines(aboutTool(t, l))
	return nil
}

// timeout is how long a call may run, in words.
func timeout(i tool.Info) string {
	switch i.Timeout {
	case 0:
		return time.Minute.String()
	case tool.Unlimited:
		return "none"
	}
	return i.Timeout.String()
}

func aboutTool(t ferrule.Resolved, l listed) (lines []terminal.Line) {
	many := func(label, text string) {
		for _, part := range terminal.VisibleLines(strings.TrimRight(text, "\n")) {
			lines = append(lines, terminal.Line{Label: label, Text: part})
			label = ""
		}
	}
	add := func(label, text string) {
		if text != "" {
			many(label, text)
		}
	}
	source := fmt.Sprintf("%s, trust %s", l.Source, l.Trust)
	add("tool", l.Name)
	add("source", strings.TrimPrefix(source, ", "))
	add("hidden", l.Hidden)
	add("class", orByArguments(l.Class))
	add("effect", orByArguments(l.SideEffect))
	if l.Claims != nil {
		add("claims", claimWords(*l.Claims))
	}
	policy := becomes(l.Policy)
	if l.Rule != "" {
		policy += ", by " + l.Rule
	}
	add("calls are", policy)
	add("time", timeout(t.Info))
	add("result", limitText(t.Info.Limit))
	add("isolation", t.Info.Isolation)
	if t.Info.NeedsUser {
		add("person", "it must talk to one")
	}
	add("aliases", strings.Join(t.Info.Aliases, ", "))
	add("tags", strings.Join(t.Info.Tags, ", "))
	add("secrets", strings.Join(t.Info.Secrets, ", "))
	add("text", t.Info.Description)
	add("arguments", terminal.Pretty(string(t.Info.Input)))
	if len(t.Info.Output) > 0 {
		add("returns", terminal.Pretty(string(t.Info.Output)))
	}
	for _, e := range t.Info.Examples {
		add("example", string(e.Input))
	}
	add("findings", strings.Join(l.Findings, "\n"))
	return lines
}

// claimWords are claims in words.
func claimWords(c tool.Claims) string {
	var words []string
	for _, w := range []struct {
		word string
		is   bool
	}{{"read-only", c.ReadOnly}, {"parallel", c.Parallel}, {"reversible", c.Reversible}, {"local", c.Local}, {"idempotent", c.Idempotent}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	switch {
	case c.Touches == nil:
	case len(c.Touches) == 0:
		words = append(words, "touches nothing")
	default:
		for _, a := range c.Touches {
			verb := "reads "
			if a.Write {
				verb = "writes "
			}
			words = append(words, verb+a.Resource)
		}
	}
	if len(words) == 0 {
		return "none: it runs alone, counts as destructive and as reaching outside"
	}
	return strings.Join(words, ", ")
}

// limitText is how long a result may be.
func limitText(l tool.Limit) string {
	words := func(n, zero int, unit string) string {
		switch n {
		case 0:
			n = zero
		case tool.Unlimited:
			return "any number of " + unit
		}
		return fmt.Sprintf("%d %s", n, unit)
	}
	return words(l.Chars, 64_000, "characters") + ", " + words(l.Tokens, 16_384, "tokens")
}

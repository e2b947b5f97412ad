package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// imagined is a call as the flags describe it.
type imagined struct {
	tool, args, source, trust, mode       string
	principal, session, client, tenant    string
	claims, tags, paths, hosts, touches   []string
	commands                              []string
	believe, needsUser, attended, nothing bool
}

func (p *program) explainCommand() *cobra.Command {
	var f imagined
	cmd := &cobra.Command{
		Use:   "explain --tool NAME",
		Short: "Say what would become of a call, by which rules, and what would change it",
		Long: `Say what would become of a call, with a person there to be asked. Nothing runs.
What the call is about (--path, --host, --command) is what the tool's Facts would
say: what is not given is not known, and then fits no rule that allows by it. The
exit status is 3 where it would be denied, else 0.`,
		Example: `  ferrule policy explain --tool shell --args '{"command":"git status"}' \
    --command 'git status'
  ferrule policy explain --tool fs_write --claims reversible,local \
    --path src/a.go --touches write:file:/work/src/a.go
  ferrule policy explain --source github --tool create_issue`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("tool") {
				return errors.New("got no --tool, want the name of one")
			}
			return exactly()(cmd, args)
		},
		RunE: p.do(func(cmd *cobra.Command, _ []string) error { return p.explain(cmd.Context(), &f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "the `NAME` of the tool: its own, or what models call it")
	flags.StringVar(&f.args, "args", "{}", "arguments, a `JSON` object; - reads them from standard input")
	flags.StringSliceVar(&f.claims, "claims", nil, "what it claims, `WORDS` of read_only, parallel, reversible, local, idempotent")
	flags.StringArrayVar(&f.touches, "touches", nil, "a `RESOURCE` that it touches, as read:… or write:…, such as write:file:/a")
	flags.BoolVar(&f.nothing, "touches-nothing", false, "say that it claims to touch nothing")
	flags.StringVar(&f.source, "source", "", "the `SERVER` that the tool is of (default the program itself)")
	flags.StringVar(&f.trust, "trust", "", "the `TRUST` in the source: built-in, own, skill-trusted, skill-untrusted, mcp, web or inbound (default own, with --source mcp)")
	flags.BoolVar(&f.believe, "believe", false, "believe the claims of a source that is not trusted")
	flags.StringSliceVar(&f.tags, "tag", nil, "the `TAGS` of the tool")
	flags.StringVar(&f.principal, "principal", "", "the `PRINCIPAL` that it runs for")
	flags.StringVar(&f.session, "session", "", "the `SESSION` that the call is of")
	flags.StringVar(&f.client, "client", "", "the `CLIENT` that sent it")
	flags.StringVar(&f.tenant, "tenant", "", "the `TENANT` that it runs for")
	flags.StringVar(&f.mode, "mode", "", modeHelp)
	flags.StringArrayVar(&f.paths, "path", nil, "a `PATH` that the call is about")
	flags.StringArrayVar(&f.hosts, "host", nil, "a `HOST` that the call is about")
	flags.StringArrayVar(&f.commands, "command", nil, "a `COMMAND` that the call runs, its words apart by spaces")
	flags.BoolVar(&f.needsUser, "needs-user", false, "say that the tool must talk to a person")
	flags.BoolVar(&f.attended, "attended", false, "say that a person is there to talk to")
	p.jsonFlag(cmd)
	return cmd
}

// explained is what would become of a call, for programs.
type explained struct {
	Tool    string       `json:"tool"`
	Verdict tool.Verdict `json:"verdict"`
	By      string       `json:"by"`
	Reason  string       `json:"reason,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	// Policy is what the rules alone say.
	Policy  tool.Verdict    `json:"policy"`
	Rules   []explainedRule `json:"rules"`
	Changes []string        `json:"changes"`
	Notes   []string        `json:"notes,omitempty"`
	// Answer is the rule that answers the question in a person's place.
	Answer *lasting `json:"answer,omitempty"`
}

type explainedRule struct {
	ID     string       `json:"id"`
	File   string       `json:"file"` // of a short rule: its list
	Line   int          `json:"line"` // of a short rule: its place there
	Effect tool.Verdict `json:"effect"`
	Text   string       `json:"text"`
	Fits   bool         `json:"fits"`
	Error  string       `json:"error,omitempty"`
}

// String is the rule for a person: a short one as it is written, Cedar with where
// it stands.
func (r explainedRule) String() string {
	text := terminal.Visible(strings.TrimSpace(r.Text))
	if list := r.Effect.String(); r.File != list {
		text = fmt.Sprintf("%s: Cedar in %s, line %d:\n    %s", list, r.File, r.Line, strings.Join(terminal.VisibleLines(strings.TrimSpace(r.Text)), "\n    "))
	}
	if r.Error != "" {
		text += "\n    failed, which denies: " + terminal.Visible(r.Error)
	}
	return fmt.Sprintf("%s  %s", r.ID, text)
}

func (p *program) explain(ctx context.Context, f *imagined) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	set, err := p.rules()
	if err != nil {
		return err
	}
	if f.args == "-" {
		if f.args, err = p.read(ctx); err != nil {
			return fmt.Errorf("--args: %w", err)
		}
	}
	q, notes, err := f.request(c)
	if err != nil {
		return err
	}
	var e explained
	err = p.withRules(ctx, func(_ *config.Config, _ *store.Store, list []lasting) error {
		e = p.explainCall(c, set, q, list)
		return nil
	})
	if err != nil {
		return err
	}
	e.Notes = append(notes, e.Notes...)
	if p.json {
		err = p.printJSON(e)
	} else {
		p.printExplained(e)
	}
	if err == nil && e.Verdict == tool.Deny {
		return &status{code: statusDenied}
	}
	return err
}

// read reads standard input to its end. An interrupt does not wait for that.
func (p *program) read(ctx context.Context) (string, error) {
	type ended struct {
		text []byte
		err  error
	}
	end := make(chan ended, 1)
	go func() {
		text, err := io.ReadAll(p.stdin)
		end <- ended{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case e := <-end:
		return string(e.text), e.err
	}
}

// answering is the lasting rule that answers a question in a person's place; nil:
// there is none.
func answering(r policy.Ruling, q *tool.Request, list []lasting) *lasting {
	if !r.Asks() || r.Flow {
		return nil
	}
	if q.Caller.Principal == localUser { // as rules have it
		anonymous := q.Clone()
		anonymous.Caller.Principal = ""
		q = &anonymous
	}
	for _, l := range list {
		g := l.grant
		if g.Source != q.Source.Name { // soon: there may be thousands
			continue
		}
		if g.Pin != "" { // taken to be as it was
			pinned := q.Clone()
			pinned.Tool.Pin = g.Pin
			if g.Answers(&pinned, g.Definition) && !r.Overrules {
				return &l
			}
			continue
		}
		if g.Answers(q, g.Definition) && (!r.Overrules || g.Exact()) {
			return &l
		}
	}
	return nil
}

func (p *program) explainCall(c *config.Config, set *cedar.Set, q *tool.Request, list []lasting) explained {
	said := set.Explain(q)
	protected := p.protected(c)
	of := func(d tool.Decision, claims tool.Claims, mode policy.Mode) policy.Ruling {
		return policy.Combine(policy.Case{
			Name: q.Name, Claims: claims, Trust: q.Source.Trust, Person: true, Mode: mode, Workspace: c.Workspace, Protected: protected,
			New: q.Tool.New,
		}, policy.Voice{By: policy.ByPolicy, Decision: d}, policy.Voice{By: policy.ByApproval, Decision: policy.Approval(q.Tool, q.Source.Trust)})
	}
	r := of(said.Decision, q.Claims, policy.Mode(q.Mode))
	e := explained{
		Tool: q.Name, Verdict: r.Verdict, By: string(r.By), Reason: r.Reason, Rule: r.Rule, Policy: said.Decision.Verdict,
		Rules: []explainedRule{}, Changes: []string{}, Answer: answering(r, q, list),
	}
	if e.Answer != nil && (e.Answer.grant.Definition != "" || e.Answer.grant.Pin != "") && q.Source.Trust.Untrusted() {
		e.Notes = append(e.Notes, "the rule that answers is good for one definition of the tool: whether it is still that one is not part of explain")
	}
	if e.Answer != nil && e.Answer.stored == nil {
		e.Notes = append(e.Notes, "the rule that answers stands in the configuration alone: who has only the store does not know it")
	}
	if n := len(c.Limits.Rates); n > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("limits (%d) are not part of explain: they depend on what ran before", n))
	}
	if n := len(c.Hooks); n > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("hooks (%d) are not part of explain: nothing runs here", n))
	}
	for _, one := range said.Rules {
		row := explainedRule{ID: one.ID, File: one.File, Line: one.Line, Effect: one.Effect, Text: one.Text, Fits: one.Fits}
		if one.Err != nil {
			row.Error = one.Err.Error()
		}
		e.Rules = append(e.Rules, row)
	}
	for _, change := range said.Changes {
		// What the rules alone would say is not yet what would become of it.
		if then := of(tool.Decision{Verdict: change.Then}, q.Claims, policy.Mode(q.Mode)); then.Verdict != r.Verdict {
			change.Then = then.Verdict
			e.Changes = append(e.Changes, change.String())
		}
	}
	if then := of(said.Decision, q.Claims, policy.ModeAsk); then.Verdict != r.Verdict {
		e.Changes = append(e.Changes, fmt.Sprintf("in mode ask it would be %s", then.Verdict))
	}
	reads := q.Claims
	reads.ReadOnly, reads.Local = true, true
	if then := of(said.Decision, reads, policy.Mode(q.Mode)); r.By == policy.ByDefault && then.Verdict != r.Verdict {
		e.Changes = append(e.Changes, fmt.Sprintf("if it claimed to be read_only and local it would be %s", then.Verdict))
	}
	return e
}

func (p *program) printExplained(e explained) {
	p.printf("%s: %s\n", terminal.Visible(e.Tool), e.Verdict)
	p.printf("  by %s", e.By)
	if e.Rule != "" {
		p.printf(": %s", terminal.Visible(e.Rule))
	}
	if e.Reason != "" {
		p.printf("\n  because %s", terminal.Visible(e.Reason))
	}
	p.printf("\n")
	if e.Answer != nil {
		p.printf("  answered yes by the rule %s of %s: %s\n", e.Answer.ID, strings.Join(e.Answer.Where, " and "), terminal.Visible(e.Answer.Rule))
	}
	for _, n := range e.Notes {
		p.printf("  note: %s\n", n)
	}
	part := func(title string, fits bool) {
		for _, r := range e.Rules {
			if (r.Fits || r.Error != "") != fits {
				continue
			}
			if title != "" {
				p.printf("\n%s\n", title)
				title = ""
			}
			p.printf("  %s\n", r)
		}
	}
	part("Rules that fit:", true)
	part("Rules that do not:", false)
	if len(e.Changes) > 0 {
		p.printf("\nWhat would change it:\n")
	}
	for _, change := range e.Changes {
		p.printf("  %s\n", terminal.Visible(change))
	}
}

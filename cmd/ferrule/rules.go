package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// lasting is a rule that somebody made of a yes, wherever it is kept. One that
// says the same in several places is one.
type lasting struct {
	ID        string     `json:"id"`
	Rule      string     `json:"rule"`
	Where     []string   `json:"where"` // the name of the file, store
	Principal string     `json:"principal"`
	Tenant    string     `json:"tenant,omitempty"`
	Session   string     `json:"session,omitempty"` // "": it lasts always
	Source    string     `json:"source,omitempty"`
	Pin       string     `json:"pin,omitempty"` // it is for one tool as it was then
	Second    bool       `json:"second"`        // the second key was turned
	By        string     `json:"by,omitempty"`
	Made      *time.Time `json:"made,omitempty"`
	// Lost is why it does not count now; "": nothing is known that it is lost by.
	Lost string `json:"lost,omitempty"`

	grant  policy.Grant    // what it says
	stored []string        // the ids that it has in the store
	file   []config.Always // as it stands in the file
}

func (p *program) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List what was allowed for longer than once, and take it back",
		Example: `  ferrule rules
  ferrule rules suggest`,
		Args: known,
		RunE: p.do(func(cmd *cobra.Command, _ []string) error { return p.listRules(cmd.Context()) }),
	}
	p.jsonFlag(cmd)
	cmd.AddCommand(p.revokeCommand(), p.editCommand(), p.suggestCommand())
	return cmd
}

// lastingRules lists the rules of the file and of the store.
func lastingRules(ctx context.Context, c *config.Config, s *store.Store) ([]lasting, error) {
	var list []lasting
	places := make(map[string]int) // by name: trust makes thousands at once
	row := func(g policy.Grant) *lasting {
		name := g.Name()
		i, known := places[name]
		if !known {
			i = len(list)
			places[name] = i
			list = append(list, lasting{
				ID: name, Rule: g.Rule, Principal: cmp.Or(g.Caller.Principal, localUser), Tenant: g.Caller.Tenant, Session: g.Caller.Session,
				Source: g.Source, Pin: g.Pin, Second: g.Second, grant: g,
			})
		}
		return &list[i]
	}
	for _, a := range c.Policy.Always {
		l := row(a.Grant(c.Workspace))
		if l.file == nil {
			l.Where = append(l.Where, filepath.Base(c.File))
		}
		l.file = append(l.file, a)
	}
	if s == nil {
		return list, nil
	}
	grants, err := s.Grants(ctx, policy.Asker{})
	if err != nil {
		return nil, err
	}
	for _, g := range grants {
		same := g
		if r, err := policy.ParseRule(g.Rule, ""); err == nil {
			same.Rule = r.String()
		}
		if same.Caller.Principal == localUser { // the file does not say it
			same.Caller.Principal = ""
		}
		l := row(same)
		if l.stored == nil {
			l.ID, l.By, l.Made, l.grant = g.ID, g.By, &g.Made, same
			l.Where = append(l.Where, "store")
		}
		l.stored = append(l.stored, g.ID)
	}
	return list, nil
}

// withRules calls f with the lasting rules; the store is nil where there is none.
func (p *program) withRules(ctx context.Context, f func(*config.Config, *store.Store, []lasting) error) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	return p.withStore(ctx, c, false, func(s *store.Store) error {
		list, err := lastingRules(ctx, c, s)
		if err != nil {
			return err
		}
		return f(c, s, list)
	})
}

func (p *program) listRules(ctx context.Context) error {
	return p.withRules(ctx, func(c *config.Config, _ *store.Store, list []lasting) error {
		p.markLost(c, list)
		switch {
		case p.json:
			return p.printJSON(append([]lasting{}, list...))
		case len(list) == 0:
			p.printf("nothing was allowed for longer than once\n")
			return nil
		}
		w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tRULE\tFOR\tLASTS\tSOURCE\tSECOND KEY\tWHERE\tBY")
		for _, l := range list {
			lasts, second := "always", "no"
			if l.Session != "" {
				lasts = "session " + l.Session
			}
			if l.grant.Pin != "" {
				lasts, second = "until it changes", "by name" // docs/mcp.md: trust
			}
			if l.Second {
				second = "turned"
			}
			if l.Lost != "" {
				lasts = "no longer counts: " + l.Lost
			}
			row := []any{l.ID, l.Rule, whom(l.grant.Caller), lasts, l.Source, second, strings.Join(l.Where, ", "), l.By}
			for i, cell := range row {
				row[i] = terminal.Visible(cell.(string))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row...)
		}
		return w.Flush()
	})
}

func (p *program) revokeCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a rule back",
		Long: `Take a rule back. One that lasts always stands in the configuration and in the
store; it is taken out of both. Who did it is on the record, where there is one.`,
		Example: `  ferrule rules revoke rIIAVg81 --reason "no longer needed"`,
		Args:    exactly("ID"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.withRules(cmd.Context(), func(c *config.Config, s *store.Store, list []lasting) error {
				l, err := byPrefix(list, args[0], "rules", sure, func(l lasting) string { return l.ID })
				if err != nil {
					return err
				}
				if err := p.revoke(cmd.Context(), c, s, l, reason); err != nil {
					return err
				}
				p.printf("revoked in %s: %s\n  %s  for %s\n", strings.Join(l.Where, " and "), terminal.Visible(l.Rule), terminal.Visible(l.ID), terminal.Visible(whom(l.grant.Caller)))
				return nil
			})
		}),
		ValidArgsFunction: p.completeRules,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, a `TEXT` for the record")
	return confirms(cmd)
}

// revoke takes a rule out of the store and the file. The store is first: that is
// what answers.
func (p *program) revoke(ctx context.Context, c *config.Config, s *store.Store, l lasting, reason string) error {
	for _, id := range l.stored {
		if err := s.RevokeBy(ctx, id, p.user(), reason); err != nil && !errors.Is(err, policy.ErrNoGrant) { // somebody else has done it
			return fmt.Errorf("rules: %s: %w", id, err)
		}
	}
	if l.stored != nil && l.file == nil {
		return nil
	}
	text := "revoked the rule " + l.ID + ", " + l.Rule + ", of every session"
	if reason != "" {
		text += ": " + reason
	}
	if err := p.govern(ctx, s, l, text); err != nil || l.file == nil { // a process has it still, which was taken out of the file
		return err
	}
	if err := config.RemoveAlways(p.fileOf(c), l.file[0]); err != nil && !errors.Is(err, policy.ErrNoGrant) {
		return fmt.Errorf("rules: %s: %w", l.ID, err)
	}
	return nil
}

// govern puts on the record what is done to a rule that stands only in the file:
// what is done to one in the store is there.
func (p *program) govern(ctx context.Context, s *store.Store, l lasting, text string) error {
	if s == nil || l.stored != nil {
		return nil
	}
	if err := s.Govern(ctx, p.user(), text, l.grant.Caller); err != nil {
		return fmt.Errorf("rules: %s: %w", l.ID, err)
	}
	return nil
}

func (p *program) editCommand() *cobra.Command {
	var second bool
	cmd := &cobra.Command{
		Use:   "edit ID RULE",
		Short: "Put another rule in the place of one",
		Long: `Put another rule in the place of one, wherever that stands. It is for the same
principal, session and tool definition. It is not for calls that may destroy
something, whatever the old one was for, unless --second-key says so.`,
		Example: `  ferrule rules edit rIIAVg81 "fs_write(path: docs/**)"`,
		Args:    exactly("ID", "RULE"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.withRules(cmd.Context(), func(c *config.Config, s *store.Store, list []lasting) error {
				l, err := byPrefix(list, args[0], "rules", sure, func(l lasting) string { return l.ID })
				if err != nil {
					return err
				}
				g, err := p.edit(cmd.Context(), c, s, l, args[1], second)
				if err != nil {
					return err
				}
				p.printf("changed in %s: %s\n     is now: %s\n  %s  for %s\n", strings.Join(l.Where, " and "), terminal.Visible(l.Rule), terminal.Visible(g.Rule), g.ID, terminal.Visible(whom(g.Caller)))
				if !second {
					p.printf("  not for what may destroy something: that takes --second-key\n")
				}
				return nil
			})
		}),
		ValidArgsFunction: p.completeRules,
	}
	cmd.Flags().BoolVar(&second, "second-key", false, "turn the second key: it is also for calls that may destroy something")
	return confirms(cmd)
}

// edit puts another rule, as somebody wrote it, in the place of one.
func (p *program) edit(ctx context.Context, c *config.Config, s *store.Store, l lasting, text string, second bool) (g policy.Grant, err error) {
	rule, err := policy.ParseRule(text, c.Workspace)
	if err == nil {
		err = config.Lasts(rule, second)
	}
	switch {
	case err != nil:
		return g, usage("rules edit: %q: %w", text, err)
	case l.grant.Pin != "":
		return g, usage("rules edit: %s is for one tool as it was shown: revoke it, or answer anew: ferrule trust %s", l.ID, l.Source)
	}
	return p.replace(ctx, c, s, l, rule, second)
}

// replace takes the old rule back first: where it ends between the two, less is
// allowed and not more.
func (p *program) replace(ctx context.Context, c *config.Config, s *store.Store, l lasting, rule policy.Rule, second bool) (policy.Grant, error) {
	g := l.grant
	g.Rule, g.Second, g.By, g.Made = rule.String(), second, p.user(), p.now()
	g.ID = g.Name()
	for _, id := range l.stored {
		if err := s.RevokeBy(ctx, id, g.By, "for another one"); err != nil {
			return g, fmt.Errorf("rules: %s: %w", id, err)
		}
	}
	if l.file != nil {
		if err := p.govern(ctx, s, l, "changed the rule "+l.ID+", "+l.Rule+", of every session to "+g.Rule); err != nil {
			return g, err
		}
		if err := config.ReplaceAlways(p.fileOf(c), l.file[0], config.AlwaysOf(g)); err != nil {
			return g, fmt.Errorf("rules: %s: %w", l.ID, err)
		}
	}
	if l.stored != nil {
		if _, err := s.Grant(ctx, g); err != nil {
			return g, fmt.Errorf("the old rule is revoked, the new one is not kept: %w", err)
		}
	}
	return g, nil
}

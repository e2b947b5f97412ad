package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// lasting is a rule that somebody made of a yes, wherever it is kept.
type lasting struct {
	ID      string     `json:"id"`
	Rule    string     `json:"rule"`
	Where   string     `json:"where"` // store, or the name of the file
	For     string     `json:"for"`   // the principal, or everybody
	Session string     `json:"session,omitempty"`
	Source  string     `json:"source,omitempty"`
	By      string     `json:"by,omitempty"`
	Made    *time.Time `json:"made,omitempty"`

	grant *policy.Grant // nil: it is in the file
}

func (p *program) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List what was allowed for longer than once, and take it back",
		Args:  known,
		RunE:  p.do(func(cmd *cobra.Command, _ []string) error { return p.listRules(cmd.Context()) }),
	}
	p.jsonFlag(cmd)
	cmd.AddCommand(p.revokeCommand(), p.editCommand(), p.suggestCommand())
	return cmd
}

// lastingRules lists the rules of the file and of the store.
func lastingRules(ctx context.Context, c *config.Config, s *store.Store) (list []lasting, err error) {
	for _, rule := range c.Policy.Always {
		list = append(list, lasting{ID: "c" + policy.Digest(rule)[:11], Rule: rule, Where: config.Name, For: "everybody"})
	}
	if s == nil {
		return list, nil
	}
	grants, err := s.Grants(ctx, policy.Asker{})
	if err != nil {
		return nil, err
	}
	for _, g := range grants {
		list = append(list, lasting{
			ID: g.ID, Rule: g.Rule, Where: "store", For: principal(g.Caller), Session: g.Caller.Session, Source: g.Source, By: g.By, Made: &g.Made, grant: &g,
		})
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
	return p.withRules(ctx, func(_ *config.Config, _ *store.Store, list []lasting) error {
		switch {
		case p.json:
			return p.printJSON(append([]lasting{}, list...))
		case len(list) == 0:
			p.printf("nothing was allowed for longer than once\n")
			return nil
		}
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tRULE\tFOR\tLASTS\tSOURCE\tWHERE\tBY")
		for _, l := range list {
			lasts := "always"
			if l.Session != "" {
				lasts = "session " + l.Session
			}
			row := []any{l.ID, l.Rule, l.For, lasts, l.Source, l.Where, l.By}
			for i, cell := range row {
				row[i] = terminal.Visible(cell.(string))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row...)
		}
		return w.Flush()
	})
}

func (p *program) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a rule back",
		Long: `Take a rule back. One that lasts always stands in the configuration and in the
store; it is taken out of both.`,
		Args: exactly("ID"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.withRules(cmd.Context(), func(c *config.Config, s *store.Store, list []lasting) error {
				l, err := byPrefix(list, args[0], "rules", func(l lasting) string { return l.ID })
				if err != nil {
					return err
				}
				for _, twin := range twins(c, list, l) {
					if err := p.revoke(cmd.Context(), c, s, twin); err != nil {
						return fmt.Errorf("rules: %s: %w", twin.ID, err)
					}
					p.printf("revoked in %s: %s\n", twin.Where, terminal.Visible(twin.Rule))
				}
				return nil
			})
		}),
	}
}

// twins are a rule and, if it lasts always, those that say the same elsewhere.
func twins(c *config.Config, list []lasting, l lasting) (all []lasting) {
	for _, other := range list {
		same := l.Session == "" && other.Session == "" && (l.grant == nil) != (other.grant == nil) && spelling(c, l.Rule) == spelling(c, other.Rule)
		if other.ID == l.ID || same {
			all = append(all, other)
		}
	}
	return all
}

// spelling is the one way to write a rule.
func spelling(c *config.Config, rule string) string {
	if r, err := policy.ParseRule(rule, c.Workspace); err == nil {
		return r.String()
	}
	return rule
}

func (p *program) revoke(ctx context.Context, c *config.Config, s *store.Store, l lasting) error {
	if l.grant == nil {
		return config.RemoveAlways(p.fileOf(c), l.Rule)
	}
	return s.Revoke(ctx, l.ID)
}

func (p *program) editCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit ID RULE",
		Short: "Put another rule in the place of one",
		Long: `Put another rule in the place of one. It is for the same principal, session and
tool definition.`,
		Args: exactly("ID", "RULE"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.withRules(cmd.Context(), func(c *config.Config, s *store.Store, list []lasting) error {
				rule, err := policy.ParseRule(args[1], c.Workspace)
				if err != nil {
					return usage("rules edit: %q: %w", args[1], err)
				}
				l, err := byPrefix(list, args[0], "rules", func(l lasting) string { return l.ID })
				if err != nil {
					return err
				}
				for _, twin := range twins(c, list, l) {
					if err := p.replace(cmd.Context(), c, s, twin, rule); err != nil {
						return fmt.Errorf("rules: %s: %w", twin.ID, err)
					}
					p.printf("changed in %s: %s\n     is now: %s\n", twin.Where, terminal.Visible(twin.Rule), terminal.Visible(rule.String()))
				}
				return nil
			})
		}),
	}
}

// replace takes the old rule back first: where it ends between the two, less is
// allowed and not more.
func (p *program) replace(ctx context.Context, c *config.Config, s *store.Store, l lasting, rule policy.Rule) error {
	if l.grant == nil {
		return config.ReplaceAlways(p.fileOf(c), l.Rule, rule.String())
	}
	if err := s.Revoke(ctx, l.ID); err != nil {
		return err
	}
	g := *l.grant
	g.Rule, g.By, g.Made = rule.String(), p.user(), p.now()
	if _, err := s.Grant(ctx, g); err != nil {
		return fmt.Errorf("the old rule is revoked, the new one is not kept: %w", err)
	}
	return nil
}

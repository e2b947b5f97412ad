package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) approvalsCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:        "approvals",
		SuggestFor: []string{"approve", "approval", "questions"},
		Short:      "List the calls that wait for an answer, and answer them",
		Example: `  ferrule approvals
  ferrule approvals --watch`,
		Args: known,
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			if err := one(cmd, "watch", "json"); err != nil {
				return err
			}
			if watch {
				return p.watch(cmd.Context())
			}
			return p.listPending(cmd.Context())
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "answer on an interactive screen")
	p.jsonFlag(cmd)
	cmd.AddCommand(p.showCommand(), p.allowCommand(), p.denyCommand())
	return cmd
}

func (p *program) pending(ctx context.Context) (list []policy.Question, err error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	err = p.withStore(ctx, c, false, func(s *store.Store) error {
		if s != nil {
			list, err = s.Pending(ctx)
		}
		return err
	})
	return list, err
}

func (p *program) listPending(ctx context.Context) error {
	list, err := p.pending(ctx)
	switch {
	case err != nil:
		return err
	case p.json:
		return p.printJSON(append([]policy.Question{}, list...))
	case len(list) == 0:
		p.printf("nothing waits\n")
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tTOOL\t\tFOR\tASKED\tARGUMENTS")
	for _, q := range list {
		flag := ""
		if q.Claims.Destructive() {
			flag = "DESTROYS"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Visible(q.ID), terminal.Visible(q.Tool), flag, terminal.Visible(whom(q.Caller)),
			terminal.Ago(q.Asked, p.now()), brief(q.Input))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	p.hintf("\nferrule approvals show ID shows all about one; allow ID and deny ID answer it.\n")
	return nil
}

// whom names a caller.
func whom(a policy.Asker) string {
	name := cmp.Or(a.Principal, "local")
	if a.Tenant != "" {
		name += " (tenant " + a.Tenant + ")"
	}
	return name
}

// brief is a text on one short line.
func brief(text string) string { return terminal.Brief(text, 60) }

func (p *program) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show all about a call that waits",
		Example: `  ferrule approvals show qWUXYu`,
		Args:    exactly("ID"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			q, err := p.find(cmd.Context(), args[0], 1)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(q)
			}
			p.printLines([]terminal.Line{{Label: "id", Text: terminal.Visible(q.ID)}})
			p.printLines(terminal.Describe(q, p.now()))
			p.printLines(terminal.DescribeOffers(q))
			return nil
		}),
		ValidArgsFunction: p.completeIDs,
	}
	p.jsonFlag(cmd)
	return cmd
}

// find gives the question whose id is, or alone begins with, what was said. least
// is how much of it must be said.
func (p *program) find(ctx context.Context, id string, least int) (q policy.Question, err error) {
	c, err := p.load()
	if err != nil {
		return q, err
	}
	err = p.withStore(ctx, c, false, func(s *store.Store) error {
		var list []policy.Question
		if s != nil {
			if list, err = s.Pending(ctx); err != nil {
				return err
			}
		}
		if q, err = byPrefix(list, id, "approvals", least, func(q policy.Question) string { return q.ID }); err == nil || s == nil {
			return err
		}
		// It may be over: then that is what is wrong.
		switch _, over := s.Find(ctx, id); {
		case over == nil:
			return fmt.Errorf("approvals: %s: %w", id, policy.ErrAnswered)
		case !errors.Is(over, policy.ErrNotAsked):
			return fmt.Errorf("approvals: %w", over)
		}
		return err
	})
	return q, err
}

// sure is how much of an id must be said where something is done with what it
// names: what a shorter one named when it was read may be gone by now, and
// another thing be the only one that begins so.
const sure = 6

// byPrefix finds what has an id that is, or alone begins with, what was said.
func byPrefix[T any](list []T, id, command string, least int, idOf func(T) string) (one T, err error) {
	var near []string
	for _, item := range list {
		switch {
		case idOf(item) == id:
			return item, nil
		case id != "" && strings.HasPrefix(idOf(item), id):
			one = item
			near = append(near, idOf(item))
		}
	}
	var none T
	switch {
	case len(near) == 0:
		return none, fmt.Errorf("%s: nothing has the id %q: `ferrule %s` lists what there is", command, id, command)
	case len(near) > 1:
		return none, usage("%s: %q begins more than one id: %s", command, id, strings.Join(near, ", "))
	case len(id) < least:
		return none, usage("%s: got %q, want the whole id, or %d characters of it at least", command, id, least)
	}
	return one, nil
}

func (p *program) completeIDs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := p.pending(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, q := range list {
		if terminal.Visible(q.ID) == q.ID { // else nobody could say it
			ids = append(ids, q.ID+"\t"+terminal.Visible(q.Tool))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "See what became of calls that change something, also after a crash",
		Long: `See what became of calls that change something. Without a command it lists those
that have not ended: still running, or cut off by the end of their program. Of the
latter some run again when their turn goes on, because that can do no harm. Of the
others it is not known whether they have happened: look, and say so with resolve.`,
		Example: `  ferrule journal
  ferrule journal --all --since 2h`,
		Args: known,
	}
	p.listsCalls(cmd)
	list := &cobra.Command{Use: "list", Short: "List calls that have not ended, or all", Example: "  ferrule journal list --all", Args: known}
	p.listsCalls(list)
	cmd.AddCommand(list, p.journalShowCommand(), p.resolveCommand())
	return cmd
}

// listsCalls has a command list calls.
func (p *program) listsCalls(cmd *cobra.Command) {
	var all bool
	var since string
	cmd.RunE = p.do(func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("since") && !all {
			return usage("--since goes with --all")
		}
		from, err := moment("since", since, p.now())
		if err != nil {
			return err
		}
		return p.listCalls(cmd.Context(), all, from)
	})
	cmd.Flags().BoolVar(&all, "all", false, "list those that have ended, too")
	cmd.Flags().StringVar(&since, "since", "1d", "with --all: that began or ended from this `TIME` on: 2h, 3d, 2026-01-31")
	p.jsonFlag(cmd)
}

// calls are those of the journal that have not ended, or beside them all that
// began or ended from a time on.
func (p *program) calls(ctx context.Context, all bool, since time.Time) (list []durable.Record, err error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	err = p.withStore(ctx, c, false, func(s *store.Store) error {
		if s == nil {
			return nil
		}
		if list, err = s.Open(ctx, durable.Place{}); err != nil || !all {
			return err
		}
		more, err := s.Calls(ctx, since)
		for _, r := range more {
			if r.State == durable.Done { // else it is there
				list = append(list, r)
			}
		}
		slices.SortStableFunc(list, func(a, b durable.Record) int { return a.Began.Compare(b.Began) })
		return err
	})
	return list, err
}

func (p *program) listCalls(ctx context.Context, all bool, since time.Time) error {
	list, err := p.calls(ctx, all, since)
	switch {
	case err != nil:
		return err
	case p.json:
		all := make([]told, len(list))
		for i := range list {
			all[i] = tellOf(list[i])
		}
		return p.printJSON(all)
	case len(list) == 0 && all:
		p.printf("no call in that time\n")
		return nil
	case len(list) == 0:
		p.printf("every call that began has ended\n")
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tSTATE\tTOOL\tFOR\tSESSION\tBEGAN\tARGUMENTS")
	unknown := 0
	for _, r := range list {
		fate, _ := r.Fate()
		if fate == durable.FateUnknown {
			unknown++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Visible(r.ID), stateOf(&r), terminal.Visible(toolOf(&r)), terminal.Visible(whoseOf(&r)),
			terminal.Brief(fmt.Sprintf("%s %d.%d", r.Place.Session, r.Place.Turn, r.Place.Index), 30), terminal.Ago(r.Began, p.now()), brief(r.Input))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if unknown > 0 {
		p.printf("\nIt is not known whether %s happened. Look at what it was to do (ferrule journal show CALL),\nthen say so: ferrule journal resolve CALL --done, or --not-done.\n", count(unknown, "call has", "calls have"))
	}
	return nil
}

// told is a record for programs.
type told struct {
	durable.Record
	Fate durable.Fate `json:"fate"`
	Why  string       `json:"why"`
}

func tellOf(r durable.Record) told {
	fate, why := r.Fate()
	return told{r, fate, why}
}

// count is a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// stateOf is one word for how far a call came.
func stateOf(r *durable.Record) string {
	fate, _ := r.Fate()
	switch {
	case fate == durable.FateUnknown:
		return "UNKNOWN"
	case fate == durable.FateAgain:
		return "runs again"
	case fate == durable.FateDone && r.Failed:
		return "failed"
	}
	return string(fate)
}

func toolOf(r *durable.Record) string {
	if r.Source != "" {
		return r.Source + "/" + r.Tool
	}
	return r.Tool
}

func whoseOf(r *durable.Record) string {
	name := cmp.Or(r.Place.Principal, "local")
	if r.Place.Tenant != "" {
		name += " (tenant " + r.Place.Tenant + ")"
	}
	return name
}

func (p *program) journalShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show CALL",
		Short:   "Show all that is known of a call",
		Example: `  ferrule journal show fibc32d6eft2-1.0`,
		Args:    exactly("CALL"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			r, err := p.findCall(cmd.Context(), args[0], 1)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(tellOf(r))
			}
			p.printLines(p.describeCall(&r))
			return nil
		}),
		ValidArgsFunction: p.completeCalls,
	}
	p.jsonFlag(cmd)
	return cmd
}

// describeCall is a record in lines.
func (p *program) describeCall(r *durable.Record) []terminal.Line {
	fate, why := r.Fate()
	var lines []terminal.Line
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, terminal.Line{Label: label, Text: terminal.Visible(text)})
		}
	}
	add("call", r.ID)
	add("provider's", r.CallID)
	lines = append(lines, terminal.Line{Label: "state", Text: stateOf(r) + ": " + terminal.Visible(why), Alarm: fate == durable.FateUnknown})
	if fate == durable.FateUnknown {
		add("to do", "see whether it has happened, then: ferrule journal resolve "+r.ID+" --done, or --not-done")
	}
	add("tool", toolOf(r))
	add("for", whoseOf(r))
	add("session", fmt.Sprintf("%s, turn %d, place %d", r.Place.Session, r.Place.Turn, r.Place.Index))
	add("began", r.Began.Local().Format(time.DateTime)+" ("+terminal.Ago(r.Began, p.now())+")")
	if !r.Ended.IsZero() {
		add("ended", fmt.Sprintf("%s, after %s", r.Ended.Local().Format(time.DateTime), r.Ended.Sub(r.Began).Round(time.Millisecond)))
	}
	if r.Attempt > 1 {
		add("attempt", fmt.Sprint(r.Attempt))
	}
	add("key", r.Key)
	add("arguments", r.Input)
	add("note", r.Note)
	switch {
	case r.State != durable.Done:
	case r.Result == nil:
		add("result", "done, not kept")
	default:
		add("result", terminal.Brief(r.Result.String(), 2000))
		if e := r.Result.Err; e != nil {
			add("error", string(e.Kind))
			add("detail", e.Detail)
		}
	}
	return lines
}

// findCall gives the call whose id is, or alone begins with, what was said.
func (p *program) findCall(ctx context.Context, id string, least int) (r durable.Record, err error) {
	c, err := p.load()
	if err != nil {
		return r, err
	}
	err = p.withStore(ctx, c, false, func(s *store.Store) error {
		var ids []string
		if s != nil {
			if ids, err = s.CallIDs(ctx, id); err != nil {
				return err
			}
		}
		if len(ids) == 0 {
			return fmt.Errorf("journal: nothing has the id %q: `ferrule journal list --all` lists what there is, and `ferrule audit list --call ID` what is on the record of a call that was taken back", id)
		}
		id, err := byPrefix(ids, id, "journal", least, func(id string) string { return id })
		if err != nil {
			return err
		}
		r, err = s.Call(ctx, id)
		return err
	})
	return r, err
}

func (p *program) resolveCommand() *cobra.Command {
	var done, notDone bool
	var note string
	cmd := &cobra.Command{
		Use:   "resolve CALL (--done | --not-done)",
		Short: "Say what became of a call of which it is not known",
		Long: `Say what became of a call that was cut off by the end of its program. It goes on
the record with your name. A call that was done has that as its result when its
turn goes on; one that was not done runs then.`,
		Example: `  ferrule journal resolve fibc32d6eft2-1.0 --done --note "the mail is sent"
  ferrule journal resolve fibc32d6eft2-1.0 --not-done`,
		Args: exactly("CALL"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if err := one(cmd, "done", "not-done"); err != nil {
				return err
			}
			if !done && !notDone {
				return usage("resolve: say what became of it: --done or --not-done")
			}
			r, err := p.findCall(cmd.Context(), args[0], sure)
			if err != nil {
				return err
			}
			return p.resolve(cmd.Context(), &r, done, note)
		}),
		ValidArgsFunction: p.completeCalls,
	}
	cmd.Flags().BoolVar(&done, "done", false, "it has happened")
	cmd.Flags().BoolVar(&notDone, "not-done", false, "it has not happened, and may run")
	cmd.Flags().StringVar(&note, "note", "", "how you know, a `TEXT` for the record, and with --done for the model")
	return confirms(cmd)
}

func (p *program) resolve(ctx context.Context, r *durable.Record, done bool, note string) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	err = p.withStore(ctx, c, true, func(s *store.Store) error { return s.Resolve(ctx, r.ID, done, p.user(), note) })
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	said := "not done: it runs when its turn goes on"
	if done {
		said = "done: that is its result when its turn goes on"
	}
	p.printf("%s: %s\n  %s  %s\n", terminal.Visible(toolOf(r)), said, terminal.Visible(r.ID), terminal.Brief(r.Input, 400))
	return nil
}

func (p *program) completeCalls(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := p.calls(cmd.Context(), false, time.Time{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, r := range list {
		if terminal.Visible(r.ID) == r.ID { // else nobody could say it
			ids = append(ids, r.ID+"\t"+terminal.Visible(toolOf(&r)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

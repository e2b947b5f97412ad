package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "audit",
		SuggestFor: []string{"log", "logs", "history", "record"},
		Short:      "Show what happened, and whether the record of it was changed",
		Long: `Every decision about a call and every effect of one is on the record, where the
runtime has a log. Each entry is linked to the one before it, so that a change of
any of them is found; a signed head, kept elsewhere, shows that none was taken
away from the end.`,
		Example: `  ferrule audit list --since 2h
  ferrule audit verify`,
	}
	p.group(cmd)
	cmd.AddCommand(p.auditListCommand(), p.auditShowCommand(), p.auditFollowCommand(), p.auditExportCommand(), p.auditHeadCommand(), p.auditVerifyCommand())
	return cmd
}

// wanted are the flags that say which entries are wanted.
type wanted struct {
	since, until, kind, decision string
	store.Filter
}

func (w *wanted) flags(cmd *cobra.Command, last int) {
	f := cmd.Flags()
	f.StringVar(&w.since, "since", "", "from this `TIME` on: 2h, 3d, 2026-01-31, 2026-01-31T10:00:00Z")
	f.StringVar(&w.until, "until", "", "before this `TIME`")
	f.StringVar(&w.Session, "session", "", "of this `SESSION`")
	f.StringVar(&w.Tool, "tool", "", "of this `TOOL`, as models call it")
	f.StringVar(&w.kind, "kind", "", "of this `KIND`, such as requested, decided or ended")
	f.StringVar(&w.Call, "call", "", "of this `CALL`: its id, or the provider's")
	f.StringVar(&w.decision, "decision", "", "decisions that are this `VERDICT`: allow, ask or deny")
	f.StringVar(&w.Text, "text", "", "with this `TEXT` anywhere in them")
	f.IntVar(&w.Newest, "last", last, "the newest `N`; 0: all")
}

// filter is what the flags say.
func (w *wanted) filter(now time.Time) (store.Filter, error) {
	var err error
	f := w.Filter
	if f.Since, err = moment("since", w.since, now); err != nil {
		return f, err
	}
	if f.Until, err = moment("until", w.until, now); err != nil {
		return f, err
	}
	kinds := slices.DeleteFunc(audit.Kinds(), func(k audit.Kind) bool { return k == audit.Updated }) // which are not kept
	if f.Kind = audit.Kind(w.kind); w.kind != "" {
		var all []string
		for _, k := range kinds {
			all = append(all, string(k))
		}
		if err := oneOf("--kind", w.kind, all...); err != nil {
			return f, err
		}
	}
	if f.Verdict = w.decision; w.decision != "" {
		if err := oneOf("--decision", w.decision, "allow", "ask", "deny"); err != nil {
			return f, err
		}
	}
	if f.Newest < 0 {
		return f, usage("--last: got %d, want 0 or more", f.Newest)
	}
	return f, nil
}

// moment reads a time, or how long ago it was.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usage("--%s: got %q, want how long ago (90m, 2h, 3d), a day (2026-01-31) or a time (2026-01-31T10:00:00Z), in UTC", flag, text)
}

// withLog calls f with the store; nil: there is none yet. One that is gone is an
// error.
func (p *program) withLog(ctx context.Context, f func(*store.Store) error) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	return p.withStore(ctx, c, false, func(s *store.Store) error {
		if s == nil {
			if trace, err := store.Trace(p.storeOf(c)); err != nil || trace != "" {
				return cmp.Or(err, fmt.Errorf("audit: %s", p.gone(c, trace)))
			}
		}
		return f(s)
	})
}

// gone says that the store is gone, as a trace of it shows.
func (p *program) gone(c *config.Config, trace string) string {
	return fmt.Sprintf("there is no store at %s, but there was one, as %s shows: all that was on the record is gone", p.short(p.storeOf(c)), p.short(trace))
}

// errNoLog is that there is no store.
func (p *program) errNoLog() error {
	return errors.New("audit: nothing is on the record: there is no store yet; a runtime with a log makes one, and --home says where it is")
}

func (p *program) auditListCommand() *cobra.Command {
	var w wanted
	const last = 50
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what happened, newest last",
		Example: `  ferrule audit list
  ferrule audit list --since 1d --decision deny
  ferrule audit list --tool shell --last 0 --json`,
		Args: exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			f, err := w.filter(p.now())
			if err != nil {
				return err
			}
			var all []store.Logged
			err = p.withLog(cmd.Context(), func(s *store.Store) error {
				if s == nil {
					return nil
				}
				all, err = collect(s.Entries(cmd.Context(), f))
				return err
			})
			if err != nil {
				return err
			}
			return p.printEntries(all, f)
		}),
	}
	w.flags(cmd, last)
	p.jsonFlag(cmd)
	return cmd
}

// collect reads entries to their end.
func collect(entries func(func(store.Logged, error) bool)) (all []store.Logged, err error) {
	for l, err := range entries {
		if err != nil {
			return nil, fmt.Errorf("%w; `ferrule audit verify` says more", err)
		}
		all = append(all, l)
	}
	return all, nil
}

func (p *program) printEntries(all []store.Logged, f store.Filter) error {
	switch {
	case p.json:
		list := make([]printed, len(all))
		for i, l := range all {
			list[i] = printedOf(l)
		}
		return p.printJSON(list)
	case len(all) == 0:
		if f.Newest = 0; f == (store.Filter{}) {
			p.printf("nothing is on the record\n")
		} else {
			p.printf("nothing on the record is like that\n")
		}
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tEVENT\tTOOL\tCALL\tSESSION\tWHAT")
	for _, l := range all {
		fmt.Fprintln(w, strings.Join(columns(&l.Entry), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.Newest > 0 && len(all) == f.Newest {
		p.printf("\nThere may be more before: --last 0 shows all. ferrule audit show CALL shows the whole life of a call.\n")
	}
	return nil
}

// printed is an entry for programs.
type printed struct {
	Place  int64  `json:"place"`
	Writer string `json:"writer"`
	audit.Entry
}

func printedOf(l store.Logged) printed { return printed{l.Place, l.Writer, l.Entry} }

func (p *program) auditFollowCommand() *cobra.Command {
	var w wanted
	cmd := &cobra.Command{
		Use:   "follow",
		Short: "Print what happens as it happens, until it is interrupted",
		Example: `  ferrule audit follow
  ferrule audit follow --kind decided --last 0`,
		Args: exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			f, err := w.filter(p.now())
			if err != nil {
				return err
			}
			return p.withLog(cmd.Context(), func(s *store.Store) error {
				if s == nil {
					return p.errNoLog()
				}
				p.still()
				return p.follow(cmd.Context(), s, f)
			})
		}),
	}
	w.flags(cmd, 10)
	p.jsonFlag(cmd)
	return cmd
}

// glance is how often it is looked for new entries.
const glance = 200 * time.Millisecond

// follow prints entries until ctx ends.
func (p *program) follow(ctx context.Context, s *store.Store, f store.Filter) error {
	end, err := s.LastPlace(ctx)
	if err != nil {
		return err
	}
	if err := p.printNew(s.Entries(ctx, f), end); err != nil {
		return err
	}
	f.After, f.Newest = end, 0
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		// It goes on behind what was read, and not behind what fitted.
		if end, err = s.LastPlace(ctx); err == nil && end > f.After {
			err = p.printNew(s.Entries(ctx, f), end)
			f.After = end
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// printNew prints entries, one on a line, up to a place.
func (p *program) printNew(entries func(func(store.Logged, error) bool), until int64) error {
	for l, err := range entries {
		if err != nil {
			return err
		}
		if l.Place > until {
			break
		}
		if p.json {
			if err := p.printLine(printedOf(l)); err != nil {
				return err
			}
			continue
		}
		c := columns(&l.Entry)
		p.printf("%s  %-9s  %-20s  %-16s  %s\n", c[0], c[1], c[2], c[3], c[5])
	}
	return p.out.err
}

// printLine prints a value for programs, on one line.
func (p *program) printLine(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = io.WriteString(p.out, terminal.VisibleJSON(string(text))+"\n")
	}
	return err
}

func (p *program) auditExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the whole record as lines of JSON, with its links",
		Long: `Print the whole record, one entry on a line, with its writer, number and hash, so
that it can be kept and verified elsewhere: ferrule audit verify --file FILE.`,
		Example: `  ferrule audit export > record.jsonl`,
		Args:    exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			return p.withLog(cmd.Context(), func(s *store.Store) error {
				if s == nil {
					return p.errNoLog()
				}
				for r, err := range s.Rows(cmd.Context()) {
					if err != nil {
						return err
					}
					if err := p.printLine(r); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) pinsAcceptCommand() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "accept SERVER [TOOL…] --as DIGEST",
		Short: "Accept tools as they are now; without a TOOL all that wait",
		Long: `Accept tools as ` + "`ferrule pins diff`" + ` has shown them: it prints the digest. Where a tool has
changed since, nothing is accepted. A gateway that runs offers them within a second.`,
		Example: `  ferrule pins accept github --as t0123456789abcdef0123456789abcdef`,
		Args:    someOf("SERVER"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			pins, known, chosen, err := p.chosenPins(args)
			if err != nil {
				return err
			}
			switch got := pinsAs(&known, chosen); {
			case len(chosen) == 0:
				p.printf("%s: nothing waits\n", known.Server)
				return nil
			case as == "":
				return usage("accept: got no --as: `ferrule pins diff %s` shows what would be accepted, and its digest", strings.Join(args, " "))
			case as != got:
				return fmt.Errorf("pins: --as %s is not what the tools are now: look at them again: ferrule pins diff %s", as, strings.Join(args, " "))
			}
			return p.answerPins(cmd.Context(), "accepted", pins, &known, chosen, pins.Accept)
		}),
	}
	cmd.Flags().StringVar(&as, "as", "", "the `DIGEST` that pins diff printed")
	return confirms(cmd)
}

func (p *program) pinsRejectCommand() *cobra.Command {
	return confirms(&cobra.Command{
		Use:     "reject SERVER [TOOL…]",
		Short:   "Leave tools out as they are now, and do not ask about them again",
		Example: `  ferrule pins reject github delete_repo`,
		Args:    someOf("SERVER"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			pins, known, chosen, err := p.chosenPins(args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 {
				p.printf("%s: nothing waits\n", known.Server)
				return nil
			}
			return p.answerPins(cmd.Context(), "left out", pins, &known, chosen, pins.Reject)
		}),
	})
}

// answerPins does what was said of tools, and puts it on the record then.
func (p *program) answerPins(ctx context.Context, done string, pins *mcptool.Pins, known *mcptool.Pinned, chosen []mcptool.Pin, do func(mcptool.Pinned, string, ...string) error) error {
	return p.withRecord(ctx, func(s *store.Store) error {
		if err := do(*known, p.user(), pinNames(chosen)...); err != nil {
			return err
		}
		p.printf("%s: %s %s\n", known.Server, done, mcptool.Visible(strings.Join(pinNames(chosen), ", ")))
		if _, err := pins.Withdraw(ctx, s, known.Server); err != nil {
			p.complain("ferrule: pins: a question about them could not be withdrawn: " + err.Error())
		}
		return p.notePins(s, known.Server, done+" of server "+known.Server+": "+definitions(chosen)) //nolint:contextcheck // a log has none
	})
}

// definitions are tools with the digests of what they are.
func definitions(pins []mcptool.Pin) string {
	all := make([]string, len(pins))
	for i := range pins {
		all[i] = mcptool.Visible(pins[i].Tool) + " " + pins[i].Digest
	}
	return strings.Join(all, ", ")
}

func (p *program) pinsForgetCommand() *cobra.Command {
	return confirms(&cobra.Command{
		Use:   "forget SERVER",
		Short: "Forget what was accepted of a server: it is seen for the first time again",
		Long: `Forget what was accepted and answered for a server, however it was reached: it is seen
for the first time when it is next reached. The rules that ` + "`ferrule trust`" + ` has made for its
tools are taken back.`,
		Example: `  ferrule pins forget github`,
		Args:    exactly("SERVER"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			pins, known, err := p.pinnedOf(args[0])
			if err != nil {
				return err
			}
			ctx, server := cmd.Context(), known.Server
			return p.withRecord(ctx, func(s *store.Store) error {
				back, err := p.takeBack(ctx, s, server, "ferrule pins forget "+server) // first: where it ends in between, less is allowed
				if err != nil {
					return err
				}
				if err := pins.Forget(server); err != nil {
					return err
				}
				if err := p.forgetList(server); err != nil {
					return err
				}
				p.printf("%s: forgotten; what it says when it is next reached is accepted\n", server)
				p.sayTakenBack(back)
				n, err := pins.Withdraw(ctx, s, server)
				if err != nil {
					p.complain("ferrule: pins: its questions could not be withdrawn: " + err.Error())
				}
				p.sayWithdrawn(n)
				return p.notePins(s, server, "forgot what was accepted and answered for server "+server) //nolint:contextcheck // a log has none
			})
		}),
	})
}

// forgetList takes away what a server listed when it was last reached.
func (p *program) forgetList(server string) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(p.homeOf(c), listsDir, server+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pins: it is forgotten, but not the list that was kept: %w", err)
	}
	return nil
}

// withRecord opens the store, which keeps the record, before anything is done.
func (p *program) withRecord(ctx context.Context, f func(*store.Store) error) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	return p.withStore(ctx, c, true, f)
}

// notePins puts on the record what was done about the tools of a server.
func (p *program) notePins(s *store.Store, server, text string) error {
	if _, err := s.Append(audit.Event{Kind: audit.Governed, Time: p.now(), Name: server, By: p.user(), Text: text}); err != nil {
		return fmt.Errorf("pins: it is done, but not on the record: %w", err)
	}
	return nil
}

// takeBack takes back the rules that answers for a server have made, and says how many
// there were; s is nil where nothing was ever kept.
func (p *program) takeBack(ctx context.Context, s *store.Store, server, reason string) (int, error) {
	if s == nil {
		return 0, nil
	}
	grants, err := s.Grants(ctx, policy.Asker{}) // of everybody
	if err != nil {
		return 0, err
	}
	var ids []string
	for _, g := range grants {
		if g.Source == server && g.Pin != "" {
			ids = append(ids, g.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	return len(ids), s.Regrant(ctx, ids, nil, p.user(), reason)
}

// sayTakenBack says how many rules were.
func (p *program) sayTakenBack(n int) {
	if n > 0 {
		p.printf("  taken back: %s of `ferrule trust`\n", plural(int64(n), "rule", "rules"))
	}
}

// retire ends what was answered for a server that is removed.
func (p *program) retire(ctx context.Context, c *config.Config, server string) error {
	return p.withStore(ctx, c, false, func(s *store.Store) error {
		back, err := p.takeBack(ctx, s, server, "ferrule servers remove "+server)
		if err != nil {
			return err
		}
		p.sayTakenBack(back)
		if err := p.pinsOf(c).Retire(server); err != nil || s == nil {
			return err
		}
		n, err := withdrawAll(ctx, s, server)
		p.sayWithdrawn(n)
		return err
	})
}

// withdrawAll takes back all questions about a server and the calls of its tools.
func withdrawAll(ctx context.Context, s *store.Store, server string) (n int, err error) {
	pending, err := s.Pending(ctx)
	if err != nil {
		return 0, err
	}
	for _, q := range pending {
		if q.Source.Name != server {
			continue
		}
		var over policy.Refusal
		switch err := s.Answer(ctx, q.ID, policy.Answer{Withdrawn: true, By: "ferrule", Reason: "the server was removed"}); {
		case err == nil:
			n++
		case !errors.As(err, &over): // else it has just been answered
			return n, err
		}
	}
	return n, nil
}

// sayWithdrawn says how many questions were.
func (p *program) sayWithdrawn(n int) {
	if n > 0 {
		p.printf("  withdrawn: %s that waited\n", plural(int64(n), "question", "questions"))
	}
}

func pinNames(pins []mcptool.Pin) (names []string) {
	for _, t := range pins {
		names = append(names, t.Tool)
	}
	return names
}

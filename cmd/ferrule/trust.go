package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// What can be answered for a server.
const (
	trustAsk   = "ask"   // each call is asked for
	trustReads = "reads" // what says that it only reads is allowed
	trustThese = "these" // tools by name are
	trustOut   = "out"   // tools are not offered, or none is
)

// trustAll is typed to be shown all tools.
const trustAll = "all"

// trusting are the flags of trust.
type trusting struct {
	answer string
	tools  []string
	as     string
	all    bool
}

func (p *program) trustCommand() *cobra.Command {
	var f trusting
	cmd := &cobra.Command{
		Use:   "trust SERVER",
		Short: "Look at the tools of an MCP server, and answer once for all of them",
		Long: `Connect to an MCP server and show every tool: what it says of itself, what was found
about it, what its definition costs, and how it stands. Then one answer:

  ask      each call is asked for
  reads    what says that it only reads is allowed; the rest is asked for
  these    the tools of --tools are allowed, by name; the rest is asked for
  out      the tools of --tools are not offered; without --tools none is

What is allowed is a rule for exactly that tool as it is now: if the server changes
its definition, the rule is lost. ` + "`ferrule rules`" + ` lists them and takes them back. The
answer takes the place of the one before; rules that were made in other ways stay.

At a terminal it first shows what would run, where that was never started so, and asks
whether it may be; then the answer is asked for. Elsewhere --answer gives it, and --as binds it to
what was shown: where a tool is another by then, nothing is done.

With --quiet an --answer is not confirmed.`,
		Example: `  ferrule trust github
  ferrule trust github --answer reads
  ferrule trust github --answer these --tools get_issue,create_issue \
    --as t0123456789abcdef0123456789abcdef
  ferrule trust github --answer out --tools delete_repo`,
		Args:              exactly("SERVER"),
		RunE:              p.do(func(cmd *cobra.Command, args []string) error { return p.trust(cmd, args[0], &f) }),
		ValidArgsFunction: p.serverNames,
	}
	cmd.Flags().StringVar(&f.answer, "answer", "", "the `ANSWER`: ask, reads, these or out")
	cmd.Flags().StringSliceVar(&f.tools, "tools", nil, "the `TOOLS` that these and out are about, as the server or as models call them")
	cmd.Flags().StringVar(&f.as, "as", "", "the `DIGEST` of what was shown, which the answer is for")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all tools, however many there are")
	p.jsonFlag(cmd)
	return cmd
}

// check refuses flags that cannot be meant.
func (f *trusting) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch f.answer {
	case trustThese, trustOut:
	case trustAsk, trustReads:
		if given("tools") {
			return usage("--tools: got it with --answer %s, want it with these or out", f.answer)
		}
	case "":
		if given("answer") || given("tools") || given("as") {
			return usage("--answer: got nothing, want ask, reads, these or out")
		}
		return nil
	default:
		return oneOf("--answer", f.answer, trustAsk, trustReads, trustThese, trustOut)
	}
	if f.tools = slices.DeleteFunc(f.tools, func(name string) bool { return strings.TrimSpace(name) == "" }); len(f.tools) == 0 && (given("tools") || f.answer == trustThese) {
		return usage("--tools: got none, want the names of tools, as in --tools get_issue,create_issue")
	}
	if given("as") && f.as == "" {
		return usage("--as: got an empty text, want the digest that `ferrule trust` shows")
	}
	return nil
}

func (p *program) trust(cmd *cobra.Command, name string, f *trusting) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	var lines <-chan string
	if f.answer == "" && p.talks() {
		lines = p.lines(ctx)
		if ok, err := p.mayLookFirst(ctx, lines, name); err != nil || !ok {
			return err
		}
	}
	return p.withTrustee(ctx, name, func(t *trustee) error {
		s, err := t.screen(ctx)
		if err != nil {
			return err
		}
		if f.answer == "" {
			return t.show(ctx, lines, s, f.all)
		}
		if f.as != "" && f.as != s.Digest {
			return fmt.Errorf("trust: --as %s is not what %s is now: look at it again: ferrule trust %s", f.as, name, name)
		}
		c, err := s.choose(f.answer, f.tools)
		if err != nil {
			return err
		}
		if len(c.accept) > 0 && f.as == "" {
			return usage("trust: %s of %s was not accepted yet: say --as with the digest of what you have looked at, which `ferrule trust %s` shows", someNames(c.accept), name, name)
		}
		done, err := t.settle(ctx, s, c)
		if err != nil {
			return err
		}
		if p.json {
			return p.printJSON(done)
		}
		if !p.quiet {
			p.printTrusted(done)
		}
		return nil
	})
}

// show shows the screen; at a terminal somebody answers, in lines.
func (t *trustee) show(ctx context.Context, lines <-chan string, s *trustScreen, all bool) error {
	p := t.p
	if p.json {
		return p.printJSON(s)
	}
	if !p.talks() {
		p.printScreen(s, all)
		return usage("trust: nothing was answered, as this is not a terminal: say --answer ask, reads, these with --tools, or out, and --as %s", s.Digest)
	}
	_, err := t.ask(ctx, lines, s, all)
	return err
}

// trustee is a server that is looked at.
type trustee struct {
	p      *program
	h      *host
	server config.Server
	pins   *mcptool.Pins
}

// trustable finds a server that can be looked at.
func (p *program) trustable(name string) (*config.Config, config.Server, error) {
	c, err := p.load()
	if err != nil {
		return nil, config.Server{}, err
	}
	i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		return nil, config.Server{}, noServer(c, name)
	}
	if c.Servers[i].Off {
		return nil, config.Server{}, usage("trust: %s is switched off in %s (off: true): nobody can look at its tools", name, config.Name)
	}
	return c, c.Servers[i], nil
}

// withTrustee connects to a server.
func (p *program) withTrustee(ctx context.Context, name string, f func(*trustee) error) error {
	c, server, err := p.trustable(name)
	if err != nil {
		return err
	}
	return p.with(ctx, hosting{servers: true, only: name, bare: true}, func(h *host) error {
		if err := h.settled(ctx); err != nil {
			return err
		}
		for _, s := range h.servers() {
			if s.Name != name || s.State == "ready" {
				continue
			}
			if s.Login != "" {
				return fmt.Errorf("trust: %s needs login: %s", name, s.Login)
			}
			return fmt.Errorf("trust: %s cannot be looked at: %s", name, notReady(s))
		}
		return f(&trustee{p, h, server, &mcptool.Pins{Dir: filepath.Join(p.homeOf(c), pinsDir)}})
	})
}

// errNotAsShown is that a server, or an answer for it, is not what was shown.
var errNotAsShown = errors.New("it is not what was shown any more")

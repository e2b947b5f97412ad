package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) denyCommand() *cobra.Command {
	var message, reason string
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Say no to a call that waits",
		Example: `  ferrule approvals deny qWUXYu --message "Write to docs/, not to src/"`,
		Args:    exactly("ID"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			q, err := p.toAnswer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return p.answer(cmd.Context(), q, policy.Answer{Message: message, Reason: reason}, "denied")
		}),
		ValidArgsFunction: p.completeIDs,
	}
	cmd.Flags().StringVar(&message, "message", "", "what the model reads, a `TEXT`")
	cmd.Flags().StringVar(&reason, "reason", "", "why, a `TEXT` for the record, which the model reads where there is no message")
	return confirms(cmd)
}

// toAnswer gives the question that is to be answered. Where it was answered before, the
// error says by whom.
func (p *program) toAnswer(ctx context.Context, id string) (policy.Question, error) {
	q, err := p.find(ctx, id, sure)
	if _, misspoken := errors.AsType[*status](err); err == nil || misspoken {
		return q, err
	}
	c, wrong := p.load()
	if wrong != nil {
		return q, err
	}
	var last *store.Answered
	wrong = p.withStore(ctx, c, false, func(s *store.Store) error {
		if s == nil {
			return nil
		}
		all, err := s.Answered(ctx, time.Time{})
		for i := range all {
			has := all[i].Question.ID
			if has != id && (len(id) < sure || !strings.HasPrefix(has, id)) {
				continue
			}
			if last != nil && last.Question.ID != has {
				return errors.New("it begins more than one id")
			}
			last = &all[i]
		}
		return err
	})
	if wrong != nil || last == nil { // no more is known
		return q, err
	}
	was := "denied"
	if last.Answer.Allow {
		was = "allowed"
	}
	return q, fmt.Errorf("approvals: %s: %s was %s already, %s, by %s", terminal.Visible(last.Question.ID), terminal.Visible(last.Question.Tool), was,
		terminal.Ago(last.At, p.now()), terminal.Visible(cmp.Or(last.Answer.By, "nobody who said a name")))
}

// allowance is what the flags of allow say.
type allowance struct {
	session, always, args, text, reason string
	second                              bool
}

func (p *program) allowCommand() *cobra.Command {
	var f allowance
	cmd := &cobra.Command{
		Use:   "allow ID",
		Short: "Say yes to a call that waits",
		Long: `Say yes to a call that waits: once, or with --session or --always to everything
that fits one of the rules that are offered. Each is named by its number or its
text, as approvals show prints them. A yes to a question about the flow of data is,
until the session ends, also for what goes to the same place.`,
		Example: `  ferrule approvals allow qWUXYu
  ferrule approvals allow qWUXYu --session 1
  ferrule approvals allow qWUXYu --args '{"path":"docs/a.md","content":"a"}'`,
		Args: exactly("ID"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if err := one(cmd, "session", "always", "args"); err != nil {
				return err
			}
			q, err := p.toAnswer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a, said, err := f.answer(cmd, q)
			if err != nil {
				return err
			}
			return p.answer(cmd.Context(), q, a, said)
		}),
		ValidArgsFunction: p.completeIDs,
	}
	cmd.Flags().StringVar(&f.session, "session", "", "allow in this session all that fits a `RULE`, by its number or text")
	cmd.Flags().StringVar(&f.always, "always", "", "allow always all that fits a `RULE`, which is written to the configuration")
	cmd.Flags().BoolVar(&f.second, "second-key", false, "turn the second key, which --session and --always want for what may destroy")
	cmd.Flags().StringVar(&f.args, "args", "", "allow these arguments in the place of those shown, a `JSON` object")
	cmd.Flags().StringVar(&f.text, "text", "", "the answer to what a tool asks, a `TEXT`")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, a `TEXT` for the record")
	return confirms(cmd)
}

// answer is the answer to a question, and how it is told.
func (f *allowance) answer(cmd *cobra.Command, q policy.Question) (a policy.Answer, said string, err error) {
	a, said = policy.Answer{Allow: true, Second: f.second, Text: f.text, Reason: f.reason}, terminal.Once(q)
	if q.Wants != "" {
		said = "answered"
	}
	changed := cmd.Flags().Changed
	switch {
	case changed("text") && q.Wants == "":
		return a, "", usage("--text: %s asks nothing: it waits for a yes or a no", terminal.Visible(q.Tool))
	case q.Wants != "" && !changed("text"):
		return a, "", usage("%s asks %q: --text answers it", terminal.Visible(q.Tool), q.Wants)
	case changed("session"):
		a.Rule, err = offer(q, f.session)
		said = "allowed, and in this session whatever fits " + a.Rule
	case changed("always"):
		a.Rule, err = offer(q, f.always)
		a.Always = true
		said = "allowed, and always whatever fits " + a.Rule
	case changed("args"):
		if err := object(f.args); err != nil {
			return a, "", usage("--args: %w", err)
		}
		a.Input = json.RawMessage(f.args)
		said = "allowed once, with the arguments as edited"
	}
	if err != nil {
		return a, "", err
	}
	if a.Rule != "" && q.Claims.Destructive() && !f.second {
		return a, "", usage("%s may destroy something: to allow it more than once takes a second key.\nThe rule would be: %s\nSay it again with --second-key if that is meant", terminal.Visible(q.Tool), a.Rule)
	}
	if err := q.Check(a); err != nil {
		return a, "", &status{statusUsage, err}
	}
	return a, said, nil
}

// object reports why a text cannot be the arguments of a call: it is not one JSON
// object, or says something twice.
func object(text string) error {
	var fields map[string]any
	switch err := schema.Decode(text, &fields); {
	case err != nil:
		return fmt.Errorf("%w; arguments are an object such as {\"path\":\"a\"}", err)
	case fields == nil:
		return errors.New("got null; arguments are an object such as {\"path\":\"a\"}")
	}
	return nil
}

// offer is the rule of a question that has a number or a text.
func offer(q policy.Question, said string) (string, error) {
	if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(q.Offers) {
		return q.Offers[n-1], nil
	}
	if slices.Contains(q.Offers, said) {
		return said, nil
	}
	if len(q.Offers) == 0 {
		return "", usage("nothing is offered for longer than once: allow it without --session and --always")
	}
	var list strings.Builder
	for i, o := range q.Offers {
		fmt.Fprintf(&list, "\n  %d  %s  (%s)", i+1, terminal.Visible(o), terminal.OfferText(o))
	}
	return "", usage("got the rule %q, want one that is offered, by number or text:%s", said, list.String())
}

func (p *program) answer(ctx context.Context, q policy.Question, a policy.Answer, said string) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	a.By = p.user()
	err = p.withStore(ctx, c, true, func(s *store.Store) error { return p.settle(ctx, c, s, q.ID, a) })
	if err != nil {
		return fmt.Errorf("approvals: %s: %w", q.ID, err)
	}
	if tools := p.pinsOf(c).Asks(q); len(tools) > 0 { // it is not for once
		said = map[bool]string{true: "accepted ", false: "left out "}[a.Allow] + strings.Join(tools, ", ")
	}
	input := q.Input
	if a.Input != nil {
		input = string(a.Input)
	}
	p.printf("%s: %s\n  %s  %s\n", terminal.Visible(q.Tool), terminal.Visible(said), terminal.Visible(q.ID), terminal.Brief(input, 400))
	return nil
}

// settle answers, and writes a rule that is to last always to the configuration.
// What cannot be answered so is refused before the answer is spent.
func (p *program) settle(ctx context.Context, c *config.Config, s *store.Store, id string, a policy.Answer) error {
	if a.Input != nil {
		if err := object(string(a.Input)); err != nil {
			return usage("arguments: %w", err)
		}
	}
	q, err := s.Find(ctx, id)
	if err != nil {
		return err
	}
	if a.Rule != "" {
		rule, err := policy.ParseRule(a.Rule, "")
		if err != nil {
			return err
		}
		a.Second = a.Second && q.Claims.Destructive() // else it is not needed, and would cover more than was asked
		if err := config.Lasts(rule, a.Second); err != nil {
			return usage("rule: %w", err)
		}
	}
	switch {
	case q.Wants != "" && a.Allow && a.Text == "":
		return usage("%s asks %q: it wants an answer in words", terminal.Visible(q.Tool), q.Wants)
	case q.Wants == "" && a.Text != "":
		return usage("%s asks nothing: it waits for a yes or a no", terminal.Visible(q.Tool))
	}
	if about, err := p.pinsOf(c).Answer(ctx, s, q, a); about || err != nil {
		return err
	}
	if err := s.Answer(ctx, id, a); err != nil {
		return err
	}
	g, lasts := q.Grant(a, p.now())
	if !lasts || !a.Always {
		return nil
	}
	if err := config.AddAlways(p.fileOf(c), config.AlwaysOf(g)); err != nil {
		return fmt.Errorf("it is allowed, but the rule is not in the configuration: %w", err)
	}
	return nil
}

// fileOf is where a configuration is written to.
func (p *program) fileOf(c *config.Config) string {
	if c.File != "" {
		return c.File
	}
	return p.path(config.Name)
}

// watch is the interactive screen.
func (p *program) watch(ctx context.Context) error {
	if !terminal.Is(p.stdin) || !terminal.Is(p.stdout) || p.dumb() {
		return usage("approvals --watch: this is not a terminal that a screen can be drawn on: without one, use `ferrule approvals`, `approvals show`, `allow` and `deny`")
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	return p.withStore(ctx, c, true, func(s *store.Store) error {
		p.still()
		return terminal.Watch(ctx, p.stdin, p.stdout, p.environ, terminal.Desk{
			By: p.user(), Pending: s.Pending,
			Answer: func(ctx context.Context, id string, a policy.Answer) error { return p.settle(ctx, c, s, id, a) },
		})
	})
}

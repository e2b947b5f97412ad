package main

import (
	"context"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// trustTaken has somebody at the terminal look at servers that were just taken, one
// screen and one answer each, after they have said that it may be started; elsewhere it says which commands do that.
func (p *program) trustTaken(ctx context.Context, names []string) error {
	names, err := p.unanswered(names)
	if err != nil || len(names) == 0 {
		return err
	}
	if p.quiet {
		return nil
	}
	if !p.talks() {
		p.sayTrust(names)
		return nil
	}
	lines := p.lines(ctx)
	look, left, err := p.mayLook(ctx, lines, names)
	if err != nil {
		if ctx.Err() != nil { // they stand in the file all the same
			p.sayNotStarted(names)
		}
		return err
	}
	for i, name := range look {
		more := false
		p.printf("\n")
		err := p.withTrustee(ctx, name, func(t *trustee) error {
			s, err := t.screen(ctx)
			if err != nil {
				return err
			}
			more, err = t.ask(ctx, lines, s, false)
			return err
		})
		switch {
		case ctx.Err() != nil:
			p.sayNotStarted(append(look[i+1:], left...))
			return ctx.Err()
		case err != nil: // the servers are taken all the same
			p.complain("ferrule: " + err.Error())
			p.sayTrust([]string{name})
		case !more:
			p.sayNotStarted(append(look[i+1:], left...))
			return nil
		}
	}
	p.sayNotStarted(left)
	return nil
}

// sayNotStarted says what becomes of servers that are taken and were not looked at.
func (p *program) sayNotStarted(names []string) {
	if len(names) == 0 {
		return
	}
	p.printf("\nnot started: %s\n`ferrule up`, and whatever else uses their tools, would start them; `ferrule servers remove NAME` takes one out.\n", strings.Join(names, ", "))
	p.sayTrust(names)
}

// sayTrust says how servers are answered for.
func (p *program) sayTrust(names []string) {
	if len(names) == 0 {
		return
	}
	p.printf("every call of their tools is asked for, until you look at them and answer once:\n")
	for _, name := range names {
		p.printf("  ferrule trust %s\n", name)
	}
}

// unanswered are those of the servers that nobody has answered for, as they are
// reached now: an answer for another program under the name is none.
func (p *program) unanswered(names []string) (left []string, err error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	pins := p.pinsOf(c)
	for _, name := range names {
		i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == name })
		if i < 0 || c.Servers[i].Off || slices.Contains(left, name) {
			continue
		}
		if known, err := pins.As(reached(c, c.Servers[i])); err != nil || known.Answer == nil || known.Answer.Earlier { // what is wrong is said where it is looked at
			left = append(left, name)
		}
	}
	return left, nil
}

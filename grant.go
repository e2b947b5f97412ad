package ferrule

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// granted is a yes to calls like this one that a person made last; nil: there is
// none. A ledger that fails has nothing to say: then a person is asked.
func (c *call) granted(r *policy.Ruling) *policy.Grant {
	if r == nil || r.Flow {
		return nil
	}
	return c.grantFor(func(g *policy.Grant) bool { return !r.Overrules || g.Exact() }) // what a voice denies is overruled call by call
}

// pinned reports whether somebody who was shown the tool allowed it by its exact
// name, for the definition that it has.
func (c *call) pinned() bool {
	return c.req.Tool != nil && c.req.Tool.Pin != "" && c.grantFor(func(g *policy.Grant) bool { return g.Pin != "" }) != nil
}

// grantFor is the first grant that answers for the call and will do.
func (c *call) grantFor(will func(*policy.Grant) bool) *policy.Grant {
	set, of, about := c.turn.set, asker(&c.req.Caller), policy.Grant{Source: c.req.Source.Name}
	if c.req.Tool != nil {
		about.Pin = c.req.Tool.Pin
	}
	grants, err := bounded(c.turn.ctx, ledgerTime, func(ctx context.Context) ([]policy.Grant, error) { return set.ledger.Grants(ctx, of, about) })
	if err != nil || len(grants) == 0 {
		return nil
	}
	c.facts()
	definition := c.entry.origin().digest()
	for _, g := range grants {
		if g.Answers(c.req, definition) && will(&g) {
			return &g
		}
	}
	return nil
}

// answeredBy puts on the record that a grant answered.
func (c *call) answeredBy(g *policy.Grant) {
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Answered, By: "rule " + g.ID, Text: "allow: " + g.Rule, Question: g.Question})
	}
}

// grant makes a yes last, where its person wants that and the inbox has not done
// it. The call goes on either way.
func (c *call) grant(q *policy.Question, a policy.Answer) {
	set := c.turn.set
	g, ok := q.Grant(a, time.Now())
	if !ok || set.kept {
		return
	}
	_, err := bounded(c.turn.ctx, ledgerTime, func(ctx context.Context) (string, error) { return set.ledger.Grant(ctx, g) })
	if err != nil && c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Found, By: a.By, Text: fmt.Sprintf("%s is allowed this once: the rule could not be kept: %v", g.Rule, err)})
	}
}

// offers are the rules that a yes can be made to last as.
func (c *call) offers() []string {
	if c.ruling == nil || c.ruling.Flow {
		return nil
	}
	var scopes []string
	if f := c.entry.tool.Scopes; f != nil && !c.ruling.Overrules {
		c.facts()
		said, err := timed(c, func(context.Context) ([]string, error) { return f(c.req.Args) })
		if err == nil {
			scopes = said
		}
	}
	list := policy.Offers(c.req, scopes)
	if c.ruling.Overrules {
		list = list[:1] // exactly these arguments
	}
	return list
}

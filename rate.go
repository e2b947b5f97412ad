package ferrule

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// charge counts a call that is about to run, once.
func (c *call) charge() *tool.Error {
	if err := c.flowOnly(); err != nil {
		return err
	}
	set := c.turn.set
	if len(set.rates) == 0 || c.charged {
		return nil
	}
	var charges []policy.Charge
	var by []policy.Rate
	for _, r := range set.rates {
		if ch, ok := r.Charge(c.req); ok {
			charges, by = append(charges, ch), append(by, r)
		}
	}
	type taken struct {
		full int
		wait time.Duration
	}
	t, err := taken{full: -1}, set.badRate
	if err == nil && len(charges) > 0 {
		t, err = atInbox(c, func(ctx context.Context) (t taken, err error) {
			t.full, t.wait, err = set.ledger.Take(ctx, charges)
			return t, err
		})
	}
	if err == nil && (t.full < -1 || t.full >= len(charges)) {
		err = fmt.Errorf("Runtime.Ledger: take: got the place %d of %d", t.full, len(charges))
	}
	limit := ""
	if t.full >= 0 && err == nil {
		if limit = "the limit is " + by[t.full].String(); by[t.full].Key != "" {
			limit += ": " + by[t.full].Key
		}
	}
	switch {
	case err != nil:
		return &tool.Error{Kind: tool.Denied, Text: "It could not be counted how many calls were made, so the call was denied.", Detail: err.Error(), Cause: err}
	case t.full >= 0 && t.wait == 0:
		return &tool.Error{Kind: tool.RateLimited, Text: fmt.Sprintf("The budget of calls of %s is used up.", c.called()), Detail: limit}
	case t.full >= 0:
		return &tool.Error{
			Kind: tool.RateLimited, Text: fmt.Sprintf("Too many calls of %s. Try again in %s.", c.called(), t.wait.Truncate(time.Second)+time.Second),
			Detail: limit, RetryAfter: t.wait,
		}
	}
	c.charged = true
	return nil
}

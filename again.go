package ferrule

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about questions that belong to no turn ([TurnOptions].Again). Who
// cannot wait for a person makes the call again, perhaps from another process. The
// inbox has the question then, and perhaps its answer: equal calls share it, and one
// of them uses it. What is left over by the others is asked anew.

// answerState is how the answer to a question stands.
type answerState uint8

const (
	isAnswered answerState = iota
	isWaiting
	isMissed // an equal call had it, or it was taken back: to be looked at anew
)

// pose puts the question about the call, or takes up one that an equal call has
// left: then that is in q, or in c.wants if its tool wanted to know something.
func (c *call) pose(q *policy.Question) *tool.Error {
	left, failure := c.left(q)
	if failure != nil || left == nil {
		if failure == nil {
			failure = c.put(q)
		}
		return failure
	}
	if err := c.listen(left); err != nil {
		return c.unasked(err)
	}
	c.joined = left.ID
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Asked, By: left.Rule, Text: left.Reason + left.Wants, Question: left.ID})
	}
	if left.Wants != "" && q.Wants == "" { // it was allowed, and had begun
		c.wants, c.reply, c.edited = left, nil, left.Digest
		return nil
	}
	*q = *left
	return nil
}

// left is a question that an equal call has left; nil: none.
func (c *call) left(q *policy.Question) (*policy.Question, *tool.Error) {
	if !q.Again {
		return nil, nil
	}
	all, err := atInbox(c, func(ctx context.Context) ([]policy.Question, error) { return c.turn.set.inbox.Again(ctx, q.Digest) })
	if err != nil {
		return nil, c.unasked(err)
	}
	all = slices.DeleteFunc(all, func(of policy.Question) bool { return of.ID == q.ID || !of.Again || !goesOnFrom(q, &of) })
	for i := range all {
		if all[i].Wants != "" {
			return &all[i], nil // to run it is allowed already
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return &all[0], nil
}

// goesOnFrom reports whether an answer to a question that was left is one to q: it
// shows the same, and wants to know the same. What a tool wanted to know that had
// been allowed to run comes after q.
func goesOnFrom(q, left *policy.Question) bool {
	if q.Wants != "" || left.Wants == "" {
		return q.Wants == left.Wants && sameQuestion(q, left)
	}
	as := *left
	as.Reason, as.Rule = q.Reason, q.Rule
	return left.Allowed && sameQuestion(q, &as)
}

// dropLeft takes back what equal calls have left of a call that a rule allows now:
// nobody need answer it, and an answer would be a yes that no list shows. Where that
// fails it expires. A rule of one session answers for no other, whose questions stay.
func (c *call) dropLeft(by *policy.Grant) {
	if !c.turn.again {
		return
	}
	digest := c.digest()
	_, _ = atInbox(c, func(ctx context.Context) (struct{}, error) {
		inbox := c.turn.set.inbox
		all, err := inbox.Again(ctx, digest)
		for _, q := range all {
			if q.Wants != "" { // the tool will ask that anew
				continue
			}
			if of := by.Caller.Session; of != "" && q.Caller.Session != of {
				continue
			}
			if errors.Is(inbox.Answer(ctx, q.ID, policy.Answer{Withdrawn: true, By: "ferrule", Reason: "a rule allows it"}), policy.ErrAnswered) {
				_, err = inbox.Use(ctx, q.ID, digest)
			}
		}
		return struct{}{}, err
	})
}

// missed reports whether an answer is none to this call, which shares its question
// with others. One that was made to last before the call came is not one for once:
// as long as it lasts, the rule answers.
func (c *call) missed(q *policy.Question, a policy.Answer) bool {
	return q.Again && (a.Withdrawn || a.Allow && a.Rule != "" && c.joined == q.ID)
}

// anew has the call asked for anew.
func (c *call) anew() (waiting, changed bool, failure *tool.Error) {
	if c.wants != nil && c.edited == c.wants.Digest {
		c.edited = "" // that was the yes of a question that is not there
	}
	c.question, c.wants, c.reply, c.allowed = nil, nil, nil, false
	return false, true, c.round()
}

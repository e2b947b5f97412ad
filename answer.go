package ferrule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// listen has the answer to a question of this call heard.
func (c *call) listen(q *policy.Question) error {
	t := c.turn
	t.mu.Lock()
	if c.lost.Load() || t.closed {
		t.mu.Unlock()
		return errOver
	}
	if t.waiting == nil {
		t.waiting = make(map[string]*call)
	}
	t.waiting[q.ID] = c
	c.asks = append(c.asks, q.ID)
	c.everAsked.Store(true)
	t.mu.Unlock()
	return c.orStopped(t.watchInbox(c))
}

// orStopped sees whether what failed did so because the host has stopped.
func (c *call) orStopped(err error) error {
	if err != nil && c.turn.ctx.Err() != nil {
		c.cut = hostStop(c.turn.ctx).cause
	}
	return err
}

// watchInbox has the inbox tell of answers, if it does not yet; fresh is a call
// that has not asked. The inbox is not called under the turn's mutex: it may call
// back.
func (t *Turn) watchInbox(fresh *call) error {
	t.mu.Lock()
	if t.unanswer != nil {
		t.mu.Unlock()
		return nil
	}
	t.unanswer = func() {} // somebody is about it
	t.mu.Unlock()
	stop, err := bounded(t.ctx, otherTime, func(context.Context) (func(), error) { return t.set.inbox.Watch(t.answered), nil })
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unanswer = stop; stop == nil && err == nil {
		t.unanswer = func() {}
	}
	for _, c := range t.waiting { // an answer may have come unheard, or nobody will hear it
		if c != fresh {
			t.lookAgain(c)
		}
	}
	return err
}

// withdraw takes back the questions of a call that nobody needs an answer to
// any more.
func (c *call) withdraw() {
	t := c.turn
	t.mu.Lock()
	ids := t.questionsOf(c)
	t.mu.Unlock()
	t.takeBack(ids)
}

// questionsOf are the questions of a call that nobody listens for any more. The
// mutex is held.
func (t *Turn) questionsOf(c *call) []string {
	ids := c.asks
	c.asks = nil
	for _, id := range ids {
		delete(t.waiting, id)
		t.unneeded(id)
	}
	return ids
}

// unneeded ends the host's own answer to a question that has one, or needs none.
// The mutex is held.
func (t *Turn) unneeded(id string) {
	if l := t.answers[id]; l != nil {
		delete(t.answers, id)
		l.finish(errOver, time.Now())
		t.recheck()
	}
}

// takeBack withdraws questions. Where there is an answer already it is refused,
// which is as good.
func (t *Turn) takeBack(ids []string) {
	if len(ids) == 0 {
		return
	}
	_, _ = bounded(context.WithoutCancel(t.ctx), otherTime, func(ctx context.Context) (struct{}, error) {
		for _, id := range ids {
			_ = t.set.inbox.Answer(ctx, id, policy.Answer{Withdrawn: true, By: "ferrule", Reason: "the call is over"})
		}
		return struct{}{}, nil
	})
}

// atInbox calls the inbox for a call. Where nobody could take over the goroutine
// of the call it has one of its own.
func atInbox[T any](c *call, f func(context.Context) (T, error)) (T, error) {
	if !c.inline {
		return timed(c, f)
	}
	v, err := bounded(c.turn.ctx, c.otherTime(), f)
	return v, c.orStopped(err)
}

// byAnswerFailed marks the answer of a host's function that failed.
const byAnswerFailed = "Runtime.Answer failed"

// askHost lets the host's function answer, once, beside the inbox. It holds no
// slot; the turn waits for it.
func (c *call) askHost(asked *policy.Question) {
	t := c.turn
	if t.set.answer == nil || c.hosted == asked.ID {
		return
	}
	c.hosted = asked.ID
	q := *asked // who answers may write into it
	q.Claims, q.Offers = copyClaims(asked.Claims), slices.Clone(asked.Offers)
	l := &lease{ctx: t.ctx, turn: t}
	l.last(time.Until(q.Expires))
	t.mu.Lock()
	t.helpers++
	t.look(l)
	if t.answers == nil {
		t.answers = make(map[string]*lease)
	}
	t.answers[q.ID] = l
	t.mu.Unlock()
	go func() {
		a, err := policy.Answer{}, errGoexit
		defer func() {
			if err != nil {
				a = policy.Answer{By: byAnswerFailed, Reason: fmt.Sprint(err)} // fmt stands an error that panics
			}
			c.answerFailed(err)
			_, _ = bounded(context.WithoutCancel(t.ctx), otherTime, func(ctx context.Context) (struct{}, error) { // refused if somebody else was first
				return struct{}{}, t.set.inbox.Answer(ctx, q.ID, a)
			})
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.answers, q.ID)
			if l.watched {
				l.end.CompareAndSwap(nil, t.set.over)
				l.shut()
				t.watching.forget(l)
				t.helpers--
				t.cond.Broadcast()
			}
		}()
		if a, err = safely(func() (policy.Answer, error) { return t.set.answer(l, q) }); err == nil {
			err = q.Check(a)
		}
	}()
}

// answerFailed keeps why the host's function could not answer.
func (c *call) answerFailed(err error) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.answerErr = err
}

// abandon leaves an answer of the host behind that did not come back. The mutex
// is held and let go.
func (t *Turn) abandon() {
	t.helpers--
	t.cond.Broadcast()
	t.mu.Unlock()
}

package ferrule

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// listen has the answer to a question of this call heard. The inbox is not
// called under the turn's mutex: it may call back.
func (c *call) listen(q *policy.Question) error {
	t := c.turn
	t.mu.Lock()
	if t.waiting == nil {
		t.waiting = make(map[string]*call)
	}
	t.waiting[q.ID] = c
	c.asks = append(c.asks, q.ID)
	c.everAsked.Store(true)
	first := t.unanswer == nil
	if first {
		t.unanswer = func() {}
	}
	t.mu.Unlock()
	if !first {
		return nil
	}
	stop, err := safely(func() (func(), error) { return t.set.inbox.Watch(t.answered), nil })
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unanswer = stop; stop == nil {
		t.unanswer = func() {}
	}
	for _, other := range t.waiting { // asked meanwhile: an answer may have come unheard
		if other != c {
			t.lookAgain(other)
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
	for _, id := range ids {
		_, _ = safely(func() (struct{}, error) {
			return struct{}{}, t.set.inbox.Answer(context.WithoutCancel(t.ctx), id, policy.Answer{Withdrawn: true, By: "ferrule", Reason: "the call is over"})
		})
	}
}

// byAnswerFailed marks the answer of a host's function that failed.
const byAnswerFailed = "Runtime.Answer failed"

// askHost lets the host's function answer, beside the inbox. It holds no slot;
// the turn waits for it.
func (c *call) askHost(q policy.Question) {
	t := c.turn
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
			_, _ = safely(func() (struct{}, error) { // refused if somebody else was first
				return struct{}{}, t.set.inbox.Answer(context.WithoutCancel(t.ctx), q.ID, a)
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
		a, err = safely(func() (policy.Answer, error) { return t.set.answer(l, q) })
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

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about calls that a person must allow. The question is where all
// questions are, for whoever looks there; and the client is asked as well, where it
// can ask its user. The first answer counts.
//
// A client does not wait for ever. So a call that nobody has answered for is given
// back (pending, call again), and the question stays in the inbox: when the same
// call comes again, from whichever session of the principal and to whichever process
// with that inbox, it goes on from there ([ferrule.TurnOptions].Again).

// waitTime is how long a client waits for a person before its call is given back:
// most give up after a minute.
const waitTime = 45 * time.Second

// perform makes the call. Where a person must allow it, it goes on when one has.
func (d *dialogue) perform(view *ferrule.View, w *watcher, call tool.Call) tool.Result {
	inbox := d.client.gate.Runtime.Inbox
	o := ferrule.TurnOptions{Apart: true, Ends: true, Again: true, Observe: w.observe, HandBack: inbox != nil}
	ctx := withExchange(d.ctx, d)
	for {
		res := d.client.gate.turn(ctx, view, o, call)
		question, turn := w.question()
		if inbox == nil || question == "" || res.Err == nil || res.Err.Kind != tool.Suspended {
			return res
		}
		if back := d.awaited(inbox, question); back != nil {
			return *back
		}
		o.Number = turn
	}
}

// question is the one that was put last, and the turn it was put in.
func (w *watcher) question() (id string, turn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, w.turn
}

// awaited waits for the answer to a question. Nil: the call goes on; else it is given
// back with this.
func (d *dialogue) awaited(inbox policy.Inbox, id string) *tool.Result {
	all := &d.client.gate.house.waiters
	all.enter(id)
	defer all.leave(id)
	if d.approved(inbox, id) {
		return nil
	}
	back := d.pending(inbox, id)
	return &back
}

// pending is the result of a call that is given back. A request that has ended has
// no use for it: nobody is to be asked for it any more, unless it is the gateway that
// ends. The client may call again when there is another, and the answer is there then.
func (d *dialogue) pending(inbox policy.Inbox, id string) tool.Result {
	if d.ctx.Err() != nil && !d.client.gate.house.isClosed() {
		err := d.takeBack(inbox, id)
		return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the request ended before a person allowed it. Nothing was done.", Cause: errors.Join(d.why(), err)}}
	}
	how := "once it is allowed: in the console or on the screen of ferrule up, or by: ferrule approvals allow " + id
	if q, err := inbox.Find(d.ctx, id); err == nil && q.Wants != "" {
		how = "once what the tool wants to know is answered: in the console or on the screen of ferrule up, or by: ferrule approvals allow " + id + " --text ANSWER"
	}
	return tool.Result{Err: &tool.Error{Kind: tool.Pending, Text: "Waiting for a person. Call again with the same input " + how}}
}

// inboxTime is how long the inbox has to do one thing.
const inboxTime = 10 * time.Second

// approved waits until a question is answered, by whomever; false: it is not, and
// the client is to be told so.
func (d *dialogue) approved(inbox policy.Inbox, id string) bool {
	answered, stop := watchFor(inbox, id)
	defer stop()
	q, err := inbox.Find(d.ctx, id)
	if err != nil {
		return d.ctx.Err() == nil // it is over: the runtime says why
	}
	if !isPending(d.ctx, inbox, id) {
		return true
	}
	ctx, cancel := context.WithCancel(d.ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	wait := time.NewTimer(d.client.gate.patience())
	defer wait.Stop()
	asked := make(chan bool, 1)
	form := formOf(&q)
	if byClient := d.client.gate.approvesByClient(d.face, form); byClient {
		if d.era() == newEra {
			wait.Stop() // it has its result, and comes back when its user has answered
		}
		asking.Go(func() {
			result, err := d.elicit(ctx, form, func(late json.RawMessage) { d.answerBy(ctx, inbox, &q, late) })
			asked <- err == nil && d.answerBy(ctx, inbox, &q, result)
		})
	}
	for {
		select {
		case <-answered:
			return true
		case ok := <-asked:
			if ok {
				return true
			}
			if d.era() == newEra {
				return false // it has come back without an answer, or not at all
			}
		case <-wait.C:
			return false
		case <-d.client.gate.house.closing():
			return false
		case <-d.ctx.Done():
			return false
		}
	}
}

// elicit asks the client's user. In the old era, late takes what they say after ctx
// has ended; in the new one they come back with it or do not.
func (d *dialogue) elicit(ctx context.Context, form json.RawMessage, late func(json.RawMessage)) (json.RawMessage, error) {
	l := d.current()
	if d.era() != oldEra || l == nil {
		return d.request(ctx, methodElicit, form)
	}
	return d.client.askOrLate(ctx, l.to, methodElicit, form, late)
}

// answerBy takes the client's answer as that of a person; false: it is none.
func (d *dialogue) answerBy(ctx context.Context, inbox policy.Inbox, q *policy.Question, result json.RawMessage) bool {
	a, ok := readForm(q, result)
	if !ok {
		return false
	}
	a.By = d.client.caller.Principal
	if d.face.name != "" {
		a.By += " (" + short(d.face.name) + ")"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), inboxTime)
	defer cancel()
	err := inbox.Answer(ctx, q.ID, a)
	return err == nil || errors.Is(err, policy.ErrAnswered) // by somebody who was quicker
}

// watchFor tells when a question is answered.
func watchFor(inbox policy.Inbox, id string) (answered <-chan struct{}, stop func()) {
	done := make(chan struct{})
	var once sync.Once
	stop = inbox.Watch(func(of string) {
		if of == id {
			once.Do(func() { close(done) })
		}
	})
	return done, stop
}

// isPending reports whether a question has no answer yet. Where nobody knows it is
// waited for.
func isPending(ctx context.Context, inbox policy.Inbox, id string) bool {
	all, err := inbox.Pending(ctx)
	return err != nil || slices.ContainsFunc(all, func(q policy.Question) bool { return q.ID == id })
}

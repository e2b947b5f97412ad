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
// back (pending, call again), and the question stays: when the same call comes
// again, from whichever session of the principal, it finds the answer.

// waitTime is how long a client waits for a person before its call is given back:
// most give up after a minute.
const waitTime = 45 * time.Second

// perform makes the call. Where a person must allow it, it goes on when one has.
func (d *dialogue) perform(view *ferrule.View, w *watcher, call tool.Call) tool.Result {
	inbox := d.client.gate.Runtime.Inbox
	o := ferrule.TurnOptions{Apart: true, Ends: true, Observe: w.observe, HandBack: inbox != nil}
	ctx := withExchange(d.ctx, d)
	for {
		res := view.DoTurn(ctx, o, call)[0]
		question, turn := w.question()
		if inbox == nil || question == "" || res.Err == nil || res.Err.Kind != tool.Suspended {
			return res
		}
		if !d.approved(inbox, question) {
			return d.pending(inbox, question)
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

// pending is the result of a call that is given back. A request that has ended has
// no use for it: nobody is to be asked any more.
func (d *dialogue) pending(inbox policy.Inbox, id string) tool.Result {
	if d.ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), inboxTime)
		defer cancel()
		err := inbox.Answer(ctx, id, policy.Answer{Withdrawn: true})
		return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the request ended before a person allowed it. Nothing was done.", Cause: errors.Join(d.why(), err)}}
	}
	return tool.Result{Err: &tool.Error{
		Kind: tool.Pending,
		Text: "Waiting for a person. Call again with the same input once it is allowed: on the screen of ferrule up, or by: ferrule approvals allow " + id,
	}}
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
	if d.client.gate.house.waiting.handOver(d.ctx, inbox, &q) || !isPending(d.ctx, inbox, id) {
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
			result, err := d.request(ctx, methodElicit, form)
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
				return d.leftOpen(&q) // it has come back without an answer, or not at all
			}
		case <-wait.C:
			return d.leftOpen(&q)
		case <-d.ctx.Done():
			return false
		}
	}
}

// leftOpen remembers a question that nobody waits for now.
func (d *dialogue) leftOpen(q *policy.Question) bool {
	d.client.gate.house.waiting.add(q)
	return false
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

// waiting are questions about calls that were given back, by what their answer is
// bound to: principal, definition and exact arguments.
type waiting struct {
	mu  sync.Mutex
	all map[string]waitingFor
}

type waitingFor struct {
	id    string
	until time.Time
}

// maxWaiting is how many are remembered. What is forgotten is asked anew.
const maxWaiting = 1024

func (w *waiting) add(q *policy.Question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[string]waitingFor)
	}
	now := time.Now()
	for digest, f := range w.all {
		if len(w.all) < maxWaiting && f.until.After(now) {
			continue
		}
		delete(w.all, digest)
	}
	w.all[q.Digest] = waitingFor{q.ID, q.Expires}
}

// handOver gives a question the answer that was given to the same one before: once,
// since it is taken from there. Where that has none yet it is withdrawn, so that
// nobody is asked twice.
func (w *waiting) handOver(ctx context.Context, inbox policy.Inbox, q *policy.Question) bool {
	w.mu.Lock()
	f, ok := w.all[q.Digest]
	if ok && f.id != q.ID {
		delete(w.all, q.Digest)
	}
	w.mu.Unlock()
	if !ok || f.id == q.ID {
		return false
	}
	a, err := inbox.Use(ctx, f.id, q.Digest)
	if errors.Is(err, policy.ErrWaiting) {
		err = inbox.Answer(ctx, f.id, policy.Answer{Withdrawn: true})
		if !errors.Is(err, policy.ErrAnswered) {
			return false
		}
		a, err = inbox.Use(ctx, f.id, q.Digest) // it came at this moment
	}
	if err != nil || a.Withdrawn {
		return false
	}
	a.Rule, a.Always, a.Second = "", false, false // if it was made to last, it does
	err = inbox.Answer(ctx, q.ID, a)
	return err == nil || errors.Is(err, policy.ErrAnswered)
}

package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// How long a question of a server of the old era waits for others: a server that
// wants several things often asks for them at the same time, and a client of the
// new era is then asked once.
const (
	roundPause = 30 * time.Millisecond // after the last
	roundTime  = 150 * time.Millisecond
	maxInRound = 32
)

// round is what a client of the new era is asked in one result.
type round struct {
	d      *dialogue
	ctx    context.Context //nolint:containedctx // it lasts as long as somebody waits for an answer
	cancel context.CancelCauseFunc
	more   chan struct{} // there is one more question
	done   chan struct{} // closed when there are answers

	// Guarded by the dialogue's mutex.
	questions []pair
	waiting   int

	// Once it is done.
	answers json.RawMessage
	err     error
}

// askInRound asks a question with those that are asked at the same time.
func (d *dialogue) askInRound(ctx context.Context, question json.RawMessage) (json.RawMessage, error) {
	r, key := d.enterRound(question)
	select {
	case <-r.done:
	case <-ctx.Done():
		r.leave(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
	if r.err != nil {
		return nil, r.err
	}
	answer, ok := member(r.answers, key)
	if !ok {
		return nil, &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("inputResponses: no answer to %q", key)}
	}
	return answer, nil
}

// enterRound adds a question to the round that takes them, or begins one.
func (d *dialogue) enterRound(question json.RawMessage) (r *round, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r = d.round
	if r == nil || len(r.questions) == maxInRound {
		r = &round{d: d, more: make(chan struct{}, maxInRound), done: make(chan struct{})}
		r.ctx, r.cancel = context.WithCancelCause(d.ctx)
		d.round = r
		go r.run() // until nobody waits for it: see leave
	}
	if key = ownInput; len(r.questions) > 0 {
		key += strconv.Itoa(len(r.questions) + 1)
	}
	r.questions = append(r.questions, pair{key, question})
	r.waiting++
	r.more <- struct{}{} // there is room
	return r, key
}

// leave is for who does not wait any longer. The last one gives the round up, and
// waits for its end.
func (r *round) leave(why error) {
	r.d.mu.Lock()
	r.waiting--
	last := r.waiting == 0
	if last && r.d.round == r {
		r.d.round = nil
	}
	r.d.mu.Unlock()
	if last {
		r.cancel(why)
		<-r.done
	}
}

// run asks the client, once no more questions come.
func (r *round) run() {
	defer r.cancel(nil)
	defer close(r.done)
	r.err = &Fault{Code: codeInternal, Message: "internal error"} // of a panic
	r.d.client.gate.safely(r.ctx, r.ask)
}

func (r *round) ask() {
	d := r.d
	r.gather()
	d.mu.Lock()
	if d.round == r {
		d.round = nil
	}
	questions := r.questions
	d.mu.Unlock()
	state := d.newState()
	p, err := d.turnBack(r.ctx, state, setMembers(nil,
		pair{"resultType", quote("input_required")},
		pair{"inputRequests", setMembers(nil, questions...)},
		pair{"requestState", quote(state)},
	))
	r.answers, _ = member(p, "inputResponses")
	r.err = err
}

// gather waits for questions.
func (r *round) gather() {
	end := time.NewTimer(roundTime)
	defer end.Stop()
	pause := time.NewTimer(roundPause)
	defer pause.Stop()
	for {
		select {
		case <-r.more:
			pause.Reset(roundPause)
		case <-pause.C:
			return
		case <-end.C:
			return
		case <-r.ctx.Done():
			return
		case <-r.d.ended:
			return
		}
	}
}

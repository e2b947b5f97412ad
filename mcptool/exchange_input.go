package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Bounds of calls that wait for their client to come back.
const (
	maxHeld  = 512 // of a session, which in the new era is all clients of one name
	holdTime = 10 * time.Minute
	ownInput = "input" // names the first request in a result of our own
)

var (
	// The server is told this, so that it can go on without an answer.
	errManyHeld error = &Fault{Code: codeInternal, Message: "too many calls of this session wait for input"}
	errAnswered       = errors.New("the request was answered already")
	errGivenUp        = errors.New("nobody waits for the answer any more")
	errExpired        = errors.New("the client has not answered in time")
)

// request asks the client what a server of the old era asked.
func (d *dialogue) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "ping" {
		return json.RawMessage("{}"), nil
	}
	if fault := d.face.refuses(method, params); fault != nil {
		return nil, fault
	}
	if d.era() == oldEra {
		return d.askHere(ctx, method, params)
	}
	question := setMembers(nil, pair{"method", quote(method)})
	if len(params) > 0 {
		question = setMembers(question, pair{"params", params})
	}
	return d.askInRound(ctx, question)
}

// askHere asks a client of the old era on the stream of its request.
func (d *dialogue) askHere(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	l := d.current()
	if l == nil {
		return nil, errHungUp
	}
	return d.client.ask(ctx, l.to, method, params)
}

// input gives the client a result of a server that asks for input, and waits for
// what it wants to be sent with the next request.
func (d *dialogue) input(ctx context.Context, required json.RawMessage) (responses, state json.RawMessage, err error) {
	state, _ = member(required, "requestState")
	questions, _ := member(required, "inputRequests")
	if d.era() == oldEra {
		responses, err = d.askAll(ctx, questions)
		return responses, state, err
	}
	if len(state) == 0 && kindOf(questions) != '{' {
		d.close(message{result: d.complete(d.client.scrub(required))})
		return nil, nil, errors.New("the server cannot take the call now, and has said so to the client")
	}
	if responses, ok := d.foretold(questions); ok {
		return responses, state, nil
	}
	// The server's own state stays here: it may be the same for two calls, and what
	// a client put in its place would get past the rules.
	own := d.newState()
	p, err := d.turnBack(ctx, own, setMembers(required, pair{"requestState", quote(own)}))
	if err != nil {
		return nil, nil, err
	}
	responses, _ = member(p, "inputResponses")
	return responses, state, nil
}

// askAll asks a client of the old era one question after the other.
func (d *dialogue) askAll(ctx context.Context, questions json.RawMessage) (json.RawMessage, error) {
	var (
		err     error
		answers []pair
	)
	each(questions, func(key string, q json.RawMessage) {
		if err != nil {
			return
		}
		var answer json.RawMessage
		params, _ := member(q, "params")
		if answer, err = d.request(ctx, textMember(q, "method"), params); err == nil {
			answers = append(answers, pair{key, answer})
		}
	})
	if err == nil && len(answers) == 0 {
		err = &Fault{Code: codeInternal, Message: "the server is busy: try again later"}
	}
	if err != nil {
		return nil, err
	}
	return setMembers(nil, answers...), nil
}

// turnBack answers the client's request with a result that asks for input, and
// waits for the params of the request that it comes back with.
func (d *dialogue) turnBack(ctx context.Context, key string, result json.RawMessage) (json.RawMessage, error) {
	select {
	case d.asking <- struct{}{}:
		defer func() { <-d.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-d.ended:
		return nil, errAnswered
	}
	select {
	case <-d.ended:
		return nil, errAnswered
	default:
	}
	if d.current() == nil { // an earlier question was given up
		if err := d.awaitLeg(ctx.Done(), d.ended); err != nil {
			return nil, err
		}
	}
	if err := d.client.hold(d, key); err != nil {
		return nil, err
	}
	d.close(message{result: d.complete(d.client.scrub(result))})
	p, err := d.await(ctx.Done(), d.ended)
	if errors.Is(err, errGivenUp) {
		if err = context.Cause(ctx); err == nil {
			err = errAnswered
		}
	}
	return p, err
}

// await waits for the client to come back. When it is given up before that the
// dialogue stays held: its answer is for who comes back.
func (d *dialogue) await(givenUp, ended <-chan struct{}) (json.RawMessage, error) {
	late := time.NewTimer(holdTime)
	defer late.Stop()
	var why error
	select {
	case b := <-d.back:
		return d.join(b), nil
	case <-givenUp:
		return nil, errGivenUp
	case <-ended:
		return nil, errGivenUp
	case <-d.ctx.Done():
		why = d.why()
	case <-late.C:
		why = errExpired
	}
	if !d.client.unhold(d) { // it came at the same moment
		return d.join(<-d.back), nil
	}
	return nil, why
}

// awaitLeg waits for the client to come back, for what it is told then.
func (d *dialogue) awaitLeg(givenUp, ended <-chan struct{}) error {
	d.mu.Lock()
	away := d.away
	d.mu.Unlock()
	if !away {
		return errHungUp
	}
	_, err := d.await(givenUp, ended)
	return err
}

// join takes the client's next request as the leg.
func (d *dialogue) join(b comeback) json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leg, d.away = b.leg, false
	return b.params
}

// foretold are answers that a client has sent before it was asked, to all that the
// server asks now. The server gets them only now: what nobody has asked for goes to
// no server. They are used once.
func (d *dialogue) foretold(questions json.RawMessage) (json.RawMessage, bool) {
	given, _ := member(d.given, "inputResponses")
	d.mu.Lock()
	used := d.foresaw
	d.foresaw = true
	d.mu.Unlock()
	if used || kindOf(given) != '{' {
		return nil, false
	}
	var answers []pair
	all := true
	each(questions, func(key string, _ json.RawMessage) {
		answer, ok := member(given, key)
		if all = all && ok && len(answers) < maxInRound; all {
			answers = append(answers, pair{key, answer})
		}
	})
	if !all || len(answers) == 0 {
		return nil, false
	}
	return setMembers(nil, answers...), true
}

// target is what a request is about: the tool, prompt or resource.
func target(params json.RawMessage) string {
	if name := textMember(params, "name"); name != "" {
		return name
	}
	return textMember(params, "uri")
}

// hold keeps a dialogue for the client's next request.
func (c *client) hold(d *dialogue, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.left:
		return errLeft
	case c.shutting:
		return errShut
	case len(c.held) >= maxHeld:
		return errManyHeld
	}
	c.held[key] = d
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key, d.away = key, true
	return nil
}

// unhold gives a dialogue up; false: its client has come back.
func (c *client) unhold(d *dialogue) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key == "" {
		return false
	}
	c.drop(d)
	d.away = false
	return true
}

// drop forgets that a dialogue is held. Both mutexes are held.
func (c *client) drop(d *dialogue) {
	delete(c.held, d.key)
	d.key = ""
}

// resume goes on with the dialogue that a request comes back to; false: there is
// none. Each state leads there once, and only who it was given to, with the request
// it was given for.
func (c *client) resume(ctx context.Context, again *dialogue, l *leg) bool {
	p := again.given
	state := textMember(p, "requestState")
	if state == "" || !again.sealed(state) {
		return false
	}
	c.mu.Lock()
	d := c.held[state]
	if d == nil {
		c.mu.Unlock()
		return false
	}
	d.mu.Lock()
	c.drop(d)
	d.mu.Unlock()
	c.mu.Unlock()
	l.stop = context.AfterFunc(ctx, func() { d.cancel(errHungUp) })
	c.register(d, l.id)
	d.back <- comeback{l, p} // there is room: it was held once
	return true
}

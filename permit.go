package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// rule asks the voices that are pure: the rules and the tool's constant
// approval. It is sure when no other voice could turn a question into an allow.
func (s *settings) rule(c *call) (r policy.Ruling, sure bool) {
	rules, approval := s.rules(c.req), policy.Approval(c.req.Tool, c.req.Source.Trust)
	r = policy.Combine(s.caseOf(c), policy.Voice{By: policy.ByPolicy, Decision: rules}, policy.Voice{By: policy.ByApproval, Decision: approval})
	return r, r.By != policy.ByDefault || s.decide == nil
}

// rules is what the policy says. A panic denies.
func (s *settings) rules(r *tool.Request) (d tool.Decision) {
	if s.policy == nil {
		return tool.Decision{Verdict: tool.Silent}
	}
	defer func() {
		if p := recover(); p != nil {
			d = tool.Decision{Verdict: tool.Deny, Rule: "Runtime.Policy", Reason: "it failed: " + thrown(p).Error(), Message: "The rules could not be read, so the call was denied."}
		}
	}()
	return s.policy.Decide(r)
}

func (s *settings) caseOf(c *call) policy.Case {
	return policy.Case{Name: c.first.Name, Claims: c.req.Claims, Trust: c.req.Source.Trust, AskReads: s.askReads, Person: s.inbox != nil}
}

// decide is phase 4: every voice about the input as it stands.
func (c *call) decide() *tool.Error {
	s, t := c.turn.set, c.entry.tool
	fresh := c.judged
	c.judged = false // what it depends on may be another the next time
	var r policy.Ruling
	switch {
	case s.decide != nil || t.Permit != nil || t.AskIf != nil:
		r = c.hearAll()
	case fresh && c.ruling == nil && s.observe == nil:
		return nil // allowed, and nothing came between
	case fresh && c.ruling != nil:
		r = *c.ruling
	default:
		r, _ = s.rule(c)
	}
	c.rule(r)
	if s.observe != nil {
		c.emitDecided(r)
	}
	if r.Verdict == tool.Deny {
		return c.denied(r)
	}
	return nil
}

// rule keeps a ruling for the phases that follow.
func (c *call) rule(r policy.Ruling) {
	c.ruling = nil
	if r.Verdict != tool.Allow {
		kept := r
		c.ruling = &kept
	}
}

func (c *call) emitDecided(r policy.Ruling) {
	c.emit(audit.Event{Kind: audit.Decided, By: r.By, Decision: &r.Decision, Text: r.Reason})
}

// hearAll asks also the voices that are functions.
func (c *call) hearAll() policy.Ruling {
	s, t := c.turn.set, c.entry.tool
	c.why = nil
	c.lostAs = func(err error) *tool.Error {
		return &tool.Error{Kind: tool.Denied, Text: "A check of this call failed, so it was denied.", Detail: err.Error(), Cause: err}
	}
	defer func() { c.lostAs = nil }()
	voices := []policy.Voice{
		{By: policy.ByPolicy, Decision: s.rules(c.req)},
		{By: policy.ByApproval, Decision: policy.Approval(c.req.Tool, c.req.Source.Trust)},
	}
	if s.decide != nil {
		d, err := guard(c, func(ctx context.Context) (tool.Decision, error) { return s.decide(ctx, c.shown()) })
		if err != nil {
			d = c.failing("Runtime.Decide", err)
		}
		voices = append(voices, policy.Voice{By: policy.ByHost, Decision: d})
	}
	if t.Permit != nil {
		d, err := guard(c, func(ctx context.Context) (tool.Decision, error) { return t.Permit(ctx, c.req.Args) })
		if err != nil {
			d = c.failing("Permit", err)
		}
		voices = append(voices, policy.Voice{By: policy.ByPermit, Decision: d})
	}
	if t.AskIf != nil {
		ask, err := guard(c, func(ctx context.Context) (bool, error) { return t.AskIf(ctx, c.req.Args) })
		d := tool.Decision{Verdict: tool.Silent}
		if ask || err != nil {
			d = tool.Decision{Verdict: tool.Ask, Reason: t.AskReason, Rule: "the tool's approval: AskIf"}
		}
		voices = append(voices, policy.Voice{By: policy.ByApproval, Decision: d})
	}
	return policy.Combine(s.caseOf(c), voices...)
}

// failing is the decision of a function that could not decide.
func (c *call) failing(what string, err error) tool.Decision {
	c.why = err
	return tool.Decision{Verdict: tool.Deny, Rule: what, Reason: "it failed: " + err.Error(), Message: "A check of this call failed, so it was denied."}
}

func (c *call) denied(r policy.Ruling) *tool.Error {
	detail := "denied by " + r.By
	if r.Rule != "" {
		detail += ", " + r.Rule
	}
	if r.Reason != "" {
		detail += ": " + r.Reason
	}
	return &tool.Error{Kind: tool.Denied, Text: policy.DenialText(r.Decision), Detail: detail, Cause: c.why}
}

// ask is phase 6. It puts the question, or looks for the answer of the one that
// is there; an answer counts only for exactly what was shown.
func (c *call) ask() (waiting, changed bool, failure *tool.Error) {
	if c.wants != nil && c.reply == nil {
		return c.heard()
	}
	if c.ruling == nil { // allowed
		if c.question != nil {
			c.withdraw()
			c.question, c.allowed = nil, false
		}
		return false, false, nil
	}
	if c.edited != "" && c.edited == c.digest() {
		return false, false, nil // the answer was about these arguments
	}
	q := c.show("")
	if c.question != nil && !sameQuestion(c.question, &q) {
		c.withdraw()
		c.question, c.allowed = nil, false
		if err := c.round(); err != nil {
			return false, false, err
		}
	}
	if c.allowed {
		return false, false, nil
	}
	if c.question == nil {
		if err := c.put(&q); err != nil {
			return false, false, err
		}
		c.question = &q
	}
	a, err := c.use(c.question)
	switch {
	case errors.Is(err, policy.ErrWaiting):
		return true, false, nil
	case err != nil:
		return false, false, c.unusable(err)
	}
	if c.turn.set.observe != nil {
		c.emit(audit.Event{Kind: audit.Answered, By: a.By, Text: allowWord(a.Allow)})
	}
	if !a.Allow {
		return false, false, c.rejected(a)
	}
	c.allowed = true
	if a.Input != nil {
		changed, failure = c.change(a.Input, byPerson, "a person")
		if failure == nil {
			c.edited = c.digest()
		}
	}
	return false, changed, failure
}

func allowWord(yes bool) string {
	if yes {
		return "allow"
	}
	return "reject"
}

// sameQuestion reports whether an answer to one is an answer to the other.
func sameQuestion(a, b *policy.Question) bool {
	return a.Digest == b.Digest && a.Reason == b.Reason && a.Rule == b.Rule && a.Preview == b.Preview
}

// digest binds an answer to principal, definition and exact arguments.
func (c *call) digest() string {
	p := c.req.Caller
	return policy.Digest(p.Tenant, p.Principal, c.entry.origin().digest(), c.req.Args.Text())
}

// show is the question about the call as it stands.
func (c *call) show(note string) policy.Question {
	r, t := c.req, c.entry.tool
	now := time.Now()
	q := policy.Question{
		Caller: policy.Asker{
			Principal: r.Caller.Principal, Tenant: r.Caller.Tenant, Session: r.Caller.Session,
			Client: r.Caller.Client, Agent: r.Caller.Agent, Run: r.Caller.Run,
		},
		Turn: r.Turn, Index: r.Index, Call: r.ID, CallID: r.CallID,
		Tool: c.first.Name, Source: r.Source, Claims: r.Claims, Input: r.Args.Text(),
		Digest: c.digest(), Note: note,
		Asked: now, Expires: now.Add(c.turn.set.expiry),
	}
	if c.ruling != nil {
		q.Rule, q.Reason = c.ruling.Rule, c.ruling.Reason
	}
	if t.Preview != nil {
		text, err := guard(c, func(ctx context.Context) (string, error) { return t.Preview(ctx, r.Args) })
		if err != nil {
			text = "(the tool could not say what this would do)"
		}
		q.Preview = text
	}
	if t.AskReasonOf != nil {
		text, err := guard(c, func(ctx context.Context) (string, error) { return t.AskReasonOf(ctx, r.Args) })
		switch {
		case err != nil || text == "":
		case q.Reason == "" || q.Reason == t.AskReason:
			q.Reason = text
		default:
			q.Reason += "; " + text // what a rule says is not hidden
		}
	}
	return q
}

// put puts a question into the inbox and has answers heard.
func (c *call) put(q *policy.Question) *tool.Error {
	t := c.turn
	q.ID = c.first.ID + "-q" + strconv.FormatUint(t.set.turns.Add(1), 36)
	if err := c.listen(q); err != nil {
		return c.unasked(err)
	}
	if _, err := guard(c, func(ctx context.Context) (struct{}, error) { return struct{}{}, t.set.inbox.Ask(ctx, *q) }); err != nil {
		c.withdraw()
		return c.unasked(err)
	}
	if t.set.observe != nil {
		c.emitBy(audit.Asked, q.Rule, q.Reason+q.Wants)
	}
	if t.set.answer != nil {
		c.askHost(*q)
	}
	return nil
}

// use takes the answer to a question.
func (c *call) use(q *policy.Question) (policy.Answer, error) {
	return guard(c, func(ctx context.Context) (policy.Answer, error) { return c.turn.set.inbox.Use(ctx, q.ID, q.Digest) })
}

// unusable is why a question has no answer that counts.
func (c *call) unusable(err error) *tool.Error {
	if errors.Is(err, policy.ErrExpired) {
		return &tool.Error{Kind: tool.Expired, Text: "Nobody answered in time.", Detail: err.Error(), Cause: err}
	}
	return &tool.Error{Kind: tool.Denied, Text: "The answer of a person could not be read, so the call was denied.", Detail: err.Error(), Cause: err}
}

// rejected is what the model reads when a person said no.
func (c *call) rejected(a policy.Answer) *tool.Error {
	t := c.entry.tool
	text := t.RejectText
	if t.RejectTextOf != nil && a.Message == "" && a.Reason == "" {
		if own, err := guard(c, func(ctx context.Context) (string, error) { return t.RejectTextOf(ctx, c.req.Args) }); err == nil && own != "" {
			text = own
		}
	}
	if a.By == byAnswerFailed {
		e := c.unasked(errors.New(a.Reason))
		c.turn.mu.Lock()
		defer c.turn.mu.Unlock()
		e.Cause = c.answerErr
		return e
	}
	return &tool.Error{Kind: tool.Rejected, Text: policy.RejectionText(a, text), Detail: "rejected by " + a.By}
}

// want puts what a tool wants to know to a person. The tool runs anew with the
// answer.
func (c *call) want(text string) *tool.Error {
	if c.turn.set.inbox == nil {
		return &tool.Error{Kind: tool.NeedsUser, Text: "The tool needs an answer from a person, and nobody can be asked.", Detail: "set Runtime.Inbox or Runtime.Answer; it asked: " + text}
	}
	q := c.show("")
	q.Wants, q.Reason, q.Rule = text, "", ""
	if err := c.put(&q); err != nil {
		return err
	}
	c.wants, c.reply = &q, nil
	return nil
}

// heard looks for the answer to what the tool wanted to know.
func (c *call) heard() (waiting, changed bool, failure *tool.Error) {
	a, err := c.use(c.wants)
	switch {
	case errors.Is(err, policy.ErrWaiting):
		return true, false, nil
	case err != nil:
		return false, false, c.unusable(err)
	}
	if c.turn.set.observe != nil {
		c.emit(audit.Event{Kind: audit.Answered, By: a.By, Text: allowWord(a.Allow)})
	}
	if !a.Allow {
		return false, false, c.rejected(a)
	}
	c.reply = &a.Text
	return false, true, nil // judged once more, then run
}

// asked is the question that a waiting call waits for.
func (c *call) asked() *policy.Question {
	if c.wants != nil && c.reply == nil {
		return c.wants
	}
	return c.question
}

// earlyLife puts the question about a call whose turn has not come.
func (c *call) earlyLife() {
	defer func() {
		if recover() != nil { // by the methods of an error; it is asked when it is ready
			c.letGo()
		}
	}()
	c.turn.mu.Lock()
	note := ""
	if c.step.waits > 0 {
		note = policy.NoteEarly
	}
	c.turn.mu.Unlock()
	q := c.show(note)
	if c.put(&q) == nil {
		c.question = &q
	}
}

func (c *call) unasked(err error) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Text: "The person who must allow this call could not be asked, so it was denied.", Detail: err.Error(), Cause: err}
}

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
	c.asked1.Store(true)
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
func (t *Turn) abandon(*lease) {
	t.helpers--
	t.cond.Broadcast()
	t.mu.Unlock()
}

// heldTurn is what a session remembers of a turn that was handed back.
type heldTurn struct{ calls []heldCall }

type heldCall struct {
	given    tool.Call
	result   *tool.Result // it is done
	question *policy.Question
	wants    *policy.Question
	reply    *string
	allowed  bool
	input    json.RawMessage // as it stood
	hooked   int
	by       by
	beside   []string
}

// handBack gives the kind suspended to all that waits, and remembers the turn.
func (t *Turn) handBack() {
	var now []*call
	t.mu.Lock()
	held := t.record()
	for i, c := range t.calls {
		if c.claimed {
			continue
		}
		c.claimed = true
		now = append(now, c)
		h := &held.calls[i]
		h.question, h.wants, h.reply, h.allowed = c.question, c.wants, c.reply, c.allowed
		h.hooked, h.by, h.beside = c.hooked, c.by, c.beside
		if c.by != byModel {
			h.input = json.RawMessage(c.req.Args.Text())
		}
		t.questionsOf(c) // they stay in the inbox
	}
	t.mu.Unlock()
	t.view.session.conv.hold(t.number, held)
	for _, c := range now {
		res := tool.Result{Err: &tool.Error{Kind: tool.Suspended, Text: "Waiting for a person.", Detail: "waits behind a call that waits for a person"}}
		if q := c.asked(); q != nil {
			res.Err.Detail = "question " + q.ID
		}
		t.settle(c, res)
	}
}

// record is the turn as the session remembers it. The mutex is held.
func (t *Turn) record() *heldTurn {
	held := &heldTurn{calls: make([]heldCall, len(t.calls))}
	for i, c := range t.calls {
		held.calls[i].given = c.asGiven()
		if c.claimed {
			held.calls[i].result = &t.results[i]
		}
	}
	return held
}

// asGiven is the call as the model made it.
func (c *call) asGiven() tool.Call {
	return tool.Call{ID: c.first.CallID, Name: c.first.Name, Input: c.input}
}

func (c *conversation) hold(number int, h *heldTurn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = make(map[int]*heldTurn)
	}
	c.held[number] = h
	for len(c.held) > maxHeld {
		delete(c.held, slices.Min(slices.Collect(maps.Keys(c.held))))
	}
}

// maxHeld is how many turns that were handed back a session remembers.
const maxHeld = 64

// goOn takes a call up where a turn of the same number was handed back. Another
// call in its place is an error, never a hit.
func (c *call) goOn(h *heldTurn) {
	if c.index >= len(h.calls) {
		if c.known == nil {
			c.judge()
		}
		return
	}
	old := &h.calls[c.index]
	if now := c.asGiven(); old.given.Name != now.Name || string(old.given.Input) != string(now.Input) || old.given.ID != now.ID {
		c.known = &tool.Error{Kind: tool.Failed, Text: "This turn had another call in this place.", Detail: fmt.Sprintf("turn %d was handed back with a call of %s at place %d", c.turn.number, old.given.Name, c.index)}
		return
	}
	if old.result != nil {
		res := *old.result
		res.ID = c.first.ID
		c.recorded = &res
		return
	}
	if c.known != nil || c.unresolved {
		return
	}
	if old.input != nil {
		if _, err := c.change(old.input, old.by, "an earlier turn"); err != nil {
			c.known = err
			return
		}
		c.planned = c.req.Claims
	}
	c.question, c.wants, c.reply, c.allowed = old.question, old.wants, old.reply, old.allowed
	c.hooked, c.beside, c.look = old.hooked, old.beside, false
	for _, q := range []*policy.Question{c.question, c.wants} {
		if q == nil || c.known != nil {
			continue
		}
		if err := c.listen(q); err != nil {
			c.known = c.unasked(err)
		}
	}
}

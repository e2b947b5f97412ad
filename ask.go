package ferrule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// ask is phase 6. It puts the question, or looks for the answer of the one that
// is there; an answer counts only for exactly what was shown.
func (c *call) ask() (waiting, changed bool, failure *tool.Error) {
	if c.wants != nil && c.wants.Digest != c.digest() { // the tool asked about other arguments
		if err := c.unask(c.wants); err != nil {
			return false, false, err
		}
		c.wants, c.reply, c.question, c.allowed = nil, nil, nil, false
		if err := c.round(); err != nil {
			return false, false, err
		}
	}
	if c.wants != nil && c.reply == nil {
		return c.heard()
	}
	if c.ruling == nil { // allowed
		if c.question != nil {
			failure = c.unask(c.question)
			c.question, c.allowed = nil, false
		}
		return false, false, failure
	}
	if c.edited != "" && c.edited == c.digest() {
		c.flowAgreed()
		return false, false, nil // the answer was about these arguments
	}
	if c.question == nil && !c.allowed {
		if g := c.granted(c.ruling); g != nil {
			c.answeredBy(g)
			c.dropLeft(g)
			return false, false, nil
		}
	}
	q := c.show("")
	q.Hooked = c.turn.hooksAs()
	if c.question != nil && !sameQuestion(c.question, &q) {
		if err := c.unask(c.question); err != nil {
			return false, false, err
		}
		c.question, c.allowed = nil, false
		if err := c.round(); err != nil {
			return false, false, err
		}
	}
	if c.allowed {
		return false, false, nil
	}
	if c.question == nil {
		if err := c.pose(&q); err != nil {
			return false, false, err
		}
		if c.wants != nil && c.reply == nil {
			return c.heard()
		}
		c.question = &q
	}
	a, stands, failure := c.use(c.question)
	if failure == nil && stands == isMissed {
		return c.anew()
	}
	waiting = stands == isWaiting
	if waiting && c.resumed { // a rule may have been made since the question was put
		if g := c.granted(c.ruling); g != nil {
			if failure = c.unask(c.question); failure == nil {
				c.answeredBy(g)
			}
			c.question, c.allowed = nil, false
			return false, false, failure
		}
	}
	if waiting || failure != nil {
		return waiting, false, failure
	}
	c.allowed = true
	if a.Input == nil { // else what is agreed to is looked at anew
		c.flowAgreed()
	}
	c.grant(c.question, a)
	changed, failure = c.edit(a)
	return false, changed, failure
}

// edit puts the arguments of a person in the place of those that were shown. The
// answer is about them, and the model is told beside the result.
func (c *call) edit(a policy.Answer) (changed bool, failure *tool.Error) {
	if a.Input == nil {
		return false, nil
	}
	if changed, failure = c.change(c.asMeant(a.Input), byPerson, "a person"); failure == nil {
		c.edited = c.digest()
	}
	if changed {
		text := c.req.Args.Text()
		if in, _ := c.refused(guard.Model); in != "" {
			text = in
		}
		if len(text) > maxEdited { // what is secret is taken out before it is cut in two
			text = clipped(c.keyless(c.turn.set.scrubText(text)), maxEdited) + fmt.Sprintf(" (%d bytes)", len(text))
		}
		c.beside = append(c.beside, "A person changed the arguments of this call to: "+text)
	}
	return changed, failure
}

// maxEdited is how many bytes of a person's arguments the model is told.
const maxEdited = 2000

// said is an answer in words, for the record.
func said(a *policy.Answer) string {
	text := "reject"
	switch {
	case a.Allow && a.Always:
		text = "allow, and always " + a.Rule
	case a.Allow && a.Rule != "":
		text = "allow, and for this session " + a.Rule
	case a.Allow:
		text = "allow"
	}
	for _, why := range []string{a.Reason, a.Message} {
		if why != "" {
			text += ": " + why
		}
	}
	return text
}

// sameQuestion reports whether an answer to one is an answer to the other.
func sameQuestion(a, b *policy.Question) bool {
	return a.Digest == b.Digest && a.Reason == b.Reason && a.Rule == b.Rule && a.Preview == b.Preview && a.Source == b.Source && slices.Equal(a.From, b.From) && sameClaims(a.Claims, b.Claims)
}

// digest binds an answer to principal, definition and exact arguments.
func (c *call) digest() string {
	p := c.req.Caller
	return policy.Digest(p.Tenant, p.Principal, c.entry.origin().digest(), c.req.Args.Canonical())
}

// show is the question about the call as it stands.
func (c *call) show(note string) policy.Question {
	r, t := c.req, c.entry.tool
	now := time.Now()
	q := policy.Question{
		Caller: asker(&r.Caller),
		Turn:   r.Turn, Index: r.Index, Call: r.ID, CallID: r.CallID,
		Tool: c.called(), Source: r.Source, Claims: copyClaims(r.Claims), Input: r.Args.Text(),
		Digest: c.digest(), Definition: c.entry.origin().digest(), Given: c.givenAs(), Note: note, Here: c.turn.ends && !c.turn.again, Again: c.turn.again,
		Asked: now, Expires: now.Add(c.turn.set.expiry),
	}
	if c.ruling != nil {
		q.Rule, q.Reason = c.ruling.Rule, c.ruling.Reason
	}
	if t.Preview != nil {
		text, err := timed(c, func(ctx context.Context) (string, error) { return t.Preview(ctx, r.Args) })
		if err != nil {
			text = noPreview
		}
		q.Preview = text
	}
	q.Offers, q.From = c.offers(), c.cameFrom()
	q.Reason = because(q.Reason, t.AskReason)
	if t.AskReasonOf != nil {
		text, err := timed(c, func(ctx context.Context) (string, error) { return t.AskReasonOf(ctx, r.Args) })
		switch {
		case err != nil || text == "":
		case q.Reason == t.AskReason:
			q.Reason = text
		default:
			q.Reason = because(q.Reason, text)
		}
	}
	c.scrubQuestion(&q)
	return q
}

// givenAs names the call as the model made it.
func (c *call) givenAs() string {
	return policy.Digest(c.called(), c.first.CallID, c.req.Args.Received())[:16]
}

// because joins reasons: what a rule says is not hidden by what the tool says.
func because(reason, more string) string {
	switch {
	case more == "" || strings.Contains(reason, more):
		return reason
	case reason == "":
		return more
	}
	return reason + "; " + more
}

// noPreview stands for the preview of a tool that failed at it.
const noPreview = "(the tool could not say what this would do)"

// questionID names the next question about the call. Where turns are numbered for
// good, who goes on with the turn in another process finds it by that.
func (c *call) questionID() string {
	t := c.turn
	if !t.set.lasting {
		return c.first.ID + "-q" + strconv.FormatUint(t.set.serials.Add(1), 36)
	}
	p := &c.first.Caller
	return "q" + policy.Digest("question", p.Tenant, p.Principal, p.Session, strconv.Itoa(t.number), strconv.Itoa(c.index), strconv.Itoa(int(c.posed)))[:16]
}

// put puts a question into the inbox and has answers heard.
func (c *call) put(q *policy.Question) *tool.Error {
	t := c.turn
	if held := t.set.secrets.Within([]byte(q.Input)); len(held) > 0 {
		return c.unasked(fmt.Errorf("the arguments hold the value of the secret %s, which nobody may be shown", strings.Join(held, ", ")))
	}
	q.ID = c.questionID()
	c.posed++
	if err := c.listen(q); err != nil {
		return c.unasked(err)
	}
	if _, err := atInbox(c, func(ctx context.Context) (struct{}, error) { return struct{}{}, t.set.inbox.Ask(ctx, *q) }); err != nil {
		c.withdraw()
		return c.unasked(err)
	}
	if t.noted() {
		c.emit(audit.Event{Kind: audit.Asked, By: q.Rule, Text: q.Reason + q.Wants, Question: q.ID})
	}
	c.askHost(q)
	return nil
}

// unask makes sure that nobody goes on from a question that the call goes on
// without. Where turns can be gone on with in another process, an answer that
// stays unused there would say that the call has not run. A no that has come
// meanwhile counts.
func (c *call) unask(q *policy.Question) *tool.Error {
	t := c.turn
	if !t.set.lasting || t.set.inbox == nil {
		c.withdraw()
		return nil
	}
	t.mu.Lock()
	ids := t.questionsOf(c)
	t.mu.Unlock()
	t.takeBack(slices.DeleteFunc(ids, func(id string) bool { return id == q.ID }))
	a, err := atInbox(c, func(ctx context.Context) (policy.Answer, error) {
		back := policy.Answer{Withdrawn: true}
		if err := t.set.inbox.Answer(ctx, q.ID, back); !errors.Is(err, policy.ErrAnswered) {
			return back, err
		}
		return t.set.inbox.Use(ctx, q.ID, q.Digest)
	})
	switch {
	case err == nil && !a.Allow && !a.Withdrawn:
		return c.rejected(a)
	case err == nil, errors.Is(err, policy.ErrUsed), errors.Is(err, policy.ErrExpired), errors.Is(err, policy.ErrNotAsked):
		return nil
	}
	return c.unasked(err)
}

// use takes the answer to a question; only a yes is one to go on with.
func (c *call) use(q *policy.Question) (a policy.Answer, stands answerState, failure *tool.Error) {
	a, err := atInbox(c, func(ctx context.Context) (policy.Answer, error) { return c.turn.set.inbox.Use(ctx, q.ID, q.Digest) })
	switch {
	case errors.Is(err, policy.ErrWaiting) && !time.Now().Before(q.Expires): // by another clock it is not over yet
		return a, isAnswered, c.unusable(fmt.Errorf("%w: %w", policy.ErrExpired, err))
	case errors.Is(err, policy.ErrWaiting):
		if err := c.orStopped(c.turn.watchInbox(nil)); err != nil { // by who asked first it failed
			return a, isAnswered, c.unasked(err)
		}
		c.joined = "" // what it is answered from now on is answered for this call too
		c.askHost(q)  // of a question that another process has put nobody told it
		return a, isWaiting, nil
	case q.Again && errors.Is(err, policy.ErrUsed), err == nil && c.missed(q, a):
		return a, isMissed, nil
	case err != nil:
		return a, isAnswered, c.unusable(err)
	}
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Answered, By: a.By, Text: said(&a), Question: q.ID})
	}
	if !a.Allow {
		return a, isAnswered, c.rejected(a)
	}
	return a, isAnswered, nil
}

// unusable is why a question has no answer that counts.
func (c *call) unusable(err error) *tool.Error {
	switch {
	case errors.Is(err, policy.ErrExpired):
		return &tool.Error{Kind: tool.Expired, Text: "Nobody answered in time.", Detail: err.Error(), Cause: err}
	case errors.Is(err, policy.ErrUsed) && c.resumed: // by another process that goes on with the turn
		return &tool.Error{Kind: tool.OutcomeUnknown, Text: "It is not known whether this call has run already, so it did not run now.", Detail: err.Error(), Cause: err}
	}
	return &tool.Error{Kind: tool.Denied, Text: "The answer of a person could not be read, so the call was denied.", Detail: err.Error(), Cause: err}
}

// rejected is what the model reads when a person said no.
func (c *call) rejected(a policy.Answer) *tool.Error {
	t := c.entry.tool
	text := t.RejectText
	if t.RejectTextOf != nil && a.Message == "" && a.Reason == "" {
		no := func(error) *tool.Error { return rejection(a, t.RejectText) }
		if own, err := timedAs(c, no, func(ctx context.Context) (string, error) { return t.RejectTextOf(ctx, c.req.Args) }); err == nil && own != "" {
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
	return rejection(a, text)
}

func rejection(a policy.Answer, text string) *tool.Error {
	return &tool.Error{Kind: tool.Rejected, Text: a.Rejection(text), Detail: "rejected by " + a.By}
}

// want puts what a tool wants to know to a person. The tool runs anew with the
// answer.
func (c *call) want(text string) *tool.Error {
	if c.turn.set.inbox == nil {
		return &tool.Error{Kind: tool.NeedsUser, Text: "The tool needs an answer from a person, and nobody can be asked.", Detail: "set Runtime.Inbox or Runtime.Answer; it asked: " + text}
	}
	if err := c.round(); err != nil {
		return err
	}
	c.turn.mu.Lock()
	c.ran = false // nothing was done yet
	c.turn.mu.Unlock()
	q := c.show("")
	q.Wants, q.Reason, q.Rule, q.Offers, q.Hooked = text, "", "", nil, c.turn.hooksAs()
	q.Allowed = c.ruling != nil
	c.scrubQuestion(&q)
	if err := c.pose(&q); err != nil {
		return err
	}
	c.wants, c.reply = &q, nil
	return nil
}

// heard looks for the answer to what the tool wanted to know.
func (c *call) heard() (waiting, changed bool, failure *tool.Error) {
	a, stands, failure := c.use(c.wants)
	switch {
	case failure != nil || stands == isWaiting:
		return stands == isWaiting, false, failure
	case stands == isMissed:
		return c.anew()
	}
	c.reply = &a.Text
	if _, failure = c.edit(a); failure != nil {
		return false, false, failure
	}
	c.wants.Digest = c.digest()
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
	if c.granted(c.ruling) != nil {
		return
	}
	q := c.show(note)
	if c.pose(&q) == nil && c.wants == nil {
		c.question = &q
	}
}

func (c *call) unasked(err error) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Text: "The person who must allow this call could not be asked, so it was denied.", Detail: err.Error(), Cause: err}
}

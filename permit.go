package ferrule

import (
	"context"
	"fmt"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// rule asks the voices that are pure: the rules and the tool's constant
// approval, and the flow of data. It is sure when no other voice could turn a
// question into an allow; the flow's word counts when the call is ready.
func (s *settings) rule(c *call) (r policy.Ruling, sure bool) {
	about := s.caseOf(c) // before the rules have seen the request
	rules, approval := c.said(), policy.Approval(c.req.Tool, c.req.Source.Trust)
	heard := [3]policy.Voice{{By: policy.ByPolicy, Decision: rules}, {By: policy.ByApproval, Decision: approval}}
	n := 2
	if said, speaks := c.flowSays(rules); speaks {
		heard[n], n = policy.Voice{By: policy.ByFlow, Decision: said}, n+1
	}
	r = policy.Combine(about, heard[:n]...)
	return r, r.By != policy.ByFlow && (r.By != policy.ByDefault || s.decide == nil)
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
	return policy.Case{
		Name: c.called(), Claims: c.req.Claims, Trust: c.req.Source.Trust, AskReads: s.askReads, Person: s.inbox != nil, New: c.req.Tool.New,
		Mode: policy.Mode(c.req.Mode), Workspace: s.workspace, Protected: s.protected, Confined: c.confined(),
	}
}

// decide is phase 4: every voice about the input as it stands.
func (c *call) decide() *tool.Error {
	s, t := c.turn.set, c.entry.tool
	if err := c.inMode(); err != nil {
		return err
	}
	fresh := c.judged && !c.flowMoved()
	c.judged = false // what it depends on may be another the next time
	if !fresh {
		c.factsForRules()
	}
	var r policy.Ruling
	switch {
	case s.decide != nil || t.Permit != nil || t.AskIf != nil:
		r = c.hearAll()
	case fresh && c.ruling == nil && !c.turn.noted():
		return nil // allowed, and nothing came between
	case fresh && c.ruling != nil:
		r = *c.ruling
	default:
		r, _ = s.rule(c)
	}
	c.flowShadow()
	if r.Nobody && s.lasting { // but somebody may have said it before
		if g := c.granted(&r); g != nil {
			c.ruling = nil
			c.answeredBy(g)
			return nil
		}
	}
	c.rule(r)
	if c.turn.noted() {
		c.emitDecided(r)
	}
	if r.Verdict == tool.Deny {
		return c.denied(r)
	}
	return nil
}

// inMode takes the mode as it is now into the request.
func (c *call) inMode() *tool.Error {
	if c.turn.set.lasting {
		c.turn.view.session.conv.look(c.turn.ctx) // it may have waited for a person
	}
	if err := c.turn.ungoverned(); err != nil {
		return err
	}
	if mode := string(c.turn.view.session.conv.mode()); mode != c.req.Mode {
		r := *c.req
		r.Mode = mode
		c.req, c.judged = &r, false
	}
	return nil
}

// dry is what a call would do, in a session where nothing runs.
func (c *call) dry() tool.Result {
	text := fmt.Sprintf("Dry run: %s was not run.", c.called())
	if p := c.entry.tool.Preview; p != nil {
		would, err := timed(c, func(ctx context.Context) (string, error) { return p(ctx, c.req.Args) })
		if err != nil {
			would = noPreview
		}
		text += " It would do this:\n" + would
	}
	return tool.Result{Content: []tool.Content{tool.Text(text)}}
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
	c.emit(audit.Event{Kind: audit.Decided, By: string(r.By), Decision: &r.Decision, Text: r.Reason, Flow: c.flowRecord()})
}

// hearAll asks also the voices that are functions.
func (c *call) hearAll() policy.Ruling {
	s, t := c.turn.set, c.entry.tool
	c.why = nil
	denied := func(err error) *tool.Error {
		return &tool.Error{Kind: tool.Denied, Text: "A check of this call failed, so it was denied.", Detail: err.Error(), Cause: err}
	}
	about, rules := s.caseOf(c), c.said()
	voices := []policy.Voice{
		{By: policy.ByPolicy, Decision: rules},
		{By: policy.ByApproval, Decision: policy.Approval(c.req.Tool, c.req.Source.Trust)},
	}
	if said, speaks := c.flowSays(rules); speaks {
		voices = append(voices, policy.Voice{By: policy.ByFlow, Decision: said})
	}
	if s.decide != nil {
		d, err := timedAs(c, denied, func(ctx context.Context) (tool.Decision, error) { return s.decide(ctx, c.shown()) })
		if err != nil {
			d = c.failing("Runtime.Decide", err)
		}
		voices = append(voices, policy.Voice{By: policy.ByHost, Decision: d})
	}
	if t.Permit != nil {
		d, err := timedAs(c, denied, func(ctx context.Context) (tool.Decision, error) { return t.Permit(ctx, c.req.Args) })
		if err != nil {
			d = c.failing("Permit", err)
		}
		voices = append(voices, policy.Voice{By: policy.ByPermit, Decision: d})
	}
	if t.AskIf != nil {
		ask, err := timedAs(c, denied, func(ctx context.Context) (bool, error) { return t.AskIf(ctx, c.req.Args) })
		d := tool.Decision{Verdict: tool.Silent}
		if ask || err != nil {
			d = tool.Decision{Verdict: tool.Ask, Reason: t.AskReason, Rule: "the tool's approval: AskIf"}
		}
		voices = append(voices, policy.Voice{By: policy.ByApproval, Decision: d})
	}
	return policy.Combine(about, voices...)
}

// failing is the decision of a function that could not decide.
func (c *call) failing(what string, err error) tool.Decision {
	c.why = err
	return tool.Decision{Verdict: tool.Deny, Rule: what, Reason: "it failed: " + err.Error(), Message: "A check of this call failed, so it was denied."}
}

func (c *call) denied(r policy.Ruling) *tool.Error {
	detail := "denied by " + string(r.By)
	if r.Rule != "" {
		detail += ", " + r.Rule
	}
	if r.Reason != "" {
		detail += ": " + r.Reason
	}
	if r.Nobody && r.Flow {
		return flowBlocked(detail)
	}
	return &tool.Error{Kind: tool.Denied, Text: r.Denial(), Detail: detail, Cause: c.why}
}

package cedar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/ferrule-dev/ferrule/tool"
)

// outcome is a rule that fits, or that failed.
type outcome struct {
	rule *rule
	err  error
}

func (o outcome) verdict() tool.Verdict {
	if o.err != nil {
		return tool.Deny
	}
	return o.rule.verdict
}

func (o outcome) reason() string {
	if o.err != nil {
		return fmt.Sprintf("the rule %s failed: %v", o.rule.name, o.err)
	}
	return o.rule.reason
}

func (o outcome) message() string {
	if o.err != nil {
		return "A rule about this call could not be evaluated."
	}
	return o.rule.message
}

// decide makes one decision of what the rules say: the strictest, by the first
// rule that says it, for the reasons of all that do.
func decide(list []outcome) tool.Decision {
	d := tool.Decision{Verdict: tool.Silent}
	for _, o := range list {
		d.Verdict = min(d.Verdict, o.verdict())
	}
	if d.Verdict == tool.Silent {
		return d
	}
	slices.SortFunc(list, func(a, b outcome) int { return cmp.Compare(a.rule.index, b.rule.index) })
	var reasons []string
	for _, o := range list {
		if o.verdict() != d.Verdict {
			continue
		}
		if d.Rule == "" {
			d.Rule = o.rule.name
		}
		d.Exact = d.Exact || d.Verdict == tool.Allow && o.rule.exact
		if d.Message == "" {
			d.Message = o.message()
		}
		if reason := o.reason(); reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	d.Reason = strings.Join(reasons, "; ")
	return d
}

// Fixed is what Decide says of every call of a tool by a caller, whatever its
// arguments; ok is false where it depends on them.
func (s *Set) Fixed(q *tool.Request) (d tool.Decision, ok bool) {
	n := s.narrow(q)
	if !n.fixed {
		return tool.Decision{}, false
	}
	return n.decision, true
}

// Decide says what the rules say about a call.
func (s *Set) Decide(q *tool.Request) tool.Decision {
	n := s.narrow(q)
	if n.fixed {
		return n.decision
	}
	var room [8]outcome
	list := append(room[:0], n.settled...)
	for i := range n.direct {
		if d := &n.direct[i]; d.pattern.fits(q) {
			list = append(list, outcome{d.rule, nil})
		}
	}
	if len(n.rest) > 0 {
		m := make(types.RecordMap, len(n.args)+len(n.patterns)+len(n.claims))
		unheld := n.fill(q, m)
		list = s.outcomes(list, n, n.entities, types.NewRecord(m), unheld)
	}
	return decide(list)
}

// outcomes adds what Cedar says of rules. Where one forbids it does not say what
// others permit.
func (s *Set) outcomes(list []outcome, rules cedar.PolicyIterator, e *entities, context types.Record, unheld []string) []outcome {
	_, said := cedar.Authorize(rules, e, cedar.Request{Principal: e.principal.UID, Action: call(), Resource: e.tool.UID, Context: context})
	for _, r := range said.Reasons {
		list = append(list, outcome{s.ruleAt(r.PolicyID), nil})
	}
	for _, e := range said.Errors {
		list = append(list, outcome{s.ruleAt(e.PolicyID), failure(e.Message, unheld)})
	}
	return list
}

func (s *Set) ruleAt(place cedar.PolicyID) *rule {
	i, err := strconv.Atoi(string(place))
	if err != nil || i >= len(s.rules) {
		return s.rules[0] // cannot be: the ids are the places
	}
	return s.rules[i]
}

// failure is why a rule failed, and which arguments may be why.
func failure(message string, unheld []string) error {
	if len(unheld) > 0 {
		message += fmt.Sprintf(" (Cedar cannot hold %s)", strings.Join(unheld, ", "))
	}
	return errors.New(message)
}

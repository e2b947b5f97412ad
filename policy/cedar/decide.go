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
		list = n.evaluate(q, list)
	}
	return decide(list)
}

// evaluate lets Cedar decide the rest.
func (n *narrowed) evaluate(q *tool.Request, list []outcome) []outcome {
	m := make(types.RecordMap, len(n.args)+len(n.patterns)+len(n.claims))
	unheld := read(q, n.args, m)
	for i := range n.patterns {
		m[n.patterns[i].key] = types.Boolean(n.patterns[i].fits(q))
	}
	for _, word := range n.claims {
		m[types.String(claimsPrefix+word)] = claim(q, word)
	}
	_, said := cedar.Authorize(n, n.entities, cedar.Request{
		Principal: n.entities.principal.UID, Action: call(), Resource: n.entities.tool.UID, Context: types.NewRecord(m),
	})
	for _, r := range said.Reasons {
		list = append(list, outcome{n.ruleOf(r.PolicyID), nil})
	}
	for _, e := range said.Errors {
		list = append(list, outcome{n.ruleOf(e.PolicyID), failure(e.Message, unheld)})
	}
	return list
}

func (n *narrowed) ruleOf(id cedar.PolicyID) *rule {
	i, err := strconv.Atoi(string(id))
	if err != nil || i >= len(n.rest) {
		return n.rest[0].rule // cannot be: the ids are the places
	}
	return n.rest[i].rule
}

// failure is why a rule failed, and which arguments may be why.
func failure(message string, unheld []string) error {
	if len(unheld) > 0 {
		message += fmt.Sprintf(" (Cedar cannot hold %s)", strings.Join(unheld, ", "))
	}
	return errors.New(message)
}

// read puts arguments into the flat context. Those that Cedar cannot hold are
// returned.
func read(q *tool.Request, want []argument, m types.RecordMap) (unheld []string) {
	if len(want) == 0 {
		return nil
	}
	arguments(q.Args.Text(), func(name, value string) {
		name = unquote(name)
		for i := range want {
			a := &want[i]
			if a.name != name {
				continue
			}
			if v, ok := hold(value); ok {
				m[a.key] = v
			} else {
				m[a.unheld] = types.True
				unheld = append(unheld, string(a.key))
			}
			return
		}
	})
	return unheld
}

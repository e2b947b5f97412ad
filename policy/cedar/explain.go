package cedar

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Explanation is a decision, all rules that had a say, and what would change it.
type Explanation struct {
	Decision tool.Decision
	// Fixed: no arguments would change it.
	Fixed bool
	// Rules are all rules, in their order.
	Rules []RuleReport
	// Changes were tried, one by one.
	Changes []Change
}

// RuleReport is what one rule said.
type RuleReport struct {
	ID string
	// Text is the short rule, or the Cedar.
	Text string
	// File and Line are where it stands; of a short rule the list, and its place
	// there.
	File   string
	Line   int
	Effect tool.Verdict // what it says where it fits
	Fits   bool
	Err    error // it failed, and denies
}

// Change is a change of the rules, and what the decision would then be.
type Change struct {
	Without []string // ids of rules that are taken out
	With    string   // a short rule that is added, such as allow: fs_read
	Then    tool.Verdict
}

// String is the change in words.
func (c Change) String() string {
	if c.With != "" {
		return fmt.Sprintf("with the rule %s it would be %s", c.With, c.Then)
	}
	return fmt.Sprintf("without %s it would be %s", strings.Join(c.Without, " and "), c.Then)
}

// Explain evaluates every rule on its own, without any shortcut.
func (s *Set) Explain(q *tool.Request) Explanation {
	e := Explanation{Decision: s.Decide(q)}
	_, e.Fixed = s.Fixed(q)
	var list []outcome
	for _, r := range s.rules {
		fits, err := s.evaluate(q, r)
		report := RuleReport{r.id, r.short, r.file, r.line, r.verdict, fits, err}
		if report.Text == "" {
			report.Text = string(compile(r.source).MarshalCedar())
		}
		if e.Rules = append(e.Rules, report); fits || err != nil {
			list = append(list, outcome{r, err})
		}
	}
	e.Changes = append(without(list), s.with(q, list)...)
	return e
}

// evaluate says whether a rule fits.
func (s *Set) evaluate(q *tool.Request, r *rule) (fits bool, err error) {
	m := constants(q, true)
	reading := s.readingOf(r.reads.keys)
	unheld := reading.fill(q, m)
	for _, o := range s.outcomes(nil, within{[]*rule{r}, reachCall}, entitiesOf(q), types.NewRecord(m), unheld) {
		return o.err == nil, o.err
	}
	return false, nil
}

// without tries to take out each rule that spoke, and, where that changes
// nothing, all that say the same.
func without(list []outcome) (changes []Change) {
	now := decide(list).Verdict
	try := func(out func(outcome) bool) {
		var left []outcome
		c := Change{}
		for _, o := range list {
			if out(o) {
				c.Without = append(c.Without, o.rule.id)
			} else {
				left = append(left, o)
			}
		}
		if c.Then = decide(left).Verdict; c.Then != now {
			changes = append(changes, c)
		}
	}
	for _, one := range list {
		try(func(o outcome) bool { return o.rule == one.rule })
	}
	if len(changes) == 0 && len(list) > 0 {
		try(func(o outcome) bool { return o.verdict() == now })
	}
	return changes
}

// with tries to add short rules about the tool and about these arguments.
func (s *Set) with(q *tool.Request, list []outcome) (changes []Change) {
	now := decide(list).Verdict
	try := func(v tool.Verdict, text string) {
		added, err := New(rulesOf(v, text))
		if err != nil {
			return // no tool can be named so
		}
		r := added.rules[0]
		fits, err := added.evaluate(q, r)
		if !fits && err == nil {
			return
		}
		if then := decide(append(slices.Clip(list), outcome{r, err})).Verdict; then != now {
			changes = append(changes, Change{With: fmt.Sprintf("%s: %s", v, text), Then: then})
		}
	}
	if q.Args.Text() != "" {
		try(tool.Allow, policy.Offers(q, nil)[0])
	}
	for _, v := range []tool.Verdict{tool.Allow, tool.Ask, tool.Deny} {
		try(v, q.Name)
	}
	return changes
}

func rulesOf(v tool.Verdict, text string) Rules {
	list := []string{text}
	switch v {
	case tool.Allow:
		return Rules{Allow: list}
	case tool.Ask:
		return Rules{Ask: list}
	case tool.Deny, tool.Silent:
	}
	return Rules{Deny: list}
}

// Faults are the errors that New joined, one by one.
func Faults(err error) (all []*Error) {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	for _, e := range joined.Unwrap() {
		if fault, ok := errors.AsType[*Error](e); ok {
			all = append(all, fault)
		}
	}
	return all
}

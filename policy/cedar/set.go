package cedar

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go"
	pub "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Rules are short rules, as [policy.ParseRule] reads them.
type Rules struct {
	Allow, Ask, Deny []string
	// Workspace is what paths are below that are not absolute, also those in
	// files; "": there are none.
	Workspace string
}

// File is Cedar text, and the name that errors and decisions give it.
type File struct{ Name, Text string }

// Error is one thing that is wrong with rules.
type Error struct {
	// File is where it is; of a short rule the list: allow, ask or deny.
	File string
	// Line and Column count from 1; the line of a short rule is its place in the
	// list.
	Line, Column int
	Text         string
}

// Error says where and what.
func (e *Error) Error() string {
	return strings.TrimPrefix(fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text), ":")
}

// Set is a policy made of rules. It is made by [New], does not change, and is
// safe for concurrent use.
type Set struct {
	rules     []*rule
	patterns  map[string]policy.Rule // by key of the flat context
	reads     reads                  // of all rules
	workspace string
	keyed     keyed
	kept      *kept
	seed      maphash.Seed
}

var _ policy.Policy = (*Set)(nil)

// rule is one rule of a set.
type rule struct {
	index           int
	id, short       string
	name            string // in decisions
	file            string
	line            int
	verdict         tool.Verdict
	exact           bool // it is about one tool, by name
	reason, message string
	source          *ast.Policy   // as written, with an @id
	flat            *ast.Policy   // on the flat context
	whole           *cedar.Policy // flat, compiled
	scope           ast.IsNode    // of it the head
	place           cedar.PolicyID
	reads           reads
	reach           reach // the farthest thing that it reads
}

// New reads rules. What is wrong with them is an [Error] each, joined.
func New(rules Rules, files ...File) (*Set, error) {
	s := &Set{patterns: make(map[string]policy.Rule), reads: nothingRead(), workspace: rules.Workspace, kept: newKept(), seed: maphash.MakeSeed()}
	var faults []error
	for _, l := range []struct {
		name    string
		verdict tool.Verdict
		texts   []string
	}{{"deny", tool.Deny, rules.Deny}, {"ask", tool.Ask, rules.Ask}, {"allow", tool.Allow, rules.Allow}} {
		for i, text := range l.texts {
			p, err := short(l.verdict, text, rules.Workspace)
			if err != nil {
				column := 1
				if fault := (*policy.RuleError)(nil); errors.As(err, &fault) {
					column, err = fault.Column, errors.New(fault.Text)
				}
				faults = append(faults, &Error{l.name, i + 1, column, err.Error()})
				continue
			}
			faults = append(faults, s.add(File{Name: l.name}, parsed{p, []token{{line: i + 1, column: 1}}})...)
		}
	}
	for _, f := range files {
		all, wrong := parse(f)
		faults = append(faults, wrong...)
		for _, p := range all {
			faults = append(faults, s.add(f, p)...)
		}
	}
	if faults = append(faults, s.name()...); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s.keyed = s.reads.keyed()
	return s, nil
}

// add takes a rule into the set, or says what is wrong with it.
func (s *Set) add(f File, p parsed) (faults []error) {
	r := &rule{file: f.Name, line: p.tokens[0].line, verdict: tool.Deny}
	at := &places{p.tokens, make(map[int]bool)}
	if p.Effect == ast.EffectPermit {
		r.verdict = tool.Allow
	}
	var asks string
	for _, a := range p.Annotations {
		switch text := string(a.Value); a.Key {
		case "id":
			r.id = text
		case "short":
			r.short = text
		case "reason":
			r.reason = text
		case "message":
			r.message = text
		case "ask":
			if asks = text; r.verdict == tool.Deny {
				faults = append(faults, at.find("@", "ask").fault(f, "got @ask on a forbid, want it on a permit"))
			}
			r.verdict = min(r.verdict, tool.Ask)
		}
	}
	if asks != "" {
		r.reason = asks
	}
	fl := &flattener{checker: checker{verdict: r.verdict}, workspace: s.workspace, patterns: s.patterns, reads: nothingRead()}
	source, flat := *p.Policy, *p.Policy
	source.Conditions, flat.Conditions = nil, nil
	fl.rule(p.Policy)
	fl.head(p.Policy)
	for _, c := range p.Conditions {
		plain := fl.plain(c.Body)
		source.Conditions = append(source.Conditions, ast.ConditionType{Condition: c.Condition, Body: plain})
		if len(fl.faults) == 0 {
			flat.Conditions = append(flat.Conditions, ast.ConditionType{Condition: c.Condition, Body: fl.flat(plain)})
		}
	}
	for _, wrong := range fl.faults {
		find := at.find
		if wrong.whole {
			find = at.findWhole
		}
		faults = append(faults, find(wrong.words...).fault(f, "%s", wrong.text))
	}
	if len(faults) > 0 {
		return faults
	}
	_, r.exact = flat.Resource.(ast.ScopeTypeEq)
	r.source, r.flat, r.whole, r.reads = &source, &flat, compile(&flat), fl.reads
	s.take(r)
	return nil
}

// take gives a rule its place in the set.
func (s *Set) take(r *rule) {
	r.index, r.place = len(s.rules), cedar.PolicyID(strconv.Itoa(len(s.rules)))
	scope := *r.flat
	scope.Conditions = nil
	r.scope = eval.PolicyToNode(&scope).AsIsNode()
	for key := range r.reads.keys {
		r.reach = max(r.reach, reachOf(key))
	}
	s.rules = append(s.rules, r)
	s.reads.join(r.reads)
}

func compile(p *ast.Policy) *cedar.Policy { return cedar.NewPolicyFromAST((*pub.Policy)(p)) }

func (r *reads) join(o reads) {
	r.principal, r.tenant = r.principal || o.principal, r.tenant || o.tenant
	r.tags, r.needsUser = r.tags || o.tags, r.needsUser || o.needsUser
	maps.Copy(r.keys, o.keys)
	maps.Copy(r.liked, o.liked)
}

// name gives each rule an id of its own.
func (s *Set) name() (faults []error) {
	taken := make(map[string]*rule)
	for _, r := range s.rules {
		if r.id == "" {
			continue
		}
		if other := taken[r.id]; other != nil {
			faults = append(faults, &Error{r.file, r.line, 1, fmt.Sprintf("got the @id %q again, want another than that of %s:%d", r.id, other.file, other.line)})
		}
		taken[r.id] = r
	}
	next := make(map[string]int)
	for _, r := range s.rules {
		for r.id == "" {
			word := r.verdict.String()
			next[word]++
			if id := fmt.Sprintf("%s-%d", word, next[word]); taken[id] == nil {
				r.id = id
			}
		}
		if r.name = r.short; r.name == "" {
			r.name = fmt.Sprintf("%s (%s:%d)", r.id, r.file, r.line)
		}
		r.source.Annotations = annotated(r.source.Annotations, r.id)
	}
	return faults
}

// annotated is annotations with the id in front.
func annotated(list []ast.AnnotationType, id string) []ast.AnnotationType {
	all := []ast.AnnotationType{{Key: "id", Value: types.String(id)}}
	for _, a := range list {
		if a.Key != "id" {
			all = append(all, a)
		}
	}
	return all
}

// String is all rules as Cedar, the short ones too. It can be read again, and
// then decides the same.
func (s *Set) String() string {
	var b strings.Builder
	for i, r := range s.rules {
		if i > 0 {
			b.WriteString("\n")
		}
		where := fmt.Sprintf("%s:%d", r.file, r.line)
		if r.short != "" {
			where = r.short
		}
		fmt.Fprintf(&b, "// %s\n%s\n", strings.Map(visible, where), compile(r.source).MarshalCedar())
	}
	return b.String()
}

// visible keeps a comment on one line.
func visible(c rune) rune {
	if c < ' ' || c == '\u2028' || c == '\u2029' {
		return ' '
	}
	return c
}

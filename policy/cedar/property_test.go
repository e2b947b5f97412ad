package cedar_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	lib "github.com/cedar-policy/cedar-go"
	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// reference decides without narrowing, flat contexts or caches: it makes one
// record of everything and asks Cedar about every rule; short rules it does not
// turn into Cedar. It returns the verdict, and the rules that say so.
func reference(t *rapid.T, short cedar.Rules, texts []expression, q *tool.Request) (tool.Verdict, []string) {
	var document strings.Builder
	for _, e := range texts {
		document.WriteString(e.reference)
	}
	list, err := lib.NewPolicyListFromBytes("", []byte(document.String()))
	if err != nil {
		t.Fatal(document.String(), err)
	}
	entities, request := everything(t, q)
	verdict := tool.Silent
	said := make(map[tool.Verdict][]string)
	for v, rules := range [][]string{tool.Deny: short.Deny, tool.Ask: short.Ask, tool.Allow: short.Allow} {
		for _, text := range rules {
			r, err := policy.ParseRule(text, "")
			if err != nil {
				t.Fatal(err)
			}
			if v := tool.Verdict(v); v == tool.Allow && r.Covers(q) || v < tool.Allow && r.Meets(q) {
				verdict, said[v] = min(verdict, v), append(said[v], text)
			}
		}
	}
	for _, p := range list {
		_, d := lib.Authorize(lib.PolicyMap{"": p}, entities, request)
		v := tool.Allow
		switch _, asks := p.Annotations()["ask"]; {
		case len(d.Errors) > 0 || p.Effect() == lib.Forbid && len(d.Reasons) > 0:
			v = tool.Deny
		case len(d.Reasons) == 0:
			continue
		case asks:
			v = tool.Ask
		}
		verdict = min(verdict, v)
		said[v] = append(said[v], string(p.Annotations()["id"]))
	}
	return verdict, said[verdict]
}

func everything(t *rapid.T, q *tool.Request) (lib.EntityMap, lib.Request) {
	args, unheld := lib.RecordMap{}, lib.RecordMap{}
	var members map[string]any
	d := json.NewDecoder(strings.NewReader(q.Args.Text()))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		t.Fatal(err)
	}
	for name, v := range members {
		if held, ok := convert(v); ok {
			args[lib.String(name)] = held
		} else {
			unheld[lib.String(name)] = lib.True
		}
	}
	var covered, met []lib.Value
	for _, inside := range insides() {
		r, err := policy.ParseRule("*("+inside+")", "")
		if err != nil {
			t.Fatal(err)
		}
		if r.Covers(q) {
			covered = append(covered, lib.String(inside))
		}
		if r.Meets(q) {
			met = append(met, lib.String(inside))
		}
	}
	c, who := q.Claims, q.Caller.Principal
	if who == "" {
		who = "local"
	}
	mode := map[string]string{"": "ask", "auto": "auto", "nonsense": "read"}[q.Mode]
	level := q.Source.Trust
	if level == 99 {
		level = 0
	}
	parents := []lib.EntityUID{lib.NewEntityUID("Source", lib.String(q.Source.Name))}
	var tags []lib.Value
	needs := false
	if q.Tool != nil {
		needs = q.Tool.NeedsUser
		for _, tag := range q.Tool.Tags {
			parents, tags = append(parents, lib.NewEntityUID("Tag", lib.String(tag))), append(tags, lib.String(tag))
		}
	}
	own := q.Name
	if q.Tool != nil && strings.HasSuffix(q.Tool.Name, ".drop") {
		switch q.Name {
		case tool.WireName("", q.Tool.Name):
			own = q.Tool.Name
		case tool.WireName(q.Source.Name, q.Tool.Name):
			own = q.Source.Name + "__" + q.Tool.Name
		}
	}
	principal, resource := lib.NewEntityUID("Principal", lib.String(who)), lib.NewEntityUID("Tool", lib.String(q.Name))
	entities := lib.EntityMap{
		principal: {UID: principal, Attributes: lib.NewRecord(lib.RecordMap{"tenant": lib.String(q.Caller.Tenant)})},
		resource: {UID: resource, Parents: lib.NewEntityUIDSet(parents...), Attributes: lib.NewRecord(lib.RecordMap{
			"name": lib.String(q.Name), "own_name": lib.String(own), "source": lib.String(q.Source.Name), "trust": lib.String(q.Source.Trust.String()), "trust_level": lib.Long(level),
			"tags": lib.NewSet(tags...), "needs_user": lib.Boolean(needs),
		})},
	}
	return entities, lib.Request{Principal: principal, Action: lib.NewEntityUID("Action", "call"), Resource: resource, Context: lib.NewRecord(lib.RecordMap{
		"session": lib.String(q.Caller.Session), "client": lib.String(q.Caller.Client), "agent": lib.String(q.Caller.Agent), "tenant": lib.String(q.Caller.Tenant),
		"attended": lib.Boolean(q.Caller.Attended), "mode": lib.String(mode),
		"args": lib.NewRecord(args), "unheld": lib.NewRecord(unheld), "covered": lib.NewSet(covered...), "met": lib.NewSet(met...),
		"claims": lib.NewRecord(lib.RecordMap{
			"read_only": lib.Boolean(c.ReadOnly), "parallel": lib.Boolean(c.ReadOnly || c.Parallel), "reversible": lib.Boolean(c.Reversible), "local": lib.Boolean(c.Local),
			"idempotent": lib.Boolean(c.Idempotent), "destructive": lib.Boolean(!c.ReadOnly && !c.Reversible), "class": lib.String(c.Class()), "side_effect": lib.String(c.SideEffect()),
		}),
	})}
}

// convert makes a Cedar value of a JSON value, if there is one.
func convert(v any) (lib.Value, bool) {
	switch v := v.(type) {
	case string:
		return lib.String(v), true
	case bool:
		return lib.Boolean(v), true
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok || !r.IsInt() || !r.Num().IsInt64() {
			return nil, false
		}
		return lib.Long(r.Num().Int64()), true
	case []any:
		var list []lib.Value
		for _, e := range v {
			held, ok := convert(e)
			if !ok {
				return nil, false
			}
			list = append(list, held)
		}
		return lib.NewSet(list...), true
	case map[string]any:
		m := lib.RecordMap{}
		for name, e := range v {
			held, ok := convert(e)
			if !ok {
				return nil, false
			}
			m[lib.String(name)] = held
		}
		return lib.NewRecord(m), true
	}
	return nil, false
}

// rulesFor draws rules in Cedar and short ones.
func rulesFor(t *rapid.T) (*cedar.Set, cedar.Rules, []expression) {
	var texts []expression
	var ours strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		e := text(fmt.Sprintf("r%d", i)).Draw(t, "rule")
		texts = append(texts, e)
		ours.WriteString(e.ours)
	}
	short := shortRules(t)
	s, err := cedar.New(short, cedar.File{Name: "f", Text: ours.String()})
	if err != nil {
		t.Fatal(ours.String(), err)
	}
	return s, short, texts
}

// Decisions are those of the reference, also when asked again, for requests that
// differ in one thing, and of what String says; and what is fixed is fixed.
func TestDecisionsEqualTheReference(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(fields()))
	seen := make(map[string]int) // what the cases show something about
	check := func(t *rapid.T) {
		s, short, texts := rulesFor(t)
		again, err := cedar.New(cedar.Rules{}, cedar.File{Name: "again", Text: s.String()})
		if err != nil {
			t.Fatal(s.String(), err)
		}
		first := anyRequest(t)
		was, _ := reference(t, short, texts, first)
		requests := []*tool.Request{first}
		for range 6 {
			next, name := *first, rapid.SampledFrom(names).Draw(t, "field")
			fields()[name](&next)
			requests = append(requests, &next)
			if is, _ := reference(t, short, texts, &next); is != was {
				seen["another request"]++
			}
		}
		for _, q := range append(requests, requests...) { // the second time from what is kept
			got := s.Decide(q)
			want, ids := reference(t, short, texts, q)
			seen[want.String()]++
			if got.Verdict != want {
				t.Fatalf("got %+v, want %s by %v of\n%s\nof %s", got, want, ids, s, q.Args.Text())
			}
			if got := again.Decide(q); got.Verdict != want {
				t.Fatalf("read again: got %+v, want %s by %v of\n%s\nof %s", got, want, ids, again, q.Args.Text())
			}
			blank := *q
			if blank.Args = (tool.Args{}); q.Varies {
				blank.Claims = tool.Claims{}
			}
			if d, ok := s.Fixed(&blank); ok {
				if seen["fixed "+want.String()]++; d != got {
					t.Fatalf("fixed: got %+v, want %+v", d, got)
				}
			}
		}
		for _, q := range requests {
			got := s.Decide(q)
			found := got.Verdict == tool.Silent
			for _, r := range s.Explain(q).Rules {
				said := r.Err != nil && got.Verdict == tool.Deny || r.Fits && r.Effect == got.Verdict
				found = found || said && (got.Rule == r.Text || strings.HasPrefix(got.Rule, r.ID+" ("))
				if r.Fits {
					seen["covered"] += strings.Count(r.Text, "context.covered")
					seen["met"] += strings.Count(r.Text, "context.met")
					seen["a short rule with a pattern"] += strings.Count(r.Text, "*(")
					seen["an own name"] += strings.Count(r.Text, "db.")
				}
			}
			if !found {
				t.Fatalf("got %+v, want another rule of\n%s", got, s)
			}
		}
	}
	for range 6 {
		rapid.Check(t, check)
	}
	want := []string{"covered", "met", "a short rule with a pattern", "an own name", "another request", "silent", "fixed silent"}
	for _, v := range []string{"deny", "ask", "allow"} {
		want = append(want, v, "fixed "+v)
	}
	t.Log(seen)
	for _, what := range want {
		if seen[what] == 0 {
			t.Errorf("no case of %s: the test shows nothing about it", what)
		}
	}
}

func TestFixedHoldsForAllArguments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _, _ := rulesFor(t)
		q := anyRequest(t)
		made := anyTool(t, q.Name)
		d, ok := s.Fixed(q)
		if !ok {
			return
		}
		for range 5 {
			if got := s.Decide(withArgs(t, made, q)); got != d {
				t.Fatalf("got %+v, fixed is %+v", got, d)
			}
		}
	})
}

// A rule that denies, or that fails, never lets more run.
func TestDenyNeverAllowsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all string
		for i := range 3 {
			all += text(fmt.Sprintf("r%d", i)).Draw(t, "rule").ours
		}
		c := condition(2, "met").Draw(t, "condition").ours
		before := set(t, cedar.Rules{}, all)
		after := set(t, cedar.Rules{}, all, fmt.Sprintf("forbid (principal, action, resource) when { %s };", c))
		broken := set(t, cedar.Rules{}, all, "permit (principal, action, resource) when { context.session > 1 };")
		for range 3 {
			q := anyRequest(t)
			ruling := func(s *cedar.Set) tool.Verdict {
				return policy.Combine(policy.Case{Claims: q.Claims, Trust: q.Source.Trust, Person: true}, policy.Voice{By: policy.ByPolicy, Decision: s.Decide(q)}).Verdict
			}
			if b, a := ruling(before), ruling(after); a > b {
				t.Fatalf("%s became %s with forbid when { %s }", b, a, c)
			}
			if v := ruling(broken); v != tool.Deny {
				t.Fatalf("got %s with a rule that fails, want deny", v)
			}
		}
	})
}

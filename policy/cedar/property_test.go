package cedar_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	lib "github.com/cedar-policy/cedar-go"
	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// expression is a condition, and what it is for the reference, which knows
// nothing of arguments that Cedar cannot hold.
type expression struct{ ours, reference string }

func same(text string) expression { return expression{text, text} }

func insides() []string {
	return []string{"git status*", "git*", "*", "path: /work/**", "path: /etc/passwd", "host: *.example.com", "git*, path: /work/**"}
}

func argNames() []string { return []string{"path", "n", "flag", "list", "o", "odd name"} }

// atom draws something that is often, not always, a bool.
func atom() *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
		arg := func() string {
			if name := pick("arg", argNames()...); name != "odd name" {
				return "context.args." + name
			}
			return `context.args["odd name"]`
		}
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0:
			return same(pick("constant", "true", "false", "1 == 1", `"a" like "*b"`, "1", `"text"`, "[1, 2].contains(2)", "9223372036854775807 + 1 > 0", `ip("x").isIpv4()`))
		case 1:
			return same(pick("tool", `resource.name == "fs_read"`, `resource.name like "fs_*"`, "resource.trust_level >= 4", `resource.trust == "mcp"`, "resource.needs_user",
				`resource.tags.contains("web")`, `resource in Tag::"web"`, `resource in [Source::"box", Tag::"files"]`, `resource == Tool::"shell"`, `resource.source > 1`,
				`resource is Tool`, `resource has trust`, `Tool::"shell" in Tag::"web"`, `Tool::"shell".needs_user`, "resource.name == resource.source"))
		case 2:
			return same(pick("caller", `principal == Principal::"local"`, `principal.tenant == "acme"`, `context.tenant == "acme"`, `context.session == "s1"`, `context.client like "c*"`,
				`context.agent == ""`, "context.attended", `context.mode == "auto"`, `context.mode == "read"`, `principal is Principal`, `principal in resource`, "context.mode > 1", `Principal::"ann".tenant == ""`))
		case 3:
			return same("context.claims." + pick("claim", "read_only", "parallel", "reversible", "local", "idempotent", "destructive", `class == "write"`, `class == "unsafe"`,
				`side_effect == "pure"`, `side_effect == "read-only"`, "class"))
		case 4, 5:
			return same(fmt.Sprintf(`context.%s.contains(%q)`, pick("set", "covered", "met"), pick("inside", insides()...)))
		case 6:
			return same(fmt.Sprintf(`context.%s.%s([%q, %q])`, pick("set", "covered", "met"), pick("how", "containsAny", "containsAll"), pick("one", insides()...), pick("two", insides()...)))
		case 7:
			name := pick("arg", argNames()...)
			return expression{fmt.Sprintf("context.args has %q", name), fmt.Sprintf(`(context.args has %q || context.unheld has %q && context.args[%q])`, name, name, name)}
		case 8:
			return same(arg())
		case 9:
			return same(arg() + pick("how", ` == "a"`, " > 4", " == 5", ` like "/etc/*"`, ` == ["a", 1]`, `.contains("a")`, " has a", ".a", ".a == 1", ".isEmpty()", ` == {"a": 1}`, " in resource"))
		case 10:
			return same(arg() + pick("how", " == ", " > ", " != ") + arg())
		}
		return same(arg() + " == " + pick("with", "resource.name", "context.session", "context.claims.class", "resource.trust_level + 1", "context.session + 1"))
	})
}

func condition(depth int) *rapid.Generator[expression] {
	if depth == 0 {
		return atom()
	}
	return rapid.Custom(func(t *rapid.T) expression {
		draw := func() expression { return condition(depth-1).Draw(t, "part") }
		join := func(format string, parts ...expression) expression {
			var ours, reference []any
			for _, p := range parts {
				ours, reference = append(ours, p.ours), append(reference, p.reference)
			}
			return expression{fmt.Sprintf(format, ours...), fmt.Sprintf(format, reference...)}
		}
		switch rapid.IntRange(0, 5).Draw(t, "join") {
		case 0:
			return join("(%s) && (%s)", draw(), draw())
		case 1:
			return join("(%s) || (%s)", draw(), draw())
		case 2:
			return join("!(%s)", draw())
		case 3:
			return join("if (%s) then (%s) else (%s)", draw(), draw(), draw())
		case 4:
			return join("(%s) == (%s)", draw(), draw())
		}
		return draw()
	})
}

// text draws a rule.
func text(id string) *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		head := fmt.Sprintf("@id(%q) %s (%s, %s, %s)", id,
			rapid.SampledFrom([]string{"permit", "permit", "forbid", "@ask permit", `@ask("why") permit`}).Draw(t, "effect"),
			rapid.SampledFrom([]string{"principal", "principal", "principal", `principal == Principal::"ann"`, "principal is Principal", "principal is User"}).Draw(t, "principal"),
			rapid.SampledFrom([]string{"action", "action", `action == Action::"call"`, `action in [Action::"call"]`, `action == Action::"list"`}).Draw(t, "action"),
			rapid.SampledFrom([]string{"resource", "resource", "resource", `resource == Tool::"fs_read"`, `resource in Source::"box"`, `resource in Tag::"web"`, `resource is Tool in Source::""`}).Draw(t, "resource"))
		made := same(head)
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			c, word := condition(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "condition"), rapid.SampledFrom([]string{"when", "when", "unless"}).Draw(t, "word")
			made.ours += fmt.Sprintf("\n%s { %s }", word, c.ours)
			made.reference += fmt.Sprintf("\n%s { %s }", word, c.reference)
		}
		return expression{made.ours + ";\n", made.reference + ";\n"}
	})
}

func shortRules(t *rapid.T) cedar.Rules {
	draw := func(label string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{
			"fs_read", "fs_*", "*", "source:box", "source:b*", "source:*", "tag:web", "shell(git status*)", "*(git*)", "fs_*(path: /work/**)", "tag:web(host: *.example.com)", "*(path: /etc/passwd)",
		}), 0, 2).Draw(t, label)
	}
	return cedar.Rules{Allow: draw("allow"), Ask: draw("ask"), Deny: draw("deny")}
}

func anyArgs(t *rapid.T) string {
	values := []string{`"a"`, `"/etc/passwd"`, `"fs_read"`, "5", "5.0", "50e-1", "4", "4.5", "null", "true", "false", `["a",1]`, `["a",null]`, "[]", `{"a":1}`, `{"a":1,"b":null}`, "{}", "1e30", `"\u0061"`, "-9223372036854775808", "9223372036854775808", "-0.0"}
	var members []string
	for _, name := range argNames() {
		if rapid.Bool().Draw(t, "has "+name) {
			members = append(members, fmt.Sprintf("%q: %s", name, rapid.SampledFrom(values).Draw(t, name)))
		}
	}
	members = append(members, rapid.SampledFrom([]string{
		`"Facts":{}`, `"Facts":{"Paths":[],"Hosts":[],"Commands":[]}`, `"Facts":{"Commands":[["git","status"]]}`, `"Facts":{"Commands":[["git","status"],["rm"]],"Paths":["/work/a"]}`,
		`"Facts":{"Paths":["/work/a"]}`, `"Facts":{"Paths":["/etc"]}`, `"Facts":{"Hosts":["a.example.com"]}`, `"Facts":{"Hosts":["evil.org"],"Paths":["/work/../x"]}`, `"Facts":3`,
	}).Draw(t, "facts"))
	return "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), " ,\n") + "}"
}

func anyRequest(t *rapid.T) *tool.Request {
	pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
	flip := func(label string) bool { return rapid.Bool().Draw(t, label) }
	made := anyTool(t, pick("name", "fs_read", "fs_write", "shell"), rapid.SampledFrom([][]string{nil, {"web"}, {"files"}, {"web", "files"}}).Draw(t, "tags")...)
	made.NeedsUser = flip("needs user")
	q := &tool.Request{
		Name: made.Name, Tool: &made.Info, Source: tool.Source{Name: pick("source", "", "box"), Trust: rapid.SampledFrom([]tool.Trust{tool.Inbound, tool.MCP, tool.Own, tool.BuiltIn, 99}).Draw(t, "trust")},
		Caller: tool.Caller{Principal: pick("principal", "", "local", "ann"), Tenant: pick("tenant", "", "acme"), Session: pick("session", "s1", "s2"), Client: pick("client", "", "c1"), Agent: pick("agent", "", "g"), Attended: flip("attended")},
		Claims: tool.Claims{
			ReadOnly: flip("read-only"), Parallel: flip("parallel"), Reversible: flip("reversible"), Local: flip("local"), Idempotent: flip("idempotent"),
			Touches: rapid.SampledFrom([][]tool.Access{nil, {}, {{Resource: "file:/work/b"}}, {{Resource: "file:/etc/passwd"}}}).Draw(t, "touches"),
		},
		Varies: flip("varies"), Mode: pick("mode", "", "auto", "nonsense"),
	}
	if flip("no tool") {
		q.Tool = nil
	}
	return withArgs(t, made, q)
}

func withArgs(t *rapid.T, made *tool.Tool, q *tool.Request) *tool.Request {
	args, err := made.Admit(json.RawMessage(anyArgs(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := *q
	c.Args = args
	return &c
}

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
	principal, resource := lib.NewEntityUID("Principal", lib.String(who)), lib.NewEntityUID("Tool", lib.String(q.Name))
	entities := lib.EntityMap{
		principal: {UID: principal, Attributes: lib.NewRecord(lib.RecordMap{"tenant": lib.String(q.Caller.Tenant)})},
		resource: {UID: resource, Parents: lib.NewEntityUIDSet(parents...), Attributes: lib.NewRecord(lib.RecordMap{
			"name": lib.String(q.Name), "source": lib.String(q.Source.Name), "trust": lib.String(q.Source.Trust.String()), "trust_level": lib.Long(level),
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

// Decisions are those of the reference, also when asked again, and of what String
// says; and what is fixed is fixed.
func TestDecisionsEqualTheReference(t *testing.T) {
	t.Parallel()
	verdicts, fixed := make(map[tool.Verdict]int), 0
	rapid.Check(t, func(t *rapid.T) {
		s, short, texts := rulesFor(t)
		again, err := cedar.New(cedar.Rules{}, cedar.File{Name: "again", Text: s.String()})
		if err != nil {
			t.Fatal(s.String(), err)
		}
		requests := []*tool.Request{anyRequest(t), anyRequest(t), anyRequest(t)}
		for _, q := range append(requests, requests...) { // the second time from what is kept
			got := s.Decide(q)
			want, ids := reference(t, short, texts, q)
			verdicts[want]++
			if got.Verdict != want {
				t.Fatalf("got %+v, want %s by %v of\n%s\nof %s", got, want, ids, s, q.Args.Text())
			}
			if got := again.Decide(q); got.Verdict != want {
				t.Fatalf("read again: got %+v, want %s by %v of\n%s\nof %s", got, want, ids, again, q.Args.Text())
			}
			if want == tool.Silent {
				continue
			}
			found := false
			for _, r := range s.Explain(q).Rules {
				if said := r.Err != nil && want == tool.Deny || r.Fits && r.Effect == want; said && (got.Rule == r.Text || strings.HasPrefix(got.Rule, r.ID+" (")) {
					found = true
				}
			}
			if !found {
				t.Fatalf("got %+v, want the rule to be one of %v", got, ids)
			}
			blank := *q
			if blank.Args = (tool.Args{}); q.Varies {
				blank.Claims = tool.Claims{}
			}
			if d, ok := s.Fixed(&blank); ok {
				if fixed++; d != got {
					t.Fatalf("fixed: got %+v, want %+v", d, got)
				}
			}
		}
	})
	for v := range tool.Silent + 1 {
		if verdicts[v] == 0 {
			t.Errorf("no case was decided as %s: the test shows nothing about it", v)
		}
	}
	if fixed == 0 {
		t.Error("no decision was fixed: the test shows nothing about it")
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
		c := condition(2).Draw(t, "condition").ours
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

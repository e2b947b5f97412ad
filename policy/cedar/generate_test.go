package cedar_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"pgregory.net/rapid"

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

// other is the set that a rule may read where it may read set if that were
// negated; "": neither.
func other(set string) string { return map[string]string{"covered": "met", "met": "covered"}[set] }

// atom draws something that is often, not always, a bool. Of covered and met it
// has the given one in it.
func atom(set string) *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
		arg := func() string {
			if name := pick("arg", argNames()...); name != "odd name" {
				return "context.args." + name
			}
			return `context.args["odd name"]`
		}
		kind := rapid.IntRange(0, 11).Draw(t, "kind")
		if (kind == 4 || kind == 5) && set == "" {
			kind = 9
		}
		switch kind {
		case 0:
			return same(pick("constant", "true", "false", "1 == 1", `"a" like "*b"`, "1", `"text"`, "[1, 2].contains(2)", "9223372036854775807 + 1 > 0", `ip("x").isIpv4()`))
		case 1:
			return same(pick("tool", `resource.name == "fs_read"`, `resource.name like "fs_*"`, "resource.trust_level >= 4", `resource.trust == "mcp"`, "resource.needs_user",
				`resource.tags.contains("web")`, `resource in Tag::"web"`, `resource in [Source::"box", Tag::"files"]`, `resource == Tool::"shell"`, `resource.source > 1`,
				`resource is Tool`, `resource has trust`, `resource.own_name like "*.drop"`, `resource.own_name == resource.name`, `Tool::"shell" in Tag::"web"`, `Tool::"shell".needs_user`, "resource.name == resource.source"))
		case 2:
			return same(pick("caller", `principal == Principal::"local"`, `principal.tenant == "acme"`, `context.tenant == "acme"`, `context.session == "s1"`, `context.client like "c*"`,
				`context.agent == ""`, "context.attended", `context.mode == "auto"`, `context.mode == "read"`, `principal is Principal`, `principal in resource`, "context.mode > 1", `Principal::"ann".tenant == ""`))
		case 3:
			return same("context.claims." + pick("claim", "read_only", "parallel", "reversible", "local", "idempotent", "destructive", `class == "write"`, `class == "unsafe"`,
				`side_effect == "pure"`, `side_effect == "read-only"`, `class like "w*"`))
		case 4, 5:
			if rapid.Bool().Draw(t, "list") {
				return same(fmt.Sprintf(`context.%s.%s([%q, %q])`, set, pick("how", "containsAny", "containsAll"), pick("one", insides()...), pick("two", insides()...)))
			}
			return same(fmt.Sprintf(`context.%s.contains(%q)`, set, pick("inside", insides()...)))
		case 6, 7:
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

func condition(depth int, set string) *rapid.Generator[expression] {
	if depth == 0 {
		return atom(set)
	}
	return rapid.Custom(func(t *rapid.T) expression {
		drawOf := func(set string) expression { return condition(depth-1, set).Draw(t, "part") }
		draw := func() expression { return drawOf(set) }
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
			return join("!(%s)", drawOf(other(set)))
		case 3:
			return join("if (%s) then (%s) else (%s)", drawOf(""), draw(), draw())
		case 4:
			return join("(%s) == (%s)", drawOf(""), drawOf(""))
		}
		return draw()
	})
}

// text draws a rule.
func text(id string) *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		effect := rapid.SampledFrom([]string{"permit", "permit", "forbid", "@ask permit", `@ask("why") permit`}).Draw(t, "effect")
		head := fmt.Sprintf("@id(%q) %s (%s, %s, %s)", id, effect,
			rapid.SampledFrom([]string{"principal", "principal", "principal", `principal == Principal::"ann"`, "principal is Principal"}).Draw(t, "principal"),
			rapid.SampledFrom([]string{"action", "action", `action == Action::"call"`, `action in [Action::"call"]`}).Draw(t, "action"),
			rapid.SampledFrom([]string{"resource", "resource", "resource", `resource == Tool::"fs_read"`, `resource in Source::"box"`, `resource in Tag::"web"`, `resource is Tool in Source::""`}).Draw(t, "resource"))
		made := same(head)
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			word, set := rapid.SampledFrom([]string{"when", "when", "unless"}).Draw(t, "word"), "met"
			if (word == "when") == (effect == "permit") {
				set = "covered"
			}
			c := condition(rapid.IntRange(0, 3).Draw(t, "depth"), set).Draw(t, "condition")
			made.ours += fmt.Sprintf("\n%s { %s }", word, c.ours)
			made.reference += fmt.Sprintf("\n%s { %s }", word, c.reference)
		}
		return expression{made.ours + ";\n", made.reference + ";\n"}
	})
}

func shortRules(t *rapid.T) cedar.Rules {
	draw := func(label string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{
			"fs_read", "fs_*", "*", "source:box", "source:b*", "source:*", "tag:web", "shell(git status*)", "*(git*)", "fs_*(path: /work/**)", "tag:web(host: *.example.com)", "*(path: /etc/passwd)", "db.drop", "box__db.*", "*drop", "db*",
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
	made := anyTool(t, pick("name", "fs_read", "fs_write", "shell", "db.drop"), rapid.SampledFrom([][]string{nil, {"web"}, {"files"}, {"web", "files"}}).Draw(t, "tags")...)
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
	if made.Name == "db.drop" {
		q.Name = tool.WireName(q.Source.Name, made.Name)
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

// fields are what two requests can differ in.
func fields() map[string]func(*tool.Request) {
	return map[string]func(*tool.Request){
		"name":        func(q *tool.Request) { q.Name = "fs_other" },
		"source":      func(q *tool.Request) { q.Source.Name += "2" },
		"trust":       func(q *tool.Request) { q.Source.Trust = (q.Source.Trust + 3) % 7 },
		"principal":   func(q *tool.Request) { swap(&q.Caller.Principal, "ann", "bob") },
		"tenant":      func(q *tool.Request) { swap(&q.Caller.Tenant, "acme", "") },
		"session":     func(q *tool.Request) { swap(&q.Caller.Session, "s1", "s2") },
		"client":      func(q *tool.Request) { swap(&q.Caller.Client, "c1", "") },
		"agent":       func(q *tool.Request) { swap(&q.Caller.Agent, "g", "") },
		"attended":    func(q *tool.Request) { q.Caller.Attended = !q.Caller.Attended },
		"mode":        func(q *tool.Request) { swap(&q.Mode, "auto", "") },
		"read-only":   func(q *tool.Request) { q.Claims.ReadOnly = !q.Claims.ReadOnly },
		"parallel":    func(q *tool.Request) { q.Claims.Parallel = !q.Claims.Parallel },
		"reversible":  func(q *tool.Request) { q.Claims.Reversible = !q.Claims.Reversible },
		"local":       func(q *tool.Request) { q.Claims.Local = !q.Claims.Local },
		"idempotent":  func(q *tool.Request) { q.Claims.Idempotent = !q.Claims.Idempotent },
		"touches":     func(q *tool.Request) { swap(&q.Claims.Touches, nil, []tool.Access{}) },
		"varies":      func(q *tool.Request) { q.Varies = !q.Varies },
		"tags":        func(q *tool.Request) { ofTool(q, func(i *tool.Info) { swap(&i.Tags, nil, []string{"web"}) }) },
		"tool's name": func(q *tool.Request) { ofTool(q, func(i *tool.Info) { i.Name += "2" }) },
		"needs user":  func(q *tool.Request) { ofTool(q, func(i *tool.Info) { i.NeedsUser = !i.NeedsUser }) },
	}
}

// swap makes a field one, and other where it is one.
func swap[T any](field *T, one, other T) {
	if reflect.DeepEqual(*field, one) {
		one = other
	}
	*field = one
}

// ofTool changes what a request says of its tool.
func ofTool(q *tool.Request, change func(*tool.Info)) {
	if q.Tool != nil {
		info := q.Tool.Clone()
		change(&info)
		q.Tool = &info
	}
}

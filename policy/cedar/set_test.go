package cedar_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

type fataler interface{ Fatal(...any) }

// anyTool takes any arguments; what it is about stands in the argument facts.
func anyTool(t fataler, name string, tags ...string) *tool.Tool {
	made, err := tool.Tool{
		Info: tool.Info{Name: name, Description: "Do.", Tags: tags, Input: json.RawMessage(`{"type":"object"}`)},
		Facts: func(a tool.Args) (f tool.Facts, err error) {
			in := struct{ Facts *tool.Facts }{&f}
			return f, a.Decode(&in)
		},
		Run: func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}.Check()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func request(t fataler, name, args string) *tool.Request {
	made := anyTool(t, name, "files", "web")
	a, err := made.Admit(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Request{Name: name, Source: tool.Source{Name: "box", Trust: tool.Own}, Tool: &made.Info, Args: a}
}

func set(t fataler, rules cedar.Rules, texts ...string) *cedar.Set {
	var files []cedar.File
	for _, text := range texts {
		files = append(files, cedar.File{Name: "a.cedar", Text: text})
	}
	s, err := cedar.New(rules, files...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConditions(t *testing.T) {
	t.Parallel()
	q := request(t, "fs_write", `{"path":"/etc/passwd","n":5,"big":1e3,"half":1.5,"none":null,"huge":99999999999999999999,"list":["a",1],"bad":["a",null],
		"o":{"a":{"b":true}},"half_o":{"a":1,"b":2.5},"k\u0065y":"\u0076","Facts":{"Paths":["/etc/passwd"]}}`)
	q.Caller = tool.Caller{Principal: "ann", Tenant: "acme", Session: "s", Client: "c", Agent: "g", Attended: true}
	q.Claims = tool.Claims{Local: true, Reversible: true}
	q.Mode = "auto"
	for _, tt := range []struct{ condition, want string }{
		{`principal == Principal::"ann" && principal.tenant == "acme" && context.tenant == "acme"`, "allow"},
		{`principal has tenant && action == Action::"call"`, "allow"},
		{`resource == Tool::"fs_write" && resource in Source::"box" && resource in Tag::"web"`, "allow"},
		{`resource in Tag::"nope"`, "silent"},
		{`resource.name == "fs_write" && resource.source == "box"`, "allow"},
		{`resource.trust == "own" && resource.trust_level >= 5`, "allow"},
		{`resource.trust_level > 5`, "silent"},
		{`resource.tags.containsAll(["files", "web"])`, "allow"},
		{`resource.needs_user`, "silent"},
		{`context.session == "s" && context.client == "c" && context.agent == "g" && context.attended && context.mode == "auto"`, "allow"},
		{`context.claims.local && context.claims.reversible && !context.claims.destructive && !context.claims.read_only`, "allow"},
		{`context.claims.class == "write" && context.claims.side_effect == "side-effecting" && !context.claims.parallel`, "allow"},
		{`context has args && context has session && context.claims has class`, "allow"},
		{`context.args.path like "/etc/*" && context.args.n == 5 && context.args.big == 1000`, "allow"},
		{`context.args["path"] == "/etc/passwd"`, "allow"},
		{`context.args.list == [1, "a", "a"]`, "allow"},
		{`context.args.o.a.b && context.args.o == {"a": {"b": true}}`, "allow"},
		{`context.args.o has a && !(context.args.o has c)`, "allow"},
		{`context.args has o.a.b`, "allow"},
		{`context.args.key == "v"`, "allow"},
		{`context.args has path && !(context.args has missing)`, "allow"},
		{`context.args.missing == 1`, "deny"},
		{`context.args.half > 1`, "deny"},
		{`context.args has half`, "deny"}, // it is there, but cannot be read
		{`!(context.args has none)`, "deny"},
		{`context.args has huge`, "deny"},
		{`["a"].containsAll(context.args.bad)`, "deny"},
		{`context.args.half_o == {"a": 1}`, "deny"},
		{`context.args.half_o.a == 1`, "deny"},
		{`context.args.path == "x" && context.args.half > 1`, "silent"}, // not reached
		{`context.args.path`, "deny"},
		{`context.args.path > 1`, "deny"},
		{`context.session > 1`, "deny"},
		{`false && context.session > 1`, "silent"},
		{`context.args.n == 5 && context.session > 1`, "deny"},
		{`context.args.n == 6 && context.session > 1`, "silent"},
		{`if context.attended then context.args.n == 5 else 1`, "allow"},
		{`if context.args.n == 5 then 1 else true`, "deny"},
		{`context.covered.contains("path: /etc/**")`, "allow"},
		{`context.covered.contains("path: src/**")`, "silent"},
		{`!context.met.contains("path: /etc/passwd")`, "silent"},
		{`!context.met.contains("path: /etc/group")`, "allow"},
		{`context.covered.containsAny(["path: src/**", "path: /etc/*"])`, "allow"},
		{`context.covered.containsAll(["path: src/**", "path: /etc/*"])`, "silent"},
		{`context.covered.containsAll([])`, "allow"},
		{`context.covered.containsAny([])`, "silent"},
		{`!context.met.contains("git*")`, "silent"}, // not known
		{`context.covered.contains("git*")`, "silent"},
	} {
		s := set(t, cedar.Rules{Workspace: "/work"}, "permit (principal, action, resource) when { "+tt.condition+" };")
		if got := s.Decide(q); got.Verdict.String() != tt.want {
			t.Errorf("P2 %s: got %+v, want %s", tt.condition, got, tt.want)
		}
		again := set(t, cedar.Rules{}, s.String())
		if got := again.Decide(q); got.Verdict.String() != tt.want {
			t.Errorf("P2 %s: read again as %s: got %+v, want %s", tt.condition, s, got, tt.want)
		}
	}
}

func TestShortRules(t *testing.T) {
	t.Parallel()
	const read, etc = `{"Facts":{"Paths":["/work/src/a"]}}`, `{"Facts":{"Paths":["/etc/passwd"]}}`
	for _, tt := range []struct {
		name       string
		rules      cedar.Rules
		tool, args string
		want, rule string
	}{
		{"no rule", cedar.Rules{}, "fs_read", read, "silent", ""},
		{"a name", cedar.Rules{Allow: []string{"fs_read"}}, "fs_read", read, "allow", "allow: fs_read"},
		{"a longer name", cedar.Rules{Allow: []string{"fs_read"}}, "fs_read2", read, "silent", ""},
		{"a pattern", cedar.Rules{Allow: []string{"fs_*"}}, "fs_read", read, "allow", "allow: fs_*"},
		{"a pattern within", cedar.Rules{Allow: []string{"f*_*d"}}, "fs_write", read, "silent", ""},
		{"any", cedar.Rules{Ask: []string{"*"}}, "fs_write", read, "ask", "ask: *"},
		{"a source", cedar.Rules{Allow: []string{"source:box"}}, "fs_read", read, "allow", "allow: source:box"},
		{"sources", cedar.Rules{Allow: []string{"source:b*"}}, "fs_read", read, "allow", "allow: source:b*"},
		{"another source", cedar.Rules{Allow: []string{"source:bo"}}, "fs_read", read, "silent", ""},
		{"a tag", cedar.Rules{Deny: []string{"tag:web"}}, "fs_read", read, "deny", "deny: tag:web"},
		{"another tag", cedar.Rules{Deny: []string{"tag:we"}}, "fs_read", read, "silent", ""},
		{"a path", cedar.Rules{Allow: []string{"fs_read(path: src/**)"}, Workspace: "/work"}, "fs_read", read, "allow", "allow: fs_read(path: src/**)"},
		{"another path", cedar.Rules{Allow: []string{"fs_read(path: src/**)"}, Workspace: "/work"}, "fs_read", etc, "silent", ""},
		{"a path not known", cedar.Rules{Allow: []string{"*(path: /**)"}, Deny: []string{"*(path: /x)"}}, "fs_read", `{}`, "deny", "deny: *(path: /x)"},
		{"deny beats ask", cedar.Rules{Allow: []string{"*"}, Ask: []string{"*"}, Deny: []string{"fs_*(path: /etc/**)"}}, "fs_read", etc, "deny", "deny: fs_*(path: /etc/**)"},
		{"ask beats allow", cedar.Rules{Allow: []string{"*"}, Ask: []string{"fs_*(path: /etc/**)"}}, "fs_read", etc, "ask", "ask: fs_*(path: /etc/**)"},
		{"quotes", cedar.Rules{Deny: []string{`*(path: "/a \"b\" (c), d")`}}, "x", `{"Facts":{"Paths":["/a \"b\" (c), d"]}}`, "deny", `deny: *(path: "/a \"b\" (c), d")`},
	} {
		t.Run("P2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s, q := set(t, tt.rules), request(t, tt.tool, tt.args)
			if got := s.Decide(q); got.Verdict.String() != tt.want || got.Rule != tt.rule {
				t.Errorf("got %+v, want %s by %q", got, tt.want, tt.rule)
			}
			if got := set(t, cedar.Rules{}, s.String()).Decide(q); got.Verdict.String() != tt.want || got.Rule != tt.rule {
				t.Errorf("read again: got %+v, want %s by %q", got, tt.want, tt.rule)
			}
		})
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	q := request(t, "sql", `{"table":"prod_x"}`)
	for _, tt := range []struct{ text, want string }{
		{`permit (principal, action, resource);`, "allow||allow-1 (a.cedar:1)|"},
		{"\n\n" + `@id("mine") permit (principal, action, resource);`, "allow||mine (a.cedar:3)|"},
		{`@ask("it costs") permit (principal, action, resource);`, "ask|it costs|ask-1 (a.cedar:1)|"},
		{`@ask @reason("why") permit (principal, action, resource);`, "ask|why|ask-1 (a.cedar:1)|"},
		{`@ask("a") @message("m") permit (principal, action, resource); @ask("b") @id("2") permit (principal, action, resource); permit (principal, action, resource);`, "ask|a; b|ask-1 (a.cedar:1)|m"},
		{`@reason("r") @message("m") forbid (principal, action, resource); permit (principal, action, resource);`, "deny|r|deny-1 (a.cedar:1)|m"},
		{`@short("deny: x") forbid (principal, action, resource);`, "deny||deny: x|"},
		{`@id("bad") permit (principal, action, resource) when { context.args.x };`, "deny|the rule bad (a.cedar:1) failed: record does not have the attribute `args.x`|bad (a.cedar:1)|A rule about this call could not be evaluated."},
		{`@id("bad") permit (principal, action, resource) when { context.session > 1 };`, "deny|the rule bad (a.cedar:1) failed: type error: expected comparable value, got string|bad (a.cedar:1)|A rule about this call could not be evaluated."},
		{`@id("other") permit (principal, action, resource == Tool::"x") when { context.args.x };`, "silent|||"}, // its scope does not match
	} {
		d := set(t, cedar.Rules{}, tt.text).Decide(q)
		if got := strings.Join([]string{d.Verdict.String(), d.Reason, d.Rule, d.Message}, "|"); got != tt.want {
			t.Errorf("P2 %s:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
	half := request(t, "sql", `{"n":1.5}`)
	d := set(t, cedar.Rules{}, `forbid (principal, action, resource) when { context.args has n && context.args.n > 5 };`).Decide(half)
	if d.Verdict != tool.Deny || !strings.Contains(d.Reason, "Cedar cannot hold args.n") {
		t.Errorf("S2 a number that Cedar cannot hold: got %+v, want a denial that says so", d)
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	const all = "(principal, action, resource)"
	for _, tt := range []struct {
		text string
		want string // "": it depends
	}{
		{"", "silent"},
		{"permit " + all + ";", "allow"},
		{`permit ` + all + ` when { context.args.x == 1 };`, ""},
		{`permit (principal, action, resource == Tool::"b") when { context.args.x == 1 };`, "silent"},
		{`permit ` + all + ` when { resource.name == "b" && context.args.x == 1 };`, "silent"},
		{`permit ` + all + ` when { resource.name == "a" || context.args.x == 1 };`, "allow"},
		{`permit ` + all + ` when { resource.name == "b" } when { context.args.x == 1 };`, "silent"},
		{`permit ` + all + ` unless { resource.name == "a" } unless { context.args.x == 1 };`, "silent"},
		{`permit ` + all + ` when { context.args.x == 1 && resource.name == "b" };`, ""}, // x may be missing
		{`permit ` + all + ` when { context.session > 1 };`, "deny"},
		{`forbid ` + all + `; permit ` + all + ` when { context.args.x == 1 };`, "deny"},
		{`@ask permit ` + all + `; permit ` + all + ` when { context.args.x == 1 };`, ""}, // it may fail
		{`@ask permit ` + all + `; permit ` + all + ` when { context.covered.contains("git*") };`, "ask"},
		{`permit ` + all + `; permit ` + all + ` when { context.covered.contains("git*") };`, "allow"},
		{`permit ` + all + `; @ask permit ` + all + ` when { context.met.contains("git*") };`, ""},
		{`permit ` + all + ` when { context.covered.contains("git*") };`, ""},
		{`permit ` + all + ` when { context.claims.read_only };`, "allow"},
		{`permit ` + all + ` when { context.mode == "ask" && context.session == "" && principal == Principal::"local" };`, "allow"},
	} {
		s := set(t, cedar.Rules{}, tt.text)
		q := &tool.Request{Name: "a", Claims: tool.Claims{ReadOnly: true}}
		d, ok := s.Fixed(q)
		if got := d.Verdict.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("R2 %s: got %s, %v, want %q", tt.text, got, ok, tt.want)
		}
		if ok && s.Decide(q) != d {
			t.Errorf("R2 %s: Decide says %+v, Fixed %+v", tt.text, s.Decide(q), d)
		}
	}
	s := set(t, cedar.Rules{}, "permit (principal, action, resource) when { context.claims.read_only };")
	q := &tool.Request{Name: "a", Varies: true}
	if _, ok := s.Fixed(q); ok {
		t.Error("R2 claims that vary: got a fixed decision")
	}
	if q.Claims.ReadOnly = true; s.Decide(q).Verdict != tool.Allow {
		t.Error("R2 claims that vary: those of the call do not count")
	}
	if q.Varies = false; s.Decide(q).Verdict != tool.Allow {
		t.Error("R2 claims that do not vary: they do not count")
	}
	if q.Claims.ReadOnly = false; s.Decide(q).Verdict != tool.Silent {
		t.Error("R2 claims that do not vary: those of another call count")
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := set(t, cedar.Rules{Allow: []string{"sql"}, Deny: []string{"sql(git*)"}}, `
@id("prod") @reason("no") forbid (principal, action, resource) when { context.args.table like "prod_*" };
@id("slow") @ask("slow") permit (principal, action, resource) when { context.args.limit > 100 };`)
	for _, tt := range []struct {
		tool, args, want string
		changes          []string
	}{
		{"sql", `{"table":"a","limit":1,"Facts":{"Commands":[]}}`, "allow", []string{"without allow-1 it would be silent", "with the rule ask: sql it would be ask", "with the rule deny: sql it would be deny"}},
		{"sql", `{"table":"a","limit":101,"Facts":{"Commands":[]}}`, "ask", []string{"without slow it would be allow", "with the rule deny: sql it would be deny"}},
		{"sql", `{"table":"prod_x","limit":101,"Facts":{"Commands":[]}}`, "deny", []string{"without prod it would be ask"}},
		{"sql", `{"table":"prod_x","limit":101}`, "deny", []string{"without deny-1 and prod it would be ask"}},
		{"sql", `{"table":"prod_x","Facts":{"Commands":[]}}`, "deny", []string{"without prod and slow it would be allow"}},
		{"other", `{"table":"a","limit":1}`, "silent", []string{"with the rule allow: other(args: ", "with the rule allow: other it would be allow", "with the rule ask: other it would be ask", "with the rule deny: other it would be deny"}},
	} {
		q := request(t, tt.tool, tt.args)
		e := s.Explain(q)
		var changes []string
		for _, c := range e.Changes {
			changes = append(changes, c.String())
		}
		if e.Decision.Verdict.String() != tt.want || e.Decision != s.Decide(q) || e.Fixed || !slices.EqualFunc(changes, tt.changes, strings.HasPrefix) {
			t.Errorf("P2 %s %s: got %+v, %v, %q, want %s, %q", tt.tool, tt.args, e.Decision, e.Fixed, changes, tt.want, tt.changes)
		}
	}
	e := s.Explain(request(t, "sql", `{"table":"prod_x","Facts":{"Commands":[]}}`))
	type line struct {
		id, file string
		line     int
		effect   tool.Verdict
		fits     bool
		failed   bool
	}
	var got []line
	for _, r := range e.Rules {
		got = append(got, line{r.ID, r.File, r.Line, r.Effect, r.Fits, r.Err != nil})
	}
	want := []line{
		{"deny-1", "deny", 1, tool.Deny, false, false},
		{"allow-1", "allow", 1, tool.Allow, true, false},
		{"prod", "a.cedar", 2, tool.Deny, true, false},
		{"slow", "a.cedar", 3, tool.Ask, false, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("P2 got %+v, want %+v", got, want)
	}
	if r := e.Rules[0]; r.Text != "deny: sql(git*)" {
		t.Errorf("P2 a short rule: got %q, want its text", r.Text)
	}
	if r := e.Rules[2]; !strings.Contains(r.Text, `context.args.table like "prod_*"`) {
		t.Errorf("P2 a rule: got %q, want its Cedar", r.Text)
	}
}

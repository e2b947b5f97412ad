package cedar_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestNewFaults(t *testing.T) {
	t.Parallel()
	const all = "(principal, action, resource)"
	for _, tt := range []struct {
		rules cedar.Rules
		text  string
		want  []string
	}{
		{cedar.Rules{}, "permit", []string{`a:1:7: got the end of the text, want "("`}},
		{cedar.Rules{}, "permit " + all, []string{`a:1:37: got the end of the text, want ";"`}},
		{cedar.Rules{}, "allow " + all + ";", []string{`a:1:1: got "allow", want permit or forbid`}},
		{cedar.Rules{}, "permit (principal, resource);", []string{`a:1:20: got "resource", want "action"`}},
		{cedar.Rules{}, "permit (principal, action, resource == Tool);", []string{`a:1:44: got ")", want "::"`}},
		{cedar.Rules{}, "permit (principal, action, resource == );", []string{`a:1:40: got ")", want a name`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { foo };", []string{`a:2:8: got "foo", want a value`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { 1 + };", []string{`a:2:12: got "}", want a value`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { true", []string{`a:2:12: got the end of the text, want "}"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { 1 +", []string{`a:2:11: got the end of the text, want a value`}},
		{cedar.Rules{}, "permit " + all + " when { \"é\" == [1 2] };", []string{`a:1:55: got "2", want ","`}},
		{cedar.Rules{}, "permit " + all + " when { \"a", []string{`a:1:45: literal not terminated`}},
		{cedar.Rules{}, "@ask(1) permit " + all + ";", []string{`a:1:6: got "1", want a text in quotes`}},
		{cedar.Rules{}, "@id(\"a\") @id(\"b\") permit " + all + ";", []string{`a:1:11: duplicate annotation: @id`}},
		{cedar.Rules{}, "permit " + all + " permit;\n// ; \" \n/* ; \n */ permit x;\nfoo;", []string{`a:1:38: got "permit", want ";"`, `a:4:12: got "x", want "("`, `a:5:1: got "foo", want permit or forbid`}},
		{cedar.Rules{}, "\n  @ask forbid " + all + ";", []string{`a:2:4: got @ask on a forbid, want it on a permit`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.clamis };", []string{`a:2:16: context: got the attribute "clamis", want claims; there are session, client, agent, tenant, attended, mode, claims, args, covered, met`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context has x };", []string{`a:2:20: context: got the attribute "x"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.claims.readonly };", []string{`a:2:23: context.claims: got the attribute "readonly"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.claims == 1 || context.claims has y };", []string{`a:2:16: context.claims: got all claims`, `a:2:50: context.claims: got the attribute "y"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context == {} };", []string{`a:2:8: context: got the whole of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.args == {} };", []string{`a:2:16: context.args: got all arguments, want one by its name`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { resource.trst == 1 && principal.x };", []string{`a:2:17: resource: got the attribute "trst"`, `a:2:40: principal: got the attribute "x", want tenant`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered == [] };", []string{`a:2:16: context.covered: got another use of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.met.isEmpty() };", []string{`a:2:16: context.met: got another use of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.contains(context.args.x) };", []string{`a:2:16: context.covered: got something else than a text`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.containsAny(context.args.x) };", []string{`a:2:16: context.covered: got something else than a list`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { [\"a\"].contains(context.covered) };", []string{`a:2:31: context.covered: got another use of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.contains(\"path: src/**\") };", []string{`a:2:33: context.covered: "path: src/**": column 7: got "src/**", want an absolute path`}},
		{cedar.Rules{}, "@id(\"x\") permit " + all + ";\n@id(\"x\") permit " + all + ";", []string{`a:2:1: got the @id "x" again, want another than that of a:1`}},
		{cedar.Rules{Allow: []string{"fs_read", "fs read"}, Deny: []string{"x(y"}}, "", []string{`deny:1:4: got no closing parenthesis`, `allow:2:3: got ' ' in a name`}},
		{cedar.Rules{}, "permit " + all + " when { " + strings.Repeat("(", 100_000) + " };", []string{"nested deeper"}},
		{cedar.Rules{}, "permit " + all + " when { " + strings.Repeat("!", 100_000) + "true };", []string{"more operators"}},
		{cedar.Rules{}, "permit " + all + " when { true" + strings.Repeat(" && true", 100_000) + " };", []string{"more operators"}},
		{cedar.Rules{}, "permit " + all + " when { context" + strings.Repeat(".a", 100_000) + " };", []string{"more operators"}},
		{cedar.Rules{}, "permit " + all + " when { " + strings.Repeat("if true then true else ", 40_000) + " true };", []string{"more operators"}},
		{cedar.Rules{}, "permit " + all + " when { [1" + strings.Repeat(", 1", 1000) + "].contains(1) };", []string{"more operators and elements"}},
		{cedar.Rules{}, "permit " + all + " when { context.session like \"" + strings.Repeat("a", 600) + "\" };", []string{"a:1:61: like: got a pattern of 602 bytes, want at most 512"}},
		{cedar.Rules{}, "permit " + all + "; /* no\n*\\ forbid " + all + ";\n", []string{"a:1:39: got a comment that does not end, want */ behind it"}},
		{cedar.Rules{}, "permit " + all + "; /*/", []string{"a:1:39: got a comment that does not end"}},
		{cedar.Rules{}, "permit " + all + "; /**/ // x", nil},
		{cedar.Rules{}, "\ufeffpermit " + all + ";", nil},
		{cedar.Rules{}, "\ufeffpermit " + all + "", []string{`a:1:37: got the end of the text, want ";"`}},
		{cedar.Rules{}, "@Ask permit " + all + ";", []string{"a:1:2: got @Ask, want ask; there are id, short, ask, reason, message"}},
		{cedar.Rules{}, "@id(\"asks\") @asks(\"why\") permit " + all + ";", []string{"a:1:14: got @asks, want ask; there"}},
		{cedar.Rules{}, "@because(\"x\") permit " + all + ";", []string{"a:1:2: got @because, want one of id, short, ask, reason, message"}},
		{cedar.Rules{}, `forbid (principal, action, resource == tool::"shell");`, []string{`a:1:40: resource: got tool::"shell", want Tool`}},
		{cedar.Rules{}, `forbid (principal, action, resource == Tag::"web");`, []string{`a:1:40: resource: got Tag::"web", want Tool`}},
		{cedar.Rules{}, `forbid (principal, action, resource in Tags::"web");`, []string{`a:1:40: resource: got Tags::"web", want Tag; there are Tool, Source, Tag`}},
		{cedar.Rules{}, `forbid (principal, action, resource is tool in Tag::"web");`, []string{`a:1:40: resource: got is tool, want is Tool`}},
		{cedar.Rules{}, `forbid (principal == User::"x", action, resource);`, []string{`a:1:22: principal: got User::"x", want Principal`}},
		{cedar.Rules{}, `forbid (principal, action == Action::"run", resource);`, []string{`a:1:38: got Action::"run", want Action::"call", which is all there is`}},
		{cedar.Rules{}, `forbid (principal, action in [Action::"call", Action::"run"], resource);`, []string{`a:1:55: got Action::"run", want Action::"call"`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource in [Tag::\"a\", A::Tag::\"b\"] };", []string{`a:2:31: got A::Tag::"b", want one of Principal`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource is Tol };", []string{`a:2:20: got is Tol, want is Tool; there`}},
		{cedar.Rules{}, `forbid (principal, action, resource == Tool::"db.drop");`, []string{`a:1:46: got Tool::"db.drop", which is no name that models use, want Tool::"db_drop_xhpvgs56z4n", or resource.own_name == "db.drop"`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource in [Tool::\"box__db.drop\"] };", []string{`a:2:27: got Tool::"box__db.drop", which is no name that models use, want Tool::"` + tool.WireName("box", "db.drop") + `"`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource.name == \"db.drop\" };", []string{`a:2:25: resource.name: got "db.drop", which is no name that models use, want "db_drop_xhpvgs56z4n", or resource.own_name`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource.name like \"db.*\" };", []string{`a:2:22: resource.name: got a pattern with a dot`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource.name == \"Own\" && resource.trust == \"Own\" };", []string{`a:2:52: trust: got "Own", want own; there are inbound, web, mcp`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { \"rea\" != context.mode };", []string{`a:2:8: mode: got "rea", want read; there are ask, edit, read, auto, observe, dry-run`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { context.mode == \"\" };", []string{`mode: got "", want one of ask`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { context.claims.class == \"readonly\" };", []string{`a:2:32: class: got "readonly", want read-only; there are read-only, write, unsafe`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { [\"pure\", \"none\"].contains(context.claims.side_effect) };", []string{`a:2:17: side_effect: got "none", want one of pure`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { resource.trust == 5 };", []string{`trust: got 5, want one of inbound`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.contains(\"ls\") && context.met.contains(\"ls\") };", []string{`a:2:50: context.met: got it where the rule would allow what is not known, want context.covered`}},
		{cedar.Rules{}, "permit " + all + "\nunless { context.covered.contains(\"ls\") };", []string{`a:2:18: context.covered: got it where the rule would allow what is not known, want context.met`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { !(context.session == \"\" || context.covered.contains(\"ls\")) };", []string{`context.covered: got it where the rule would allow`}},
		{cedar.Rules{}, "forbid " + all + "\nwhen { context.covered.containsAny([\"ls\"]) };", []string{`a:2:16: context.covered: got it where the rule would not fit what is not known, want context.met`}},
		{cedar.Rules{}, "@ask permit " + all + "\nwhen { context.covered.contains(\"ls\") };", []string{`context.covered: got it where the rule would not fit what is not known, want context.met`}},
		{cedar.Rules{}, "forbid " + all + "\nunless { if true then context.met.contains(\"ls\") else false };", []string{`context.met: got it where the rule would not fit what is not known, want context.covered`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.met.contains(\"ls\") == false };", []string{`a:2:16: context.met: got it within something else than &&, || and !`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.session == \"clamis\" && context.clamis };", []string{`a:2:47: context: got the attribute "clamis"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.session == \"\" && context == {} };", []string{`a:2:33: context: got the whole of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.args.x == \"a\" && context.args == {} };", []string{`a:2:41: context.args: got all arguments`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.contains(\"git*\") && context.covered == [] };", []string{`a:2:52: context.covered: got another use of it`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.clamis && context.clamis };", []string{`a:2:16: context: got the attribute "clamis"`, `a:2:34: context: got the attribute "clamis"`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { context.covered.contains(\"p\\u{61}th: x\") };", []string{`a:2:33: context.covered: "path: x": column 7`}},
		{cedar.Rules{}, "forbid " + all + "\nunless { context.covered.containsAll([\"\"]) };", []string{`a:2:39: context.covered: "": column 1: got "", want a pattern`}},
		{cedar.Rules{}, "permit " + all + "\nwhen { 1 == foo(1) };", []string{"a:2:13: `foo` is not a function"}},
		{cedar.Rules{}, "permit " + all + "\nwhen { {\"a\": 1, \"b\": \"a\", \"a\": 2} == 1 };", []string{"a:2:27: duplicate key: a"}},
		{cedar.Rules{}, "permit " + all + "\nwhen { 1 == 9223372036854775808 };", []string{"a:2:13: got a number beyond 64 bits"}},
		{cedar.Rules{}, "permit " + all + "\nwhen { -9223372036854775808 == -9223372036854775809 };", []string{"a:2:33: got a number beyond 64 bits"}},
		{cedar.Rules{}, "permit " + all + "\nwhen { (-17).isEmpty() };", []string{"a:2:10: got a member of a number, which has none"}},
		{cedar.Rules{}, "permit " + all + "\nwhen { 17[\"a\"] == 1 };", []string{"a:2:8: got a member of a number"}},
		{cedar.Rules{}, "permit " + all + " when { " + strings.Repeat("(", 30) + "context.args.x" + strings.Repeat(" has a.b)", 30) + " };", []string{"few has with dots"}},
		{cedar.Rules{}, strings.Repeat(";", 1<<20), slices.Repeat([]string{"a:1:"}, 100)},
		{cedar.Rules{}, strings.Repeat(" ", 2<<20), []string{"a:1:1: got 2097152 bytes, want at most 1048576"}},
	} {
		_, err := cedar.New(tt.rules, cedar.File{Name: "a", Text: tt.text})
		var got []string
		for _, e := range cedar.Faults(err) {
			got = append(got, e.Error())
		}
		if !slices.EqualFunc(got, tt.want, strings.Contains) {
			t.Errorf("P2 %.200q:\ngot  %q\nwant %q", tt.text, got, tt.want)
		}
		if err != nil && !errors.As(err, new(*cedar.Error)) {
			t.Errorf("P2 %.200q: got %T, want an *Error in it", tt.text, err)
		}
	}
}

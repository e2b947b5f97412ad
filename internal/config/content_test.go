package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func TestContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"G1 what is done to all", "content: {sanitize: strip+wrap}", `"Sanitize":"strip+wrap"`},
		{"G2 what is found is withheld", "content: {fail_closed: true}", `"FailClosed":true`},
		{"G1 an operator's rules", "content: {rules: [{id: a, pattern: 'b{1,3}'}, {id: c, pattern: d, family: exfil}]}", `"Rules":[{"ID":"a","Pattern":"b{1,3}","Family":"","Line":1,"Column":19},{"ID":"c","Pattern":"d","Family":"exfil","Line":1,"Column":47}]`},
		{
			"G1 G6 what is said of tools", "content: {tools: {a: {sanitize: pass}, s__t: {is: [external], not: [sensitive], to: [x]}, s__*: {fail_closed: false}}}",
			`"Tools":{"a":{"Sanitize":"pass","FailClosed":null,"Is":null,"Not":null,"To":null},"s__*":{"Sanitize":"","FailClosed":false,"Is":null,"Not":null,"To":null},"s__t":{"Sanitize":"","FailClosed":null,"Is":["external"],"Not":["sensitive"],"To":["x"]}}`,
		},
		{"G4 what sinks are given", "content: {sinks: {model: [public], log: []}}", `"Sinks":{"log":[],"model":["public"]}`},
		{"G6 a mode alone", "content: {flow: off}", `"Flow":"off"`},
		{"G6 flows", "content: {flow: {mode: shadow, trusted: [{from: a, to: b, at: '*'}], only_one: [untrusted, external]}}", `"Flow":"shadow","Trusted":[{"From":"a","To":"b","At":"*"}],"OnlyOne":["untrusted","external"]`},
		{"G5 what is taken out", "content: {redact: {keys: false, personal: [e-mail, ip]}}", `"KeysStay":true,"Personal":["e-mail","ip"]`},
		{"Y1 nothing is said", "content: {sanitize: }", `{"Sanitize":"","FailClosed":false,"Rules":null,"Tools":null,"Sinks":null,"Flow":"","Trusted":null,"OnlyOne":null,"KeysStay":false,"Personal":null,"Written":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Parse("f.yaml", "/work", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(c.Content); err != nil || !strings.Contains(string(got), tt.want) {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestContentRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"Y1 a key", "content: {sanitise: wrap}", `f.yaml:1:11: content: unknown key "sanitise": did you mean "sanitize"?`},
		{"G1 a way", "content: {sanitize: clean}", `f.yaml:1:21: content.sanitize: got the text "clean", want pass, flag, strip, wrap or strip+wrap`},
		{"G2 neither yes nor no", "content: {fail_closed: off}", `f.yaml:1:24: content.fail_closed: got the text "off", want true or false`},
		{"G1 a rule without a pattern", "content: {rules: [{id: a}]}", "f.yaml:1:19: content.rules: got no id or no pattern, want both: findings are told by the id"},
		{"G1 a rule twice", "content: {rules: [{id: a, pattern: b}, {id: a, pattern: c}]}", `f.yaml:1:40: content.rules: got the id "a" twice, want each once`},
		{"G1 a pattern that is none", "content: {rules: [{id: a, pattern: '('}]}", "f.yaml:1:36: content.rules.pattern: got missing closing ): `(`, want a regular expression (RE2), in single quotes"},
		{"G1 a family", "content: {rules: [{id: a, pattern: b, family: bad}]}", `f.yaml:1:47: content.rules.family: got the text "bad", want override, role, tool-call, exfil, hidden, secrecy, authority, encoded, persona or own`},
		{"G1 a name of tools", "content: {tools: {'a*': {}, '__*': {}}}", "f.yaml:1:19: content.tools: got \"a*\", want the name of a tool, source__name, or source__* for all of a source\nf.yaml:1:29: content.tools: got \"__*\", want the name of a tool, source__name, or source__* for all of a source"},
		{"G6 a label that says both", "content: {tools: {a: {is: [external], not: [external]}}}", "f.yaml:1:22: content.tools.a: got external under is and under not, want it under one of them"},
		{"G6 a capability", "content: {tools: {a: {is: [extern]}}}", `f.yaml:1:28: content.tools.a.is: got the text "extern", want external, destructive, credential, untrusted or sensitive`},
		{"G4 a sink", "content: {sinks: {models: [public]}}", `f.yaml:1:19: content.sinks: unknown key "models": did you mean "model"?`},
		{"G4 a sensitivity", "content: {sinks: {log: [private, public, public]}}", "f.yaml:1:25: content.sinks.log: got the text \"private\", want public, internal or secret\nf.yaml:1:42: content.sinks.log: got public twice, want it once"},
		{"G6 a mode", "content: {flow: false}", "f.yaml:1:17: content.flow: got false, want off, shadow or enforce"},
		{"G6 a flow that fits nothing", "content: {flow: {trusted: [{from: a, to: b}]}}", `f.yaml:1:28: content.flow.trusted: got not all of from, to and at, want each: "*" is any`},
		{"G6 one of one", "content: {flow: {only_one: [external]}}", "f.yaml:1:28: content.flow.only_one: got external alone, want two or more: a session has one of them"},
		{"G6 one of two that is misspelt", "content: {flow: {only_one: [external, untrustd]}}", `f.yaml:1:39: content.flow.only_one: got the text "untrustd", want external, destructive, credential, untrusted or sensitive`},
		{"G6 labels that are a list", "content: {tools: [a]}", "f.yaml:1:18: content.tools: got a list, want names with what is said of each"},
		{"G5 names are not found", "content: {redact: {personal: [name]}}", `f.yaml:1:31: content.redact.personal: got the text "name", want e-mail, phone, card, iban, ssn or ip`},
		{"G1 a server", "servers: {a: {command: x, sanitize: off}}", `f.yaml:1:37: servers.a.sanitize: got the text "off", want pass, flag, strip, wrap or strip+wrap`},
		{"G1 a server in two places", "servers: {a: {command: x, sanitize: pass}}\ncontent: {tools: {a__*: {sanitize: wrap}}}", "f.yaml:1:37: servers.a.sanitize: got it here and in content.tools.a__*, want it in one of them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := config.Parse("f.yaml", "/work", tt.text); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

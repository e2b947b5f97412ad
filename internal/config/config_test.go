package config_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/policy"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"Y1 an unknown key has its place and the nearest key", "polcy:\n  allow: []\n", `f.yaml:1:1: ferrule.yaml: unknown key "polcy": did you mean "policy"?`},
		{"Y1 letters that changed places", "workpsace: .\n", `f.yaml:1:1: ferrule.yaml: unknown key "workpsace": did you mean "workspace"?`},
		{"Y1 a capital letter", "Policy: {}\n", `f.yaml:1:1: ferrule.yaml: unknown key "Policy": did you mean "policy"?`},
		{"Y1 a key like none", "zzzzzzzz: 1\n", `f.yaml:1:1: ferrule.yaml: unknown key "zzzzzzzz", want one of workspace, policy, servers, tools, limits, sandbox, secrets, content, search, listen, store, hooks, fleet, telemetry`},
		{"Y1 an unknown key further in", "policy:\n  alow: []\n", `f.yaml:2:3: policy: unknown key "alow": did you mean "allow"?`},
		{"Y1 a key twice", "policy:\n  ask: []\n  ask: []\n", `f.yaml:3:3: policy: got "ask" twice, want it once: it stands in line 2 already`},
		{"Y1 all faults at once", "polcy: 1\nlimit: 2\n", "f.yaml:1:1: ferrule.yaml: unknown key \"polcy\": did you mean \"policy\"?\nf.yaml:2:1: ferrule.yaml: unknown key \"limit\": did you mean \"limits\"?"},
		{"Y1 what is not built yet is not ignored", "fleet:\n  endpoint: x\n", `f.yaml:2:3: fleet: not built yet: nothing would act on it, so leave it out or empty`},
		{"Y1 a key of telemetry", "telemetry: {prometeus: true}\n", `f.yaml:1:13: telemetry: unknown key "prometeus": did you mean "prometheus"?`},
		{"U2 no collector", "telemetry: {otlp: localhost}\n", `f.yaml:1:19: telemetry.otlp: got "localhost", want true, false or a URL such as http://127.0.0.1:4318`},
		{"U2 a password of the collector", "telemetry: {otlp: \"http://a:b@c\"}\n", `f.yaml:1:19: telemetry.otlp: got a name or password in it, want a header: headers: {Authorization: "${secret:NAME}"}`},
		{"U2 no share", "telemetry: {otlp: true, sample: 2}\n", `f.yaml:1:33: telemetry.sample: got "2", want a share above 0 and up to 1, such as 0.1`},
		{"U2 content for nobody", "telemetry: {content: true, prometheus: true}\n", `f.yaml:1:13: telemetry.content: got it without otlp, want otlp: nothing is pushed`},
		{"U2 no level", "telemetry: {log: loud}\n", `f.yaml:1:18: telemetry.log: got the text "loud", want debug, info, warn or error`},
		{"K1 a secret of the collector that there is not", "telemetry: {otlp: true, headers: {A: \"${secret:b}\"}}\n", `f.yaml:1:38: telemetry.headers.A: got the secret "b", which does not stand under secrets: there are none`},
		{"Y1 an address alone", "listen: 127.0.0.1:7711\n", `f.yaml:1:9: listen: got the text "127.0.0.1:7711", want keys with values: address, auth, tokens, hosts, tls, tools, index, clients, approvals`},
		{"Y1 an address without a port", "listen: {address: localhost}\n", `f.yaml:1:19: listen.address: got "localhost", want an address and a port such as 127.0.0.1:7711`},
		{"Y1 a port that is none", "listen: {address: 'localhost:http'}\n", `f.yaml:1:19: listen.address: got the port "http", want a number up to 65535`},
		{"U1 no token for others", "listen: {auth: none, address: '0.0.0.0:7711'}\n", `f.yaml:1:31: listen.address: got no token (auth: none) on 0.0.0.0:7711, want a loopback address such as 127.0.0.1: others could call`},
		{"U1 no token for everybody", "listen: {address: ':7711', auth: none}\n", `f.yaml:1:19: listen.address: got no token (auth: none) on :7711, want a loopback address such as 127.0.0.1: others could call`},
		{"Y1 a word of listen", "listen: {auth: basic, tools: few, index: all, approvals: none}\n", "f.yaml:1:16: listen.auth: got the text \"basic\", want token or none\nf.yaml:1:30: listen.tools: got the text \"few\", want auto, full or deferred\nf.yaml:1:42: listen.index: got the text \"all\", want servers or names\nf.yaml:1:58: listen.approvals: got the text \"none\", want client or elsewhere"},
		{"Y1 one file of two", "listen: {tls: {cert: a}}\n", `f.yaml:1:15: listen.tls: got one of cert and key, want both`},
		{"K4 a token that is no secret", "listen: {tokens: {ada: hunter 2}}\n", `f.yaml:1:24: listen.tokens.ada: want the name of a secret, not the token itself`},
		{"K4 a token that nobody knows", "listen: {tokens: {ada: tokn}}\nsecrets: {token: {env: X}}\n", `f.yaml:1:24: listen.tokens.ada: got the secret "tokn", which does not stand under secrets: did you mean "token"?`},
		{"K4 one token for two", "listen: {tokens: {ada: t, bob: t}}\nsecrets: {t: {env: X}}\n", `f.yaml:1:32: listen.tokens.bob: got the secret of ada, want one of its own: the token says who it is`},
		{"K4 the token of the local user", "listen: {tokens: {local: t}}\nsecrets: {t: {env: X}}\n", `f.yaml:1:19: listen.tokens: got local, want another: its token is made by the program`},
		{"Y1 a host", "listen: {hosts: ['http://a']}\n", `f.yaml:1:18: listen.hosts: got "http://a", want a host such as tools.example or tools.example:8443`},
		{"Y1 the tools of a client", "listen: {clients: {cursor: all}}\n", `f.yaml:1:28: listen.clients.cursor: got the text "all", want auto, full or deferred`},
		{"M1 servers that are a list", "servers: [a]\n", `f.yaml:1:10: servers: got a list, want names, each with a command or a url`},
		{"M1 a server with nothing", "servers:\n  a:\n  b: {off: true}\n", "f.yaml:2:5: servers.a: got nothing, want a command or a url\nf.yaml:3:6: servers.b: got neither command nor url, want one of them"},
		{"M1 a server with both", "servers: {a: {command: x, url: 'http://a/b'}}\n", `f.yaml:1:14: servers.a: got command and url, want one of them`},
		{"M1 a key of the other kind", "servers: {a: {url: 'http://a/b', env: {A: b}}, b: {command: x, headers: {A: b}}, c: {args: [a]}}\n", "f.yaml:1:14: servers.a: got url and env, want one of them: env is for a server with a command\nf.yaml:1:51: servers.b: got command and headers, want one of them: headers is for a server with a url\nf.yaml:1:85: servers.c: got args and no command, want the program too"},
		{"M1 a key of a server", "servers: {a: {comand: x}}\n", `f.yaml:1:15: servers.a: unknown key "comand": did you mean "command"?`},
		{"M1 a command that a shell would read", "servers: {a: {command: [npx, x]}}\n", `f.yaml:1:24: servers.a.command: got a list, want a text`},
		{"R4 a name that divides", "servers: {a__b: {command: x}}\n", `f.yaml:1:11: servers: name "a__b": got __, want it without: it divides source and tool`},
		{"R4 a name that is taken", "servers: {builtin: {command: x}}\n", `f.yaml:1:11: servers: got the name "builtin", want another: it is that of the program's own tools`},
		{"K4 an address whose path is to be filled in", "servers: {a: {url: 'http://a/${X}?${Y}'}}\n", `f.yaml:1:20: servers.a.url: got ${ in front of the query, want it behind the ?: elsewhere nothing is filled in`},
		{"K4 an address with a secret that there is not", "servers: {a: {url: 'http://a/?k=${secret:x}'}}\n", `f.yaml:1:20: servers.a.url: got the secret "x", which does not stand under secrets: there are none`},
		{"M1 an address that is none", "servers: {a: {url: 'stdio:x'}}\n", `f.yaml:1:20: servers.a.url: got "stdio:x", want http:// or https://, a host and a path`},
		{"K4 a password in an address", "servers: {a: {url: 'http://ada:hunter2@a/b'}}\n", `f.yaml:1:20: servers.a.url: got a name or password in it, want a header: headers: {Authorization: "${secret:NAME}"}`},
		{"R3 a class of trust", "servers: {a: {command: x, trust: built-in}}\n", `f.yaml:1:34: servers.a.trust: got the text "built-in", want web, mcp, skill-untrusted, skill-trusted or own`},
		{"T5 what is believed", "servers: {a: {command: x, believe: most}}\n", `f.yaml:1:36: servers.a.believe: got the text "most", want true, false or a list of names of tools`},
		{"M4 only an own server is followed", "servers: {a: {command: x, trust: mcp, pins: follow}}\n", "f.yaml:1:14: servers.a: pins: got follow, want it only with trust: own: who follows a server accepts whatever it will say of its tools"},
		{"M4 pins are asked about or followed", "servers: {a: {command: x, trust: own, pins: never}}\n", "f.yaml:1:45: servers.a.pins: got the text \"never\", want ask or follow"},
		{"M1 bounds of a server", "servers: {a: {command: x, timeout: 0s, at_once: 0, era: 2024}}\n", "f.yaml:1:36: servers.a.timeout: got 0s, want more than 0\nf.yaml:1:49: servers.a.at_once: got 0, want 1 or more\nf.yaml:1:57: servers.a.era: got the text \"2024\", want 2025 or 2026"},
		{"K4 a reference that is none", "servers: {a: {command: x, env: {A: '${a b}', B: '${secret:}', C: '${X'}}}\n", "f.yaml:1:36: servers.a.env.A: got \"${a b}\", want ${NAME}, a variable, or ${secret:NAME}, one of secrets\nf.yaml:1:49: servers.a.env.B: got \"${secret:}\", want ${NAME}, a variable, or ${secret:NAME}, one of secrets\nf.yaml:1:66: servers.a.env.C: got \"${X\", want ${NAME}, a variable, or ${secret:NAME}, one of secrets"},
		{"K4 a secret of a server that there is not", "servers: {a: {url: 'http://a', headers: {A: 'Bearer ${secret:t}'}}}\n", `f.yaml:1:45: servers.a.headers.A: got the secret "t", which does not stand under secrets: there are none`},
		{"M1 a header and a variable", "servers: {a: {url: 'http://a', headers: {'A B': c}}, b: {command: x, env: {'A=': c}}}\n", "f.yaml:1:42: servers.a.headers: got \"A B\", want the name of a header\nf.yaml:1:76: servers.b.env: got \"A=\", want the name of a variable"},
		{"M1 a server twice", "servers:\n  a: {command: x}\n  a: {command: y}\n", `f.yaml:3:3: servers: got "a" twice, want it once: it stands in line 2 already`},
		{"Y1 a number for a list", "policy:\n  allow: 3\n", `f.yaml:2:10: policy.allow: got 3, want a list of rules`},
		{"Y1 a text for keys", "policy: yes please\n", `f.yaml:1:9: policy: got the text "yes please", want keys with values: allow, ask, deny, files, mode, always`},
		{"Y1 a list for the file", "- a\n", `f.yaml:1:1: ferrule.yaml: got a list, want keys with values: ` + strings.Join(config.Keys(), ", ")},
		{"Y1 a rule with a colon and no quotes", "policy:\n  deny:\n    - fs_write(path: /a/**)\n", `f.yaml:3:7: policy.deny: got keys with values, want a text: put quotes around one that has ": " in it`},
		{"Y1 a rule that is a number", "policy:\n  deny: [12]\n", `f.yaml:2:10: policy.deny: got 12, want a text: put quotes around it`},
		{"Y1 a star without quotes", "policy:\n  deny:\n    - *\n", `f.yaml:3:5: got what is not YAML: did not find expected alphabetic or numeric character; put quotes around a text that begins with * or &`},
		{"Y1 the column of a fault within a rule", "policy:\n  allow: [\"shell(git\"]\n", `f.yaml:2:21: policy.allow: got no closing parenthesis, want one`},
		{"Y1 the column in a plain rule", "policy:\n  allow:\n    - ab cd\n", `f.yaml:3:9: policy.allow: got ' ' in a name, want letters, digits, _ . - and *`},
		{"Y1 the column in a rule with escapes", "policy:\n  allow: [\"a\\u0062 c\"]\n", `f.yaml:2:11: policy.allow: got ' ' in a name, want letters, digits, _ . - and * (at character 3)`},
		{"Y1 a mode", "policy: {mode: reed}\n", `f.yaml:1:16: policy.mode: got "reed", want ask, edit, read, auto, observe or dry-run`},
		{"Y1 an alias", "policy: {allow: &a [x], ask: *a}\n", `f.yaml:1:30: ask: got an alias (*a), want the value written out`},
		{"Y1 a merge key", "policy:\n  <<: {allow: [x]}\n", `f.yaml:2:3: policy: unknown key "<<", want one of allow, ask, deny, files, mode, always`},
		{"Y1 two documents", "policy: {}\n---\npolicy: {}\n", `f.yaml:2:1: got a second document, want one`},
		{"Y1 a tab", "policy:\n\tallow: []\n", `f.yaml:2:1: got a tab, want spaces in front`},
		{"Y1 not UTF-8", "policy:\n  allow: [\"\xff\"]\n", `f.yaml:2:1: got bytes that are not UTF-8`},
		{"P9 a rate without calls", "limits:\n  rates:\n    - per: 1m\n", `f.yaml:3:7: limits.rates: got no calls, want how many may run`},
		{"P9 a rate with no calls at all", "limits: {rates: [{calls: 0}]}\n", `f.yaml:1:26: limits.rates.calls: got 0, want 1 or more`},
		{"P9 a bad time", "limits: {rates: [{calls: 1, per: 5 minutes}]}\n", `f.yaml:1:34: limits.rates.per: got the text "5 minutes", want a time such as 30s, 5m or 1h30m`},
		{"P9 a time without a unit", "limits: {rates: [{calls: 1, per: 5}]}\n", `f.yaml:1:34: limits.rates.per: got 5, want a time such as 30s, 5m or 1h30m`},
		{"P9 a time that is past", "limits: {rates: [{calls: 1, per: -5s}]}\n", `f.yaml:1:34: limits.rates.per: got -5s, want more than 0`},
		{"P9 for whom", "limits: {rates: [{calls: 1, each: user}]}\n", `f.yaml:1:35: limits.rates.each: got "user", want session, principal or tenant`},
		{"P9 a rate of some calls of a tool", "limits: {rates: [{calls: 1, tools: 'sh(a)'}]}\n", `f.yaml:1:36: limits.rates.tools: got sh(a), want a rule without parentheses`},
		{"H6 a hook without a name", "hooks:\n  - command: [x]\n", `f.yaml:2:5: hooks: got no name, want one: records tell hooks apart by it`},
		{"H6 a hook without a command", "hooks:\n  - name: x\n", `f.yaml:2:5: hooks: got no command, want a list: the program and its arguments`},
		{"H6 a command that a shell would read", "hooks: [{name: x, command: x -y}]\n", `f.yaml:1:28: hooks.command: got the text "x -y", want a list of texts`},
		{"H6 an event", "hooks: [{name: x, command: [x], events: [begin]}]\n", `f.yaml:1:42: hooks.events: got "begin", want input or output`},
		{"H6 for which tools", "hooks: [{name: x, command: [x], only: {name: [y]}}]\n", `f.yaml:1:40: hooks.only: unknown key "name": did you mean "names"?`},
		{"H6 for no tools", "hooks: [{name: x, command: [x], only: {names: []}}]\n", `f.yaml:1:47: hooks.only.names: got nothing, want at least one, or no such key`},
		{"H6 the name of an environment variable", "hooks: [{name: x, command: [x], env: {A: b}}]\n", `f.yaml:1:38: hooks.env: got keys with values, want a list of texts`},
		{"P5 always for nothing in particular", "policy: {always: ['*', 'source:*']}\n", "f.yaml:1:19: policy.always: got *, want a rule that names a tool, a source or a tag: nobody said yes to everything\nf.yaml:1:24: policy.always: got source:*, want a rule that names a tool, a source or a tag: nobody said yes to everything"},
		{"P3 the second key for a whole tool", "policy: {always: [{rule: rm, second: true}]}\n", "f.yaml:1:19: policy.always: got the second key for every call of a tool, want parentheses that say for which: what may destroy something is never allowed as a whole"},
		{"P5 always for whom", "policy: {always: [{rule: a, user: b}]}\n", `f.yaml:1:29: policy.always: unknown key "user", want one of rule, principal, tenant, source, definition, second`},
		{"P5 a second key that is neither", "policy: {always: [{rule: a(b), second: yes}]}\n", `f.yaml:1:40: policy.always.second: got the text "yes", want true or false`},
		{"P5 an always without a rule", "policy: {always: [{principal: b}]}\n", `f.yaml:1:19: policy.always: got keys with values, want a text: put quotes around one that has ": " in it`},
		{"Y1 tags", "policy: !mine\n  allow: !!set [!x a]\nworkspace: !!str b\n", "f.yaml:1:9: got the tag !mine, want the value without one\nf.yaml:2:10: got the tag !!set, want the value without one\nf.yaml:2:17: got the tag !x, want the value without one\nf.yaml:2:17: policy.allow: got a, want a text: put quotes around it\nf.yaml:3:12: got the tag !!str, want the value without one"},
		{"K4 a secret without a source", "secrets: {a: {tools: [x]}}\n", `f.yaml:1:14: secrets.a: got no source, want one of env, file, command and keyring`},
		{"K4 a secret with two sources", "secrets: {a: {env: X, file: y}}\n", `f.yaml:1:14: secrets.a: got env and file, want one of env, file, command and keyring`},
		{"K4 the environment of no command", "secrets: {a: {file: x, env: [X]}}\n", `f.yaml:1:14: secrets.a: got env as a list, which is what a command is given, want the name of a variable`},
		{"K4 the key of a secret", "secrets: {a: {evn: X}}\n", `f.yaml:1:15: secrets.a: unknown key "evn": did you mean "env"?`},
		{"K4 the name of a secret", "secrets: {a b: {env: X}}\n", `f.yaml:1:11: secrets: got the name "a b", want letters, digits, _, - and dots, at most 64`},
		{"K4 a secret twice", "secrets:\n  a: {env: X}\n  a: {env: Y}\n", `f.yaml:3:3: secrets: got "a" twice, want it once: it stands in line 2 already`},
		{"K4 a command that a shell would read", "secrets: {a: {command: pass show x}}\n", `f.yaml:1:24: secrets.a.command: got the text "pass show x", want a list of texts`},
		{"K4 a keyring without account", "secrets: {a: {keyring: x}}\n", `f.yaml:1:24: secrets.a.keyring: got "x", want service/account`},
		{"K4 tools of a secret", "secrets: {a: {env: X, tools: [a*b]}}\n", `f.yaml:1:31: secrets.a.tools: got "a*b", want the name of a tool, or the beginning of names with a * behind it`},
		{"K4 secrets that are a list", "secrets: [a]\n", `f.yaml:1:10: secrets: got a list, want names, each with where its value is kept`},
		{"K4 a secret that is a text", "secrets: {a: hunter2}\n", `f.yaml:1:14: secrets.a: want one of env, file, command and keyring, not the value itself`},
		{"Y1 a tool that there is not", "tools: {fetsh: true}\n", `f.yaml:1:9: tools: unknown key "fetsh": did you mean "fetch"?`},
		{"Y1 a tool that is neither", "tools: {files: some}\n", `f.yaml:1:16: tools.files: got the text "some", want true or false`},
		{"I4 hosts of a tool that has none", "tools: {shell: {hosts: [a]}}\n", `f.yaml:1:16: tools.shell: got keys with values, want true or false`},
		{"I4 hosts that are no list", "tools: {fetch: {hosts: a}}\n", `f.yaml:1:24: tools.fetch.hosts: got the text "a", want a list of texts`},
		{"N1 a level", "sandbox: {level: full}\n", `f.yaml:1:18: sandbox.level: got the text "full", want process, namespace or container`},
		{"N1 no isolation is not what is wanted", "sandbox: {level: in-process}\n", `f.yaml:1:18: sandbox.level: got the text "in-process", want process, namespace or container`},
		{"N2 a weaker level that is not weaker", "sandbox: {weaker: namespace, level: namespace}\n", `f.yaml:1:19: sandbox.weaker: got namespace, want a level below namespace, which is the one that is wanted`},
		{"N2 a weaker level than the default", "sandbox: {weaker: process}\n", `f.yaml:1:19: sandbox.weaker: got process, want a level below process, which is the one that is wanted`},
		{"N1 a network", "sandbox: {network: yes}\n", `f.yaml:1:20: sandbox.network: got the text "yes", want off, loopback or open`},
		{"N1 a size", "sandbox: {memory: 2GB}\n", `f.yaml:1:19: sandbox.memory: got the text "2GB", want a number of bytes such as 512M or 2G`},
		{"N1 a size that is too much", "sandbox: {output: 99999999999G}\n", `f.yaml:1:19: sandbox.output: got the text "99999999999G", want a number of bytes such as 512M or 2G`},
		{"N1 no processes", "sandbox: {processes: 0}\n", `f.yaml:1:22: sandbox.processes: got 0, want 1 or more`},
		{"N1 a variable", "sandbox: {env: ['A B']}\n", `f.yaml:1:17: sandbox.env: got "A B", want the name of a variable, or NAME=value`},
		{"N1 a key of the sandbox", "sandbox: {netwrok: off}\n", `f.yaml:1:11: sandbox: unknown key "netwrok": did you mean "network"?`},
		{"H6 one name twice", "hooks: [{name: x, command: [x]}, {name: x, command: [x]}]\n", `f.yaml:1:34: hooks: got the name "x" twice, want each once`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yaml", "/work", tt.text)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			var list config.Errors
			if !errors.As(err, &list) || len(list) != strings.Count(tt.want, "\n")+1 {
				t.Errorf("got %T, want as many *config.Error as there are faults", err)
			}
		})
	}
}

func TestManyFaults(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Y1 in one line":  "policy: {allow: [" + strings.Repeat("'é(',", 20_000) + "]}",
		"Y1 in many":      strings.Repeat("abcdefghij: 1\n", 20_000),
		"Y1 tags":         "policy: [" + strings.Repeat("!a b,", 20_000) + "]",
		"Y1 keys of keys": "hooks: [" + strings.Repeat("{a: 1},", 20_000) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yaml", "/work", text)
			var list config.Errors
			if !errors.As(err, &list) || len(list) != 101 || !strings.HasSuffix(err.Error(), ": there is more: only 100 faults are told") {
				t.Errorf("got %d faults, want 100 and that there are more", len(list))
			}
		})
	}
	t.Run("Y1 a hundred are all", func(t *testing.T) {
		t.Parallel()
		_, err := config.Parse("f.yaml", "/work", "policy: {allow: ["+strings.Repeat("'(',", 100)+"]}")
		var list config.Errors
		if !errors.As(err, &list) || len(list) != 100 || strings.Contains(err.Error(), "more") {
			t.Errorf("got %d faults, want 100", len(list))
		}
	})
	t.Run("Y1 a file without an end", func(t *testing.T) {
		t.Parallel()
		if _, err := config.Load("/dev/zero"); err == nil || !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "got more than 1048576 bytes") {
			t.Errorf("got %v, want that it is too long", err)
		}
	})
}

const whole = `
workspace: code
policy:
  allow: ["fs_read*", 'fs_write(path: src/**)']
  ask: [source:github]
  deny: [tag:danger]
  files: [more.cedar, /etc/ferrule/all.cedar]
  mode: edit
  always:
    - hello
    - rule: "send(path: a/**)"
      principal: ada
      tenant: acme
      source: github
      definition: d
      second: true
limits:
  rates:
    - {tools: source:github, calls: 60, per: 1m, each: session}
    - calls: 1000
store:
  path: state/x.db
hooks:
  - name: check
    command: [./check, --strict]
    events: [input, output]
    only: {sources: [github, ""], tags: [x]}
    timeout: 3s
    dir: tools
    env: ["A=b"]
  - {name: brief, command: [b]}
servers:
  files:
    command: npx
    args: [-y, server-files, ""]
    env: {ROOT: "${HOME}/x", LEVEL: high}
    dir: sub
    trust: own
    believe: [read, list]
    unprefixed: true
    timeout: 5s
    at_once: 2
    era: 2025
    off: true
  web: {url: "https://mcp.example/mcp", headers: {Authorization: "Bearer ${secret:token}"}, believe: true, era: "2026"}
tools: {shell: false, fetch: {hosts: [wiki.example]}, think: true, files: null}
sandbox:
  level: namespace
  weaker: in-process
  network: off
  read: [/opt, lib]
  write: [../out]
  time: 90s
  memory: 2G
  processes: 64
  files: 128
  output: 1000
  image: debian
  env: [GOFLAGS, A=b]
secrets:
  token: {env: TOKEN, tools: ["github__*", push]}
  file: {file: keys/a}
  command: {command: [pass, show, x], env: [GNUPGHOME, A=b]}
  keyring: {keyring: github/bot/2}
content: {}
search:
listen:
  address: "[::1]:7712"
  auth: token
  tokens: {ada: token}
  hosts: [tools.example]
  tls: {cert: tls/cert.pem, key: /etc/key.pem}
  tools: full
  index: names
  clients: {claude-code: auto, cursor: deferred}
  approvals: elsewhere
fleet: {}
telemetry:
`

func TestParse(t *testing.T) {
	t.Parallel()
	rule := func(text string) policy.Rule {
		r, err := policy.ParseRule(text, "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Run("Y1 every key", func(t *testing.T) {
		got, err := config.Parse("f.yaml", "/work", whole)
		if err != nil {
			t.Fatal(err)
		}
		want := &config.Config{
			File: "f.yaml", Workspace: "/work/code",
			Policy: config.Policy{
				Allow: []string{"fs_read*", "fs_write(path: src/**)"}, Ask: []string{"source:github"}, Deny: []string{"tag:danger"},
				Files: []string{"/work/more.cedar", "/etc/ferrule/all.cedar"}, Mode: policy.ModeEdit,
				Always: []config.Always{
					{Rule: "hello"},
					{Rule: "send(path: a/**)", Principal: "ada", Tenant: "acme", Source: "github", Definition: "d", Second: true},
				},
			},
			Limits: config.Limits{Rates: []policy.Rate{{Tools: rule("source:github"), Calls: 60, Per: time.Minute, Each: "session"}, {Calls: 1000}}},
			Store:  config.Store{Path: "/work/state/x.db"},
			Tools:  config.Tools{Written: true, Without: []string{"shell"}, Hosts: []string{"wiki.example"}, Line: 46, Column: 38},
			Servers: []config.Server{
				{
					Name: "files", Command: []string{"npx", "-y", "server-files", ""}, Env: []string{"ROOT=${HOME}/x", "LEVEL=high"}, Dir: "/work/sub", Trust: "own",
					Believe: []string{"read", "list"}, Unprefixed: true, Timeout: 5 * time.Second, AtOnce: 2, Era: "2025", Off: true, Line: 33, Column: 3,
				},
				{
					Name: "web", URL: "https://mcp.example/mcp", Header: map[string]string{"Authorization": "Bearer ${secret:token}"}, BelieveAll: true, Era: "2026",
					Line: 45, Column: 3,
				},
			},
			Listen: config.Listen{
				Address: "[::1]:7712", Tokens: map[string]string{"ada": "token"}, Hosts: []string{"tools.example"}, Cert: "/work/tls/cert.pem", Key: "/etc/key.pem",
				Tools: "full", Names: true, Elsewhere: true, Clients: map[string]string{"claude-code": "", "cursor": "deferred"},
			},
			Sandbox: config.Sandbox{
				Level: "namespace", Weaker: "in-process", Network: "off", Read: []string{"/opt", "/work/lib"}, Write: []string{"/out"}, Time: 90 * time.Second,
				Memory: 2 << 30, Processes: 64, Files: 128, Output: 1000, Image: "debian", Env: []string{"GOFLAGS", "A=b"},
			},
			Secrets: map[string]config.Secret{
				"token":   {Env: "TOKEN", Tools: []string{"github__*", "push"}},
				"file":    {File: "/work/keys/a"},
				"command": {Command: []string{"pass", "show", "x"}, CommandEnv: []string{"GNUPGHOME", "A=b"}},
				"keyring": {Keyring: config.KeyringEntry{Service: "github", Account: "bot/2"}},
			},
			Hooks: []config.Hook{
				{Name: "check", Command: []string{"./check", "--strict"}, Events: []string{"input", "output"}, Only: config.Only{Sources: []string{"github", ""}, Tags: []string{"x"}}, Timeout: 3 * time.Second, Dir: "/work/tools", Env: []string{"A=b"}, Line: 24, Column: 5},
				{Name: "brief", Command: []string{"b"}, Events: []string{"input"}, Timeout: 10 * time.Second, Dir: "/work", Line: 31, Column: 5},
			},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	for _, text := range []string{"", "# only a comment\n", "policy:\n", "policy: {}\nlimits:\n", "---\n"} {
		t.Run("Y1 every key has a default: "+text, func(t *testing.T) {
			got, err := config.Parse("f.yaml", "/work", text)
			if err != nil {
				t.Fatal(err)
			}
			if want := (&config.Config{File: "f.yaml", Workspace: "/work"}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	t.Run("Y1 no file is needed", func(t *testing.T) {
		dir := t.TempDir()
		got, err := config.Default(dir)
		if err != nil || got.Workspace != filepath.ToSlash(dir) || got.File != "" {
			t.Errorf("got %+v, %v, want the folder as workspace", got, err)
		}
		if _, err := config.Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that was named and is not there: got %v", err)
		}
	})
}

func TestSample(t *testing.T) {
	t.Parallel()
	t.Run("Y1 the sample loads and says nothing but defaults", func(t *testing.T) {
		got, err := config.Parse("f.yaml", "/work", config.Sample())
		if err != nil {
			t.Fatal(err)
		}
		if want := (&config.Config{File: "f.yaml", Workspace: "/work"}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("Y1 the sample names every key", func(t *testing.T) {
		for _, key := range config.Keys() {
			if !strings.Contains(config.Sample(), "\n"+key+":") && !strings.Contains(config.Sample(), "\n#"+key+":") {
				t.Errorf("%s: not in the sample", key)
			}
		}
	})
	t.Run("Y1 what is commented out in the sample loads too", func(t *testing.T) {
		var b strings.Builder
		seen := map[string]bool{}
		for line := range strings.Lines(config.Sample()) {
			bare := strings.TrimLeft(line, " ")
			key := strings.HasPrefix(bare, "#") && !strings.HasPrefix(bare, "# ")
			name, _, _ := strings.Cut(bare, ":")
			switch {
			case key && seen[name]: // the default behind an example of the same key
			case key || strings.HasPrefix(line, "#  "):
				seen[name] = key
				line = strings.Replace(line, "#", "", 1)
			}
			b.WriteString(line)
		}
		c, err := config.Parse("f.yaml", "/work", b.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if len(c.Hooks) != 1 || len(c.Limits.Rates) != 1 {
			t.Errorf("got %+v, want the examples of a hook and a rate", c)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{whole, config.Sample(), "a: &a [*a]\n", "policy: {allow: ['x(']}", "? {a: b}\n: c", "\x00", "policy:\n - \"\\x\"", "\ufeffpolicy: {}", "%YAML 9\n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse("f.yaml", "/work", text)
		if (c == nil) == (err == nil) {
			t.Fatalf("got %v and %v, want one of them", c, err)
		}
		var list config.Errors
		if err != nil && (!errors.As(err, &list) || len(list) == 0) {
			t.Fatalf("got %T, want config.Errors", err)
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 2
		for _, e := range list {
			if e.Line < 1 || e.Line > lines || e.Column < 1 || e.Text == "" || e.File != "f.yaml" {
				t.Errorf("got %+v, want a place in the text", e)
			}
		}
	})
}

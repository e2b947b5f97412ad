package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestServerRules(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := config.Server{
		Name: "a", Command: []string{"x"}, EnvPass: []string{"GITHUB_TOKEN", "AWS_*"},
		Claims: map[string]tool.Claims{
			"read file": {ReadOnly: true, Local: true, Touches: []tool.Access{{Resource: "file:/a"}}},
			"nothing":   {},
			"pure":      {ReadOnly: true, Local: true, Touches: []tool.Access{}},
			"write":     {Parallel: true, Reversible: true, Idempotent: true, Touches: []tool.Access{{Resource: "mcp:a", Write: true}}},
		},
		Isolate: config.Sandbox{
			Level: "namespace", Weaker: "process", Workspace: filepath.Join(dir, "data"), Network: "open",
			Read: []string{filepath.Join(dir, "lib"), "/opt/x"}, Write: []string{"/var/x"}, Memory: 1 << 30, Processes: 20,
		},
		CallsPerMinute: 60, ArgumentBytes: 64 << 10, ResultBytes: 1 << 20, BreakerAfter: 3, BreakerPause: time.Minute,
		Sanitize: "strip+wrap", FailClosed: new(true),
	}
	for name, s := range map[string]config.Server{
		"all":                all,
		"one word":           {Name: "a", Command: []string{"x"}, Isolate: config.Sandbox{Level: "process"}},
		"the breaker is off": {Name: "a", URL: "https://a.example/mcp", BreakerOff: true, Claims: map[string]tool.Claims{"x": {ReadOnly: true}}},
	} {
		t.Run("Y1 what is read is what was written: "+name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
			if err := config.AddServer(path, s, nil); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(path)
			if err != nil {
				text, _ := os.ReadFile(path)
				t.Fatal(err, string(text))
			}
			got := c.Servers[0]
			got.Line, got.Column = 0, 0
			if !reflect.DeepEqual(got, s) {
				t.Errorf("got %+v, want %+v", got, s)
			}
		})
	}
	t.Run("N1 a level alone is enough", func(t *testing.T) {
		t.Parallel()
		c, err := config.Parse("f.yaml", dir, "servers: {a: {command: x, isolate: namespace}}")
		if err != nil || !reflect.DeepEqual(c.Servers[0].Isolate, config.Sandbox{Level: "namespace"}) {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}

func TestServerRulesRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, keys, want string }{
		{"T3 a claim that there is not", "claims: {t: {readonly: true}}", `f.yaml:3:18: servers.a.claims.t: unknown key "readonly": did you mean "read_only"?`},
		{"T3 a claim that is no yes or no", "claims: {t: {local: 1}}", "servers.a.claims.t.local: got 1, want true or false"},
		{"T4 it only reads, and writes", "claims: {t: {read_only: true, touches: [{resource: 'mcp:a', write: true}]}}", `f.yaml:3:17: servers.a.claims.t: read-only, but writes "mcp:a"`},
		{"T4 it only reads, and runs alone", "claims: {t: {read_only: true, parallel: false}}", "f.yaml:3:45: servers.a.claims.t: got read_only and not parallel"},
		{"T3 a resource that is none", "claims: {t: {touches: [{resource: x}]}}", `"x": want kind:path`},
		{"T5 not by a pattern", "claims: {'t*': {local: true}}", `servers.a.claims: got "t*", want the exact name of a tool`},
		{"T5 no map", "claims: [t]", "servers.a.claims: got a list, want names of tools"},
		{"T5 believed and said", "believe: [t], claims: {t: {local: true}}", "f.yaml:3:27: servers.a.claims: got t, which stands under believe too"},
		{"N1 no level", "isolate: strong", `servers.a.isolate: got the text "strong", want process or namespace`},
		{"N1 a level without a program", "isolate: container", "servers.a.isolate: got container, want process or namespace: the program"},
		{"N1 more without a level", "isolate: {network: open}", "servers.a.isolate: got no level, want process or namespace"},
		{"N1 a weaker one that is not", "isolate: {level: process, weaker: process}", "servers.a.isolate.weaker: got process, want a level below process"},
		{"N1 single hosts", "isolate: {level: process, network: [a.example]}", "servers.a.isolate.network: got a list, want off, loopback or open: single hosts cannot be told apart"},
		{"N1 an unknown key", "isolate: {level: process, net: open}", `servers.a.isolate: unknown key "net"`},
		{"N2 a variable with a value", "env_pass: ['A=b']", `servers.a.env_pass: got "A=b", want a name alone: values stand under env`},
		{"N2 all variables", "env_pass: ['*']", `servers.a.env_pass: got "*", which is every variable`},
		{"N2 what is no name", "env_pass: ['A B']", `servers.a.env_pass: got "A B", want the name of a variable`},
		{"N2 a star in the middle", "env_pass: ['A*B']", `servers.a.env_pass: got "A*B"`},
		{"N2 twice", "env_pass: [A, A]", `servers.a.env_pass: got "A" twice`},
		{"N2 given and passed on", "env: {A: b}, env_pass: [A]", "servers.a.env_pass: got A, which stands under env too"},
		{"P9 fewer than one call", "calls_per_minute: 0", "servers.a.calls_per_minute: got 0, want 1 or more"},
		{"P9 a negative number of bytes", "result_bytes: -1", "servers.a.result_bytes: got -1, want a number of bytes such as 512M or 2G"},
		{"P9 bytes in words", "argument_bytes: many", "servers.a.argument_bytes: got"},
		{"M1 a breaker of another kind", "breaker: true", "servers.a.breaker: got true, want false, or some of after and pause"},
		{"M1 a breaker after nothing", "breaker: {after: 0}", "servers.a.breaker.after: got 0, want 1 or more"},
		{"M1 a breaker without a pause", "breaker: {pause: 0s}", "servers.a.breaker.pause: got 0s, want more than 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yaml", t.TempDir(), "servers:\n  a: {command: x,\n    "+tt.keys+"}\n")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	for _, key := range []string{"env_pass: [A]", "isolate: process"} {
		t.Run("N2 not of a server elsewhere: "+key, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yaml", t.TempDir(), "servers: {a: {url: 'https://a/b', "+key+"}}")
			if name, _, _ := strings.Cut(key, ":"); err == nil || !strings.Contains(err.Error(), name+" is for a server with a command") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPassed(t *testing.T) {
	t.Parallel()
	environ := []string{"AWS_KEY=1", "AWS_REGION=2", "AWS_KEY=old", "TOKEN=a=b", "=odd", "AWS_OWN=x"}
	for _, tt := range []struct {
		name               string
		pass, env, missing []string
	}{
		{"N2 nothing that was not named", nil, nil, nil},
		{"N2 by name, with all of its value", []string{"TOKEN"}, []string{"TOKEN=a=b"}, nil},
		{"N2 by its beginning, each once, but for what is given", []string{"AWS_*", "AWS_KEY"}, []string{"AWS_KEY=1", "AWS_REGION=2"}, nil},
		{"N2 what is not set is said", []string{"NONE", "TOKEN", "NO_*"}, []string{"TOKEN=a=b"}, []string{"NONE", "NO_*"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := config.Server{Env: []string{"AWS_OWN=mine"}, EnvPass: tt.pass}
			if env, missing := s.Passed(environ); !slices.Equal(env, tt.env) || !slices.Equal(missing, tt.missing) {
				t.Errorf("got %q, missing %q, want %q, missing %q", env, missing, tt.env, tt.missing)
			}
		})
	}
}

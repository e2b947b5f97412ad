package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// full is a server with every key that one with a command can have.
func full() config.Server {
	return config.Server{
		Name: "new", Command: []string{"npx", "-y", "a b", "", "#x"}, Env: []string{"A=b: c", "B=${secret:t}", "on="}, Trust: "web", Believe: []string{"x"},
		Unprefixed: true, Off: true, Timeout: 90 * time.Second, AtOnce: 3, Era: "2026",
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	add := func(path string) error {
		return config.AddServer(path, config.Server{Name: "new", Command: []string{"npx", "-y"}}, nil)
	}
	remove := func(path string) error { return config.RemoveServer(path, "b") }
	secret := func(path string) error {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return err
		}
		s := config.Server{Name: "new", Command: []string{"npx"}, Env: []string{"A=${secret:t}"}}
		return config.AddServer(path, s, map[string]string{"t": filepath.Join(dir, "s", "t")})
	}
	const keyed = "  new:\n    command: \"npx\"\n    env: {A: \"${secret:t}\"}\n"
	const lines = "  new:\n    command: \"npx\"\n    args: [\"-y\"]\n"
	const short = `new: {command: "npx", args: ["-y"]}`
	tests := []struct {
		name         string
		do           func(string) error
		before, want string
	}{
		{"M1 no file yet", add, "", "servers:\n" + lines},
		{"M1 behind all that is there", add, "# mine\npolicy: {mode: read} # x", "# mine\npolicy: {mode: read} # x\n\nservers:\n" + lines},
		{"M1 behind the others", add, "servers:\n  b: # one\n    command: x # y\n  # end\nworkspace: .\n", "servers:\n  b: # one\n    command: x # y\n" + lines + "  # end\nworkspace: .\n"},
		{"M1 as far in as the others", add, "servers:\n      b: {command: x}\n", "servers:\n      b: {command: x}\n" + "      " + strings.ReplaceAll(strings.TrimSuffix(strings.TrimLeft(lines, " "), "\n"), "\n", "\n    ") + "\n"},
		{"M1 in braces", add, "servers: {b: {command: x}} # y\n", "servers: {" + short + ", b: {command: x}} # y\n"},
		{"M1 in empty braces", add, "servers: {}\n", "servers: {" + short + "}\n"},
		{"M1 in an empty list", add, "servers: [] # y\n", "servers: {" + short + "} # y\n"},
		{"M1 below a key without a value", add, "servers: # y\nworkspace: .\n", "servers: # y\n" + lines + "workspace: .\n"},
		{"M1 a file in braces", add, "{workspace: .}\n", "{servers: {" + short + "}, workspace: .}\n"},
		{"M1 ends of lines as they are", add, "servers:\r\n  b: {command: x}\r\n", "servers:\r\n  b: {command: x}\r\n" + strings.ReplaceAll(lines, "\n", "\r\n")},
		{"K1 with a secret", secret, "", "secrets:\n  t: {file: \"s/t\"}\n\nservers:\n" + keyed},
		{"K1 with a secret, behind others", secret, "secrets:\n  u: {env: U} # x\nservers:\n", "secrets:\n  u: {env: U} # x\n  t: {file: \"s/t\"}\nservers:\n" + keyed},
		{"K1 with a secret, in braces", secret, "secrets: {u: {env: U}}\nservers:\n", "secrets: {t: {file: \"s/t\"}, u: {env: U}}\nservers:\n" + keyed},
		{"K1 with a secret that is there", secret, "secrets:\n  t: {file: ./s/t, tools: [x]}\nservers:\n", "secrets:\n  t: {file: ./s/t, tools: [x]}\nservers:\n" + keyed},
		{"M1 taken from between", remove, "servers:\n  a: {command: x} # x\n  b:\n    command: y\n    args: [z]\n  # of c\n  c: {command: z}\n", "servers:\n  a: {command: x} # x\n  # of c\n  c: {command: z}\n"},
		{"M1 the only one", remove, "servers:\n  b: {command: x}\nworkspace: .\n", "servers:\nworkspace: .\n"},
		{"M1 from braces, first", remove, "servers: {b: {command: x}, c: {command: y}}\n", "servers: {c: {command: y}}\n"},
		{"M1 from braces, last", remove, "servers: {a: {command: x}, b: {command: y}}\n", "servers: {a: {command: x}}\n"},
		{"M1 from braces, the only one", remove, "servers: {b: {command: y, env: {A: b}}}\n", "servers: {}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.do(path); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tt.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestServersRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, want string
		do                 func(string) error
	}{
		{"M1 one that is there", "servers: {new: {command: x}}\n", "new is there already", func(p string) error { return config.AddServer(p, config.Server{Name: "new", URL: "http://a"}, nil) }},
		{"M1 one that is not there", "servers: {a: {command: x}}\n", "there is no server b", func(p string) error { return config.RemoveServer(p, "b") }},
		{"M1 one that could not be read", "workspace: .\n", "got __", func(p string) error { return config.AddServer(p, config.Server{Name: "a__b", URL: "http://a"}, nil) }},
		{"M1 one without its secret", "workspace: .\n", `got the secret "t"`, func(p string) error { return config.AddServer(p, full(), nil) }},
		{"K1 another secret of that name", "secrets: {t: {env: T}}\n", "there is another secret t", func(p string) error {
			return config.AddServer(p, config.Server{Name: "a", URL: "http://a"}, map[string]string{"t": p})
		}},
		{"M1 a file with faults is not touched", "polcy: 1\n", `unknown key "polcy"`, func(p string) error { return config.AddServer(p, config.Server{Name: "a", URL: "http://a"}, nil) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tt.before {
				t.Errorf("got %q, %v, want the file as it was", got, err)
			}
		})
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOME": "/home/ada", "EMPTY": ""}[name]
		return v, ok
	}
	secret := func(name string) (string, error) {
		if name == "t" {
			return "hunter2", nil
		}
		return "", errors.New("secret " + name + ": gone")
	}
	tests := []struct{ name, value, want, err string }{
		{"K4 nothing to fill", "a $b {c}", "a $b {c}", ""},
		{"K4 a variable and a secret", "${HOME}/${secret:t}!", "/home/ada/hunter2!", ""},
		{"K4 what is filled in is not looked at", "${secret:t}${EMPTY}${NONE:-${}", "", "env.A: got"},
		{"K4 another value", "${EMPTY:-x}${NONE:-y}${HOME:-z}", "xy/home/ada", ""},
		{"K4 a variable that is not set", "${NONE}", "", "env.A: the environment variable NONE is not set"},
		{"K4 a secret that cannot be had", "${secret:u}", "", "env.A: secret u: gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			of := config.Server{Env: []string{"A=" + tt.value}}
			got, err := of.Filled(env, secret)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("got %v, %v, want %s", got.Env, err, tt.err)
				}
				return
			}
			if err != nil || got.Env[0] != "A="+tt.want || of.Env[0] != "A="+tt.value {
				t.Errorf("got %v, %v, want %s", got.Env, err, tt.want)
			}
		})
	}
	t.Run("K4 in the query of an address, as it stands there", func(t *testing.T) {
		t.Parallel()
		of := config.Server{URL: "http://a/mcp?dir=${HOME}&key=${secret:t}"}
		if got, err := of.Filled(env, secret); err != nil || got.URL != "http://a/mcp?dir=%2Fhome%2Fada&key=hunter2" {
			t.Errorf("got %q, %v", got.URL, err)
		}
		if got := of.Secrets(); !slices.Equal(got, []string{"t"}) {
			t.Errorf("got the secrets %q, want t", got)
		}
	})
}

// FuzzServers: whatever the file looks like, what is added is there and can be
// taken out again, and nothing else has changed; or nothing was done.
func FuzzServers(f *testing.F) {
	for _, text := range []string{whole, config.Sample(), "{}", "servers: {}", "servers: []", "servers: ~", "servers:\n  a:\n    command: |\n      x\n", "servers:\n  a: {command: x,\n    args: [y]}\n...", "servers: {a: {command: 'x'}, }", "servers: {\"new\": {url: 'http://x'}}"} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		before, err := config.Parse("f.yaml", dir, text)
		if err != nil {
			return
		}
		file, err := os.CreateTemp(dir, "*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Remove(file.Name()) }()
		if _, err := file.WriteString(text); err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		s := full()
		s.Env[1] = "B=${HOME}"
		if err := config.AddServer(file.Name(), s, nil); err != nil {
			if got, _ := os.ReadFile(file.Name()); string(got) != text {
				t.Errorf("got %q, want it as it was after %v", got, err)
			}
			return
		}
		c, err := config.Load(file.Name())
		if err != nil || !slices.ContainsFunc(c.Servers, func(o config.Server) bool {
			o.Line, o.Column = 0, 0
			return reflect.DeepEqual(o, s)
		}) {
			t.Fatalf("got %+v, %v, want the server in it", c, err)
		}
		if config.RemoveServer(file.Name(), s.Name) != nil {
			return
		}
		names := func(list []config.Server) (all []string) {
			for _, s := range list {
				all = append(all, s.Name)
			}
			slices.Sort(all)
			return all
		}
		if c, err := config.Load(file.Name()); err != nil || !slices.Equal(names(c.Servers), names(before.Servers)) {
			t.Errorf("got %+v, %v, want %v", c, err, before.Servers)
		}
	})
}

func TestLoginKeys(t *testing.T) {
	t.Parallel()
	t.Run("M1 what is read is what was written", func(t *testing.T) {
		t.Parallel()
		for name, s := range map[string]config.Server{
			"all keys": {Name: "a", URL: "https://a.example/mcp", LoginClient: "me", LoginSecret: "${secret:t}", LoginIssuer: "https://login.example/t", LoginScopes: []string{"read", "x:y/z"}, LoginPort: 7712},
			"none":     {Name: "a", URL: "https://a.example/mcp"},
			"off":      {Name: "a", URL: "https://a.example/mcp", LoginOff: true},
		} {
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			if err := os.WriteFile(path, []byte("secrets: {t: {env: T}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := config.AddServer(path, s, nil); err != nil {
				t.Fatal(name, err)
			}
			c, err := config.Load(path)
			if err != nil {
				t.Fatal(name, err)
			}
			got := c.Servers[0]
			got.Line, got.Column = 0, 0
			if !reflect.DeepEqual(got, s) {
				t.Errorf("%s: got %+v, want %+v", name, got, s)
			}
			if want := s.LoginSecret != ""; want != slices.Equal(got.Secrets(), []string{"t"}) {
				t.Errorf("%s: got the secrets %v", name, got.Secrets())
			}
		}
	})
	for _, tt := range []struct{ name, login, want string }{
		{"Y1 no map", "login: true", "servers.a.login: got"},
		{"Y1 an unknown key", "login: {client: x}", `unknown key "client"`},
		{"K4 the secret itself", "login: {client_id: x, client_secret: hunter2}", `servers.a.login.client_secret: got a text, want "${secret:NAME}"`},
		{"K4 a secret that there is not", `login: {client_id: x, client_secret: "${secret:u}"}`, `got the secret "u"`},
		{"M1 a secret of nobody", `login: {client_secret: "${secret:t}"}`, "got client_secret and no client_id"},
		{"M1 a scope with a space", "login: {scopes: [a b]}", `servers.a.login.scopes: got "a b"`},
		{"K3 an issuer that is none", "login: {issuer: login.example}", `servers.a.login.issuer: got "login.example", want the address`},
		{"K3 an issuer in the clear", "login: {issuer: 'http://login.example'}", "servers.a.login.issuer: got"},
		{"K3 an issuer with a query", "login: {issuer: 'https://login.example/?a=b'}", "servers.a.login.issuer: got"},
		{"M1 a port that is none", "login: {port: 70000}", "servers.a.login.port: got 70000, want 1 to 65535"},
		{"M1 a header beside it", "login: {scopes: [a]}, headers: {authorization: x}", "got login and a header Authorization, want one of them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yaml", t.TempDir(), "secrets: {t: {env: T}}\nservers: {a: {url: 'https://a/b', "+tt.login+"}}\n")
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name   string
		server config.Server
		want   string // "": a person can
	}{
		{"M1 an address", config.Server{URL: "https://a/b"}, ""},
		{"M1 this machine", config.Server{URL: "http://127.0.0.1:8/b"}, ""},
		{"M1 in the clear", config.Server{URL: "http://a/b"}, "want https://"},
		{"M1 a command", config.Server{Command: []string{"x"}}, "it is a command"},
		{"M1 switched off", config.Server{URL: "https://a/b", LoginOff: true}, "login: false"},
		{"M1 another authorization", config.Server{URL: "https://a/b", Header: map[string]string{"authorization": "x"}}, "header Authorization"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.server.CanLogin(); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

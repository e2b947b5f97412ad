package secret_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/secret"
)

func nothing([]byte) error { return nil }

func TestUse(t *testing.T) {
	t.Parallel()
	v, err := secret.NewVault(map[string]secret.Entry{
		"any":   {Source: given("value of any"), Tools: []string{"*"}},
		"git":   {Source: given("value of git"), Tools: []string{"git__*", "push"}},
		"none":  {Source: given("value of none")},
		"short": {Source: given("abc"), Tools: []string{"*"}},
		"empty": {Source: given(""), Tools: []string{"*"}},
		"long":  {Source: given(strings.Repeat("x", 40<<10)), Tools: []string{"*"}},
		"env":   {Source: secret.Env("FERRULE_TEST_NOT_SET"), Tools: []string{"*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ rule, tool, named, name, want string }{
		{"K1 a tool that names it, and may", "git__log", "git", "git", ""},
		{"K1 by its whole name", "push", "git", "git", ""},
		{"K1 one that does not name it", "git__log", "any", "git", "secret git: refused: the tool git__log does not name it among the secrets that it uses"},
		{"K1 one that may not", "gitx", "git", "git", "secret git: refused: it is not for the tool gitx"},
		{"K1 without tools it is for none", "push", "none", "none", "secret none: refused: it is not for the tool push"},
		{"K1 a name that is not there", "push", "other", "other", "secret other: there is none of that name here"},
		{"K1 a name that is none", "push", "a b", "a b", `secret: got the name "a b", want letters, digits, _, - and dots, at most 64`},
		{"K3 a value that is too short", "push", "short", "short", "secret short: given: got 3 bytes, want 4 or more: it could not be kept out of results"},
		{"K3 an empty value", "push", "empty", "empty", "secret empty: given: it is empty"},
		{"K3 a value that is too long", "push", "long", "long", "secret long: given: got 40960 bytes, want at most 32768"},
		{"K4 a variable that is not set", "push", "env", "env", "secret env: environment variable FERRULE_TEST_NOT_SET: it is not set"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			used := false
			err := v.Use(t.Context(), tt.tool, []string{tt.named}, tt.name, func(b []byte) error {
				used = string(b) == "value of "+tt.name
				return nil
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want || used != (tt.want == "") {
				t.Errorf("got %q, used: %v, want %q", got, used, tt.want)
			}
		})
	}
	t.Run("K2 what is used is wiped, and its error passed on", func(t *testing.T) {
		t.Parallel()
		mine := errors.New("mine")
		var kept []byte
		err := v.Use(t.Context(), "a", []string{"any"}, "any", func(b []byte) error { kept = b; return mine })
		if !errors.Is(err, mine) || strings.Trim(string(kept), "\x00") != "" {
			t.Errorf("got %v, left %q", err, kept)
		}
	})
	t.Run("K2 also after a panic", func(t *testing.T) {
		t.Parallel()
		var kept []byte
		func() {
			defer func() { _ = recover() }()
			_ = v.Use(t.Context(), "a", []string{"any"}, "any", func(b []byte) error { kept = b; panic("oh") })
		}()
		if len(kept) == 0 || strings.Trim(string(kept), "\x00") != "" {
			t.Errorf("left %q", kept)
		}
	})
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	entries := map[string]secret.Entry{
		"a": {Source: given("value of a"), Tools: []string{"x"}},
		"b": {Source: given("value of b"), Tools: []string{"x"}},
	}
	parent, err := secret.NewVault(entries)
	if err != nil {
		t.Fatal(err)
	}
	child, err := parent.Narrow("a")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("K4 a child has what it was given, for the same tools", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			tool, name string
			ok         bool
		}{{"x", "a", true}, {"y", "a", false}, {"x", "b", false}} {
			if err := child.Use(t.Context(), tt.tool, []string{"a", "b"}, tt.name, nothing); (err == nil) != tt.ok {
				t.Errorf("%s by %s: %v", tt.name, tt.tool, err)
			}
		}
	})
	t.Run("K4 it cannot widen", func(t *testing.T) {
		t.Parallel()
		if v, err := child.Narrow("a", "b"); err == nil {
			t.Errorf("got %v", v.Names())
		}
	})
	t.Run("K4 nothing is not everything", func(t *testing.T) {
		t.Parallel()
		if v, err := parent.Narrow(); err != nil || len(v.Names()) != 0 {
			t.Errorf("got %v, %v", v.Names(), err)
		}
		var none *secret.Vault
		if err := none.Use(t.Context(), "x", []string{"a"}, "a", nothing); err == nil {
			t.Error("no vault gave a value out")
		}
		if text, found := none.Scrub("value of a"); text != "value of a" || found != nil || none.Live() {
			t.Errorf("got %q, %v", text, found)
		}
	})
	t.Run("K3 what a child gives out, its parent knows", func(t *testing.T) {
		t.Parallel()
		parent, _ := secret.NewVault(entries)
		child, _ := parent.Narrow("a")
		if parent.Live() {
			t.Error("it is live before anything was given out")
		}
		if err := child.Use(t.Context(), "x", []string{"a"}, "a", nothing); err != nil {
			t.Fatal(err)
		}
		if got, _ := parent.Scrub("value of a, value of b"); got != "[secret a], value of b" {
			t.Errorf("got %q", got)
		}
	})
}

func TestNewVaultRefuses(t *testing.T) {
	t.Parallel()
	ok := given("value")
	for want, entries := range map[string]map[string]secret.Entry{
		`secret: got the name "a b"`:      {"a b": {Source: ok}},
		`secret: got the name ""`:         {"": {Source: ok}},
		`secret a: got no source`:         {"a": {}},
		`secret a: tools: got "x*y"`:      {"a": {Source: ok, Tools: []string{"x*y"}}},
		`secret a: tools: got ""`:         {"a": {Source: ok, Tools: []string{""}}},
		`secret a: tools: got " x"`:       {"a": {Source: ok, Tools: []string{" x"}}},
		`secret: got the name "xxxxxxxxx`: {strings.Repeat("x", 65): {Source: ok}},
	} {
		if _, err := secret.NewVault(entries); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// turning is a source whose value is another each time.
type turning struct {
	mu   sync.Mutex
	n    int
	more string
}

func (s *turning) String() string { return "turning" }

func (s *turning) Value(context.Context) (secret.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return secret.NewValue(fmt.Appendf(nil, "value <%d>%s", s.n, s.more)), nil
}

func TestRotation(t *testing.T) {
	t.Parallel()
	use := func(t *testing.T, v *secret.Vault, times int) {
		t.Helper()
		for range times {
			if err := v.Use(t.Context(), "x", []string{"a"}, "a", nothing); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("K3 a value is known for an hour, and while it is one of the last eight", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			v, err := secret.NewVault(map[string]secret.Entry{"a": {Source: new(turning), Tools: []string{"x"}}})
			if err != nil {
				t.Fatal(err)
			}
			known := func(text string, want bool) {
				t.Helper()
				if _, found := v.Scrub(text); (len(found) > 0) != want {
					t.Errorf("%q is known: %v, want %v", text, !want, want)
				}
			}
			use(t, v, 200)
			known("value <1>", true)
			time.Sleep(time.Hour - time.Second)
			use(t, v, 10)
			known("value <1>", true)
			time.Sleep(time.Minute)
			use(t, v, 1)
			known("value <200>", false)
			known("value <201>", true)
			time.Sleep(24 * time.Hour)
			use(t, v, 1)
			known("value <204>", false)
			known("value <205>", true)
			known("value <212>", true)
		})
	})
	t.Run("K3 what could not be kept out of results is not given out", func(t *testing.T) {
		t.Parallel()
		long := &turning{more: strings.Repeat("x", 30<<10)}
		v, err := secret.NewVault(map[string]secret.Entry{"a": {Source: long, Tools: []string{"x"}}})
		if err != nil {
			t.Fatal(err)
		}
		use(t, v, 34)
		used := false
		err = v.Use(t.Context(), "x", []string{"a"}, "a", func([]byte) error { used = true; return nil })
		if used || err == nil || !strings.HasPrefix(err.Error(), "secret a: refused: 34 other values") {
			t.Errorf("used: %v, got %v", used, err)
		}
	})
}

func TestSources(t *testing.T) {
	t.Setenv("FERRULE_TEST_SECRET", "from the environment")
	t.Setenv("FERRULE_TEST_OTHER", "not for the program")
	dir := t.TempDir()
	path := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	sh := func(script string) secret.Source { return secret.Command("sh", "-c", script) }
	for _, tt := range []struct {
		rule   string
		source secret.Source
		want   string // the value, or a part of the error
		fails  bool
		unix   bool
	}{
		{"K4 environment", secret.Env("FERRULE_TEST_SECRET"), "from the environment", false, false},
		{"K4 file, without one line break", secret.File(path("a", "from a file\n\n", 0o600)), "from a file\n", false, false},
		{"K4 file of Windows", secret.File(path("b", "from a file\r\n", 0o400)), "from a file", false, false},
		{"K4 file that a group can read", secret.File(path("c", "from a file", 0o640)), "got the mode 0640, which lets others reach it", true, true},
		{"K4 file that others can write", secret.File(path("d", "from a file", 0o602)), "got the mode 0602", true, true},
		{"K4 file that is a folder", secret.File(dir), "want an ordinary file", true, true},
		{"K4 file that is not there", secret.File(filepath.Join(dir, "none")), "none: no such file", true, true},
		{"K4 file that is too long", secret.File(path("e", strings.Repeat("x", 33<<10), 0o600)), "want at most 32768", true, false},
		{"K4 command", sh("echo from a command"), "from a command", false, true},
		{"K4 command with a clean environment", sh(`echo "[$FERRULE_TEST_OTHER]${HOME:+home}"`), "[]home", false, true},
		{"K4 command with what it needs of the environment", secret.CommandWith([]string{"FERRULE_TEST_OTHER", "MORE=1"}, "sh", "-c", `echo "$FERRULE_TEST_OTHER, $MORE"`), "not for the program, 1", false, true},
		{"K4 command that fails says why, not what", sh(`echo "the value is s3cr3tvalue" >&2; echo more >&2; echo s3cr3tvalue; exit 3`), `command "sh": exit status 3: the value is [secret it]`, true, true},
		{"K4 command that is not there", secret.Command("ferrule-no-such-program"), "executable file not found", true, false},
		{"K4 command that prints too much", sh("yes | head -c 40000"), "want at most 32768", true, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if tt.unix && runtime.GOOS == "windows" {
				t.Skip("this is about Unix")
			}
			v, err := secret.NewVault(map[string]secret.Entry{"a": {Source: tt.source, Tools: []string{"x"}}})
			if err != nil {
				t.Fatal(err)
			}
			var got string
			err = v.Use(t.Context(), "x", []string{"a"}, "a", func(b []byte) error { got = string(b); return nil })
			switch {
			case !tt.fails && (err != nil || got != tt.want):
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			case tt.fails && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "secret a: ")):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			case tt.fails && strings.Contains(err.Error(), "s3cr3tvalue"):
				t.Errorf("the error holds the value: %v", err)
			}
			if check := v.Check(t.Context(), "a"); fmt.Sprint(check) != fmt.Sprint(err) {
				t.Errorf("Check: %v, want %v", check, err)
			}
		})
	}
	t.Run("K4 command that hangs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sh("sleep 60").Value(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestHide(t *testing.T) {
	t.Parallel()
	v, err := secret.NewVault(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Hide("login.s", "a-token-of-a-server"); err != nil {
		t.Fatal(err)
	}
	if err := v.Hide("login.s", "abc"); err != nil { // which is in many texts
		t.Fatal(err)
	}
	if err := (*secret.Vault)(nil).Hide("x", "a-token"); err != nil {
		t.Fatal(err)
	}
	t.Run("K3 a value that came from elsewhere is kept out of texts", func(t *testing.T) {
		t.Parallel()
		got, _ := v.Scrub("it is a-token-of-a-server, abc")
		if strings.Contains(got, "a-token-of-a-server") || !strings.Contains(got, "abc") {
			t.Errorf("got %q, want it without the token", got)
		}
	})
}

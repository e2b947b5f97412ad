package leaks

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/redact"
)

// shared is loaded once: that takes most of a second.
var shared = sync.OnceValue(func() *Scanner { return new(Scanner) })

// key is text that is random enough, and no key of anybody.
func key(n int, alphabet string) string {
	b := make([]byte, n)
	state := uint32(12345)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = alphabet[int(state>>16)%len(alphabet)]
	}
	return string(b)
}

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	mixed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

func TestScan(t *testing.T) {
	t.Parallel()
	aws, github, other := "AKI"+"A"+key(16, upper), "gh"+"p_"+key(36, mixed), key(40, mixed)
	for _, tt := range []struct{ name, text, want string }{
		{"G5 by its form", "use " + aws + " now", "use [SECRET:aws-key:1] now"},
		{"G5 in the second line", "first\nuse " + github + "\n", "first\nuse [SECRET:github-pat:1]\n"},
		{"G5 by its name", "db_password = \"" + other + "\"\n", "db_password = \"[SECRET:key:1]\"\n"},
		{"G5 in JSON", `{"user":"ann","api_key":"` + other + `"}`, `{"user":"ann","api_key":"[SECRET:key:1]"}`},
		{"G5 two in a line", aws + " " + github, "[SECRET:aws-key:1] [SECRET:github-pat:1]"},
		{"G5 a comment does not make it look away", "use " + aws + " # gitleaks:allow betterleaks:allow", "use [SECRET:aws-key:1] # gitleaks:allow betterleaks:allow"},
		{"G5 then without its name", "token: " + other + "\nit is " + other + "!", "token: [SECRET:key:1]\nit is [SECRET:key:1]!"},
		{"what is no key", "the key: to it all, is api_key=$API_KEY in commit " + key(40, "0123456789abcdef"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := redact.New(redact.Options{Secrets: shared()})
			got, _, err := r.Redact(tt.text)
			if tt.want == "" {
				tt.want = tt.text
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A text of more than a window is looked at in parts that overlap.
func TestScanLong(t *testing.T) {
	t.Parallel()
	github := "gh" + "p_" + key(36, mixed)
	for _, at := range []int{0, window - 50, window - 20, window - 1, window, 3 * window} {
		text := strings.Repeat("a\n", at/2) + " " + github + " " + strings.Repeat("b\n", window)
		found, err := shared().Scan(text)
		if err != nil || len(found) == 0 {
			t.Fatalf("at %d: got %v, %v", at, found, err)
		}
		for _, s := range found {
			if text[s.Start:s.End] != github {
				t.Errorf("at %d: got %q, want the key", at, text[s.Start:s.End])
			}
		}
	}
}

// Whoever comes first, nobody passes before the rules are there.
func TestWarm(t *testing.T) {
	t.Parallel()
	var s Scanner
	wait := s.Start()
	text := "gh" + "p_" + key(36, mixed)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if found, err := s.Scan(text); len(found) != 1 || err != nil {
				t.Errorf("got %v, %v, want a key", found, err)
			}
		})
	}
	wg.Wait()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	var s Scanner
	s.once.Do(func() {}) // and no detector
	if found, err := s.Scan("npm_"); err == nil {
		t.Errorf("G5 got %v and no error of a scan that cannot finish", found)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	rules, err := shared().Rules()
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) < 240 {
		t.Errorf("got %d rules, want about 250", len(rules))
	}
	kinds := make(map[string]string)
	for _, r := range rules {
		if r.Kind == "" || len(r.Kind) > 40 || clean(r.Kind) != r.Kind {
			t.Errorf("%s: got the kind %q", r.ID, r.Kind)
		}
		kinds[r.ID] = r.Kind
	}
	for id, want := range map[string]string{
		"aws-access-token": "aws-key", "openai-api-key": "openai-key", "github-pat": "github-pat",
		"stripe-access-token": "stripe-token", "jwt": "jwt", "private-key": "private-key", "generic-api-key": "key",
	} {
		if kinds[id] != want {
			t.Errorf("%s: got the kind %q, want %q", id, kinds[id], want)
		}
	}
	// The short words are known, and all rules have words: else every text would be tried.
	if known().always {
		t.Errorf("got rules that have to be tried on every text: %q", known().short)
	}
}

// Packages that are loaded here set variables for git, which programs that are
// started later must not be given.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const ask = "LEAKS_TEST_ENVIRONMENT"
	names := []string{"GIT_CONFIG_GLOBAL", "GIT_TERMINAL_PROMPT", "GIT_NO_REPLACE_OBJECTS", "GIT_CONFIG_NOSYSTEM", "BETTERLEAKS_REGEX_ENGINE"}
	if os.Getenv(ask) != "" {
		for _, name := range names {
			value, set := os.LookupEnv(name)
			fmt.Printf("%s=%q %v\n", name, value, set)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEnvironment$", "-test.v")
	cmd.Env = append(os.Environ(), ask+"=1", "GIT_CONFIG_GLOBAL=mine", "BETTERLEAKS_REGEX_ENGINE=unknown")
	for _, name := range names[1:4] {
		for i, v := range cmd.Env {
			if strings.HasPrefix(v, name+"=") {
				cmd.Env[i] = "X=1"
			}
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		`GIT_CONFIG_GLOBAL="mine" true`, `GIT_TERMINAL_PROMPT="" false`, `GIT_NO_REPLACE_OBJECTS="" false`,
		`GIT_CONFIG_NOSYSTEM="" false`, `BETTERLEAKS_REGEX_ENGINE="unknown" true`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
}

func TestAllocated(t *testing.T) {
	s := shared()
	if err := s.Warm(); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("They ask for no key to it; the token is in the api docs: see access.\n", 200)
	if n := testing.AllocsPerRun(5, func() {
		if found, err := s.Scan(text); len(found) > 0 || err != nil {
			t.Errorf("got %v, %v", found, err)
		}
	}); n > 0 {
		t.Errorf("got %v allocations where no rule has to be tried, want 0", n)
	}
}

// FuzzScan: spans are in the text, and a text that no rule has to be tried on is one
// in which none finds anything.
func FuzzScan(f *testing.F) {
	s := shared()
	if err := s.Warm(); err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		"AKI" + "A" + key(16, upper), "token=" + key(40, mixed), `"api_key": "` + key(12, mixed) + `"`, "s" + "." + key(24, mixed), "SK" + key(32, "0123456789abcdef"),
		"ey" + key(20, mixed) + ".ey" + key(20, mixed) + "." + key(20, mixed), "curl -u ann:" + key(12, mixed) + " https://example.org", "\xff key: \\\"" + key(30, mixed) + "\\\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		found := s.scan(text)
		if len(found) > 0 && !known().in(text) {
			t.Errorf("%q: got no words, but %v", text, found)
		}
		for _, sp := range found {
			if sp.Start < 0 || sp.Start >= sp.End || sp.End > len(text) || sp.Kind == "" {
				t.Errorf("%q: got the span %+v", text, sp)
			}
		}
	})
}

// The words are known before the rules are: without one that rules have, a key would
// pass.
func TestWordList(t *testing.T) {
	t.Parallel()
	if err := shared().Warm(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for id, rule := range shared().detector.Config.Rules {
		if rule.Regex == nil || id == "hashicorp-tf-password" || id == "kubernetes-secret-yaml" {
			continue
		}
		if len(rule.Keywords) == 0 {
			t.Errorf("the rule %s names no word: every text has to be tried", id)
		}
		for _, word := range rule.Keywords {
			if word = strings.ToLower(word); rule.TokenEfficiency && rule.Entropy >= 3.5 {
				word = "common " + word
			}
			lines = append(lines, word+"\n")
		}
	}
	slices.Sort(lines)
	if want := strings.Join(slices.Compact(lines), ""); want != wordList {
		t.Errorf("words.txt is not what the rules name, want:\n%s", want)
	}
}

func TestScanUnloaded(t *testing.T) {
	t.Parallel()
	t.Run("G5 what holds no word of a rule does not wait for the rules", func(t *testing.T) {
		t.Parallel()
		s := new(Scanner)
		if found, err := s.Scan("hello, nothing here"); found != nil || err != nil || s.detector != nil {
			t.Errorf("got %v, %v, loaded %t", found, err, s.detector != nil)
		}
	})
}

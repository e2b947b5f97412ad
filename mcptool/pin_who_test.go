package mcptool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// settled answers for server s as a hub reaches it.
func settled(t *testing.T, h *Hub, a PinAnswer, accept ...string) {
	t.Helper()
	shown, err := h.Pinned("s")
	a.By, a.At = "ada", time.Now()
	if err == nil {
		err = (&Pins{Dir: h.Pins}).Settle(shown, a, accept...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPinsOfEveryEnvironment(t *testing.T) {
	t.Parallel()
	with := func(variable string) func(*Server) {
		return func(s *Server) { s.Env = []string{variable} }
	}
	t.Run("M4 what is answered in one environment counts in another, at once", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		one := reachedBy(t, dir, nil, with("TOKEN=1"), plainTool("a"), plainTool("b"))
		two := reachedBy(t, dir, nil, with("OTHER=2"), plainTool("a"), plainTool("b"))
		settled(t, two.h, PinAnswer{Said: "out", Out: []string{"b"}})
		one.becomes("+a -b")
		settled(t, one.h, PinAnswer{Said: "out", Whole: true})
		two.becomes("-a -b")
	})
	t.Run("M4 and so does what is rejected or accepted", func(t *testing.T) {
		t.Parallel()
		dir, inbox := t.TempDir(), new(policy.Memory)
		one := reachedBy(t, dir, inbox, with("TOKEN=1"), plainTool("a"), plainTool("b"))
		two := reachedBy(t, dir, inbox, with("TOKEN=2"), plainTool("a"), plainTool("b"))
		one.now(saysThat("a", "evil"), saysThat("b", "good"))
		p := &Pins{Dir: dir}
		shown, err := one.h.Pinned("s")
		if err == nil {
			err = p.Reject(shown, "ada", "a")
		}
		if err == nil {
			err = p.Accept(shown, "ada", "b")
		}
		if err != nil {
			t.Fatal(err)
		}
		two.now(saysThat("a", "evil"), saysThat("b", "good"))
		two.want("-a +b")
		if why := two.why("a"); !strings.Contains(why, "ada has rejected it") {
			t.Errorf("got %q, want who has rejected it", why)
		}
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none", n)
		}
	})
	t.Run("M4 a variable that decides what runs is a part of the server, as it is written", func(t *testing.T) {
		t.Parallel()
		as := func(env ...string) who {
			return (&Server{Name: "s", Command: []string{"node", "a.js"}, Env: []string{"NODE_OPTIONS=filled"}, WrittenEnv: env}).who()
		}
		plain := as()
		for _, same := range [][]string{{"TOKEN=1"}, {"DEBUG=1", "NODE_ENV=production"}, {"CARGO_REGISTRY_TOKEN=1"}, {"UV_PUBLISH_PASSWORD=1"}} {
			if as(same...) != plain {
				t.Errorf("%q: got %q, want no other server", same, as(same...).identity)
			}
		}
		if plain.identity != "node a.js" {
			t.Errorf("got %q, want nothing of the values that it is given", plain.identity)
		}
		seen := map[string]bool{plain.sum("who"): true}
		for _, other := range []string{
			"LD_PRELOAD=/x.so", "DYLD_INSERT_LIBRARIES=/x", "NODE_OPTIONS=-r /x.js", "NODE_OPTIONS=-r /y.js", "NODE_OPTIONS=${A:--r /x.js}", "PYTHONPATH=/x", "PATH=/x", "Path=/x",
			"BASH_ENV=/x", "ENV=/x", "PERL5OPT=-M", "RUBYLIB=/x", "_JAVA_OPTIONS=-j", "GIT_SSH_COMMAND=x", "GIT_ASKPASS=x", "GCONV_PATH=/x", "npm_config_registry=http://x",
		} {
			is := as("TOKEN=1", other)
			if seen[is.sum("who")] || is.program != plain.program {
				t.Errorf("%s: got %+v, want another version of the program", other, is)
			}
			seen[is.sum("who")] = true
		}
		if one, two := as("PATH=/x", "ENV=/y"), as("ENV=/y", "PATH=/x"); one != two {
			t.Errorf("got %q and %q, want that the order does not count", one.identity, two.identity)
		}
		said := (&Server{Name: "s", Command: []string{"node", "a.js", "with", `PATH="/x"`}}).who()
		if got := as("PATH=/x"); got.identity != `node a.js with PATH="/x"` || got.identity == said.identity {
			t.Errorf("got %q and %q, want that no argument looks like a variable", got.identity, said.identity)
		}
	})
	t.Run("M4 values in a URL make no other server", func(t *testing.T) {
		t.Parallel()
		as := func(value string) Server {
			return Server{Name: "s", URL: "https://a/mcp?key=" + value, Written: "https://a/mcp?key=${KEY}"}
		}
		one, two := as("1"), as("2")
		if one.who() != two.who() || strings.Contains(one.who().identity, "1") {
			t.Errorf("got %+v and %+v, want one server, by what was written", one.who(), two.who())
		}
	})
}

func TestPinsOfAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		one, two  Server
		inherited bool // what was accepted, and what was left out
	}{
		{"another command", Server{Command: []string{"/bin/s"}}, Server{Command: []string{"/bin/evil"}}, false},
		{"a URL", Server{Command: []string{"/bin/s"}}, Server{URL: "https://a/mcp"}, false},
		{"another URL", Server{URL: "https://a/mcp"}, Server{URL: "https://b/mcp"}, false},
		{"the same words in another folder", Server{Command: []string{filepath.Join(".", "bin", "s")}, Dir: "/a"}, Server{Command: []string{filepath.Join(".", "bin", "s")}, Dir: "/b"}, false},
		{"another argument", Server{Command: []string{"npx", "a"}}, Server{Command: []string{"npx", "b"}}, true},
		{"words that are joined", Server{Command: []string{"npx", "a b"}}, Server{Command: []string{"npx", "a", "b"}}, true},
		{"a variable that decides what runs", Server{Command: []string{"npx", "a"}}, Server{Command: []string{"npx", "a"}, WrittenEnv: []string{"NODE_OPTIONS=-r /x.js"}}, true},
		{"another folder", Server{Command: []string{"npx", "a"}, Dir: "/a"}, Server{Command: []string{"npx", "a"}, Dir: "/b"}, true},
	} {
		t.Run("M4 "+tt.name+" has neither the answer nor the rules", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			reached := func(as Server, defs ...string) *shifting {
				return reachedBy(t, dir, nil, func(s *Server) { s.Command, s.Dir, s.URL, s.WrittenEnv = as.Command, as.Dir, as.URL, as.WrittenEnv }, defs...)
			}
			one := reached(tt.one, plainTool("a"), plainTool("b"))
			settled(t, one.h, PinAnswer{Said: "out", Out: []string{"b"}})
			two := reached(tt.two, plainTool("a"), plainTool("b"), saysThat("c", "1"))
			want := "+a +b +c"
			if tt.inherited {
				want = "+a -b *c"
			}
			two.want(want)
			known, err := two.h.Pinned("s")
			if err != nil || known.Answer != nil && !known.Answer.Earlier || (known.Answer != nil) != tt.inherited {
				t.Errorf("got %+v, %v, want that nobody has answered for it", known.Answer, err)
			}
			before, _ := one.h.Runtime.Find("s__a")
			after, _ := two.h.Runtime.Find("s__a")
			if before.Info.Pin == after.Info.Pin || before.Definition == after.Definition || after.Info.Pin != known.Tools[0].Key {
				t.Errorf("T5 got the keys %s and %s, want two: rules are bound to them", before.Info.Pin, after.Info.Pin)
			}
			asked := Server{Name: "s", Command: tt.two.Command, Dir: tt.two.Dir, URL: tt.two.URL, WrittenEnv: tt.two.WrittenEnv}
			if same, err := (&Pins{Dir: dir}).As(asked); err != nil || len(same.Tools) != 3 || same.Tools[0].Key != known.Tools[0].Key {
				t.Errorf("got %+v, %v, want what the hub knows", same, err)
			}
			one.now(plainTool("a"), plainTool("b"))
			one.want("+a -b") // as it was answered there
		})
	}
	t.Run("M4 a file of before, without a program, is nobody's", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		old := `{"form":1,"server":"s","identity":"/bin/s","first":"2026-01-02T03:04:05Z","answer":{"said":"out","by":"ada","at":"2026-01-02T03:04:05Z","whole":true},"tools":[]}`
		if err := os.WriteFile(filepath.Join(dir, "s.0123456789ab.json"), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		s := reachedBy(t, dir, nil, func(*Server) {}, plainTool("a"))
		s.want("+a")
		if all, err := (&Pins{Dir: dir}).All(); err != nil || len(all) != 2 {
			t.Errorf("got %+v, %v, want both", all, err)
		}
	})
	t.Run("M4 what was answered ends with the server; what was left out stays out", func(t *testing.T) {
		t.Parallel()
		s := reachedBy(t, t.TempDir(), nil, func(*Server) {}, plainTool("a"), plainTool("b"))
		for _, tt := range []struct {
			given PinAnswer
			stays bool
			want  string
		}{
			{PinAnswer{Said: "reads"}, false, "+a +b"},
			{PinAnswer{Said: "out", Out: []string{"b"}}, true, "+a -b"},
		} {
			settled(t, s.h, tt.given)
			for range 2 {
				if err := (&Pins{Dir: s.h.Pins}).Retire("s"); err != nil {
					t.Fatal(err)
				}
			}
			known, err := s.h.Pinned("s")
			if err != nil || (known.Answer != nil) != tt.stays || tt.stays && !known.Answer.Earlier {
				t.Errorf("%s: got %+v, %v, want that it is over", tt.given.Said, known.Answer, err)
			}
			s.becomes(tt.want)
		}
	})
}

func TestPinsOfNoTools(t *testing.T) {
	t.Parallel()
	t.Run("M4 a server without tools can be answered for; what comes later is new", func(t *testing.T) {
		t.Parallel()
		s := reachedBy(t, t.TempDir(), nil, func(*Server) {})
		settled(t, s.h, PinAnswer{Said: "ask"})
		s.now(plainTool("a"))
		s.want("*a")
	})
	t.Run("M4 and left out", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := reachedBy(t, dir, nil, func(*Server) {})
		other := reachedBy(t, dir, nil, func(*Server) {})
		settled(t, s.h, PinAnswer{Said: "out", Whole: true})
		is := other.h.server("s")
		if is.repin(t.Context()); is.pinsChanged(nil) || is.pins.kept.Answer == nil {
			t.Errorf("got %+v, want that it is known, and looked at once", is.pins.kept)
		}
		s.now(plainTool("a"))
		s.want("-a")
	})
	t.Run("M4 the first tools of one that had none are accepted, while nobody has answered", func(t *testing.T) {
		t.Parallel()
		s := reachedBy(t, t.TempDir(), nil, func(*Server) {})
		s.now(plainTool("a"))
		s.want("+a")
		s.now(plainTool("a"), plainTool("b"))
		s.want("+a *b")
		s.now()
		s.now(plainTool("c"))
		s.want("*c")
	})
}

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
		{"another folder", Server{Command: []string{"npx", "a"}, Dir: "/a"}, Server{Command: []string{"npx", "a"}, Dir: "/b"}, true},
	} {
		t.Run("M4 "+tt.name+" has neither the answer nor the rules", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			reached := func(as Server, defs ...string) *shifting {
				return reachedBy(t, dir, nil, func(s *Server) { s.Command, s.Dir, s.URL = as.Command, as.Dir, as.URL }, defs...)
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
			asked := Server{Name: "s", Command: tt.two.Command, Dir: tt.two.Dir, URL: tt.two.URL}
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

package mcptool

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	// begin has the server seen with the tools a and b.
	begin := func(t *testing.T) (*shifting, *Pins, *policy.Memory) {
		t.Helper()
		dir, inbox := filepath.Join(t.TempDir(), "pins"), new(policy.Memory)
		s := pinnedServer(t, dir, inbox, plainTool("a"), plainTool("b"))
		start(t, s.h)
		s.want("+a +b")
		return s, &Pins{Dir: dir}, inbox
	}
	shown := func(t *testing.T, p *Pins) Pinned {
		t.Helper()
		known, err := p.Of("s")
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	refused := func(t *testing.T, p *Pins, known Pinned, want string, accept ...string) {
		t.Helper()
		before := shown(t, p)
		if err := p.Settle(known, PinAnswer{Said: "ask", By: "eve", At: at.Add(time.Hour)}, accept...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if after := shown(t, p); !after.Answer.same(before.Answer) || after.Tools[0].State != before.Tools[0].State {
			t.Errorf("got %+v, want that nothing was noted", after)
		}
	}
	t.Run("T5 a tool that is left out is not offered, however it changes, and nothing is asked", func(t *testing.T) {
		t.Parallel()
		s, p, inbox := begin(t)
		if err := p.Settle(shown(t, p), PinAnswer{Said: "out", By: "ada", At: at, Out: []string{"b"}}); err != nil {
			t.Fatal(err)
		}
		s.becomes("+a -b")
		if why := s.why("b"); why != "ada has left it out (to answer anew: ferrule trust s)" {
			t.Errorf("got %q", why)
		}
		s.now(plainTool("a"), saysThat("b", "Something else."), plainTool("c"))
		s.want("+a -b *c")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none", n)
		}
		known := shown(t, p)
		if b := known.Tools[1]; b.State != PinBlocked || b.Waits() || known.Answer == nil || known.Answer.Said != "out" {
			t.Errorf("got %+v, %+v, want that it is blocked, and does not wait", known.Answer, b)
		}
		if err := p.Settle(known, PinAnswer{Said: "ask", By: "ada", At: at}); err != nil {
			t.Fatal(err)
		}
		s.becomes("+a -b *c")
		if b := shown(t, p).Tools[1]; b.State != PinChanged || !b.Waits() {
			t.Errorf("got %+v, want that it has changed, which nobody has accepted", b)
		}
	})
	t.Run("T5 a server that is left out offers nothing, also not what comes later", func(t *testing.T) {
		t.Parallel()
		s, p, inbox := begin(t)
		if err := p.Settle(shown(t, p), PinAnswer{Said: "out", By: "ada", At: at, Whole: true}); err != nil {
			t.Fatal(err)
		}
		s.becomes("-a -b")
		s.now(plainTool("a"), saysThat("b", "Something else."), plainTool("c"))
		s.want("-a -b -c")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none", n)
		}
	})
	t.Run("T5 what waits is accepted by name, as it was shown", func(t *testing.T) {
		t.Parallel()
		s, p, _ := begin(t)
		s.now(saysThat("a", "One."), saysThat("b", "Two."))
		s.want("-a -b")
		if err := p.Settle(shown(t, p), PinAnswer{Said: "these", By: "ada", At: at}, "a"); err != nil {
			t.Fatal(err)
		}
		s.becomes("+a -b")
		if a := shown(t, p).Tools[0]; a.By != "ada" || a.State != PinAccepted {
			t.Errorf("got %+v, want that ada has accepted it", a)
		}
	})
	t.Run("T5 a tool that has changed since it was shown refuses the answer", func(t *testing.T) {
		t.Parallel()
		s, p, _ := begin(t)
		known := shown(t, p)
		s.now(plainTool("a"), saysThat("b", "Something else."))
		refused(t, p, known, `tool "b" is not what was shown any more`)
	})
	t.Run("T5 and so does one that has come, or gone", func(t *testing.T) {
		t.Parallel()
		s, p, _ := begin(t)
		known := shown(t, p)
		s.now(plainTool("a"), plainTool("b"), plainTool("c"))
		refused(t, p, known, `tool "c" is not what was shown any more`)
		known = shown(t, p)
		s.now(plainTool("a"), plainTool("b"))
		refused(t, p, known, `tool "c" is not there any more`)
	})
	t.Run("T5 of two answers to what was shown one counts", func(t *testing.T) {
		t.Parallel()
		_, p, _ := begin(t)
		known := shown(t, p)
		if err := p.Settle(known, PinAnswer{Said: "reads", By: "ada", At: at}); err != nil {
			t.Fatal(err)
		}
		refused(t, p, known, "somebody else has answered for it meanwhile")
	})
	t.Run("T5 nobody answers for what was never seen, or without a name", func(t *testing.T) {
		t.Parallel()
		_, p, _ := begin(t)
		refused(t, p, Pinned{Server: "t"}, `server "t" was never seen`)
		refused(t, p, shown(t, p), `server s has no tool "a" that waits`, "a")
		if err := p.Settle(shown(t, p), PinAnswer{Said: "ask"}); err == nil {
			t.Error("got no error, want that a name is missing")
		}
	})
}

func TestOthers(t *testing.T) {
	t.Parallel()
	t.Run("M4 the prefix of a server that is not connected to is imitated all the same", func(t *testing.T) {
		t.Parallel()
		s := pinnedServer(t, t.TempDir(), new(policy.Memory), plainTool("a"), plainTool("bank__pay"))
		s.h.Others = []string{"s", "bank"}
		start(t, s.h)
		s.want("+a -bank__pay")
	})
	tests := []struct {
		name, other, others string // a server that was seen before, and its tool
		bare                bool
		server, tool        string // one that is connected to alone
		want                string // what is said of it
	}{
		{"M4 who looks at one server alone sees that it imitates a bare name of another", "bank", "delete", true, "s", "de1ete", "looks like that of another tool: delete of server bank"},
		{"M4 a name with a prefix is not imitated by a bare one", "bank", "delete", false, "s", "de1ete", ""},
		{"M4 nor is the same bare name an imitation", "bank", "delete", true, "s", "delete", ""},
		{"M4 a server whose own name is like that of another imitates its tools", "bank1", "pay", false, "bankl", "pay", "looks like that of another tool: bank1__pay of server bank1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			seen := func(server, name string, bare bool) []Quarantined {
				h := hubOf(t, map[string]*testServer{server: {methods: map[string]method{"tools/list": lists(plainTool(name))}}})
				h.Servers[0].Unprefixed, h.Pins, h.Others = bare, dir, []string{tt.other, tt.server}
				if tt.bare {
					h.OthersBare = []string{tt.other}
				}
				start(t, h)
				return h.Status()[0].Quarantined
			}
			if q := seen(tt.other, tt.others, tt.bare); len(q) != 0 {
				t.Fatalf("got %+v, want it offered", q)
			}
			q := seen(tt.server, tt.tool, tt.server == "s")
			if tt.want == "" && len(q) != 0 || tt.want != "" && (len(q) != 1 || !strings.Contains(q[0].Why, tt.want)) {
				t.Errorf("got %+v, want %q", q, tt.want)
			}
		})
	}
}

package mcptool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestPinAnswer(t *testing.T) {
	// asked is a server with a question about a tool, which nobody is connected to.
	asked := func(t *testing.T) (*Pins, *policy.Memory, policy.Question) {
		t.Helper()
		dir, inbox := t.TempDir(), new(policy.Memory)
		s := pinnedServer(t, dir, inbox, saysThat("a", "1"), plainTool("b"))
		start(t, s.h)
		s.now(saysThat("a", "2"), plainTool("b"))
		closeHub(t, s.h)
		all := open(t, inbox)
		if len(all) != 1 {
			t.Fatalf("got %+v, want one question", all)
		}
		return &Pins{Dir: dir}, inbox, all[0]
	}
	state := func(t *testing.T, p *Pins) Pin {
		t.Helper()
		known, err := p.Of("s")
		if err != nil || len(known.Tools) != 2 {
			t.Fatalf("got %+v, %v, want two tools", known, err)
		}
		return known.Tools[0]
	}
	t.Run("M4 a yes accepts at once", func(t *testing.T) {
		t.Parallel()
		p, inbox, q := asked(t)
		if about, err := p.Answer(t.Context(), inbox, q, policy.Answer{Allow: true, By: "ada"}); !about || err != nil {
			t.Fatalf("got %v, %v, want it answered", about, err)
		}
		if a := state(t, p); a.State != PinAccepted || a.By != "ada" {
			t.Errorf("got %+v, want it accepted by ada", a)
		}
	})
	t.Run("M4 a no leaves out at once", func(t *testing.T) {
		t.Parallel()
		p, inbox, q := asked(t)
		if about, err := p.Answer(t.Context(), inbox, q, policy.Answer{By: "ada"}); !about || err != nil {
			t.Fatalf("got %v, %v, want it answered", about, err)
		}
		if a := state(t, p); a.State != PinChanged || a.Rejected != "ada" {
			t.Errorf("got %+v, want it rejected by ada", a)
		}
	})
	t.Run("M4 what cannot be accepted is refused, and still asked", func(t *testing.T) {
		t.Parallel()
		p, inbox, q := asked(t)
		if _, err := p.Answer(t.Context(), inbox, q, policy.Answer{Allow: true, Input: json.RawMessage(`{}`)}); err == nil || len(open(t, inbox)) != 1 {
			t.Errorf("got %v, want edited arguments refused", err)
		}
		if n, err := p.Withdraw(t.Context(), inbox, "s"); n != 0 || err != nil {
			t.Errorf("got %d, %v, want none withdrawn: it is about something", n, err)
		}
	})
	t.Run("M4 what was answered elsewhere is withdrawn, and not told as taken", func(t *testing.T) {
		t.Parallel()
		p, inbox, q := asked(t)
		shown, err := p.Of("s")
		if err == nil {
			err = p.Reject(shown, "bob")
		}
		if err != nil {
			t.Fatal(err)
		}
		about, err := p.Answer(t.Context(), inbox, q, policy.Answer{Allow: true, By: "ada"})
		if !about || err == nil || !strings.Contains(err.Error(), "it is withdrawn") || len(open(t, inbox)) != 0 {
			t.Errorf("got %v, %v and %+v, want it withdrawn", about, err, open(t, inbox))
		}
		if a := state(t, p); a.Rejected != "bob" {
			t.Errorf("got %+v, want bob's answer", a)
		}
	})
	t.Run("M4 a question about a call is another's", func(t *testing.T) {
		t.Parallel()
		p, inbox, q := asked(t)
		q.Tool = "s__a"
		if about, err := p.Answer(t.Context(), inbox, q, policy.Answer{Allow: true}); about || err != nil || len(open(t, inbox)) != 1 || p.Asks(q) != nil {
			t.Errorf("got %v, %v, want it left alone", about, err)
		}
	})
}

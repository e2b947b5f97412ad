package mcptool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestRejected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		bad    []string // what is rejected
		middle []string // what the server lists between
		want   string
	}{
		{"a tool that is gone and comes back", []string{plainTool("b"), plainTool("evil")}, []string{plainTool("b")}, "+b -evil"},
		{"a change that is taken back and made again", []string{saysThat("b", "evil")}, []string{plainTool("b")}, "-b"},
		{"a change that changes and is made again", []string{saysThat("b", "evil")}, []string{saysThat("b", "worse")}, "-b"},
		{"a changed tool that is gone and comes back", []string{saysThat("b", "evil")}, nil, "-b"},
		{"what hides something", []string{plainTool("b"), saysThat("evil", "x\u200b")}, []string{plainTool("b")}, "+b -evil"},
	} {
		t.Run("M4 stays rejected: "+tt.name, func(t *testing.T) {
			inbox := new(policy.Memory)
			s := pinnedServer(t, t.TempDir(), inbox, plainTool("b"))
			start(t, s.h)
			p := &Pins{Dir: s.h.Pins}
			s.now(tt.bad...)
			shown, err := p.Of("s")
			if err == nil {
				err = p.Reject(shown, "ada")
			}
			if err != nil {
				t.Fatal(err)
			}
			s.becomes(tt.want)
			s.now(tt.middle...)
			s.now(tt.bad...)
			s.want(tt.want)
			if all := open(t, inbox); len(all) != 0 {
				t.Errorf("got the question %q, want none about what was rejected", all[0].Preview)
			}
			if shown, err = p.Of("s"); err != nil || len(shown.Waiting()) != 0 {
				t.Errorf("got %+v, %v, want nothing that waits", shown.Waiting(), err)
			}
			if err := p.Accept(shown, "bob"); err != nil { // what was rejected too
				t.Fatal(err)
			}
			s.becomes(strings.ReplaceAll(tt.want, "-", "+"))
			s.now(tt.middle...)
			s.now(tt.bad...)
			if got := s.stands(); strings.Contains(got, "evil") && !strings.Contains(got, "+evil") {
				t.Errorf("got %q, want what was accepted after all", got)
			}
		})
	}
	t.Run("M4 who follows a server does not follow it to what was rejected", func(t *testing.T) {
		dir := t.TempDir()
		s := pinnedServer(t, dir, nil, saysThat("a", "1"))
		start(t, s.h)
		s.now(saysThat("a", "evil"))
		p := &Pins{Dir: dir}
		shown, err := p.Of("s")
		if err == nil {
			err = p.Reject(shown, "ada")
		}
		if err != nil {
			t.Fatal(err)
		}
		s.now(saysThat("a", "1"))
		closeHub(t, s.h)
		again := pinnedServer(t, dir, nil, saysThat("a", "evil"))
		again.h.Servers[0].Trust, again.h.Servers[0].Follow = tool.Own, true
		start(t, again.h)
		again.want("-a")
		again.now(saysThat("a", "2"))
		again.want("+a")
	})
	t.Run("M4 what was rejected is bounded, and the oldest goes", func(t *testing.T) {
		f := &pinFile{}
		for i := range maxRefused + 5 {
			f.Refused = append(f.Refused, pinRefusal{"a", fmt.Sprint(i), "ada"})
		}
		f.refuse(map[string]string{"a": "last"}, "ada", true)
		by := f.refusals()
		if len(f.Refused) != maxRefused || by("a", "0") != "" || by("a", "last") != "ada" {
			t.Errorf("got %d, want %d with the last", len(f.Refused), maxRefused)
		}
		if f.refuse(map[string]string{"a": "last"}, "bob", false); len(f.Refused) != maxRefused-1 || f.refusals()("a", "last") != "" {
			t.Error("got it rejected after it was accepted")
		}
	})
}

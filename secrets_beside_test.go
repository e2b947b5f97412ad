package ferrule_test

import (
	"slices"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestScrubBesideResults(t *testing.T) {
	t.Parallel()
	const value = `pa"ss\word-0123456789`
	var told []string
	session := func(rt *ferrule.Runtime) *ferrule.Session {
		rt.Observe = func(e audit.Event) {
			if e.Kind == audit.Scrubbed {
				told = append(told, e.Session+" "+e.Text)
			}
		}
		return rt.Session(tool.Caller{Session: "s"})
	}
	s := session(&ferrule.Runtime{Secrets: liveVault(t, value)})
	for _, tt := range []struct{ rule, text, want string }{
		{"K3 a text", "it is " + value + ".", "it is [secret s0]."},
		{"K3 JSON stays JSON", `{"text":"it is pa\"ss\\word-0123456789."}`, `{"text":"it is [secret s0]."}`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			told = nil
			if got := string(s.Scrub([]byte(tt.text))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if !slices.Equal(told, []string{"s s0"}) {
				t.Errorf("the observer was told %q", told)
			}
		})
	}
	t.Run("K3 what holds none is the same slice", func(t *testing.T) {
		told = nil
		for _, s := range []*ferrule.Session{s, session(&ferrule.Runtime{Secrets: vaultOf(t, value)}), session(new(ferrule.Runtime))} {
			text := []byte("nothing in it")
			if got := s.Scrub(text); &got[0] != &text[0] || len(got) != len(text) {
				t.Errorf("got another: %q", got)
			}
			if s.Scrub(nil) != nil {
				t.Error("nothing became something")
			}
		}
		if told != nil {
			t.Errorf("the observer was told %q", told)
		}
	})
	t.Run("K3 a value that was not given out is not known", func(t *testing.T) {
		if got := string(session(&ferrule.Runtime{Secrets: vaultOf(t, value)}).Scrub([]byte(value))); got != value {
			t.Errorf("got %q", got)
		}
	})
}

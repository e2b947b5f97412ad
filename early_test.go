package ferrule_test

import (
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// A call that waits behind a wall could be asked about before its turn comes,
// but nobody is asked what is answered already.
func TestAskedEarlyOnlyIfAtAll(t *testing.T) {
	t.Parallel()
	for _, ledger := range []bool{false, true} {
		office := func(t *testing.T) (*booth, *ferrule.Session) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			if ledger {
				rt.Ledger = b.inbox
			}
			b.addWall()
			b.add("send", func(s *letterSpec) { s.Claims.Reversible = true })
			return b, rt.Session(tool.Caller{Session: "s"})
		}
		kept := map[bool]string{false: "", true: ", kept in a ledger"}[ledger]
		for _, tt := range []struct {
			name  string
			mode  policy.Mode
			rule  bool
			asked string
		}{
			{name: "L9 a call is asked about before its turn comes", asked: `send {"to":"bob"}`},
			{name: "L9 not if a yes that lasts answers", rule: true},
			{name: "L9 not if the mode answers: observe", mode: policy.ModeObserve},
			{name: "L9 not if the mode answers: auto", mode: policy.ModeAuto},
			{name: "L9 not if nothing runs", mode: policy.ModeDryRun},
		} {
			t.Run(tt.name+kept, func(t *testing.T) {
				unhurried(t, func(t *testing.T) {
					b, s := office(t)
					ran, walled, sent := "wall, send bob", "an hour later", "sent to bob"
					if tt.rule {
						p := b.start(post("send", "ann"))
						b.reply(b.only(), policy.Answer{Allow: true, Rule: "send"})
						p.wait()
						ran = "send ann, " + ran
					}
					if tt.mode == policy.ModeDryRun {
						ran, walled, sent = "", "Dry run: wall was not run.", "Dry run: send was not run."
					}
					if err := s.SetMode(t.Context(), tt.mode); err != nil {
						t.Fatal(err)
					}
					p := b.start(post("wall", ""), post("send", "bob"))
					if got := b.shown(); got != tt.asked {
						t.Errorf("asked %q while the first call runs, want %q", got, tt.asked)
					}
					for _, q := range b.open() {
						b.yes(q)
					}
					b.want(p.wait(), ran, walled, sent)
				})
			})
		}
		t.Run("P10 a question that was put early is taken back when the mode answers it"+kept, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b, s := office(t)
				p := b.start(post("wall", ""), post("send", "bob"))
				q := b.only()
				if err := s.SetMode(t.Context(), policy.ModeObserve); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour)
				b.want(p.wait(), "wall, send bob", "an hour later", "sent to bob")
				if err := b.inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err == nil || b.shown() != "" {
					t.Errorf("it could still be answered; open: %s", b.shown())
				}
			})
		})
	}
}

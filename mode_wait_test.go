package ferrule_test

import (
	"context"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Nobody who says yes to a call says anything about the mode that its session
// has been put in since.
func TestModeWhileWaiting(t *testing.T) {
	t.Parallel()
	const (
		reads = "denied: Only calls that read may run now."
		dry   = "Dry run: send was not run."
	)
	tests := []struct {
		name  string
		modes []policy.Mode
		want  string
		ran   string
	}{
		{"P10 read: a call that waits for a person does not run when the yes comes", []policy.Mode{policy.ModeRead}, reads, ""},
		{"P10 dry-run: a call that waits for a person does not run when the yes comes", []policy.Mode{policy.ModeDryRun}, dry, ""},
		{"P10 read, then dry-run: it is the last mode that counts", []policy.Mode{policy.ModeRead, policy.ModeDryRun}, dry, ""},
		{"P10 dry-run, then read: it is the last mode that counts", []policy.Mode{policy.ModeDryRun, policy.ModeRead}, reads, ""},
		{"P10 read, then ask again: the yes counts", []policy.Mode{policy.ModeRead, policy.ModeAsk}, "sent to bob", "send bob"},
	}
	for _, ledger := range []bool{false, true} {
		office := func(t *testing.T) *booth {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			if ledger {
				rt.Ledger = b.inbox
			}
			b.add("send", nil)
			return b
		}
		set := func(b *booth, modes []policy.Mode) {
			b.t.Helper()
			for _, m := range modes {
				if err := b.rt.Session(tool.Caller{Session: "s"}).SetMode(b.t.Context(), m); err != nil {
					b.t.Fatal(err)
				}
			}
		}
		kept := map[bool]string{false: "", true: ", kept in a ledger"}[ledger]
		for _, tt := range tests {
			t.Run(tt.name+kept, func(t *testing.T) {
				unhurried(t, func(t *testing.T) {
					b := office(t)
					p := b.start(post("send", "bob"))
					q := b.only()
					set(b, tt.modes)
					b.yes(q)
					b.want(p.wait(), tt.ran, tt.want)
				})
			})
			t.Run(tt.name+", in a turn that was handed back"+kept, func(t *testing.T) {
				unhurried(t, func(t *testing.T) {
					b := office(t)
					n, res := goesOn(t, b.view(), 0, post("send", "bob"))
					b.want(res, "", "suspended: …")
					set(b, tt.modes)
					b.yes(b.only())
					_, res = goesOn(t, b.view(), n, post("send", "bob"))
					b.want(res, tt.ran, tt.want)
				})
			})
		}
	}
}

func TestDryRunRunsNothing(t *testing.T) {
	t.Parallel()
	t.Run("P10 dry-run: what wraps running does not run either", func(t *testing.T) {
		var seen, wrapped int
		d, runs := counted(writerTool("drop"))
		rt := &ferrule.Runtime{Mode: policy.ModeDryRun, Hooks: []ferrule.Hook{{
			Name: "cache",
			Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
				seen++
				return ferrule.Change{}, nil
			},
			Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
				wrapped++
				return next(ctx)
			},
		}}}
		res := callOne(t, rt, d, "{}")
		if res.Err != nil || res.String() != "Dry run: drop was not run." || runs.Load() != 0 {
			t.Errorf("got %q, %v, ran %d times", res, res.Err, runs.Load())
		}
		if seen != 1 || wrapped != 0 {
			t.Errorf("Input ran %d times, Around %d times, want 1 and 0", seen, wrapped)
		}
	})
	t.Run("P10 dry-run: nothing is handed back, because nobody is asked", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Mode: policy.ModeDryRun})
			b.add("send", func(s *letterSpec) { s.Approval = tool.AskAlways })
			b.add("next", nil)
			_, res := goesOn(t, b.view(), 0, post("send", "bob"), post("next", "eve"))
			b.want(res, "", "Dry run: send was not run.", "Dry run: next was not run.")
			if got := b.shown(); got != "" {
				t.Errorf("asked: %s", got)
			}
		})
	})
	t.Run("P10 dry-run: what a tool wanted to know and was told does not let it run", func(t *testing.T) {
		kept := new(policy.Memory)
		p := begins(t, kept, func(rt *ferrule.Runtime, d *tool.Tool) {
			asksWhom(rt, d)
			rt.Policy = allowAll
		})
		n, res := p.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		p.setMode(t, policy.ModeDryRun)
		say(t, kept, policy.Answer{Allow: true, Text: "bob"})
		before := p.runs.Load()
		if _, res = p.turn(t, n, sending("a")); res[0].Err != nil || res[0].String() != "Dry run: send was not run." || p.runs.Load() != before {
			t.Errorf("got %q, %v, ran %d times more", res[0], res[0].Err, p.runs.Load()-before)
		}
	})
}

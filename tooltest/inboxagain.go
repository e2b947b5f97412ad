package tooltest

import (
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// madeAgain: who makes a call again finds the questions about it, and only those that
// have an answer to give.
func (in inbox) madeAgain() {
	in.wantAgain("empty")
	now := time.Now()
	for _, q := range []struct {
		id     string
		digest string
		age    time.Duration
		turn   bool // it belongs to a turn
	}{
		{"new", "d", 0, false},
		{"old", "d", time.Hour, false},
		{"middle", "d", time.Minute, false},
		{"second", "d", time.Minute, false},
		{"turn", "d", time.Minute, true},
		{"other", "e", time.Minute, false},
		{"used", "d", time.Minute, false},
		{"rejected", "d", time.Minute, false},
		{"withdrawn", "d", time.Minute, false},
	} {
		in.ask(policy.Question{ID: q.id, Digest: q.digest, Again: !q.turn, Tool: "send", Asked: now.Add(-q.age), Expires: now.Add(time.Hour)})
	}
	over := expiredOne("over")
	over.Digest, over.Again = "d", true
	in.ask(over)
	in.answer("used", policy.Answer{Allow: true})
	in.answer("rejected", policy.Answer{})
	for _, id := range []string{"used", "rejected"} {
		if _, err := in.Use(in.Context(), id, "d"); err != nil {
			in.Errorf("Use(%q): %v", id, err)
		}
	}
	in.answer("withdrawn", policy.Answer{Withdrawn: true})
	in.wantAgain("by the time of asking, then of arrival", "old", "middle", "second", "new")
	in.answer("new", policy.Answer{Allow: true})
	in.answer("second", policy.Answer{})
	in.wantAgain("those with an answer first", "second", "new", "old", "middle")
	all, err := in.Again(in.Context(), "d")
	if err != nil || len(all) == 0 || all[0].Tool != "send" || !all[0].Again {
		in.Errorf("Again = %+v, %v, want the whole question", all, err)
	}
}

func (in inbox) wantAgain(when string, want ...string) {
	in.Helper()
	all, err := in.Again(in.Context(), "d")
	var got []string
	for _, q := range all {
		got = append(got, q.ID)
	}
	if err != nil || !slices.Equal(got, want) {
		in.Errorf("Again, %s: got %q, %v, want %q", when, got, err, want)
	}
}

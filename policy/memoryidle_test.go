package policy_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestMemoryUnused(t *testing.T) {
	const day = 24 * time.Hour
	of := func(session string) policy.Asker { return policy.Asker{Principal: "ada", Session: session} }
	// turns is how many turns a session has had; a new one has had none.
	turns := func(t *testing.T, m *policy.Memory, session string) int {
		t.Helper()
		s, err := m.Update(t.Context(), of(session), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.Turns
	}
	take := func(t *testing.T, m *policy.Memory, key string, per time.Duration) bool {
		t.Helper()
		full, _, err := m.Take(t.Context(), []policy.Charge{{Key: key, Calls: 1, Per: per}})
		if err != nil {
			t.Fatal(err)
		}
		return full == -1
	}
	rules := func(t *testing.T, m *policy.Memory) (list []string) {
		t.Helper()
		all, err := m.Grants(t.Context(), policy.Asker{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range all {
			list = append(list, g.Caller.Session)
		}
		return list
	}
	t.Run("P10 sessions, their grants and budgets are forgotten when nobody asks for them in 90 days", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := new(policy.Memory)
			for _, session := range []string{"dead", "live"} {
				if _, err := m.Update(t.Context(), of(session), func(s *policy.SessionState) error { s.Turns = 7; return nil }); err != nil {
					t.Fatal(err)
				}
				take(t, m, session, 0)
			}
			take(t, m, "yearly", 365*day)
			for _, session := range []string{"dead", "live", "", "nowhere"} {
				if _, err := m.Grant(t.Context(), policy.Grant{Rule: "send", Caller: of(session)}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				time.Sleep(45 * day)
				if got := turns(t, m, "live"); got != 7 {
					t.Errorf("a session in use: got %d turns, want 7", got)
				}
				if take(t, m, "live", 0) {
					t.Error("a budget that is asked for: got room, want it to be used up")
				}
				if got := rules(t, m); len(got) != 4 {
					t.Errorf("within 90 days: got the rules of %q, want all", got)
				}
			}
			time.Sleep(2 * time.Minute)
			if take(t, m, "live", 0) || take(t, m, "yearly", 365*day) {
				t.Error("got room, want those in use to be used up")
			}
			if got := rules(t, m); len(got) != 2 || got[0] != "live" || got[1] != "" {
				t.Errorf("after 90 days: got the rules of %q, want those of live and of the principal", got)
			}
			if got := turns(t, m, "dead"); got != 0 {
				t.Errorf("a session that nobody asked for: got %d turns, want a new one", got)
			}
			if !take(t, m, "dead", 0) {
				t.Error("a budget that nobody asked for: got no room, want a new one")
			}
		})
	})
	t.Run("P5 a question without an end is forgotten 90 days after it was asked or answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := new(policy.Memory)
			for _, id := range []string{"open", "answered"} {
				if err := m.Ask(t.Context(), policy.Question{ID: id, Digest: "digest of " + id}); err != nil {
					t.Fatal(err)
				}
			}
			ask(t, m, "far", 200*day)
			find := func(id string, want error) {
				t.Helper()
				ask(t, m, "at "+time.Now().String(), time.Minute) // sweeps
				if _, err := m.Find(t.Context(), id); !errors.Is(err, want) {
					t.Errorf("%s: got %v, want %v", id, err, want)
				}
			}
			time.Sleep(89 * day)
			find("open", nil)
			answer(t, m, "answered", "ada")
			time.Sleep(2 * day)
			find("open", policy.ErrNotAsked)
			find("answered", nil)
			find("far", nil)
			time.Sleep(89 * day)
			find("answered", policy.ErrNotAsked)
			find("far", nil)
		})
	})
}

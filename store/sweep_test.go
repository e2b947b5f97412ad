package store_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

const day = 24 * time.Hour

// wantKept wants what is in the tables, each by its name.
func wantKept(t *testing.T, s *store.Store, when string, want map[string]string) {
	t.Helper()
	for table, column := range map[string]string{"sessions": "session", "grants": "session", "counters": "key", "questions": "id", "answers": "id"} {
		got, err := s.RawText(t.Context(), "SELECT coalesce(group_concat(name), '') FROM (SELECT "+column+" AS name FROM "+table+" ORDER BY 1)")
		if err != nil || got != want[table] {
			t.Errorf("%s: %s: got %q, %v, want %q", when, table, got, err, want[table])
		}
	}
}

func TestStoreUnused(t *testing.T) {
	t.Parallel()
	of := func(session string) policy.Asker { return policy.Asker{Principal: "ada", Session: session} }
	look := func(t *testing.T, s *store.Store, session string) {
		t.Helper()
		if _, err := s.Update(t.Context(), of(session), nil); err != nil {
			t.Fatal(err)
		}
	}
	take := func(t *testing.T, s *store.Store, by ...policy.Charge) int {
		t.Helper()
		full, _, err := s.Take(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		return full
	}
	grant := func(t *testing.T, s *store.Store, session string, made time.Time) {
		t.Helper()
		if _, err := s.Grant(t.Context(), policy.Grant{Rule: "send", Caller: of(session), Made: made}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("P10 what nobody asks for is forgotten after 90 days, what somebody uses is not", func(t *testing.T) {
		t.Parallel()
		s, c := openAt(t, newPath(t))
		for _, session := range []string{"dead", "live"} {
			look(t, s, session)
			grant(t, s, session, c.read())
			take(t, s, policy.Charge{Key: session, Calls: 2})
		}
		grant(t, s, "", c.read())           // of the principal
		grant(t, s, "nowhere", time.Time{}) // of a session that never began
		ask(t, s, "open", c.read(), 0)      // without an end
		ask(t, s, "answered", c.read(), 0)  // and this one
		ask(t, s, "far", c.read(), 300*day) // has one
		yearly := policy.Charge{Key: "yearly", Calls: 1, Per: 365 * day}
		take(t, s, yearly)
		all := map[string]string{
			"sessions": "dead,live", "grants": ",dead,live,nowhere", "counters": "dead,live,yearly", "questions": "answered,far,open",
		}
		c.move(45 * day)
		answer(t, s, "answered")
		all["answers"] = "answered"
		look(t, s, "live")
		take(t, s, policy.Charge{Key: "live", Calls: 2})
		c.move(45*day - time.Minute)
		take(t, s) // sweeps
		wantKept(t, s, "within 90 days", all)
		c.move(2 * time.Minute)
		take(t, s)
		wantKept(t, s, "after 90 days", map[string]string{
			"sessions": "live", "grants": ",live", "counters": "live,yearly", "questions": "answered,far", "answers": "answered",
		})
		use(t, s, "answered")
		if full := take(t, s, policy.Charge{Key: "live", Calls: 2}); full != 0 { // and is noted
			t.Errorf("a budget in use: got %d, want it to be used up", full)
		}
		c.move(60 * day)
		take(t, s, policy.Charge{Key: "live", Calls: 2})
		c.move(60 * day)
		if full := take(t, s, policy.Charge{Key: "live", Calls: 2}); full != 0 {
			t.Errorf("a budget that is asked for: got %d, want it to be used up", full)
		}
		wantKept(t, s, "after 210 days", map[string]string{"grants": "", "counters": "live,yearly", "questions": "far"})
		c.move(20 * 365 * day)
		take(t, s)
		wantKept(t, s, "after 20 years", map[string]string{"grants": ""})
		if got, err := s.RawText(t.Context(), "SELECT count(*) FROM grants"); err != nil || got != "1" {
			t.Errorf("the rule of the principal: got %q, %v, want 1", got, err)
		}
	})
	t.Run("P10 a session that is only looked at stays", func(t *testing.T) {
		t.Parallel()
		s, c := openAt(t, newPath(t))
		if _, err := s.Update(t.Context(), of("s"), func(s *policy.SessionState) error { s.Turns = 7; return nil }); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			c.move(80 * day)
			take(t, s)
			if state, err := s.Update(t.Context(), of("s"), nil); err != nil || state.Turns != 7 {
				t.Fatalf("got %+v, %v, want it as it was", state, err)
			}
		}
	})
	t.Run("P5 a question that expires at the end of time is not over before", func(t *testing.T) {
		t.Parallel()
		s, c := openAt(t, newPath(t))
		late := policy.Question{ID: "late", Digest: "digest of late", Asked: c.read(), Expires: time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)}
		if err := s.Ask(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		late.ID, late.Expires = "later", late.Expires.Add(2*time.Hour)
		if err := s.Ask(t.Context(), late); err == nil || !strings.Contains(err.Error(), "the year 10000, want 9999 or earlier") {
			t.Errorf("got %v, want it to be refused", err)
		}
		for range 3 {
			c.move(100 * 365 * day)
			ask(t, s, c.read().String(), c.read(), time.Hour) // sweeps
		}
		if list, err := s.Pending(t.Context()); err != nil || !slices.ContainsFunc(list, func(q policy.Question) bool { return q.ID == "late" }) {
			t.Errorf("pending: got %+v, %v, want it to be among them", list, err)
		}
		answer(t, s, "late")
		use(t, s, "late")
		if _, err := s.Find(t.Context(), "late"); !errors.Is(err, policy.ErrUsed) {
			t.Errorf("got %v, want %v", err, policy.ErrUsed)
		}
	})
}

func TestStoreOverwrites(t *testing.T) {
	t.Parallel()
	const marker = "hunter2"
	count := func(t *testing.T, path string) int {
		t.Helper()
		n := 0
		for _, end := range []string{"", "-wal"} {
			text, err := os.ReadFile(path + end)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(text, []byte(marker))
		}
		return n
	}
	t.Run("P6 what is forgotten is neither in the file nor in its log", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, c := openAt(t, path)
		for _, id := range []string{"expires", "used", "withdrawn"} {
			for _, size := range []int{1, 10_000} { // which is more than a page
				q := policy.Question{ID: id + string(rune('0'+size%7)), Digest: "d", Asked: c.read(), Expires: c.read().Add(time.Hour)}
				q.Input = `{"password":"` + strings.Repeat(marker, size) + `"}`
				if err := s.Ask(t.Context(), q); err != nil {
					t.Fatal(err)
				}
				if id == "expires" {
					continue
				}
				if err := s.Answer(t.Context(), q.ID, policy.Answer{Withdrawn: id == "withdrawn"}); err != nil {
					t.Fatal(err)
				}
				if id == "used" {
					if _, err := s.Use(t.Context(), q.ID, "d"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if count(t, path) == 0 {
			t.Fatal("it is not there before either")
		}
		c.move(31 * day)
		if _, _, err := s.Take(t.Context(), nil); err != nil { // sweeps
			t.Fatal(err)
		}
		if n := count(t, path); n != 0 {
			t.Errorf("it stands there %d times", n)
		}
	})
	t.Run("P6 somebody who reads does not keep it there for ever", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, c := openAt(t, path)
		other := open(t, path)
		ask(t, s, marker, c.read(), time.Hour)
		if err := other.Raw(t.Context(), "BEGIN"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.RawText(t.Context(), "SELECT count(*) FROM questions"); err != nil {
			t.Fatal(err)
		}
		c.move(2 * day)
		for _, reads := range []bool{true, false} {
			if !reads {
				if err := other.Raw(t.Context(), "ROLLBACK"); err != nil {
					t.Fatal(err)
				}
			}
			c.move(time.Hour)
			if _, _, err := s.Take(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if n := count(t, path); (n != 0) != reads {
				t.Errorf("somebody reads: %v: it stands there %d times", reads, n)
			}
		}
	})
}

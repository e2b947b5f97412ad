package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// people ask, answer, grant and revoke. Each is an error or all of it is done.
func people(t *testing.T, s *store.Store, id string) []error {
	t.Helper()
	who := policy.Asker{Principal: "bob", Tenant: "acme", Session: "s1"}
	q := policy.Question{ID: id, Tool: "send", Call: "a-" + id, Caller: who, Offers: []string{"send"}, Asked: time.Now()}
	if err := s.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	g := policy.Grant{Rule: "read(path: /" + id + "/**)", Caller: who, By: "ada", Made: time.Now()}
	_, granted := s.Grant(t.Context(), g)
	return []error{
		s.Answer(t.Context(), id, policy.Answer{Allow: true, By: "ada", Rule: "send", Second: true, Reason: "of course"}),
		granted, s.RevokeBy(t.Context(), g.Name(), "eve", "too wide"), s.Govern(t.Context(), "ada", "a rule in a file", who),
	}
}

func governed(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	for l, err := range s.Entries(t.Context(), store.Filter{Kind: audit.Governed}) {
		if err != nil {
			t.Fatal(err)
		}
		e := l.Entry
		all = append(all, fmt.Sprintf("%s %s %s %s %s: %s", e.Tenant, e.Principal, e.Session, e.ID, e.By, e.Text))
	}
	return all
}

func TestGoverned(t *testing.T) {
	t.Parallel()
	t.Run("U1 who changed what may run, and why", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		appended(t, s, "a", audit.Requested)
		if errs := people(t, s, "q1"); !slices.Equal(errs, make([]error, 4)) {
			t.Fatal(errs)
		}
		if _, err := s.Grant(t.Context(), policy.Grant{Rule: "send", Caller: policy.Asker{Principal: "bob", Tenant: "acme", Session: "s1"}, Second: true}); err != nil { // is there
			t.Fatal(err)
		}
		if err := s.Ask(t.Context(), policy.Question{ID: "q2", Asked: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := s.Answer(t.Context(), "q2", policy.Answer{Withdrawn: true, By: "ferrule"}); err != nil { // nobody said it
			t.Fatal(err)
		}
		id := policy.Grant{Rule: "read(path: /q1/**)", Caller: policy.Asker{Principal: "bob", Tenant: "acme", Session: "s1"}}.Name()
		want := []string{
			"acme bob s1  ada: made the rule " + id + ", read(path: /q1/**), of this session",
			"acme bob s1 a-q1 ada: allow, and in this session what fits send, with the second key: of course",
			"acme bob s1  eve: revoked the rule " + id + ", read(path: /q1/**), of this session: too wide",
			"acme bob s1  ada: a rule in a file",
		}
		if got := governed(t, s); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if report := verified(t, s, nil); len(report.Faults) > 0 || report.Rows != 5 {
			t.Errorf("got %+v, want 5 rows without faults", report)
		}
	})
	t.Run("U1 nothing is answered, kept or taken back that cannot be put on the record", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		appended(t, s, "a", audit.Requested)
		rule := policy.Grant{Rule: "keep", Made: time.Now()}
		if _, err := s.Grant(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
		rawly(t, s, `CREATE TRIGGER no BEFORE INSERT ON log BEGIN SELECT raise(ABORT, 'not now'); END`)
		for i, err := range append(people(t, s, "q1"), s.Revoke(t.Context(), rule.Name())) {
			if err == nil {
				t.Errorf("%d: got no error", i)
			}
		}
		waits, err := s.Pending(t.Context())
		rules, errs := s.Grants(t.Context(), policy.Asker{})
		if err != nil || errs != nil || len(waits) != 1 || len(rules) != 1 || rules[0].Rule != "keep" {
			t.Errorf("got %v, %v, %v, %v, want the question and the rule as they were", waits, err, rules, errs)
		}
		rawly(t, s, `DROP TRIGGER no`)
		if got := governed(t, s); len(got) != 1 {
			t.Errorf("got %q, want only what was done", got)
		}
		if err := s.Revoke(t.Context(), rule.Name()); err != nil {
			t.Error(err)
		}
	})
	t.Run("U1 a store that nobody logs to does not begin a log", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		if errs := people(t, s, "q1"); !slices.Equal(errs, make([]error, 4)) {
			t.Fatal(errs)
		}
		if got := governed(t, s); len(got) != 0 {
			t.Errorf("got %q, want none", got)
		}
	})
}

package store_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

func TestRegrant(t *testing.T) {
	t.Parallel()
	rule := func(name string) policy.Grant {
		g := policy.Grant{Rule: name, Caller: policy.Asker{Principal: "bob"}, Source: "bank", Pin: "sha256:" + name, By: "ada", Made: time.Now()}
		g.ID = g.Name()
		return g
	}
	t.Run("T5 rules take the place of others, and each is on the record", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		appended(t, s, "a", audit.Requested)
		a, b := rule("bank__a"), rule("bank__b")
		for _, step := range []struct {
			revoke []string
			give   []policy.Grant
			want   []string
		}{
			{nil, []policy.Grant{a}, []string{"bank__a"}},
			{[]string{a.ID, "r-nobody"}, []policy.Grant{b}, []string{"bank__b"}},
			{nil, []policy.Grant{b}, []string{"bank__b"}}, // it is there
			{[]string{b.ID}, nil, nil},
		} {
			if err := s.Regrant(t.Context(), step.revoke, step.give, "ada", "because"); err != nil {
				t.Fatal(err)
			}
			all, err := s.Grants(t.Context(), policy.Asker{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range all {
				if got = append(got, g.Rule); g.Pin != "sha256:"+g.Rule {
					t.Errorf("got the pin %q of %s", g.Pin, g.Rule)
				}
			}
			if !slices.Equal(got, step.want) {
				t.Errorf("got %q, want %q", got, step.want)
			}
		}
		if got := governed(t, s); len(got) != 4 || !strings.Contains(got[1], "ada: revoked the rule "+a.ID) || !strings.HasSuffix(got[1], ": because") {
			t.Errorf("got %q, want two rules made and taken back", got)
		}
	})
	t.Run("T5 all of it is done, or nothing", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		a := rule("bank__a")
		if err := s.Regrant(t.Context(), nil, []policy.Grant{a}, "ada", ""); err != nil {
			t.Fatal(err)
		}
		bad := rule("bank__b")
		bad.Pin = "\xff" // which could not be read again
		if err := s.Regrant(t.Context(), []string{a.ID}, []policy.Grant{rule("bank__c"), bad}, "ada", ""); err == nil {
			t.Error("got no error, want one")
		}
		all, err := s.Grants(t.Context(), policy.Asker{})
		if err != nil || len(all) != 1 || all[0].ID != a.ID {
			t.Errorf("got %v, %v, want what was there before", all, err)
		}
	})
}

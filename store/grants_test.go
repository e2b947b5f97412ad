package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// A store that was made before grants were looked up by their tool still finds each,
// and one of which the body is no JSON any more does not keep it from being opened.
func TestOldGrantsAreFoundByTheirTool(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ada := policy.Asker{Principal: "ada"}
	for _, g := range []policy.Grant{
		{Rule: "own", Caller: ada},
		{Rule: "mail", Caller: ada, Source: "mail"},
		{Rule: "quoted", Caller: ada, Source: `a"b\ü`, Pin: "p"},
		{Rule: "changed", Caller: policy.Asker{Principal: "bob"}, Source: "mail"},
	} {
		if _, err := s.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Raw(t.Context(), `DROP INDEX grants_about; ALTER TABLE grants DROP COLUMN source; ALTER TABLE grants DROP COLUMN pin;
		CREATE INDEX grants_for ON grants (tenant, principal); DROP INDEX log_tool; DROP INDEX log_session; DROP INDEX log_question; DROP INDEX calls_open; UPDATE grants SET body = 'x {' WHERE principal = 'bob'; PRAGMA user_version = 4`), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for about, want := range map[policy.Grant]string{{}: "own", {Source: "mail", Pin: "q"}: "mail", {Source: `a"b\ü`, Pin: "p"}: "quoted"} {
		list, err := s.Grants(t.Context(), ada, about)
		if err != nil || len(list) != 1 || list[0].Rule != want {
			t.Errorf("%+v: got %+v, %v, want %q", about, list, err, want)
		}
	}
	if list, err := s.Grants(t.Context(), policy.Asker{Principal: "bob"}); err == nil {
		t.Errorf("what was changed: got %+v, want an error", list)
	}
}

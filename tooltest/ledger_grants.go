package tooltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// keep keeps one and wants it to have its name.
func (l ledger) keep(g policy.Grant) string {
	l.Helper()
	id, err := l.Grant(l.Context(), g)
	if err != nil || id != g.Name() {
		l.Errorf("Grant(%+v) = %q, %v, want %q", g, id, err, g.Name())
	}
	return id
}

func (l ledger) rules(of policy.Asker) []string {
	l.Helper()
	all, err := l.Grants(l.Context(), of)
	if err != nil {
		l.Fatalf("Grants: %v", err)
	}
	var rules []string
	for _, g := range all {
		rules = append(rules, g.Rule)
	}
	return rules
}

func (l ledger) wantRules(of policy.Asker, want ...string) {
	l.Helper()
	if got := l.rules(of); !slices.Equal(got, want) {
		l.Errorf("Grants(%+v): got %q, want %q", of, got, want)
	}
}

func (l ledger) grant() {
	of := ada()
	of.Client, of.Agent, of.Run = "c", "a", "r"
	want := filled[policy.Grant](l.T)
	want.Caller = of
	want.ID = l.keep(want)
	for _, who := range []policy.Asker{{}, ada()} {
		all, err := l.Grants(l.Context(), who)
		if err != nil || len(all) != 1 {
			l.Fatalf("Grants: got %+v, %v", all, err)
		}
		got := all[0]
		if !got.Made.Equal(want.Made) {
			l.Errorf("made: got %s, want %s", got.Made, want.Made)
		}
		if got.Made = want.Made; !reflect.DeepEqual(got, want) {
			l.Errorf("got %+v\nwant %+v", got, want)
		}
		all[0].Rule = "*"
	}
}

func (l ledger) equal() {
	g := policy.Grant{Rule: "send", Caller: ada(), By: "eve", Made: time.Now()}
	first := l.keep(g)
	g.By, g.Made, g.Caller.Client = "mallory", g.Made.Add(time.Hour), "another"
	if again := l.keep(g); again != first {
		l.Errorf("got the id %q, want %q", again, first)
	}
	all, err := l.Grants(l.Context(), ada())
	if err != nil || len(all) != 1 || all[0].By != "eve" {
		l.Errorf("got %+v, %v, want the first", all, err)
	}
	for _, change := range []func(*policy.Grant){
		func(g *policy.Grant) { g.Rule = "send*" },
		func(g *policy.Grant) { g.Source = "mail" },
		func(g *policy.Grant) { g.Definition = "d" },
		func(g *policy.Grant) { g.Caller.Session = "" },
	} {
		other := g
		change(&other)
		if l.keep(other) == first {
			l.Errorf("%+v: got the name of another", other)
		}
	}
	if all := l.rules(ada()); len(all) != 5 {
		l.Errorf("got %q, want 5", all)
	}
}

func (l ledger) lists() {
	now := time.Now()
	for _, g := range []struct {
		rule                       string
		tenant, principal, session string
		age                        time.Duration
	}{
		{"of the session", "t", "ada", "s", time.Minute},
		{"of the principal", "t", "ada", "", time.Hour},
		{"of another session", "t", "ada", "s2", 0},
		{"of somebody else", "t", "bob", "s", 0},
		{"of another tenant", "u", "ada", "s", 0},
		{"later", "t", "ada", "s", time.Minute},
		{"of nobody", "", "", "", 0},
	} {
		l.keep(policy.Grant{Rule: g.rule, Caller: policy.Asker{Tenant: g.tenant, Principal: g.principal, Session: g.session}, Made: now.Add(-g.age)})
	}
	l.wantRules(ada(), "of the principal", "of the session", "later")
	l.wantRules(policy.Asker{Tenant: "t", Principal: "ada", Session: "s2", Client: "c"}, "of the principal", "of another session")
	l.wantRules(policy.Asker{Tenant: "t", Principal: "ada"}, "of the principal")
	l.wantRules(policy.Asker{Tenant: "t", Principal: "carol", Session: "s"})
	l.wantRules(policy.Asker{Principal: "ada", Session: "s"})
	l.wantRules(policy.Asker{Session: "s"}, "of nobody")
	l.wantRules(policy.Asker{}, "of the principal", "of the session", "later", "of another session", "of somebody else", "of another tenant", "of nobody")
}

func (l ledger) listsAbout() {
	now := time.Now()
	bob := policy.Asker{Tenant: "t", Principal: "bob"}
	for i, g := range []policy.Grant{
		{Rule: "own", Caller: ada()},
		{Rule: "mail", Caller: ada(), Source: "mail"},
		{Rule: "mail, pinned", Caller: ada(), Source: "mail", Pin: "p"},
		{Rule: "mail, pinned otherwise", Caller: ada(), Source: "mail", Pin: "o"},
		{Rule: "bank, pinned", Caller: ada(), Source: "bank", Pin: "p"},
		{Rule: "mail of bob", Caller: bob, Source: "mail"},
	} {
		g.Made = now.Add(-time.Duration(i) * time.Minute)
		l.keep(g)
	}
	mail, pinned, own, bank := policy.Grant{Source: "mail"}, policy.Grant{Source: "mail", Pin: "p"}, policy.Grant{}, policy.Grant{Source: "bank", Pin: "p"}
	for _, tt := range []struct {
		of    policy.Asker
		tools []policy.Grant
		want  []string // oldest first
	}{
		{ada(), []policy.Grant{own}, []string{"own"}},
		{ada(), []policy.Grant{mail}, []string{"mail"}},
		{ada(), []policy.Grant{pinned}, []string{"mail, pinned", "mail"}},
		{ada(), []policy.Grant{{Source: "mail", Pin: "another"}}, []string{"mail"}},
		{ada(), []policy.Grant{{Source: "web", Pin: "p"}}, nil},
		{ada(), []policy.Grant{bank, own, pinned, pinned}, []string{"bank, pinned", "mail, pinned", "mail", "own"}},
		{bob, []policy.Grant{pinned}, []string{"mail of bob"}},
		{policy.Asker{}, []policy.Grant{pinned}, []string{"mail of bob", "mail, pinned", "mail"}},
	} {
		l.wantAbout(tt.of, tt.tools, tt.want)
	}
}

func (l ledger) wantAbout(of policy.Asker, tools []policy.Grant, want []string) {
	l.Helper()
	all, err := l.Grants(l.Context(), of, tools...)
	var got []string
	for _, g := range all {
		got = append(got, g.Rule)
	}
	if err != nil || !slices.Equal(got, want) {
		l.Errorf("Grants(%+v, %+v): got %q, %v, want %q", of, tools, got, err, want)
	}
}

func (l ledger) grantsAtOnce() {
	count := atOnce(func(i int) error {
		_, err := l.Grant(context.Background(), policy.Grant{Rule: fmt.Sprint("rule ", i%2), Caller: ada(), Made: time.Now()})
		return err
	})
	if all := l.rules(ada()); count[nil] != crowd || len(all) != 2 {
		l.Errorf("got %q and %v, want two", all, count)
	}
}

func (l ledger) revoke() {
	id := l.keep(policy.Grant{Rule: "send", Caller: ada()})
	l.keep(policy.Grant{Rule: "read", Caller: ada()})
	for _, other := range []string{"", "nosuch", id + " ", "%"} {
		if err := l.Revoke(l.Context(), other); !errors.Is(err, policy.ErrNoGrant) {
			l.Errorf("Revoke(%q): got %v, want %v", other, err, policy.ErrNoGrant)
		}
	}
	count := atOnce(func(int) error { return l.Revoke(context.Background(), id) })
	if count[nil] != 1 || count[policy.ErrNoGrant] != crowd-1 {
		l.Errorf("got %v, want one who revoked it", count)
	}
	l.wantRules(ada(), "read")
	l.keep(policy.Grant{Rule: "send", Caller: ada()})
	l.wantRules(ada(), "read", "send")
}

package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestRateCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate policy.Rate
		want string // "": nothing is wrong
	}{
		{policy.Rate{Calls: 1}, ""},
		{policy.Rate{Calls: 10, Per: time.Minute, Tools: rule(t, "source:x"), Each: "principal"}, ""},
		{policy.Rate{}, "calls: got 0, want 1 or more"},
		{policy.Rate{Calls: 1, Per: -1}, "per: got -1ns, want a time"},
		{policy.Rate{Calls: 1, Tools: rule(t, "shell(git*)")}, "tools: got shell(git*), want a rule without parentheses"},
		{policy.Rate{Calls: 1, Each: "user"}, `each: got "user", want session, principal or tenant`},
	} {
		err := tt.rate.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("P9 %s: got %v, want %q", tt.rate, err, tt.want)
		}
	}
}

func TestRateString(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]policy.Rate{
		"3 calls": {Calls: 3},
		"10 calls per 1m0s of fs_* for each session": {Calls: 10, Per: time.Minute, Tools: rule(t, "fs_*"), Each: "session"},
	} {
		if r.String() != want {
			t.Errorf("P9 got %q, want %q", r, want)
		}
	}
}

// Calls that share a counter have one key; others have others.
func TestRateCharge(t *testing.T) {
	t.Parallel()
	a := tool.Caller{Tenant: "t", Principal: "p", Session: "s"}
	key := func(each string, c tool.Caller, name string) string {
		r := policy.Rate{Calls: 5, Per: time.Hour, Tools: rule(t, "fs_*"), Each: each}
		charge, ok := r.Charge(&tool.Request{Name: name, Caller: c})
		if ok && (charge.Calls != 5 || charge.Per != time.Hour) {
			t.Errorf("P9 got %+v, want 5 calls per hour", charge)
		}
		return charge.Key
	}
	for _, tt := range []struct {
		each  string
		other tool.Caller
		same  bool
	}{
		{"", tool.Caller{}, true},
		{"session", tool.Caller{Tenant: "t", Principal: "p", Session: "s", Client: "c"}, true},
		{"session", tool.Caller{Tenant: "t", Principal: "p", Session: "s2"}, false},
		{"session", tool.Caller{Tenant: "t", Principal: "p2", Session: "s"}, false},
		{"session", tool.Caller{Tenant: "tp", Session: "s"}, false},
		{"principal", tool.Caller{Tenant: "t", Principal: "p", Session: "s2"}, true},
		{"principal", tool.Caller{Tenant: "t2", Principal: "p"}, false},
		{"tenant", tool.Caller{Tenant: "t"}, true},
		{"tenant", tool.Caller{Tenant: "t2", Principal: "p", Session: "s"}, false},
	} {
		if got := key(tt.each, a, "fs_read") == key(tt.each, tt.other, "fs_write"); got != tt.same {
			t.Errorf("P9 each %q: %+v and %+v share a counter: %v, want %v", tt.each, a, tt.other, got, tt.same)
		}
	}
	if key("principal", tool.Caller{}, "fs_x") != key("principal", tool.Caller{Principal: "local"}, "fs_x") {
		t.Error("P9 nobody and local have counters of their own")
	}
	if key("", a, "shell") != "" {
		t.Error("P9 a call that the rate is not about counts")
	}
	if _, ok := (policy.Rate{Calls: 1}).Charge(&tool.Request{Name: "shell"}); !ok {
		t.Error("P9 a rate without a rule counts no call")
	}
}

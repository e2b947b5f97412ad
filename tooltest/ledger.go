package tooltest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// Ledger checks a ledger. Each call of open gives one that is empty, and takes
// care of closing it. A ledger that several processes can use is to be tested
// with several processes too, which this does not do.
//
//	func TestLedger(t *testing.T) {
//		tooltest.Ledger(t, func(*testing.T) policy.Ledger { return new(mine.Ledger) })
//	}
func Ledger(t *testing.T, open func(t *testing.T) policy.Ledger) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(l ledger)
	}{
		{"P10 a session begins, and is kept as it was changed", ledger.session},
		{"P10 an error of change leaves everything as it was", ledger.failing},
		{"P10 what names a session and when it began cannot be changed", ledger.fixed},
		{"P10 tenant, principal and session name it together", ledger.names},
		{"P10 what is kept of a session is shared with nobody", ledger.unshared},
		{"P10 many changes at once: none is lost", ledger.changes},
		{"P9 a rate: a burst, then one for each share of the time", ledger.rate},
		{"P9 a budget is for ever", ledger.budget},
		{"P9 no calls at all: never", ledger.none},
		{"P9 nothing to count by: there is room", ledger.free},
		{"P9 counted by each, or by none", ledger.allOrNone},
		{"P9 counted twice where two charges have one counter", ledger.twice},
		{"P9 each counter counts its own", ledger.counters},
		{"P9 a counter of a time that has not come: the clock went back", ledger.clock},
		{"P9 many at once: not one too many", ledger.crowded},
		{"P5 a grant is kept whole, under its name", ledger.grant},
		{"P5 equal grants are one, and the first stays", ledger.equal},
		{"P5 grants are listed for who has them, oldest first", ledger.lists},
		{"P5 of some tools, the grants that may answer for them are listed", ledger.listsAbout},
		{"P5 many equal grants at once are one", ledger.grantsAtOnce},
		{"P5 what was revoked is gone, and can be granted again", ledger.revoke},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(ledger{t, open(t)})
		})
	}
}

// ledger is a ledger under test.
type ledger struct {
	*testing.T
	policy.Ledger
}

func (l ledger) update(of policy.Asker, change func(*policy.SessionState)) policy.SessionState {
	l.Helper()
	var f func(*policy.SessionState) error
	if change != nil {
		f = func(s *policy.SessionState) error { change(s); return nil }
	}
	s, err := l.Update(l.Context(), of, f)
	if err != nil {
		l.Fatalf("Update(%+v): %v", of, err)
	}
	return s
}

func state(s policy.SessionState) policy.SessionState {
	s.Began, s.Seen = s.Began.UTC().Round(0), s.Seen.UTC().Round(0)
	return s
}

func (l ledger) wantState(what string, got, want policy.SessionState) {
	l.Helper()
	if got, want = state(got), state(want); got != want {
		l.Errorf("%s: got %+v\nwant %+v", what, got, want)
	}
}

func ada() policy.Asker { return policy.Asker{Tenant: "t", Principal: "ada", Session: "s"} }

func (l ledger) session() {
	before := time.Now().Add(-time.Second)
	of := ada()
	of.Client, of.Agent, of.Run = "c", "a", "r"
	first := l.update(of, nil)
	if first.Caller != of || first.Mode != policy.ModeAsk || first.Turns != 0 || !first.Seen.IsZero() {
		l.Errorf("a new session: got %+v", first)
	}
	if first.Began.Before(before) || first.Began.After(time.Now().Add(time.Second)) {
		l.Errorf("began: got %s, want now", first.Began)
	}
	l.wantState("looked at", l.update(ada(), nil), first)
	seen := time.Now().Add(3 * time.Nanosecond).In(time.FixedZone("far", 5*3600))
	for _, mode := range []policy.Mode{policy.ModeEdit, policy.ModeRead, policy.ModeAuto, policy.ModeObserve, policy.ModeDryRun, "of another version", policy.ModeAsk} {
		want := filled[policy.SessionState](l.T)
		want.Caller, want.Began = of, first.Began
		want.Mode, want.Turns, want.Seen, want.Caller.Client = mode, first.Turns+1, seen, "d"
		changed := l.update(ada(), func(s *policy.SessionState) { *s = want })
		l.wantState("changed", changed, want)
		l.wantState("looked at after the change", l.update(ada(), nil), want)
		first = want
	}
}

func (l ledger) failing() {
	errChange := errors.New("not this")
	for _, state := range []string{"new", "there"} {
		s, err := l.Update(l.Context(), ada(), func(s *policy.SessionState) error {
			s.Mode, s.Turns = policy.ModeAuto, 7
			return errChange
		})
		if !errors.Is(err, errChange) || s != (policy.SessionState{}) {
			l.Errorf("%s: got %+v, %v, want the error of change", state, s, err)
		}
		before := time.Now().Add(-time.Second)
		if s := l.update(ada(), nil); s.Mode != policy.ModeAsk || s.Turns != 0 || s.Began.Before(before) {
			l.Errorf("%s: got %+v, want it as it was", state, s)
		}
	}
}

func (l ledger) fixed() {
	first := l.update(ada(), nil)
	for range 2 {
		got := l.update(ada(), func(s *policy.SessionState) {
			if !s.Began.Equal(first.Began) {
				l.Errorf("change is given a session that began at %s, want %s", s.Began, first.Began)
			}
			s.Began, s.Caller = time.Time{}, policy.Asker{Tenant: "u", Principal: "bob", Session: "x"}
		})
		l.wantState("changed", got, first)
	}
	bob := l.update(policy.Asker{Tenant: "u", Principal: "bob", Session: "x"}, nil)
	if bob.Caller.Principal != "bob" {
		l.Errorf("got %+v, want one of bob", bob)
	}
	fresh := ada()
	fresh.Session = "fresh"
	if s := l.update(fresh, func(s *policy.SessionState) { s.Began = time.Time{} }); s.Began.IsZero() {
		l.Error("a new session: got no time of beginning")
	}
}

func (l ledger) names() {
	all := []policy.Asker{
		ada(),
		{Tenant: "T", Principal: "ada", Session: "s"},
		{Tenant: "t", Principal: "adas"},
		{Tenant: "tada", Session: "s"},
		{Tenant: "t", Principal: "ada"},
		{Principal: "ada", Session: "s"},
		{Tenant: "t' OR 1=1 --", Principal: "ada\x00", Session: "\xff"},
		{},
	}
	for i, of := range all {
		l.update(of, func(s *policy.SessionState) { s.Turns = i + 1 })
	}
	for i, of := range all {
		other := of
		other.Client, other.Agent, other.Run = "another", "another", "another"
		if s := l.update(other, nil); s.Turns != i+1 || s.Caller.Session != of.Session || s.Caller.Client != "" {
			l.Errorf("%+v: got %+v, want %d turns", of, s, i+1)
		}
	}
}

func (l ledger) unshared() {
	var kept *policy.SessionState
	l.update(ada(), func(s *policy.SessionState) { s.Turns, kept = 1, s })
	kept.Turns = 2
	if s := l.update(ada(), nil); s.Turns != 1 {
		l.Errorf("got %d turns, want 1: change has kept the session", s.Turns)
	}
}

func (l ledger) changes() {
	const each = 5
	count := atOnce(func(int) error {
		for range each {
			if _, err := l.Update(context.Background(), ada(), func(s *policy.SessionState) error { s.Turns++; return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if s := l.update(ada(), nil); count[nil] != crowd || s.Turns != crowd*each {
		l.Errorf("got %d turns and %v, want %d", s.Turns, count, crowd*each)
	}
}

// take wants a call to be counted.
func (l ledger) take(charges ...policy.Charge) {
	l.Helper()
	if full, wait, err := l.Take(l.Context(), charges); full != -1 || wait != 0 || err != nil {
		l.Errorf("Take(%+v) = %d, %s, %v, want room", charges, full, wait, err)
	}
}

// wantFull wants one of the charges to have no room, for at most so long; 0: for
// ever.
func (l ledger) wantFull(at int, longest time.Duration, charges ...policy.Charge) time.Duration {
	l.Helper()
	full, wait, err := l.Take(l.Context(), charges)
	if full != at || err != nil || wait < 0 || wait > longest || longest > 0 && wait == 0 {
		l.Errorf("Take(%+v) = %d, %s, %v, want the charge at %d to be full, for %s at most", charges, full, wait, err, at, longest)
	}
	return wait
}

func (l ledger) rate() {
	hour := policy.Charge{Key: "hour", Calls: 3, Per: time.Hour}
	for range hour.Calls {
		l.take(hour)
	}
	l.wantFull(0, 20*time.Minute, hour)
	l.wantFull(0, 20*time.Minute, hour) // what had no room is not counted
	// Two calls must come close together, so it is tried again where the machine
	// is slow.
	for per := 100 * time.Millisecond; per < patience; per *= 2 {
		quick := policy.Charge{Key: per.String(), Calls: 1, Per: per}
		l.take(quick)
		full, wait, err := l.Take(l.Context(), []policy.Charge{quick})
		if err != nil {
			l.Fatal(err)
		}
		if full == -1 {
			continue
		}
		if wait <= 0 || wait > per {
			l.Errorf("got %s to wait, want up to %s", wait, per)
		}
		<-time.After(wait)
		l.take(quick)
		return
	}
	l.Error("a rate of one call was never full")
}

func (l ledger) budget() {
	b := policy.Charge{Key: "b", Calls: 3}
	for range b.Calls {
		l.take(b)
	}
	l.wantFull(0, 0, b)
	b.Calls++ // whoever raises it has room again
	l.take(b)
	l.wantFull(0, 0, b)
}

func (l ledger) none() {
	for _, calls := range []int{0, -1} {
		for _, per := range []time.Duration{0, time.Hour, -time.Hour} {
			l.wantFull(0, 0, policy.Charge{Key: "k", Calls: calls, Per: per})
		}
	}
}

func (l ledger) free() {
	for range 3 {
		l.take()
	}
}

func (l ledger) allOrNone() {
	wide, narrow := policy.Charge{Key: "wide", Calls: 3}, policy.Charge{Key: "narrow", Calls: 1}
	hour := policy.Charge{Key: "hour", Calls: 3, Per: time.Hour}
	l.take(wide, narrow, hour)
	for range 5 {
		l.wantFull(1, 0, wide, narrow, hour)
		l.wantFull(2, 0, hour, wide, narrow)
	}
	for range 2 { // what is left
		l.take(hour, wide)
	}
	l.wantFull(0, 0, wide, hour)
	l.wantFull(0, 20*time.Minute, hour, wide)
}

func (l ledger) twice() {
	b := policy.Charge{Key: "b", Calls: 3}
	l.take(b, b)
	l.wantFull(1, 0, b, b)
	l.take(b)
	l.wantFull(0, 0, b)
}

func (l ledger) counters() {
	for _, key := range []string{"a", "A", "a ", "", "a\x00", "\xff", "'"} {
		l.take(policy.Charge{Key: key, Calls: 1})
		l.wantFull(0, 0, policy.Charge{Key: key, Calls: 1})
	}
}

func (l ledger) clock() {
	// What a longer rate has taken up lies far ahead for a shorter one, as it does
	// after the clock has gone back.
	l.take(policy.Charge{Key: "k", Calls: 1, Per: time.Hour})
	other := policy.Charge{Key: "other", Calls: 1}
	full, _, err := l.Take(l.Context(), []policy.Charge{other, {Key: "k", Calls: 1, Per: time.Minute}})
	if !errors.Is(err, policy.ErrClock) || full == -1 {
		l.Errorf("got %d, %v, want %v", full, err, policy.ErrClock)
	}
	l.take(other) // nothing was counted
}

func (l ledger) crowded() {
	b, r := policy.Charge{Key: "b", Calls: 50}, policy.Charge{Key: "r", Calls: 1000, Per: time.Hour}
	var taken atomic.Int64
	count := atOnce(func(int) error {
		for range 5 {
			full, _, err := l.Take(context.Background(), []policy.Charge{r, b})
			if err != nil {
				return err
			}
			if full == -1 {
				taken.Add(1)
			}
		}
		return nil
	})
	if count[nil] != crowd || taken.Load() != 50 {
		l.Errorf("got %d calls and %v, want 50", taken.Load(), count)
	}
}

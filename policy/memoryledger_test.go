package policy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestMemoryRates(t *testing.T) {
	take := func(t *testing.T, l policy.Ledger, by ...policy.Charge) (int, time.Duration) {
		t.Helper()
		full, wait, err := l.Take(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		return full, wait
	}
	t.Run("P9 a rate fills up again, share by share", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, by := new(policy.Memory), policy.Charge{Key: "k", Calls: 6, Per: time.Minute}
			for i := range by.Calls {
				if full, wait := take(t, l, by); full != -1 || wait != 0 {
					t.Errorf("call %d: got %d, %s, want room", i, full, wait)
				}
			}
			if full, wait := take(t, l, by); full != 0 || wait != 10*time.Second {
				t.Errorf("one too many: got %d, %s, want to wait 10s", full, wait)
			}
			time.Sleep(4 * time.Second)
			if full, wait := take(t, l, by); full != 0 || wait != 6*time.Second {
				t.Errorf("4 s later: got %d, %s, want to wait 6s", full, wait)
			}
			time.Sleep(6 * time.Second)
			for i, want := range []int{-1, 0} {
				if full, _ := take(t, l, by); full != want {
					t.Errorf("10 s later, call %d: got %d, want %d", i, full, want)
				}
			}
			time.Sleep(time.Hour) // no more than a burst is saved up
			for i := range by.Calls + 1 {
				want := -1
				if i == by.Calls {
					want = 0
				}
				if full, _ := take(t, l, by); full != want {
					t.Errorf("an hour later, call %d: got %d, want %d", i, full, want)
				}
			}
		})
	})
	t.Run("P9 a budget does not fill up again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, by := new(policy.Memory), policy.Charge{Key: "k", Calls: 1}
			take(t, l, by)
			time.Sleep(1000 * time.Hour)
			for range 2 { // also after what is over was swept away
				if full, wait := take(t, l, by); full != 0 || wait != 0 {
					t.Errorf("got %d, %s, want no room, ever", full, wait)
				}
			}
		})
	})
}

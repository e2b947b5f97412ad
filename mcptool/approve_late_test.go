package mcptool

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// A person who answers the form after the call was given back has answered.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		after  time.Duration
		answer string
		other  *policy.Answer // what somebody else said before
		open   int            // questions, then
		again  string         // what the call is told then
		ran    int64
	}{
		{"a yes", waitTime + time.Second, `{"action":"accept","content":{"decision":"allow"}}`, nil, 0, "paid ada", 1},
		{"a no", waitTime + time.Second, `{"action":"accept","content":{"decision":"reject","message":"too much"}}`, nil, 0, "too much", 0},
		{"nothing", waitTime + time.Second, `{"action":"cancel"}`, nil, 1, "Call again", 0},
		{"nonsense", waitTime + time.Second, `[]`, nil, 1, "Call again", 0},
		{"a yes after somebody's no", waitTime + time.Second, `{"action":"accept","content":{"decision":"allow"}}`, &policy.Answer{By: "page", Message: "not today"}, 0, "not today", 0},
		{"a yes that comes much too late", waitTime + lateTime + time.Second, `{"action":"accept","content":{"decision":"allow"}}`, nil, 1, "Call again", 0},
	} {
		t.Run("M5 who answers the form late has answered: "+tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				first := true
				k := meet(t, o.g, oldEra, answering(func(string, json.RawMessage) (json.RawMessage, *Fault) {
					if !first {
						return nil, nil
					}
					first = false
					time.Sleep(tt.after)
					return json.RawMessage(tt.answer), nil
				}))
				if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, "Call again") {
					t.Errorf("got %q", got)
				}
				if tt.other != nil {
					o.answer(o.open().ID, *tt.other)
				}
				time.Sleep(tt.after)
				synctest.Wait()
				if all := open(t, o.inbox); len(all) != tt.open {
					t.Errorf("got %d questions, want %d", len(all), tt.open)
				}
				if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, tt.again) {
					t.Errorf("called again: got %q, want %q", got, tt.again)
				}
				o.wantRan(tt.ran)
			})
		})
	}
	t.Run("M5 what is kept of forms without an answer is bounded", func(t *testing.T) {
		t.Parallel()
		c := &client{}
		for i := range 2 * maxLate {
			c.mayBeLate(string(rune('a'+i)), func(json.RawMessage) {})
		}
		if len(c.late) != maxLate {
			t.Errorf("got %d, want %d", len(c.late), maxLate)
		}
	})
}

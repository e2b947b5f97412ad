package store

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		seal func() (string, error)
		want string
	}{
		{"P4 arguments that could not be shown", func() (string, error) { return sealQuestion(policy.Question{ID: "a", Input: "\xff"}) }, "not UTF-8"},
		{"P5 a digest that would be another", func() (string, error) { return sealQuestion(policy.Question{ID: "a", Digest: "\xff"}) }, "could not be read again"},
		{"P5 a time that cannot be written", func() (string, error) { return sealQuestion(policy.Question{ID: "a", Expires: late}) }, "year"},
		{"P5 edited arguments that are no text", func() (string, error) { return sealAnswer("a", policy.Answer{Input: []byte{0xff}}) }, "not UTF-8"},
		{"P5 a rule that would be another", func() (string, error) {
			g := policy.Grant{Rule: "\xff"}
			g.ID = g.Name()
			return sealGrant(g)
		}, "could not be read again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sealed, err := tt.seal()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %q, %v, want an error that says %q", sealed, err, tt.want)
			}
			if _, ok := errors.AsType[*damage](err); ok {
				t.Error("got damage: what was never kept cannot be damaged")
			}
		})
	}
}

func TestTimesSort(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at   time.Time
		want string
	}{
		"J1 none":                      {time.Time{}, ""},
		"J1 a whole second":            {time.Unix(1_000_000_000, 0), "2001-09-09T01:46:40.000000000Z"},
		"J1 a few nanoseconds":         {time.Unix(1_000_000_000, 70), "2001-09-09T01:46:40.000000070Z"},
		"J1 all nine digits":           {time.Unix(1_000_000_000, 123_456_789), "2001-09-09T01:46:40.123456789Z"},
		"J1 another zone":              {time.Unix(1_000_000_000, 5e8).In(time.FixedZone("", 3600)), "2001-09-09T01:46:40.500000000Z"},
		"J1 later than can be written": {time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), "9999-12-31T23:59:59.999999999Z"},
		"J1 before the year 0":         {time.Date(-7, 1, 1, 0, 0, 0, 0, time.UTC), "0000-01-01T00:00:00.000000000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := writeTime(tt.at); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzUnseal reads what may stand in a file: it is an error or what was written,
// never a panic.
func FuzzUnseal(f *testing.F) {
	for _, text := range []string{
		"", " ", "{}", "x {}", `{"allow":true}`, `{"input":"{}"}`, `{"input":null,"allow":1}`, `{"mode":"auto","began":"x"}`, `{"source":{"trust":"own"}}`, `[`, "null", `{"id":"a","digest":"d"}`,
	} {
		f.Add("a", text)
	}
	f.Fuzz(func(t *testing.T, id, text string) {
		sealed := policy.Digest(id, text) + " " + text
		if len(text) > 0 {
			changed := []byte(sealed)
			changed[len(changed)-1] ^= 1
			if err := unseal(id, string(changed), new(any)); err == nil {
				t.Errorf("%q: a changed byte was not found", changed)
			}
		}
		if err := unseal(id+"x", sealed, new(any)); err == nil {
			t.Error("what was sealed for another id was read")
		}
		for _, raw := range []string{sealed, text} {
			if a, err := unsealAnswer(id, raw); err == nil {
				again, err := sealAnswer(id, a)
				if err != nil {
					t.Fatal(err)
				}
				if b, err := unsealAnswer(id, again); err != nil || !reflect.DeepEqual(a, b) {
					t.Errorf("got %+v, %v, want %+v", b, err, a)
				}
			} else if _, ok := errors.AsType[*damage](err); !ok {
				t.Errorf("got %v, want damage", err)
			}
			for _, f := range []func() error{
				func() error { _, err := unsealQuestion(id, "d", raw); return err },
				func() error { _, err := unsealGrant(id, raw); return err },
				func() error { _, err := unsealSession(policy.Asker{Session: id}, raw); return err },
				func() error { _, err := readTime(raw); return err },
			} {
				if err := f(); err != nil {
					if _, ok := errors.AsType[*damage](err); !ok {
						t.Errorf("got %v, want damage", err)
					}
				}
			}
		}
	})
}

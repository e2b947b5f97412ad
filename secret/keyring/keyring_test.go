package keyring

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"
)

func TestValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule string
		get  func(service, account string) (string, error)
		want string // in the error; "": the value is had
	}{
		{"K4 the keyring has it", func(s, a string) (string, error) { return s + a + "value", nil }, ""},
		{"K4 it has no such entry", func(string, string) (string, error) { return "", keyring.ErrNotFound }, "keyring github/bot: there is no such entry"},
		{"K4 none answers", func(string, string) (string, error) { return "", errors.New("no bus") }, "keyring github/bot: no keyring answers on this machine: no bus"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			v, err := entry{"github", "bot", tt.get}.Value(t.Context())
			if tt.want != "" {
				if err == nil || err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			var got string
			_ = v.Use(func(b []byte) error { got = string(b); return nil })
			if err != nil || got != "githubbotvalue" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestKeyringThatHangs(t *testing.T) {
	t.Parallel()
	hang := func(answer chan struct{}) func(string, string) (string, error) {
		return func(string, string) (string, error) { <-answer; return "", nil }
	}
	t.Run("K4 one that hangs is an error in time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			answer := make(chan struct{})
			defer close(answer)
			if _, err := (entry{"a", "b", hang(answer)}).Value(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer within 20s") {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("K4 who asks can stop asking", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			answer := make(chan struct{})
			defer close(answer)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := (entry{"a", "b", hang(answer)}).Value(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestPut(t *testing.T) {
	t.Parallel()
	t.Run("K4 the keyring takes it", func(t *testing.T) {
		t.Parallel()
		var got string
		set := func(s, a, v string) error { got = s + "/" + a + "=" + v; return nil }
		if err := put(t.Context(), "ferrule", "logins", "key", set); err != nil || got != "ferrule/logins=key" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("K4 none takes it", func(t *testing.T) {
		t.Parallel()
		err := put(t.Context(), "ferrule", "logins", "key-value", func(string, string, string) error { return errors.New("no bus") })
		if err == nil || !strings.Contains(err.Error(), "no bus") || strings.Contains(err.Error(), "key-value") {
			t.Errorf("got %v, want why, without the value", err)
		}
	})
	t.Run("K4 one that hangs is an error in time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			answer := make(chan struct{})
			defer close(answer)
			if err := put(t.Context(), "a", "b", "c", func(string, string, string) error { <-answer; return nil }); err == nil || !strings.Contains(err.Error(), "did not answer within 20s") {
				t.Errorf("got %v", err)
			}
		})
	})
}

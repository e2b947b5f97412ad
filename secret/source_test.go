package secret_test

import (
	"context"
	"testing"

	"github.com/ferrule-dev/ferrule/secret"
)

// kept is a source that has read its value once, and gives that each time.
type kept struct{ value secret.Value }

func (k kept) String() string { return "kept" }

func (k kept) Value(context.Context) (secret.Value, error) { return k.value, nil }

func TestSourceThatKeeps(t *testing.T) {
	t.Parallel()
	t.Run("K4 a source may give the same value each time", func(t *testing.T) {
		t.Parallel()
		v, err := secret.NewVault(map[string]secret.Entry{"a": {Source: kept{secret.NewValue([]byte(token))}, Tools: []string{"*"}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := v.Use(t.Context(), "x", []string{"a"}, "a", func(b []byte) error {
				if string(b) != token {
					t.Errorf("got %q, want the value", b)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

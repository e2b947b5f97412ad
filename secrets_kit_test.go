package ferrule_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ferrule-dev/ferrule/secret"
)

// madeUpValue is a source of a value that a test made up.
type madeUpValue string

func (g madeUpValue) Value(context.Context) (secret.Value, error) {
	return secret.NewValue([]byte(g)), nil
}
func (madeUpValue) String() string { return "made up" }

// failing is a test or a property.
type failing interface {
	Helper()
	Fatal(args ...any)
}

// vaultOf holds values of the names s0, s1 and on, for every tool.
func vaultOf(t failing, values ...string) *secret.Vault {
	t.Helper()
	entries := make(map[string]secret.Entry)
	for i, v := range values {
		entries[fmt.Sprintf("s%d", i)] = secret.Entry{Source: madeUpValue(v), Tools: []string{"*"}}
	}
	v, err := secret.NewVault(entries)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// liveVault has madeUpValue each of them out.
func liveVault(t *testing.T, values ...string) *secret.Vault {
	t.Helper()
	v := vaultOf(t, values...)
	for _, name := range v.Names() {
		if err := v.Use(t.Context(), "a", []string{name}, name, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

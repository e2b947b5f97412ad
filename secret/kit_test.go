package secret_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/secret"
)

// given is a source of a value that a test made up.
type given string

func (g given) Value(context.Context) (secret.Value, error) {
	return secret.NewValue([]byte(g)), nil
}
func (given) String() string { return "given" }

// fataler is a test, a benchmark or a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// vaultOf gives out values, of the names s0, s1 and on.
func vaultOf(t fataler, values ...string) *secret.Vault {
	t.Helper()
	entries := make(map[string]secret.Entry)
	for i, v := range values {
		entries[fmt.Sprintf("s%d", i)] = secret.Entry{Source: given(v), Tools: []string{"*"}}
	}
	v, err := secret.NewVault(entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range v.Names() {
		if err := v.Use(context.Background(), "tool", []string{name}, name, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func tenOf40() (values []string) {
	for i := range 10 {
		values = append(values, fmt.Sprintf("ghp_%c9Kx2mQ7vB4nL8pR3tY6wZ1cF5hJ0dS%02dgTqU", 'A'+i, i*7)[:40])
	}
	return values
}

func texts() map[string]string {
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it runs on for a while.\n", 60)[:4096]
	code := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", path, err)\n\t}\n", 80)[:4096]
	quoted, _ := json.Marshal(code[:3200])
	url := strings.Repeat("https://example.com/a%20b/c?q=x%2Fy+z&t=100%25&long=parameter-with-some-text;", 60)[:4096]
	nested, _ := json.Marshal(string(quoted[:2000]))
	paths := strings.Repeat(`{\"path\":\"C:\\\\Users\\\\ada\\\\file.txt\",\"n\":1},`, 80)[:4096]
	return map[string]string{"json in json": string(nested), "paths in json in json": paths, "backslashes": strings.Repeat(`\\`, 2048), "percents": strings.Repeat("%", 4096), "prose": prose, "code": code, "json": string(quoted), "url": url, "base64": strings.Repeat("dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZyBhbmQgcnVucyBvbiBh\n", 60)[:4096]}
}

func BenchmarkScrub(b *testing.B) {
	for _, set := range []struct {
		name   string
		values []string
	}{{"40", tenOf40()}, {"short", []string{"hunter2", "1234", "p@ss", "swordfish"}}} {
		v := vaultOf(b, set.values...)
		for name, text := range texts() {
			b.Run(set.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, found := v.Scrub(text); len(found) > 0 {
						b.Fatal(found)
					}
				}
			})
		}
	}
}

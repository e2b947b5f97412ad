package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/leaks"
)

func TestPII(t *testing.T) {
	t.Parallel()
	row := func(text, label string, start, end int) string {
		return fmt.Sprintf(`{"id":"1","text":%q,"spans":[{"type":%q,"start":%d,"end":%d}]}`, text, label, start, end)
	}
	for _, tt := range []struct {
		name, row string
		status    int
		want      string
	}{
		{"G5 found", row("é ann@example.org", "EMAIL_ADDRESS", 2, 17), 0, `"missed":null`},
		{"half of it is enough", row("call +41 44 668 18 00", "PHONE_NUMBER", 8, 21), 0, `"missed":null`},
		{"not found", row("ann at example.org", "EMAIL_ADDRESS", 0, 18), 1, "missed: email (recall 0.0 %"},
		{"a false alarm", row("ann@example.org bob@example.org", "EMAIL_ADDRESS", 0, 15), 1, "precision 50.0 %"},
		{"names are not covered", row("Ann Lee, a@example.org", "PERSON", 0, 7), 1, "no span of a kind"},
		{"a span that is not there", row("ann", "PERSON", 0, 4), 1, "want one within 3 characters"},
		{"rows of another kind", `{"id":"t1"}`, 1, "no span of a kind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			status := run([]string{"pii", file(t, tt.row)}, &out, &errs)
			if got := out.String() + errs.String(); status != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("status %d, want %d; got %q, want it to say %q", status, tt.status, got, tt.want)
			}
		})
	}
}

// What is made for a pattern matches it, and is not the same twice.
func TestSamples(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	pattern := `(?i)\b(?:acme)[\s=:]{1,3}["']?(ak_[a-z0-9]{20,}|\d{12}x+)(?:["';]|$)`
	all, err := samples(rng, leaks.Rule{ID: "acme", Pattern: pattern}, 10)
	if err != nil || len(all) != 10 {
		t.Fatalf("got %d samples, %v, want 10", len(all), err)
	}
	seen := make(map[string]bool)
	for _, s := range all {
		if !regexp.MustCompile(pattern).MatchString(s.text) || !strings.Contains(s.text, s.value) || seen[s.value] || len(s.value) < 13 {
			t.Errorf("got %+v", s)
		}
		seen[s.value] = true
	}
}

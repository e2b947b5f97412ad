package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/secret"
)

// mostScrubbing is how many microseconds of CPU it may take to look through a
// result of 4 KB for ten values: one that is plain text, one with much that is
// escaped, and one that is nothing else.
func mostScrubbing(name string) float64 {
	switch {
	case strings.HasSuffix(name, escapedText):
		return 60
	case strings.HasSuffix(name, hostileText):
		return 150
	}
	return 10
}

// These end the names of texts that take more time.
const (
	escapedText = "(escaped)"
	hostileText = "(escapes only)"
)

// inMicroseconds ends the name of a row that has such a bound.
const inMicroseconds = ": microseconds of CPU"

// scrubbing is what is measured for it.
const scrubbing = "scrub 4 KB, 10 live secrets, nothing found"

// secretWorks are what it costs to look for secrets in what is none.
func secretWorks(ctx context.Context) ([]work, error) {
	entries := make(map[string]secret.Entry)
	for i := range 10 {
		value := fmt.Sprintf("ghp_%c9Kx2mQ7vB4nL8pR3tY6wZ1cF5hJ0dS%02dgT", 'A'+i, i*7)
		entries[fmt.Sprintf("s%d", i)] = secret.Entry{Source: constant(value), Tools: []string{"*"}}
	}
	v, err := secret.NewVault(entries)
	if err != nil {
		return nil, err
	}
	for _, name := range v.Names() {
		if err := v.Use(ctx, "any", []string{name}, name, func([]byte) error { return nil }); err != nil {
			return nil, err
		}
	}
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it runs on for a while.\n", 60)[:4096]
	code := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", path, err)\n\t}\n", 80)[:4096]
	scrub := func(text string) func() error {
		return func() error {
			if _, found := v.Scrub(text); len(found) > 0 {
				return fmt.Errorf("found %v, want nothing", found)
			}
			return nil
		}
	}
	once, _ := json.Marshal(code) // a string can always be
	twice, _ := json.Marshal(string(once))
	url := strings.Repeat("https://example.com/a%20b/c?q=x%2Fy+z&t=100%25&long=parameter-with-some-text;", 60)
	works := []work{{scrubbing, 0, 0, scrub(prose)}}
	for _, w := range []struct{ name, text string }{
		{"source code", code},
		{"JSON " + escapedText, string(once)},
		{"JSON in JSON " + escapedText, string(twice)},
		{"URLs " + escapedText, url},
		{"backslashes " + hostileText, strings.Repeat(`\`, 4096)},
		{"percent signs " + hostileText, strings.Repeat("%25", 4096)},
	} {
		works = append(works, work{scrubbing + ", " + w.name, 0, 0, scrub(w.text[:4096])})
	}
	return works, nil
}

// scrubbingTimes are the measured ones that have a bound in microseconds.
func scrubbingTimes(rows []row) (all []row) {
	for _, r := range rows {
		if strings.HasPrefix(r.Name, scrubbing) {
			all = append(all, row{Name: r.Name + inMicroseconds, Ratio: r.NS / 1000, most: mostScrubbing(r.Name), mostAllocs: -1})
		}
	}
	return all
}

// constant is a source of one value.
type constant string

// Value is the value.
func (c constant) Value(context.Context) (secret.Value, error) {
	return secret.NewValue([]byte(c)), nil
}

func (constant) String() string { return "constant" }

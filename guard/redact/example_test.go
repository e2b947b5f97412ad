package redact_test

import (
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/redact"
)

// word finds one word. Package guard/leaks has a scanner for real keys.
type word string

func (w word) Scan(text string) ([]redact.Span, error) {
	i := strings.Index(text, string(w))
	if i < 0 {
		return nil, nil
	}
	return []redact.Span{{Start: i, End: i + len(w), Kind: "example-key"}}, nil
}

func Example() {
	r := redact.New(redact.Options{Secrets: word("open-sesame"), Personal: redact.Email})
	clean, _, err := r.Redact("ali@example.org says open-sesame")
	fmt.Println(clean, err)

	// The model writes a call with a placeholder; a tool that may have the value
	// is given it.
	back, err := r.Restore("say '[SECRET:example-key:1]'")
	fmt.Println(back, err)
	// Output:
	// [PERSONAL:email:1] says [SECRET:example-key:1] <nil>
	// say 'open-sesame' <nil>
}

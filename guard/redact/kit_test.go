package redact

import (
	"errors"
	"strings"
	"testing"
)

// tokens is a scanner for tests: it finds what begins with key- or pass=, up to the
// next character that is none of a token. pass= is only known by what is before it.
type tokens struct{}

func (tokens) Scan(text string) ([]Span, error) {
	var found []Span
	for _, head := range []string{"key-", "pass="} {
		for at := 0; ; {
			i := strings.Index(text[at:], head)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(head)
			for end < len(text) && (isWord(text[end]) || text[end] == '/' || text[end] == '"' && head == "pass=") {
				end++
			}
			if at = end; end-start < 12 {
				continue
			}
			if head == "pass=" {
				found = append(found, Span{start + len(head), end, "pass"})
			} else {
				found = append(found, Span{start, end, "test-key"})
			}
		}
	}
	return found, nil
}

// broken is a scanner that cannot finish.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Scan(string) ([]Span, error) { return nil, errBroken }

func session(personal Personal) *Redactor {
	return New(Options{Secrets: tokens{}, Personal: personal})
}

func redacted(t testing.TB, r *Redactor, text string) string {
	t.Helper()
	clean, _, err := r.Redact(text)
	if err != nil {
		t.Fatalf("Redact(%q): %v", text, err)
	}
	return clean
}

// pem is a private key that is none.
func pem() string {
	return "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3/", 16)+"\n", 4) + "-----END " + "RSA PRIVATE KEY-----"
}

package leaks

import (
	"os"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/redact"
)

// BenchmarkRedact is what 16 KB cost, keys and personal data together.
func BenchmarkRedact(b *testing.B) {
	var s Scanner
	if err := s.Warm(); err != nil {
		b.Fatal(err)
	}
	const size = 16 << 10
	code, err := os.ReadFile("leaks.go")
	if err != nil {
		b.Fatal(err)
	}
	fill := func(text string) string { return strings.Repeat(text, size/len(text)+1)[:size] }
	for name, text := range map[string]string{
		"prose":  fill("The quick brown fox jumps over the lazy dog, and they ask for no key to it.\n"),
		"plain":  fill("It was a bright cold day in April, and the clocks were all striking thirteen.\n"),
		"code":   fill(string(code)),
		"json":   fill(`{"id": 1234, "token": "none", "api": "v1", "auth": {"key": "name", "secret": false}},` + "\n"),
		"line":   fill(`{"id": 1234, "token": "none", "api": "v1", "auth": {"key": "name", "secret": false}}, `),
		"log":    fill("2024-05-01T12:00:00Z INFO access user=ann ip=10.1.2.3 path=/api/v1/items?key=12 status=200 dur=12ms\n"),
		"found":  fill("export TOKEN=" + strings.Repeat("x", 3) + "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4" + "\nplain text here, mail ann@example.org\n"),
		"assign": fill("api_key = \"c2VjcmV0LXRleHQ0NQ\" token: 8f3a2b1c9d4e5f60718293a4b5c6d7e8\n"),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			r := redact.New(redact.Options{Secrets: &s, Personal: redact.AllPersonal})
			found := 0
			for b.Loop() {
				_, f, err := r.Redact(text)
				if err != nil {
					b.Fatal(err)
				}
				found = len(f)
			}
			b.ReportMetric(float64(found), "found")
		})
	}
}

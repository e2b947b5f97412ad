package leaks

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/redact"
)

// BenchmarkRedact is what 16 KB cost, keys and personal data together.
func BenchmarkRedact(b *testing.B) {
	s := shared()
	if err := s.Warm(); err != nil {
		b.Fatal(err)
	}
	const size = 16 << 10
	code, err := os.ReadFile("leaks.go")
	if err != nil {
		b.Fatal(err)
	}
	fill := func(line func(i int) string) string {
		var text strings.Builder
		for i := 0; text.Len() < size; i++ {
			text.WriteString(line(i))
		}
		return text.String()[:size]
	}
	random := key(size, mixed)
	object := func(int) string {
		return `{"id": 1234, "token": "none", "api": "v1", "auth": {"key": "name", "secret": false}}, `
	}
	prose := func(int) string {
		return "They ask for no key to it, and it was a bright cold day in April at 12:30.\n"
	}
	secret := func(i int) string { return fmt.Sprintf("api_key_%d = %q\n", i, random[i*30:i*30+30]) }
	for _, bb := range []struct {
		name string
		line func(i int) string
	}{
		{"prose", prose},
		{"code", func(int) string { return string(code) }},
		{"json", func(i int) string { return object(i) + "\n" }},
		{"json in one line", object},
		{"log with addresses", func(i int) string {
			return fmt.Sprintf("2024-05-01T12:00:00Z INFO access ip=10.1.2.%d path=/api/v1/items?key=%d status=200\n", i%256, i)
		}},
		{"prose with 5 keys", func(i int) string {
			if i%40 == 20 {
				return secret(i / 40)
			}
			return prose(i)
		}},
		{"nothing but keys", secret},
	} {
		b.Run(bb.name, func(b *testing.B) {
			text := fill(bb.line)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				r := redact.New(redact.Options{Secrets: s, Personal: redact.AllPersonal})
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

package redact

import (
	"strings"
	"testing"
)

// Cut at every byte, and into pieces of every size, a stream gives the same.
func TestStream(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxValue-10)
	for name, tt := range map[string]struct{ text, want string }{
		"G5 a key":               {"a key-abcdef12345 b\nc key-abcdef12345", "a [SECRET:test-key:1] b\nc [SECRET:test-key:1]"},
		"G5 a private key":       {"a\r\n" + strings.ReplaceAll(pem(), "\n", "\r\n") + "\r\nb", "a\r\n[SECRET:private-key:1]\r\nb"},
		"G5 a value known since": {"pass=hunter2hunter2\nhunter2hunter2", "pass=[SECRET:pass:1]\n[SECRET:pass:1]"},
		"G5 personal":            {"ann@example.org\rann@example.org", "[PERSONAL:email:1]\r[PERSONAL:email:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for cut := range len(tt.text) {
				s := session(AllPersonal).Stream()
				a, err := s.Write(tt.text[:cut])
				b, err2 := s.Write(tt.text[cut:])
				c, err3 := s.Flush()
				if got := a + b + c; got != tt.want || err != nil || err2 != nil || err3 != nil {
					t.Fatalf("cut at %d: got %q, %v, %v, %v, want %q", cut, got, err, err2, err3, tt.want)
				}
			}
			for size := 1; size < 8; size++ {
				if got := streamed(t, session(AllPersonal), tt.text, size); got != tt.want {
					t.Errorf("pieces of %d: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
	t.Run("G5 long lines", func(t *testing.T) {
		t.Parallel()
		for _, at := range []int{maxSegment - maxValue - 1, maxSegment - 5, maxSegment - 1, maxSegment, 3*maxSegment - 7} {
			text := strings.Repeat("a b,", at/4) + "key-" + long + ", more"
			got := streamed(t, session(0), text, 1000)
			if want := strings.Repeat("a b,", at/4) + "[SECRET:test-key:1], more"; got != want {
				t.Errorf("at %d: got %d bytes, want %d", at, len(got), len(want))
			}
			if whole := redacted(t, session(0), text); whole != got {
				t.Errorf("at %d: the whole is another", at)
			}
		}
	})
	t.Run("lines pass as they end, and little is held", func(t *testing.T) {
		t.Parallel()
		s := session(0).Stream()
		if got, err := s.Write("one\ntwo"); got != "one\n" || err != nil {
			t.Errorf("got %q, %v, want the first line", got, err)
		}
		for range 100 {
			if _, err := s.Write(strings.Repeat("x", 1000)); err != nil {
				t.Fatal(err)
			}
			if len(s.held) > 2*maxSegment {
				t.Fatalf("got %d bytes held, want at most %d", len(s.held), 2*maxSegment)
			}
		}
	})
}

package mcptool

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// spell writes events down, one in each line.
func spellEvents(text string, limit int) string {
	var b strings.Builder
	r := newSSE(iotest.OneByteReader(strings.NewReader(text)), limit)
	for {
		e, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return b.String()
		case err != nil:
			return b.String() + err.Error()
		}
		fmt.Fprintf(&b, "%s|%s|%s|%v\n", e.kind, e.id, e.data, e.retry)
	}
}

func TestSSEReader(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"one", "data: a\n\n", "||a|0s\n"},
		{"all fields", "event: message\nid: 7\nretry: 1500\ndata: a\n\n", "message|7|a|1.5s\n"},
		{"lines of data", "data: a\ndata:b\ndata:  c\n\n", "||a\nb\n c|0s\n"},
		{"CR and CR LF", "data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", "||a|0s\n||b|0s\n||c|0s\n"},
		{"comments and blank lines", ": hi\n\n\n:\ndata: a\n: in it\n\n", "||a|0s\n"},
		{"byte order mark", "\ufeffdata: a\n\n", "||a|0s\n"},
		{"an id alone", "id: 7\ndata\n\nid: 8\n\n", "|7||0s\n|8||0s\n"},
		{"fields that are unknown or wrong", "foo: bar\nretry: soon\nretry: -1\nid: a\x00b\n\ndata: a\n\n", "||a|0s\n"},
		{"cut off: without its id", "id: 1\ndata: a\n\nid: 2\ndata: b", "|1|a|0s\n||b|0s\n"},
		{"cut off in an id", "id: 1", ""},
		{"too long", "data: a\n\ndata: 0123456789012345678901234567890", "||a|0s\na message is longer than 30 bytes"},
		{"too many lines", "data: a\n\n" + strings.Repeat("x\n", 50), "||a|0s\na message is longer than 30 bytes"},
		{"many events", strings.Repeat("data: a\n\n", 50), strings.Repeat("||a|0s\n", 50)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit := 30
			if tt.name == "all fields" || strings.HasPrefix(tt.name, "fields") {
				limit = 100
			}
			if got := spellEvents(tt.text, limit); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// FuzzSSEReader: whatever comes, events are bounded, and the pieces in which it
// comes make no difference.
func FuzzSSEReader(f *testing.F) {
	f.Add("data: a\n\nid: 1\r\n\r\n")
	f.Add("\ufeffretry: 5\rdata\r\r")
	f.Add(":\n\x00\n\ndata")
	f.Add("r\rdata\rk") // empty data, in pieces
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 64
		r := newSSE(strings.NewReader(text), limit)
		var b strings.Builder
		var failed string
		for range len(text) + 1 {
			e, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					failed = err.Error()
				}
				break
			}
			if len(e.data) > limit || len(e.id) > limit {
				t.Errorf("got %d bytes, want at most %d", len(e.data), limit)
			}
			fmt.Fprintf(&b, "%s|%s|%s|%v\n", e.kind, e.id, e.data, e.retry)
		}
		if whole, pieces := b.String()+failed, spellEvents(text, limit); whole != pieces {
			t.Errorf("at once %q, in pieces %q", whole, pieces)
		}
	})
}

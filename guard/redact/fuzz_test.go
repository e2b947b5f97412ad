package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func seeds() []string {
	return []string{
		"pass=hunter2hunter2 key-abcdef12345\nann@example.org [SECRET:pass:1]", pem() + "\n x", "x " + pem()[:150],
		`{"a":"k\u0065y-abc\/def12345","card":4111111111111111}`, `["pass=hunter2\"hunter2\ud83d\ude00"]`, "it is hunter2hunter2\rpass=hunter2hunter2",
		"DE89 3704 0044 0532 0130 00 +41 44 668 18 00 10.1.2.3 2001:db8::1 078-05-1120", strings.Repeat("a,b ", 5000) + "key-abcdef12345",
		"[PERSONAL:phone:1] 4673395 pass=[SECRET:pass:1]x key-[SECRET:test-key:2]abcdefgh", "\xff\xfe@\x00.org",
	}
}

// FuzzPersonal: spans are in the text, in order, and apart.
func FuzzPersonal(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range AllPersonal.Spans(text) {
			if s.Start < at || s.Start >= s.End || s.End > len(text) || s.Kind == "" {
				t.Fatalf("%q: got %+v behind %d", text, s, at)
			}
			at = s.End
		}
	})
}

// FuzzRedact: twice is as once, JSON stays JSON, and what was taken out comes back.
func FuzzRedact(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		r := session(AllPersonal)
		once := redacted(t, r, text)
		if twice := redacted(t, r, once); twice != once {
			t.Errorf("%q redacted is %q, and again %q", text, once, twice)
		}
		foreign := strings.Contains(newView(text).text, "[SECRET:") || strings.Contains(newView(text).text, "[PERSONAL:")
		if !json.Valid([]byte(text)) {
			if back, err := r.Restore(once); !foreign && (back != text || err != nil) {
				t.Errorf("%q redacted and restored is %q, %v", text, back, err)
			}
			return
		}
		raw, _, err := r.RedactJSON(json.RawMessage(text))
		if err != nil || !json.Valid(raw) || !json.Valid([]byte(once)) {
			t.Fatalf("%q: got %s, %v and %s, want JSON", text, raw, err, once)
		}
		back, err := r.RestoreJSON(raw)
		if err != nil || !json.Valid(back) {
			t.Fatalf("%q: restored: got %s, %v, want JSON", text, back, err)
		}
		if !foreign && newView(string(back)).text != newView(text).text {
			t.Errorf("%q redacted and restored is %q", text, back)
		}
	})
}

// FuzzStream: however a text is cut, the same passes; and it is what the whole gives,
// but for values that are recognised too late.
func FuzzStream(f *testing.F) {
	for i, text := range seeds() {
		f.Add(text, uint16(i+1))
	}
	f.Fuzz(func(t *testing.T, text string, size uint16) {
		if len(text) > 1<<16 {
			return
		}
		whole := streamed(t, session(AllPersonal), text, len(text)+1)
		if got := streamed(t, session(AllPersonal), text, int(size)%64+1); got != whole {
			t.Errorf("%q in pieces of %d: got %q, want %q", text, int(size)%64+1, got, whole)
		}
		r := session(AllPersonal)
		if clean, _, _, err := r.text(text, nil); err != nil || clean != whole {
			t.Errorf("%q: got %q, %v, want %q", text, whole, err, clean)
		}
	})
}

func streamed(t testing.TB, r *Redactor, text string, size int) string {
	t.Helper()
	var b strings.Builder
	s := r.Stream()
	for text != "" {
		n := min(size, len(text))
		out, err := s.Write(text[:n])
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(out)
		text = text[n:]
	}
	out, err := s.Flush()
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(out)
	return b.String()
}

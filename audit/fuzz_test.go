package audit_test

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// FuzzEntry: any bytes can be read or are refused, and what was written is read
// as what it was.
func FuzzEntry(f *testing.F) {
	f.Add(`{"time":"2026-01-02T03:04:05.000000006Z","kind":"started"}`, int64(5))
	f.Add("{\"a\":\"\\u0000\"}\xff\x00é\u2028", int64(-62135596801))
	f.Add(`{"kind":"x","args_cut":{"sha256":"00"}}`, int64(253402300800))
	f.Fuzz(func(t *testing.T, text string, second int64) {
		if e, err := audit.ParseEntry(text); err == nil && e.Kind == "" {
			t.Error("got an entry without a kind")
		}
		var enc audit.Encoder
		for range 2 { // the second has the time from the first
			line := enc.Append(nil, &audit.Event{
				Kind: audit.Ended, Time: time.Unix(second, 7), By: text, Args: text,
				Request: &tool.Request{ID: text}, Result: &tool.Result{Content: []tool.Content{{Text: text}}},
			})
			if !json.Valid(line) || !utf8.Valid(line) {
				t.Fatalf("got %q, want JSON", line)
			}
			e, err := audit.ParseEntry(string(line))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if len(text) < 1000 && utf8.ValidString(text) && (e.By != text || e.ID != text || e.Args != text) {
				t.Fatalf("got %q, %q and %q, want %q", e.By, e.ID, e.Args, text)
			}
			if e.Result != nil && utf8.RuneCountInString(e.Result.Preview) > 200 {
				t.Fatalf("got a preview of %d characters", utf8.RuneCountInString(e.Result.Preview))
			}
		}
	})
}

// FuzzHead: any bytes can be read or are refused, and nothing that was not signed
// is taken.
func FuzzHead(f *testing.F) {
	h := audit.Head{Store: "s", Time: time.Unix(1, 0), Place: 1, Marks: []audit.Mark{{Writer: "a", Number: 1}}, Signature: []byte{1}}
	text, err := h.JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := audit.ParseHead(text)
		if err != nil {
			return
		}
		if h.Check(audit.Key{1, 2, 3}) == nil {
			t.Error("got a head that a key has signed whose secret nobody knows")
		}
		again, err := h.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := audit.ParseHead(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

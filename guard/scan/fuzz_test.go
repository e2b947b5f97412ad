package scan

import (
	"bytes"
	"testing"
)

// FuzzScan holds the scan to what plain regular expressions say of the
// normalised text, and to offsets that are there.
func FuzzScan(f *testing.F) {
	s := scanner(f)
	for _, text := range samples() {
		f.Add([]byte(text))
	}
	for _, r := range defaults() {
		for _, text := range r.Hits {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > step {
			return // one window: what is normalised is known
		}
		got := make(map[string]bool)
		for _, found := range s.ScanDefinition(text) {
			if found.Family == Unfinished {
				return
			}
			if found.Start < 0 || found.Start >= found.End || found.End > len(text) {
				t.Fatalf("%q: got the span %d to %d of %d bytes", text, found.Start, found.End, len(text))
			}
			got[found.Rule] = true
		}
		var n reference
		want := n.whole(text)
		w := s.scratch(true)
		w.whole(text)
		if !bytes.Equal(w.text, want) {
			t.Fatalf("%q: got normalised %q, want %q", text, w.text, want)
		}
		for _, r := range builtIn() {
			if want := r.re().Match(n.text); got[r.ID] != want {
				t.Errorf("%q: %s: got %v, want %v as in %q", text, r.ID, got[r.ID], want, n.text)
			}
		}
	})
}

// FuzzStrip: stripping twice changes nothing more, and a stream cut anywhere
// gives what the whole gives.
func FuzzStrip(f *testing.F) {
	s := scanner(f)
	for i, text := range samples() {
		f.Add([]byte(text), uint16(i+1))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		if len(text) > step {
			return
		}
		once := s.Strip(text)
		if found := s.Scan(once); len(found) > 0 {
			t.Errorf("%q stripped is %q, with %v", text, once, found)
		}
		if twice := s.Strip(once); !bytes.Equal(once, twice) {
			t.Errorf("%q stripped is %q, and again %q", text, once, twice)
		}
		checkStream(t, s, text, int(size%64)+1)
	})
}

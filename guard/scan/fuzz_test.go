package scan

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
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
		if len(text) <= step { // one window: what is normalised is known
			checkVerdicts(t, s, text)
		}
	})
}

// checkVerdicts compares a scan with the slow way: normalise the whole text,
// and run each expression over all of it.
func checkVerdicts(t *testing.T, s *Scanner, text []byte) {
	t.Helper()
	got := make(map[string]bool)
	found := s.ScanDefinition(text)
	for _, f := range found {
		if f.Family != Unfinished && (f.Start < 0 || f.Start >= f.End || f.End > len(text)) {
			t.Fatalf("%q: got the span %d to %d of %d bytes", text, f.Start, f.End, len(text))
		}
		got[f.Rule] = true
	}
	var slow reference
	want := slow.whole(text)
	w := s.definitions.scratch()
	defer s.definitions.pool.Put(w)
	w.whole(text)
	if !bytes.Equal(w.text, want) {
		t.Fatalf("%q: got normalised %q, want %q", text, w.text, want)
	}
	if !Finished(found) {
		return
	}
	for _, r := range ofDefinitions() {
		if want := r.re().Match(slow.text); got[r.ID] != want {
			t.Errorf("%q: %s: got %v, want %v as in %q", text, r.ID, got[r.ID], want, slow.text)
		}
		if r.Definitions {
			delete(got, r.ID)
		}
	}
	inText := make(map[string]bool)
	for _, f := range s.Scan(text) {
		inText[f.Rule] = true
	}
	if !maps.Equal(inText, got) {
		t.Errorf("%q: got %v as a text, want %v as in a definition", text, inText, got)
	}
}

// TestVerdicts mixes what rules find and what they do not with what normalising
// undoes.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := scanner(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	var pieces []string
	for _, r := range defaults() {
		pieces = append(append(pieces, r.Hits...), r.Misses...)
	}
	for _, text := range samples() {
		if len(text) < 200 {
			pieces = append(pieces, text)
		}
	}
	for range 150 {
		var text []byte
		for range 1 + rnd.IntN(4) {
			piece := pieces[rnd.IntN(len(pieces))]
			if cut := rnd.IntN(8); cut < 2 && len(piece) > 2 {
				piece = piece[rnd.IntN(len(piece)-1):]
			}
			text = append(append(text, disguised(rnd, piece)...), []string{" ", "\n", "", ". ", "\u200b", "\\n", "x", "  \n ", "&nbsp;", "忽略", "é"}[rnd.IntN(11)]...)
		}
		checkVerdicts(t, s, text)
	}
}

// disguised writes a text in a way that reads the same, or nearly.
func disguised(rnd *rand.Rand, text string) string {
	var b strings.Builder
	switch rnd.IntN(14) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return base64.StdEncoding.EncodeToString([]byte(text))
	case 2:
		return fmt.Sprintf("%x", text)
	case 3:
		return fmt.Sprintf("% x", text)
	case 4:
		return strings.Join(strings.Split(text, ""), " ")
	case 5:
		return strings.ReplaceAll(text, " ", []string{"\n", "  ", "\\n", "%20", "\u00a0", "&#32;", "\t\n"}[rnd.IntN(7)])
	case 6:
		return base64.StdEncoding.EncodeToString([]byte(base64.RawURLEncoding.EncodeToString([]byte(text))))
	case 7, 8:
		for _, r := range text {
			switch form := rnd.IntN(12); {
			case form == 0:
				fmt.Fprintf(&b, "&#%d;", r)
			case form == 1:
				fmt.Fprintf(&b, "\\u%04x", r)
			case form == 2 && r < 0x7f && r > ' ':
				b.WriteRune(r + 0xfee0) // full width
			case form == 3:
				b.WriteString(string(r) + "\u200d")
			case form == 4 && r < 0x7f:
				fmt.Fprintf(&b, "%%%02x", r)
			case form == 5:
				b.WriteString("<b></b>" + string(r))
			default:
				b.WriteRune(r)
			}
		}
		return b.String()
	case 9:
		return strings.NewReplacer("e", "е", "o", "о", "a", "а").Replace(text)
	case 10:
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, "%08b ", c)
		}
		return b.String()
	default:
		return text
	}
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

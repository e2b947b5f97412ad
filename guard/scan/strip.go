package scan

import (
	"bytes"
	"cmp"
	"slices"
	"time"
	"unicode/utf8"
)

// removed stands where a finding was stripped.
const removed = "[removed]"

// rounds is how often what is left is looked at again. Text that still has
// findings then is made to have them, and goes as a whole.
const rounds = 8

// StripInvisible removes what shows nothing and what no script or emoji needs:
// tag characters, overrides of direction, zero-width characters. Between two bytes
// that are no characters it leaves U+FFFD. It returns the text itself where there
// is nothing to remove.
func StripInvisible(text []byte) []byte {
	var out []byte
	kept := 0
	eachInvisible(text, func(u unseen) {
		out = append(append(out, text[kept:u.start]...), u.strip()...)
		kept = u.end
	})
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

// Strip removes invisible text, and puts [removed] where something was found.
// What it returns has no findings; it is the text itself where there was
// nothing to remove. Text of more than one window is looked at in overlapping
// pieces, as a Stream does.
func (s *Scanner) Strip(text []byte) []byte { return s.StripBy(text, time.Time{}) }

// StripBy is Strip, until then: [removed] stands for what it did not come to. The
// zero time is none.
func (s *Scanner) StripBy(text []byte, by time.Time) []byte {
	if s.texts == nil {
		return []byte(removed)
	}
	if len(text) <= step+overlap {
		return s.clean(nil, text)
	}
	st := s.Strainer(StripFindings)
	st.by = by
	return append(bytes.Clone(st.Write(text)), st.Close()...)
}

// clean strips one window, again and again until nothing is found. What passed
// before is looked at with it and stays.
func (s *Scanner) clean(passed, text []byte) []byte {
	if len(passed) == 0 && s.tooShort(text) {
		return text
	}
	w := s.texts.scratch()
	defer s.texts.pool.Put(w)
	for range rounds {
		text = StripInvisible(text)
		found := w.behind(passed, text)
		if len(found) == 0 {
			return text
		}
		text = cut(text, found)
	}
	if text = StripInvisible(text); len(w.behind(passed, text)) > 0 {
		return []byte(removed)
	}
	return text
}

// behind finds in text, whatever of it lies before that.
func (w *scratch) behind(passed, text []byte) []Finding {
	if len(passed) == 0 {
		return w.window(text, 0, nil)
	}
	w.joined = append(append(w.joined[:0], passed...), text...)
	w.cutOff = true
	defer func() { w.cutOff = false }()
	var found []Finding
	for _, f := range w.window(w.joined, 0, nil) {
		f.Start, f.End = max(0, f.Start-len(passed)), f.End-len(passed)
		if f.End > 0 {
			found = append(found, f)
		}
	}
	return found
}

// cut puts the mark in place of findings.
func cut(text []byte, found []Finding) []byte {
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]byte, 0, len(text))
	at := 0
	for i, f := range found {
		if f.End <= at {
			continue
		}
		if f.Start > at || i == 0 {
			out = append(out, text[at:f.Start]...)
			out = append(out, removed...)
		}
		at = f.End
	}
	return append(out, text[at:]...)
}

// Mark writes the text with open before and closing after each finding, where
// they lie in each other around all of them.
func Mark(text []byte, found []Finding, open, closing string) []byte {
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	var out []byte
	at := 0
	for i := 0; i < len(found); {
		start, end := max(found[i].Start, at), found[i].End
		for i++; i < len(found) && found[i].Start <= end; i++ {
			end = max(end, found[i].End)
		}
		start, end = min(start, len(text)), min(end, len(text))
		if end <= start {
			continue
		}
		out = append(out, text[at:start]...)
		out = append(append(append(out, open...), text[start:end]...), closing...)
		at = end
	}
	return append(out, text[at:]...)
}

// decided is how many bytes of a text that may go on can be rid of invisible
// characters already: all up to the last character that shows.
func decided(text []byte) int {
	at := len(text)
	for at > 0 {
		r, size := utf8.DecodeLastRune(text[:at])
		// What is broken at the very end may be the beginning of a character.
		if whole := r != utf8.RuneError || size > 1 || len(text)-at >= utf8.UTFMax-1; whole && !invisible(r) {
			return at - size
		}
		at -= size
	}
	return 0
}

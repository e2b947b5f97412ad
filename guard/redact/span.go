package redact

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Span is a part of a text, in bytes, and what stands there: aws-key, email. Kinds
// have small letters, digits and hyphens, 40 at most.
type Span struct {
	Start, End int
	Kind       string
}

// Scanner finds keys and tokens. Scan is called by many at once, with texts of any
// bytes. It
//
//   - says the same of the same text, each time;
//   - waits where it is not ready, rather than say that it has found nothing;
//   - returns an error where it cannot finish.
//
// The text may be a part of a longer one. Spans may overlap, in any order.
type Scanner interface {
	Scan(text string) ([]Span, error)
}

// None is a scanner that finds nothing, for who wants personal data redacted only.
type None struct{}

// Scan finds nothing.
func (None) Scan(string) ([]Span, error) { return nil, nil }

var _ Scanner = None{}

// mark is a span of which it is known what it is.
type mark struct {
	Span
	personal bool
}

// kindOf is a kind as placeholders can hold it.
func kindOf(kind string) string {
	if kind == "" || len(kind) > maxKind {
		return "key"
	}
	for i := range len(kind) {
		if !kindByte(kind[i]) {
			return "key"
		}
	}
	return kind
}

// valid cuts a span to the text, and widens it to whole characters. What is empty
// then is not ok.
func valid(text string, s Span) (Span, bool) {
	s.Start, s.End = max(s.Start, 0), min(s.End, len(text))
	if s.Start >= s.End {
		return s, false
	}
	for n := 0; n < utf8.UTFMax && s.Start > 0 && !utf8.RuneStart(text[s.Start]); n++ {
		s.Start--
	}
	for n := 0; n < utf8.UTFMax && s.End < len(text) && !utf8.RuneStart(text[s.End]); n++ {
		s.End++
	}
	return s, true
}

// merged brings marks in order and joins those that overlap. A joined one is a
// secret if a part of it is, of the kind of the longest such part.
func merged(marks []mark) []mark {
	if len(marks) < 2 {
		return marks
	}
	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	joined, lengths := marks[:0], 0
	for _, m := range marks {
		n := len(joined)
		if n == 0 || m.Start >= joined[n-1].End {
			joined, lengths = append(joined, m), m.End-m.Start
			continue
		}
		last := &joined[n-1]
		if last.personal && !m.personal || last.personal == m.personal && m.End-m.Start > lengths {
			last.personal, last.Kind, lengths = m.personal, m.Kind, m.End-m.Start
		}
		last.End = max(last.End, m.End)
	}
	return joined
}

// without are the marks less the places of holes, which are in order.
func without(marks []mark, holes []hole) []mark {
	if len(holes) == 0 || len(marks) == 0 {
		return marks
	}
	var left []mark
	h := 0
	for _, m := range marks {
		for h < len(holes) && holes[h].end <= m.Start {
			h++
		}
		at := m.Start
		for i := h; i < len(holes) && holes[i].start < m.End; i++ {
			if holes[i].start > at {
				left = append(left, mark{Span{at, holes[i].start, m.Kind}, m.personal})
			}
			at = max(at, holes[i].end)
		}
		if at < m.End {
			left = append(left, mark{Span{at, m.End, m.Kind}, m.personal})
		}
	}
	return left
}

package search

import (
	"fmt"
	"strings"
)

// Hit is a document that was found.
type Hit struct {
	Document *Document // of the index: not to be changed
	Score    float64   // to compare hits of one answer by
	Angle    float64   // how near in meaning: 1 the same, 0 nothing in common
	Reasons  []Reason
	Alike    []*Document // near copies of it that were found as well
}

// How many near copies are named, and how many of one source: it must not keep
// those of others out.
const (
	maxAlike    = 5
	maxAlikeOne = 2
)

// add names a near copy.
func (h *Hit) add(d *Document) {
	same := 0
	for _, o := range h.Alike {
		if o.Source == d.Source {
			same++
		}
	}
	if len(h.Alike) < maxAlike && same < maxAlikeOne {
		h.Alike = append(h.Alike, d)
	}
}

// Reason is a word of the query, and where the document has it.
type Reason struct {
	Word string
	In   Fields
}

// Fields is a set of fields.
type Fields uint8

// Has says whether a field is in the set.
func (f Fields) Has(field Field) bool { return f&(1<<field) != 0 }

// Why says in a line why the document was found.
func (h Hit) Why() string {
	var b strings.Builder
	part := func(format string, args ...any) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, format, args...)
	}
	var before Fields
	for f := range allFields { // each word where it weighs most
		var words []string
		for _, r := range h.Reasons {
			if r.In.Has(f) && r.In&before == 0 {
				words = append(words, r.Word)
			}
		}
		if before |= 1 << f; len(words) > 0 {
			part("%s: %s", f, strings.Join(words, " "))
		}
	}
	if h.Angle > 0 {
		part("meaning %.2f", h.Angle)
	}
	return b.String()
}

// reasons are the query's words that a document has, appended to what is there.
func (p *parsed) reasons(all []Reason, slot uint32) []Reason {
	for i := range p.terms {
		if fields, ok := p.terms[i].has(slot); ok {
			all = append(all, Reason{p.terms[i].word, Fields(fields)})
		}
	}
	return all
}

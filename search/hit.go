package search

import (
	"fmt"
	"strings"
)

// Hit is a document that was found.
type Hit struct {
	Document Document
	Score    float64 // to compare hits of one answer by
	Angle    float64 // how near in meaning: 1 the same, 0 nothing in common
	Reasons  []Reason
	Alike    []Document // near copies of it that were found as well
}

// maxAlike is how many near copies are named.
const maxAlike = 5

// Reason is a word of the query, and where the document has it.
type Reason struct {
	Word   string
	Fields []Field
}

// Why says in a line why the document was found.
func (h Hit) Why() string {
	var parts []string
	for f := range allFields {
		var words []string
		for _, r := range h.Reasons {
			if len(r.Fields) > 0 && r.Fields[0] == f { // where it weighs most
				words = append(words, r.Word)
			}
		}
		if len(words) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", f, strings.Join(words, " ")))
		}
	}
	if h.Angle > 0 {
		parts = append(parts, fmt.Sprintf("meaning %.2f", h.Angle))
	}
	return strings.Join(parts, "; ")
}

// reasons are the query's words that a document has.
func (p *parsed) reasons(e *entry) []Reason {
	var reasons []Reason
	for i := range p.terms {
		mask, ok := p.terms[i].has(e.slot)
		if !ok {
			continue
		}
		var fields []Field
		for f := range allFields {
			if mask&(1<<f) != 0 {
				fields = append(fields, f)
			}
		}
		reasons = append(reasons, Reason{p.terms[i].word, fields})
	}
	return reasons
}

package scan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A text is read in windows, whether it comes whole or in pieces: so both find
// the same.
const (
	step    = 16 << 10 // bytes from one window to the next
	overlap = 2 << 10  // bytes of the window before that a window begins with
)

// Scanner finds. It may be used by many at once. The zero Scanner has no rules
// and says of every text that it could not finish.
type Scanner struct {
	texts, definitions *set
	pool               sync.Pool // of *scratch
}

// New makes a scanner of the default rules and the given ones, which run on
// texts and definitions alike and are not held to anchors.
func New(own ...Rule) (*Scanner, error) {
	var all []checked
	ours := defaults()
	for i, r := range slices.Concat(ours, own) {
		c, err := compile(r)
		if err != nil {
			return nil, err
		}
		if i < len(ours) && (c.length == 0 || c.length > longest || len(c.needs) == 0) {
			return nil, fmt.Errorf("rule %q: got a pattern of %d bytes at most and %d lists of words, want 1 to %d bytes and a list", r.ID, c.length, len(c.needs), longest)
		}
		all = append(all, c)
	}
	s := &Scanner{definitions: newSet(all)}
	s.texts = newSet(slices.DeleteFunc(slices.Clone(all), func(c checked) bool { return c.Definitions }))
	return s, nil
}

// errNoRules is what the zero Scanner has to say.
var errNoRules = errors.New("no rules")

// Scan finds in a text. It allocates nothing where it finds nothing.
func (s *Scanner) Scan(text []byte) []Finding { return s.scan(s.texts, text) }

// ScanDefinition finds in the description, schema or name of a tool.
func (s *Scanner) ScanDefinition(text []byte) []Finding { return s.scan(s.definitions, text) }

func (s *Scanner) scan(rules *set, text []byte) []Finding {
	if rules == nil {
		return []Finding{{Rule: errNoRules.Error(), Family: Unfinished, End: len(text)}}
	}
	w := s.scratch()
	defer s.pool.Put(w)
	var found []Finding
	for at := 0; at < len(text) || at == 0; at += step {
		found = w.window(rules, text[max(0, at-overlap):min(len(text), at+step)], at, found)
	}
	return found
}

func (s *Scanner) scratch() *scratch {
	if w, ok := s.pool.Get().(*scratch); ok {
		return w
	}
	return new(scratch)
}

// set are rules that run together.
type set struct {
	rules  []checked
	always []int // rules that are not found by words
	words  []string
	owners [][]slot // of a word
	deep   []bool   // the word belongs to no rule, see deep.go
	auto   *automaton
}

// slot is one list of words of a rule, and whether the word stands alone in it.
type slot struct {
	rule, list     int
	before, behind bool
}

func newSet(rules []checked) *set {
	s := &set{rules: rules}
	index := make(map[string]int)
	word := func(w string) int {
		i, ok := index[w]
		if !ok {
			i = len(s.words)
			index[w] = i
			s.words = append(s.words, w)
			s.owners = append(s.owners, nil)
			s.deep = append(s.deep, false)
		}
		return i
	}
	for i, r := range rules {
		if r.length == 0 || len(r.needs) == 0 || r.length > longest {
			s.always = append(s.always, i)
			continue
		}
		for list, n := range r.needs {
			for _, w := range n.words {
				at := word(strings.Trim(w, border))
				s.owners[at] = append(s.owners[at], slot{i, list, strings.HasPrefix(w, border), strings.HasSuffix(w, border)})
			}
		}
	}
	for _, w := range deepWords() {
		s.deep[word(w)] = true
	}
	s.auto = build(s.words)
	return s
}

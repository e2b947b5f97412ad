package scan

import (
	"slices"
	"strings"
)

// word is an anchor. The automaton finds the beginning of it.
type word struct {
	text   string // as normalised text has it
	stem   int    // bytes of it that were found
	owners []owner
}

// at reports whether the word stands in normalised text where its stem ends at
// an offset, and where it ends.
func (w *word) at(text []byte, stem int) (end int, ok bool) {
	start := stem - w.stem
	end = start + len(w.text)
	if start < 0 || end > len(text) {
		return 0, false
	}
	for i, b := range text[start:end] {
		if b != w.text[i] && (b != '\n' || w.text[i] != ' ') {
			return 0, false
		}
	}
	return end, true
}

// Bounds of a stem.
const (
	shortStem  = 8  // bytes, at least
	mostShared = 4  // words with the same one
	rareStem   = 26 // how often it is found, see frequency
)

// common reports whether w[:n] ends inside of a word that ordinary text is full of.
func common(w string, n int) bool {
	from, to := n, n
	for from > 0 && letterOrDigit(w[from-1]) {
		from--
	}
	for to < len(w) && letterOrDigit(w[to]) {
		to++
	}
	return from < n && n < to && wordFrequency(w[from:to]) > rareStem
}

// shared is how many words, in order, have the first n bytes of one of them.
func shared(words []string, order []int, at, n int) int {
	stem := words[order[at]][:n]
	lo, hi := at, at+1
	for lo > 0 && at-lo <= mostShared && strings.HasPrefix(words[order[lo-1]], stem) {
		lo--
	}
	for hi < len(order) && hi-at <= mostShared && strings.HasPrefix(words[order[hi]], stem) {
		hi++
	}
	return hi - lo
}

// stem cuts words to what makes them rare, so that the automaton is small: what
// follows is compared where that is found.
func (e *engine) stem(words []string, owners [][]owner) (stems []string) {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(words[a], words[b]) })
	index := make(map[string]int)
	for at, i := range order {
		w := words[i]
		n := min(len(w), shortStem)
		for n < len(w) && (w[n-1] == ' ' || shared(words, order, at, n) > mostShared || frequency(w[:n]) > rareStem || common(w, n)) {
			n++
		}
		s, ok := index[w[:n]]
		if !ok {
			s = len(stems)
			index[w[:n]] = s
			stems = append(stems, w[:n])
			e.words = append(e.words, nil)
		}
		skip := len(w) - len(strings.TrimPrefix(w, border))
		e.words[s] = append(e.words[s], word{strings.ToLower(w[skip:]), n - skip, owners[i]})
	}
	return stems
}

package scan

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// most is how many words one list of anchors may have, and longestWord how much
// of a word is looked for.
const (
	most        = 400
	longestWord = 20
)

// way is one way in which a rule can match: every match has a word of anchors,
// and one of the lists before and behind it, where there are such.
type way struct {
	rule           int
	anchors        []string
	head, tail     int // characters of a match before and behind the end of an anchor, at most
	before, behind *list
}

// list are words of which one ends at most gap characters away.
type list struct {
	gap  int
	auto func() *automaton
}

// ways finds the rarest anchors of an expression.
func ways(re *syntax.Regexp) []way {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpAlternate {
		var all []way
		for _, sub := range re.Sub {
			own := ways(sub)
			if own == nil {
				return nil
			}
			all = append(all, own...)
		}
		return all
	}
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = re.Sub
	}
	places := findPlaces(subs)
	if len(places) == 0 {
		return nil
	}
	best := 0
	for i := range places {
		if frequencies(places[i].words) < frequencies(places[best].words) {
			best = i
		}
	}
	p := places[best]
	w := way{anchors: trim(p.words), head: lengthOf(subs[:p.last+1]), tail: lengthOf(subs[p.first:])}
	if best > 0 {
		q := places[best-1]
		w.before = newList(q.words, lengthOf(subs[q.first:p.last+1]))
	}
	if best+1 < len(places) {
		q := places[best+1]
		w.behind = newList(q.words, lengthOf(subs[p.first:q.last+1]))
	}
	return []way{w}
}

func newList(words []string, gap int) *list {
	words = trim(words)
	return &list{gap, sync.OnceValue(func() *automaton { return build(words, false) })}
}

func lengthOf(subs []*syntax.Regexp) (sum int) {
	for _, sub := range subs {
		n, _ := longestMatch(sub)
		sum += n
	}
	return sum
}

// place is a list of words in a concatenation, and from which of its parts.
type place struct {
	words       []string
	first, last int
}

// findPlaces gives the lists of which every match has a word each, in order.
func findPlaces(subs []*syntax.Regexp) []place {
	var places []place
	keep := func(words []string, first, last int) {
		if useful(words) {
			places = append(places, place{words, first, last})
		}
	}
	run, from := []string(nil), 0 // what neighbours spell together
	for i, sub := range subs {
		words := exact(sub)
		joined := cross(run, words)
		switch {
		case words == nil:
			keep(run, from, i-1)
			run = nil
			best := []string(nil)
			for _, words := range conjunction(sub) {
				if useful(words) && (best == nil || frequencies(words) < frequencies(best)) {
					best = words
				}
			}
			keep(best, i, i)
		case joined != nil:
			if run == nil {
				from = i
			}
			run = joined
		default:
			keep(run, from, i-1)
			run, from = words, i
		}
	}
	keep(run, from, len(subs)-1)
	return places
}

// useful: each of the words has something to look for, and they are not all
// over the place.
func useful(words []string) bool {
	if len(words) == 0 || frequencies(words) > 2e5 {
		return false
	}
	for _, w := range words {
		if len(bare(w)) < 2 {
			return false
		}
	}
	return true
}

// bare is a word as normalised text has it: without borders, and with white
// space once and not around it.
func bare(w string) string {
	w = strings.NewReplacer(border, "", "\n", " ").Replace(w)
	for strings.Contains(w, "  ") {
		w = strings.ReplaceAll(w, "  ", " ")
	}
	return strings.Trim(w, " ")
}

// trim gives words as they are looked for.
func trim(words []string) []string {
	var short []string
	for _, w := range words {
		w = bare(w)
		short = append(short, w[max(0, len(w)-longestWord):])
	}
	slices.Sort(short)
	short = slices.Compact(short)
	// A word that holds another is found by that.
	return slices.DeleteFunc(slices.Clone(short), func(w string) bool {
		return slices.ContainsFunc(short, func(v string) bool { return v != w && strings.Contains(w, v) })
	})
}

// border is, before or behind a word of a rule, where no letter stands.
const border = "\x01"

// conjunction gives every list of words that a match must have one of.
func conjunction(re *syntax.Regexp) [][]string {
	if words := exact(re); words != nil {
		return [][]string{words}
	}
	switch re.Op {
	case syntax.OpCapture:
		return conjunction(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return conjunction(re.Sub[0])
		}
	case syntax.OpAlternate:
		// One list of each branch together make a list.
		var all []string
		for _, sub := range re.Sub {
			lists := slices.DeleteFunc(conjunction(sub), func(words []string) bool { return !useful(words) })
			if len(lists) == 0 {
				return nil
			}
			all = append(all, slices.MinFunc(lists, func(a, b []string) int { return cmp.Compare(frequencies(a), frequencies(b)) })...)
		}
		if len(all) <= most {
			return [][]string{all}
		}
	case syntax.OpConcat:
		var lists [][]string
		run := []string(nil) // what neighbours spell together
		for _, sub := range re.Sub {
			words := exact(sub)
			switch joined := cross(run, words); {
			case words == nil:
				lists = append(lists, run)
				run = nil
				lists = append(lists, conjunction(sub)...)
			case joined != nil:
				run = joined
			default:
				lists = append(lists, run)
				run = words
			}
		}
		return append(lists, run)
	default:
	}
	return nil
}

// exact gives all that an expression can match, or nil if that is much.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpWordBoundary:
		return []string{border}
	case syntax.OpEmptyMatch, syntax.OpNoWordBoundary, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return []string{""}
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if words := exact(re.Sub[0]); words != nil {
			return append(words, "")
		}
	case syntax.OpCharClass:
		if slices.Equal(re.Rune, []rune{'\n', '\n', ' ', ' '}) {
			return []string{" "} // one class to an automaton
		}
		var words []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if words = append(words, string(r)); len(words) > 8 {
					return nil
				}
			}
		}
		return words
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := exact(sub)
			if words == nil || len(all)+len(words) > most {
				return nil
			}
			all = append(all, words...)
		}
		return all
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			if all = cross(all, exact(sub)); all == nil {
				return nil
			}
		}
		return all
	default:
	}
	return nil
}

func cross(a, b []string) []string {
	if a == nil && b != nil {
		return b
	}
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > most {
		return nil
	}
	all := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	return all
}

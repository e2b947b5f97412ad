package scan

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// most is how many words one list of anchors may have.
const most = 80

// way is one way in which a rule can match: every match has a word of anchors,
// and one of each list before and behind it.
type way struct {
	rule       int
	anchors    []string                        // with borders
	head, tail int                             // characters of a match before and behind the end of an anchor, at most
	lists      func() (before, behind []*list) // nearest first
	// spots says of each anchor where the part that it is of can begin and end;
	// nil: that is not known. What stands beside that can be tried.
	spots              [][]spot
	backwards, onwards func() *probe
}

// spot is where a part begins and ends, in bytes before and behind the end of an
// anchor.
type spot struct{ before, behind int }

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
		if places[i].cost < places[best].cost {
			best = i
		}
	}
	p := places[best]
	if all := branches(subs, &p); all != nil {
		return all
	}
	w := way{anchors: p.words, head: lengthOf(subs[:p.last+1]), tail: lengthOf(subs[p.first:]), spots: p.spots()}
	w.backwards = sync.OnceValue(func() *probe { return newProbe(subs[:p.first], true) })
	w.onwards = sync.OnceValue(func() *probe { return newProbe(subs[p.last+1:], false) })
	// Most ways are never looked at so closely.
	w.lists = sync.OnceValues(func() (before, behind []*list) { return listsAround(subs, &p) })
	return []way{w}
}

// listsAround are those before and behind a place.
func listsAround(subs []*syntax.Regexp, p *place) (before, behind []*list) {
	free := p.first // what is not taken by a list
	for _, q := range slices.Backward(findPlaces(subs[:p.first])) {
		if q.last < free {
			before = append(before, newList(q.words, lengthOf(subs[q.first:p.last+1])))
			free = q.first
		}
	}
	next, free := p.last+1, 0
	for _, q := range findPlaces(subs[next:]) {
		if q.first >= free {
			behind = append(behind, newList(q.words, lengthOf(subs[p.first:next+q.last+1])))
			free = q.last + 1
		}
	}
	return before, behind
}

// branches are the ways of an expression, apart for each branch of the part that
// the words are of: so it is known where in it they stand.
func branches(subs []*syntax.Regexp, p *place) (all []way) {
	const most = 8
	if p.texts != nil || subs[p.first].Op != syntax.OpAlternate || len(subs[p.first].Sub) > most {
		return nil
	}
	for _, branch := range subs[p.first].Sub {
		parts := []*syntax.Regexp{branch}
		if branch.Op == syntax.OpConcat {
			parts = branch.Sub
		}
		own := ways(&syntax.Regexp{Op: syntax.OpConcat, Sub: slices.Concat(subs[:p.first], parts, subs[p.last+1:])})
		if own == nil || len(all) > 2*most {
			return nil
		}
		all = append(all, own...)
	}
	return all
}

func newList(words []string, gap int) *list {
	return &list{gap, sync.OnceValue(func() *automaton {
		short := make([]string, 0, len(words))
		for _, w := range words {
			short = append(short, strings.TrimSuffix(w, border))
		}
		return build(short, false)
	})}
}

func lengthOf(subs []*syntax.Regexp) (sum int) {
	for _, sub := range subs {
		n, _ := longestMatch(sub)
		sum += n
	}
	return sum
}

// rarest gives the list that is least to be found in ordinary text.
func rarest(lists [][]string) []string {
	var best []string
	least := 0.0
	for _, words := range lists {
		if words, cost := clean(words); words != nil && (best == nil || cost < least) {
			best, least = words, cost
		}
	}
	return best
}

// clean gives words as they are looked for, and what that costs: a guess at how
// often they are found, and a little for the room they take. It gives nil if
// one of them has nothing to look for, or if they are all over the place.
func clean(texts []string) ([]string, float64) {
	words := make([]string, 0, len(texts))
	for _, t := range texts {
		t = bare(t)
		if len(t)-strings.Count(t, border) < 2 {
			return nil, 0
		}
		words = append(words, t)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	cost := 0.0
	for i, w := range words {
		words[i] = short(w)
		cost += frequency(words[i]) + 4
	}
	if len(words) == 0 || cost > 2e5 {
		return nil, 0
	}
	slices.Sort(words)
	words = slices.Compact(words)
	// A word that holds another is found by that.
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.ContainsFunc(words, func(v string) bool { return len(v) < len(w) && holds(w, v) })
	})
	return kept, cost
}

// holds reports whether a word holds another. Borders are at ends only.
func holds(w, v string) bool {
	switch {
	case v[0] == border[0]:
		return strings.HasPrefix(w, v)
	case v[len(v)-1] == border[0]:
		return strings.HasSuffix(w, v)
	default:
		return strings.Contains(w, v)
	}
}

// short leaves out words at the end that are not needed to make it rare.
func short(w string) string {
	const rare = 8
	if strings.IndexByte(w, ' ') < 0 {
		return w
	}
	enough := max(rare, 3*frequency(w))
	for n, c := range w {
		if c == ' ' && frequency(w[:n]+border) <= enough {
			return w[:n] + border
		}
	}
	return w
}

// bare is a word as normalised text has it: with borders only at its ends, and
// with white space once and not around it.
func bare(w string) string {
	w = strings.ReplaceAll(w, "\n", " ")
	before := strings.HasPrefix(w, border) || strings.HasPrefix(w, " ")
	behind := strings.HasSuffix(w, border) || strings.HasSuffix(w, " ")
	w = strings.ReplaceAll(w, border, "")
	for strings.Contains(w, "  ") {
		w = strings.ReplaceAll(w, "  ", " ")
	}
	w = strings.Trim(w, " ")
	if w == "" {
		return w
	}
	if before && letterOrDigit(w[0]) {
		w = border + w
	}
	if behind && letterOrDigit(w[len(w)-1]) {
		w += border
	}
	return w
}

// border is, before or behind a word of a rule, where no letter stands.
const border = "\x01"

package scan

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// most is how many words one list of anchors may have.
const most = 400

// conjuncts is how many lists of words a rule may have.
const conjuncts = 4

// need is a list of words of which every match has one, behind one of the list
// before and at most gap bytes after it, from end to end.
type need struct {
	words []string
	gap   int
}

// needed gives the rarest lists of an expression, in the order in which they
// stand in a match, and how many characters of a match at most stand before and
// behind the end of the word of the last list.
func needed(re *syntax.Regexp) (needs []need, head, tail int) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = re.Sub
	}
	type place struct {
		words       []string
		first, last int // of subs
	}
	var places []place
	keep := func(words []string, first, last int) {
		if words = clean(words); len(words) > 0 {
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
			for _, list := range conjunction(sub) {
				if list = clean(list); len(list) > 0 && (best == nil || commonness(list) < commonness(best)) {
					best = list
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
	for len(places) > 1 {
		worst := 0
		for i := range places {
			if commonness(places[i].words) > commonness(places[worst].words) {
				worst = i
			}
		}
		if len(places) <= conjuncts && commonness(places[worst].words) < tooCommon {
			break
		}
		places = slices.Delete(places, worst, worst+1)
	}
	length := func(subs []*syntax.Regexp) (sum int) {
		for _, sub := range subs {
			n, _ := longestMatch(sub)
			sum += n
		}
		return sum
	}
	for i, p := range places {
		n := need{words: p.words}
		if i > 0 {
			n.gap = length(subs[places[i-1].first : p.last+1])
		}
		head, tail = length(subs[:p.last+1]), length(subs[p.first:])
		needs = append(needs, n)
	}
	return needs, head, tail
}

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
			lists := conjunction(sub)
			for i, words := range lists {
				lists[i] = clean(words)
			}
			lists = slices.DeleteFunc(lists, func(words []string) bool { return len(words) == 0 })
			if len(lists) == 0 {
				return nil
			}
			all = append(all, slices.MinFunc(lists, func(a, b []string) int { return commonness(a) - commonness(b) })...)
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

// clean takes of each text its rarest piece that normalising a text that looks
// harmless can neither make nor join (see deep.go); nil if one has none.
func clean(texts []string) []string {
	var words []string
	for _, t := range texts {
		best := ""
		for i := 0; i < len(t); {
			j := i
			for j < len(t) && !parts(t[j]) {
				j++
			}
			piece := t[i:j]
			if j-i > 1 {
				if i > 0 && letterOrDigit(t[i]) {
					piece = border + piece
				}
				if j < len(t) && letterOrDigit(t[j-1]) {
					piece += border
				}
				if best == "" || wordCommonness(piece) < wordCommonness(best) {
					best = piece
				}
			}
			i = j + 1
		}
		if best == "" {
			return nil
		}
		words = append(words, best)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	// A word that holds another is found by that.
	return slices.DeleteFunc(words, func(w string) bool {
		return slices.ContainsFunc(words, func(v string) bool { return v != w && strings.Contains(w, v) })
	})
}

// border is, before or behind a word of a rule, where no letter stands.
const border = "\x01"

// parts: it stands between words, and what it is in a text that is not
// normalised is not known.
func parts(b byte) bool { return b <= ' ' || strings.IndexByte(`\"'&%-.,;+=`, b) >= 0 }

func letterOrDigit(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// alone reports whether a word of a rule, which may want borders, stands by
// itself in text[start:end]. A border may be one that only normalising makes:
// by a capital letter, or where an escape ends.
func alone(text []byte, start, end int, before, behind bool) bool {
	if before && start > 0 && letterOrDigit(text[start-1]) {
		capital := 'A' <= text[start] && text[start] <= 'Z'
		escape := start > 1 && text[start-2] == '\\' || start > 2 && text[start-3] == '%'
		if !capital && !escape {
			return false
		}
	}
	return !behind || end == len(text) || !letterOrDigit(text[end]) || 'A' <= text[end] && text[end] <= 'Z'
}

// tooCommon is from where on a list is no help: the confirmation is as cheap.
const tooCommon = 9000

// commonness guesses how often one of the words stands in ordinary text.
func commonness(words []string) int {
	n := 0
	for _, w := range words {
		n += wordCommonness(w)
	}
	return n
}

// frequent are words that ordinary text is made of.
const frequent = " the and you your are for not all any this that with from will now must can has have been was were user users use used using data file files " +
	"do to of in is it be as at by on or an no if so we me my our they them their its his her what when where which who how out into new more only " +
	"tool tools call message text name code time get set also other first after before about should would could please make sure always never " +
	"send read write run here there one two system content information result results response request model type value list key "

func wordCommonness(w string) int {
	if whole := strings.Trim(w, border); len(w)-len(whole) == 2 {
		switch {
		case strings.Contains(frequent, " "+whole+" "):
			return 600
		case len(whole) <= 3:
			return 60
		default:
			return max(1, 12-len(whole))
		}
	}
	half := strings.Contains(w, border)
	w = strings.Trim(w, border)
	if half && len(w) <= 3 {
		return 300
	}
	switch {
	case strings.Contains(frequent, " "+w+" "):
		if len(w) <= 2 {
			return 2000
		}
		return 800
	case len(w) <= 2:
		return 1500
	case strings.ContainsAny(w, "<|[{#!@") || w[0] >= 0x80:
		return 4
	case len(w) == 3:
		return 200
	case len(w) == 4:
		return 40
	case len(w) == 5:
		return 15
	default:
		return 6
	}
}

package scan

import (
	"regexp/syntax"
	"slices"
	"strings"
)

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
			words := rarest(conjunction(sub))
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		if len(all) <= 4*most {
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
		if re.Flags&syntax.FoldCase != 0 {
			return []string{strings.ToLower(string(re.Rune))}
		}
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

package builtin

import (
	"regexp/syntax"
	"unicode/utf8"
)

// fsRun is that a text holds so many bytes of a set one behind another, such as
// nine digits.
type fsRun struct {
	has  [256]bool
	size int
}

// Runs that are shorter, or of more characters, are everywhere.
const fsLeastRun, fsMostRun = 3, 70

// fsRunOf is a run that each match of a pattern holds; nil: none that helps.
func fsRunOf(re *syntax.Regexp) *fsRun {
	var r fsRun
	if !r.add(re) || r.size < fsLeastRun {
		return nil
	}
	n := 0
	for _, has := range r.has[:utf8.RuneSelf] {
		if has {
			n++
		}
	}
	if n > fsMostRun {
		return nil
	}
	return &r
}

// add takes up a part of a pattern: it must be made of sets only.
func (r *fsRun) add(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCharClass:
		r.size++
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], utf8.RuneSelf-1); c++ {
				r.has[c] = true
			}
			if re.Rune[i+1] >= utf8.RuneSelf { // any byte of what is beyond ASCII
				for c := utf8.RuneSelf; c < len(r.has); c++ {
					r.has[c] = true
				}
			}
		}
		return true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !r.add(sub) {
				return false
			}
		}
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return r.add(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		size := r.size
		if !r.add(re.Sub[0]) {
			return false
		}
		least := 0
		if re.Op == syntax.OpRepeat {
			least = re.Min
		}
		r.size = size + least*(r.size-size)
		return true
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEmptyMatch:
		return true
	default:
	}
	return false
}

// next is an offset within the next run, or -1. It looks at every size-th byte
// as long as that is not in the set.
func (r *fsRun) next(text []byte, at int) int {
	for end := at + r.size - 1; end < len(text); {
		i := end
		for i > end-r.size && r.has[text[i]] {
			i--
		}
		if i == end-r.size {
			return end
		}
		end = i + r.size
	}
	return -1
}

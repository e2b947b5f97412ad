package scan

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Rule is one thing to look for.
type Rule struct {
	// ID names the rule in findings.
	ID string
	// Family is Own where it is left empty.
	Family Family
	// Pattern is a regular expression (RE2) over the normalised text: lower
	// case, without accents, any white space one space or one line feed, with
	// a line feed before and after the text. What it can match must be
	// bounded: {0,20} and not *.
	Pattern string
	// Definitions: it looks at definitions of tools only.
	Definitions bool
	// Hits are texts that it must find, Misses texts that come near and must
	// not be found. New checks neither; tests do.
	Hits, Misses []string
}

// longest is how many characters of normalised text a rule of ours may match.
const longest = 480

// checked is a rule that can be run.
type checked struct {
	Rule
	re         *regexp.Regexp
	length     int    // at most of a match; 0: not bounded
	needs      []need // in the order in which they stand in a match
	head, tail int    // of a match before and behind the end of the last word, at most
}

func compile(r Rule) (checked, error) {
	c := checked{Rule: r}
	if r.ID == "" || r.Pattern == "" {
		return c, fmt.Errorf("rule %q: got no id or no pattern, want both", r.ID)
	}
	if c.Family == "" {
		c.Family = Own
	}
	pattern := "(?s)" + foldPattern(r.Pattern)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return c, fmt.Errorf("rule %q: %w", r.ID, err)
	}
	if re.MatchString("") {
		return c, fmt.Errorf("rule %q: got a pattern that matches nothing at all, want one that needs text", r.ID)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return c, fmt.Errorf("rule %q: %w", r.ID, err)
	}
	c.re = re
	c.length, _ = longestMatch(tree)
	c.needs, c.head, c.tail = needed(tree)
	return c, nil
}

// foldPattern writes what is not ASCII in a pattern as normalised text has it.
func foldPattern(p string) string {
	var b strings.Builder
	for _, r := range p {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.Write(foldRune(nil, r))
		}
	}
	return b.String()
}

// longestMatch is how many characters an expression can match; ok is false if there
// is no bound.
func longestMatch(re *syntax.Regexp) (n int, ok bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpQuest, syntax.OpCapture:
		return longestMatch(re.Sub[0])
	case syntax.OpRepeat:
		n, ok = longestMatch(re.Sub[0])
		return n * re.Max, ok && re.Max >= 0
	case syntax.OpConcat, syntax.OpAlternate:
		for _, sub := range re.Sub {
			m, ok := longestMatch(sub)
			if !ok {
				return 0, false
			}
			if re.Op == syntax.OpConcat {
				n += m
			} else {
				n = max(n, m)
			}
		}
		return n, true
	default: // borders match nothing
		return 0, true
	}
}

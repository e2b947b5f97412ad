package scan

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
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
	// a line feed before and after the text. A space in it stands for either,
	// a capital for its small letter.
	// What is bounded, {0,20} and not *, and has words in it costs next to
	// nothing; what is not reads all of every text.
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
	own  bool // of the operator
	re   func() *regexp.Regexp
	ways []way // none: it is not found by words
}

// parse makes a rule ready. Its expression is compiled when it is first needed:
// most never are.
func parse(r Rule) (checked, error) {
	c := checked{Rule: r}
	if r.ID == "" || r.Pattern == "" {
		return c, fmt.Errorf("rule %q: got no id or no pattern, want both", r.ID)
	}
	if c.Family == "" {
		c.Family = Own
	}
	pattern := "(?s)" + foldPattern(r.Pattern)
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return c, fmt.Errorf("rule %q: %w", r.ID, err)
	}
	if uncapped(tree) {
		pattern = tree.String()
		if tree, err = syntax.Parse(pattern, syntax.Perl); err != nil {
			return c, fmt.Errorf("rule %q: %w", r.ID, err)
		}
	}
	c.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if n, bounded := longestMatch(tree); bounded && n <= longest {
		c.ways = ways(tree)
	}
	return c, nil
}

// parseOwn is parse for a rule that nobody has tested.
func parseOwn(r Rule) (checked, error) {
	c, err := parse(r)
	if err != nil {
		return c, err
	}
	c.own = true
	if c.re().MatchString("") {
		return c, fmt.Errorf("rule %q: got a pattern that matches nothing at all, want one that needs text", r.ID)
	}
	return c, nil
}

// foldPattern writes what is not ASCII in a pattern as normalised text has it,
// and lets a space be any white space.
func foldPattern(p string) string {
	var b strings.Builder
	class, quoted := false, false
	for _, r := range p {
		switch {
		case r == ' ' && !class && !quoted:
			b.WriteString(`[ \n]`)
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		default:
			b.Write(foldRune(nil, r))
		}
		if !quoted && (r == '[' || r == ']') {
			class = r == '['
		}
		quoted = r == '\\' && !quoted
	}
	return b.String()
}

// uncapped makes small letters of the capitals of an expression, as normalised text has
// none, and reports whether there were any. A class of what is not in it, such as
// [^a-z], stays: capitals are in it because nobody named them.
func uncapped(re *syntax.Regexp) (changed bool) {
	switch re.Op {
	case syntax.OpLiteral:
		changed = re.Flags&syntax.FoldCase != 0 // which keeps its letters as capitals
		re.Flags &^= syntax.FoldCase
		for i, r := range re.Rune {
			if small := unicode.ToLower(r); small != r {
				re.Rune[i], changed = small, true
			}
		}
	case syntax.OpCharClass:
		if n := len(re.Rune); n == 0 || re.Rune[n-1] == unicode.MaxRune {
			return false
		}
		for i, n := 0, len(re.Rune); i < n; i += 2 {
			if from, to := max(re.Rune[i], 'A'), min(re.Rune[i+1], 'Z'); from <= to {
				re.Rune, changed = append(re.Rune, unicode.ToLower(from), unicode.ToLower(to)), true
			}
		}
	default:
		for _, sub := range re.Sub {
			changed = uncapped(sub) || changed
		}
	}
	return changed
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

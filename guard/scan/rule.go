package scan

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
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
	// a line feed before and after the text. A space in it stands for either.
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

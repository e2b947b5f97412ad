package scan

import (
	"math"
	"regexp/syntax"
	"testing"
	"unicode/utf8"
)

// What is not looked at because it is short can be found by no rule: normalising
// adds a line feed before and behind it, and a space where a sentence begins in a
// word.
func TestShortest(t *testing.T) {
	t.Parallel()
	for _, r := range ofTexts() {
		tree, err := syntax.Parse("(?s)"+foldPattern(r.Pattern), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n := shortestMatch(tree); n <= shortest+3 {
			t.Errorf("%s: got a match of %d plain bytes, want more than %d", r.ID, n, shortest+3)
		}
	}
	s := scanner(t)
	for _, text := range []string{"<ai>", "\u202e"} {
		if len(s.Scan([]byte(text))) == 0 {
			t.Errorf("%q: got nothing, want a finding", text)
		}
	}
	if len(s.ScanDefinition([]byte("mitm"))) == 0 {
		t.Error("the definition mitm: got nothing, want a finding")
	}
}

// shortestMatch is how many plain bytes an expression matches at least.
func shortestMatch(re *syntax.Regexp) int {
	const never = math.MaxInt16
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf || !plainByte(byte(r)) {
				return never
			}
		}
		return len(re.Rune)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && r < utf8.RuneSelf; r++ {
				if plainByte(byte(r)) {
					return 1
				}
			}
		}
		return never
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpPlus, syntax.OpCapture:
		return shortestMatch(re.Sub[0])
	case syntax.OpRepeat:
		return min(never, re.Min*shortestMatch(re.Sub[0]))
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			sum = min(never, sum+shortestMatch(sub))
		}
		return sum
	case syntax.OpAlternate:
		least := never
		for _, sub := range re.Sub {
			least = min(least, shortestMatch(sub))
		}
		return least
	default: // borders, and what need not be there
		return 0
	}
}

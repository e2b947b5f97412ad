package main

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/leaks"
)

// sample is a key that a rule is for, with what its rule wants around it.
type sample struct{ text, value string }

// samples makes keys that a pattern matches, by chance. What cannot be made so, such
// as a pattern that looks behind, gives fewer.
func samples(rng *rand.Rand, rule leaks.Rule, n int) ([]sample, error) {
	re, err := regexp.Compile(rule.Pattern)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(rule.Pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	var all []sample
	for range n * 8 {
		if len(all) == n {
			break
		}
		var b strings.Builder
		write(&b, rng, tree)
		text := strings.TrimSpace(b.String())
		groups := re.FindStringSubmatch(text)
		if groups == nil {
			continue
		}
		value := groups[0]
		if rule.Group > 0 {
			value = groups[rule.Group]
		} else {
			for _, g := range groups[1:] {
				if g != "" {
					value = g
					break
				}
			}
		}
		if value != "" {
			all = append(all, sample{text, value})
		}
	}
	return all, nil
}

// write writes a text that a regular expression matches, but for what it says of
// places, such as the end of a word.
func write(b *strings.Builder, rng *rand.Rand, re *syntax.Regexp) {
	repeat := func(least, most int) {
		for range least + rng.IntN(most-least+1) {
			write(b, rng, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(oneOf(rng, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[rng.IntN(36)])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAnyCharNotNL {
				b.WriteByte('.') // one that was meant as it is, as in an address
				continue
			}
			write(b, rng, sub)
		}
	case syntax.OpAlternate:
		write(b, rng, re.Sub[rng.IntN(len(re.Sub))])
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 24)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 || most > re.Min+24 {
			most = re.Min + 24
		}
		if re.Min == 0 && most > 3 {
			most = 3 // it stands between a name and its value
		}
		repeat(re.Min, most)
	default: // places, and nothing
	}
}

// oneOf is a character of a class: a letter or digit if it has some, else one that
// can be seen, else a space.
func oneOf(rng *rand.Rand, ranges []rune) rune {
	var words, seen []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], '!'); r <= min(ranges[i+1], '~'); r++ {
			seen = append(seen, r)
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				words = append(words, r)
			}
		}
	}
	// A class with spaces in it stands around values, one without in them.
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= ' ' && ranges[i+1] >= ' ' && len(words) == 0 {
			return ' '
		}
	}
	switch {
	case len(words) > 0 && (len(seen) == 0 || rng.IntN(16) > 0):
		return words[rng.IntN(len(words))]
	case len(seen) > 0:
		return seen[rng.IntN(len(seen))]
	default:
		return ' '
	}
}

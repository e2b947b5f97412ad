package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPatternSize is how many steps the patterns of one schema may have
// together. A pattern of a thousand characters can have a hundred thousand.
const maxPatternSize = 20_000

const patternHint = "patterns are RE2: no look-around, no back-references"

// patterns compiles the patterns of one schema, each once. They are RE2: what
// they match takes linear time.
type patterns struct {
	size  int
	known map[string]*regexp.Regexp
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if re := p.known[text]; re != nil {
		return re, nil
	}
	if p.size <= maxPatternSize {
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		p.size += steps(tree)
	}
	if p.size > maxPatternSize {
		return nil, fmt.Errorf("the patterns of this schema have more than %d steps together", maxPatternSize)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p.known[text] = re
	return re, nil
}

// steps is about how long the program of a pattern is.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		if n += steps(sub); n > maxPatternSize {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxPatternSize+1)
}

package cedar

import (
	"slices"
	"strconv"
	"strings"
)

// places finds where in a rule something stands that is wrong with it.
type places struct {
	tokens []token
	told   map[int]bool // what was found, so that the next is another
}

// find is where words stand that follow each other, with nothing but what joins
// them in between: the last of them. Where they do not stand so it is where the
// last word does, else where the rule begins.
func (p *places) find(words ...string) token { return p.where(words, func(int) bool { return true }) }

// findWhole is find for something of which nothing is read.
func (p *places) findWhole(words ...string) token {
	return p.where(words, func(i int) bool { return !p.readFrom(i) })
}

func (p *places) where(words []string, fits func(int) bool) token {
	for _, again := range []bool{false, true} {
		for i := range p.tokens {
			if at := p.match(i, words); at >= 0 && fits(at) && (again || !p.told[at]) {
				p.told[at] = true
				return p.tokens[at]
			}
		}
	}
	if len(words) > 1 {
		return p.find(words[len(words)-1])
	}
	return p.tokens[0]
}

// match is where the last word stands if the words stand from i on, else -1.
func (p *places) match(i int, words []string) int {
	last := -1
	for _, word := range words {
		for last >= 0 && i < len(p.tokens) && unquoted(p.tokens[i].text) != word && joins(p.tokens[i].text) {
			i++
		}
		if i >= len(p.tokens) || unquoted(p.tokens[i].text) != word {
			return -1
		}
		last = i
		i++
	}
	return last
}

// readFrom reports whether something is read of what stands at i.
func (p *places) readFrom(i int) bool {
	behind := func(n int) string {
		if i+n < len(p.tokens) {
			return p.tokens[i+n].text
		}
		return ""
	}
	switch p.tokens[i].text {
	case "covered", "met":
		return strings.HasPrefix(behind(2), "contains")
	}
	return slices.Contains([]string{".", "[", "has"}, behind(1))
}

// joins reports whether a token stands between parts of one thing.
func joins(text string) bool {
	return slices.Contains([]string{".", "[", "]", "(", ")", "has", "like", "is", "in", "==", "!=", "::", "@"}, text)
}

// before is the last token that is a word, else t.
func before(list []token, word string, t token) token {
	for _, l := range slices.Backward(list) {
		if unquoted(l.text) == word {
			return l
		}
	}
	return t
}

// outOfRange is the first number that 64 bits cannot hold.
func outOfRange(list []token) token {
	for i, t := range list {
		sign := ""
		if i > 0 && list[i-1].text == "-" {
			sign = "-"
		}
		if _, err := strconv.ParseInt(sign+t.text, 10, 64); err != nil && strings.Trim(t.text, "0123456789") == "" && t.text != "" {
			return t
		}
	}
	return list[0]
}

// unquoted is what a token says: of one in quotes what is in them.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' {
		return text
	}
	text = text[1 : len(text)-1]
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for text != "" {
		plain, escape, found := strings.Cut(text, `\`)
		b.WriteString(plain)
		if !found || escape == "" {
			break
		}
		text = escape[1:]
		switch escape[0] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case '0':
			b.WriteByte(0)
		case 'u':
			digits, rest, _ := strings.Cut(strings.TrimPrefix(text, "{"), "}")
			if code, err := strconv.ParseInt(digits, 16, 32); err == nil {
				b.WriteRune(rune(code))
			}
			text = rest
		default:
			b.WriteByte(escape[0])
		}
	}
	return b.String()
}

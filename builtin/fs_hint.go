package builtin

import (
	"fmt"
	"strings"
)

// Bounds of looking for what was meant.
const (
	fsMostHinted = 1 << 20 // bytes of the file
	fsMostWanted = 50      // words of what was asked for
)

// fsHint says where the text that was not found is most likely meant, with what
// stands there.
// The nearest line costs as much as the file times the words of what was asked
// for, so both are bounded.
func fsHint(text, old string) string {
	if len(text) > fsMostHinted {
		return " Nothing like it was looked for in so long a file: read it again."
	}
	lines := strings.Split(text, "\n")
	wanted := strings.Split(strings.Trim(old, "\r\n"), "\n")
	if at := fsSameWords(lines, wanted); at >= 0 {
		return fmt.Sprintf(" The same words with other white space stand at line %d:\n%s\n", at+1, fsQuote(lines[at:at+len(wanted)]))
	}
	best, most := -1, 0
	words := fsWords(fsLongest(wanted))
	for i, line := range lines {
		if n := fsShared(words, line); n > most {
			best, most = i, n
		}
	}
	if best < 0 || 2*most < len(words) {
		return " Nothing in the file is like it: read it again."
	}
	return fmt.Sprintf(" The nearest is at line %d:\n%s\n", best+1, fsQuote(lines[best:min(best+len(wanted), len(lines))]))
}

// fsSameWords is where lines stand that differ in white space only; -1: nowhere.
// One search for all of them takes no longer where many lines are alike.
func fsSameWords(lines, wanted []string) int {
	plain := func(list []string) string {
		var b strings.Builder
		b.WriteByte('\n')
		for _, l := range list {
			for i, word := range strings.Fields(l) {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(word)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	text, want := plain(lines), plain(wanted)
	if strings.TrimSpace(want) == "" {
		return -1
	}
	before, _, ok := strings.Cut(text, want)
	if !ok {
		return -1
	}
	return strings.Count(before, "\n")
}

// fsLongest is the line that says most.
func fsLongest(lines []string) string {
	var longest string
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) > len(longest) {
			longest = l
		}
	}
	return longest
}

// fsWords are the words of a line, each once.
func fsWords(line string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\r()[]{},;:.\"'=", c) }) {
		if words[w] = true; len(words) == fsMostWanted {
			break
		}
	}
	return words
}

// fsShared counts the words that a line has in common with others.
func fsShared(words map[string]bool, line string) (n int) {
	for w := range words {
		if strings.Contains(line, w) {
			n++
		}
	}
	return n
}

// fsQuote shows a few lines as they are.
func fsQuote(lines []string) string {
	const most, long = 12, 300
	var b strings.Builder
	for i, l := range lines[:min(len(lines), most)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(fsFirst(strings.ToValidUTF8(strings.TrimSuffix(l, "\r"), "\uFFFD"), long))
	}
	return b.String()
}

package ferrule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// haystack is where words are looked for in one tool, in small letters.
type haystack struct {
	name, tags, arguments, description string
}

// haystacks are those of the set, made once.
func (s *toolset) haystacks() []haystack {
	s.hay.Do(func() {
		s.stacks = make([]haystack, len(s.list))
		for i, e := range s.list {
			root := decoded[map[string]json.RawMessage](e.tool.Input)
			arguments := slices.Sorted(maps.Keys(decoded[map[string]json.RawMessage](root["properties"])))
			s.stacks[i] = haystack{
				name: strings.ToLower(e.wire), tags: strings.ToLower(strings.Join(e.tool.Tags, "\n")),
				arguments: strings.ToLower(strings.Join(arguments, "\n")), description: strings.ToLower(e.tool.Description),
			}
		}
	})
	return s.stacks
}

// score is how well words fit a tool; 0: not at all. Each word counts where it
// weighs most, and a tool that has more of them comes before one that has fewer.
func (h *haystack) score(query string, words []string) int {
	const perWord, whole, exact = 10, 1_000, 10_000
	score := 0
	for _, w := range words {
		switch {
		case strings.Contains(h.name, w):
			score += perWord + 4
		case strings.Contains(h.tags, w):
			score += perWord + 3
		case strings.Contains(h.arguments, w):
			score += perWord + 2
		case strings.Contains(h.description, w):
			score += perWord + 1
		}
	}
	switch {
	case h.name == query:
		return score + exact
	case strings.Contains(h.name, query):
		return score + whole
	}
	return score
}

// Bounds of a query: what is beyond is not looked for.
const (
	maxQuery = 1_000 // bytes
	maxWords = 32
)

// search answers tool_search.
func (s *toolset) search(query string, limit int) string {
	if limit <= 0 {
		limit = usualFound
	}
	limit = min(limit, maxFound)
	if names, ok := strings.CutPrefix(strings.TrimSpace(query), "select:"); ok {
		return s.selected(names)
	}
	query = strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(query[:min(len(query), maxQuery)], "")))
	words := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;:/()\"'", r) })
	words = words[:min(len(words), maxWords)]
	if len(words) == 0 {
		return "Give words to look for." + s.index(false)
	}
	type hit struct {
		*entry
		score int
	}
	var hits []hit
	stacks := s.haystacks()
	for i, e := range s.list {
		if e.pages {
			continue
		}
		if n := stacks[i].score(query, words); n > 0 {
			hits = append(hits, hit{e, n})
		}
	}
	if len(hits) == 0 {
		return "No tool has these words. Try others, or fewer." + s.index(false)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var b strings.Builder
	for _, h := range hits[:min(len(hits), limit)] {
		h.line(&b)
	}
	if more := len(hits) - limit; more > 0 {
		fmt.Fprintf(&b, "[%d more have some of these words]\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// selected are the tools of exact names.
func (s *toolset) selected(names string) string {
	var b strings.Builder
	n := 0
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if n++; n > maxFound {
			fmt.Fprintf(&b, "[the others are left out: want at most %d names]\n", maxFound)
			break
		}
		if e := s.find(name); e != nil {
			e.line(&b)
		} else {
			b.WriteString(s.notFound(name) + "\n")
		}
	}
	if n == 0 {
		return "select: got no name, want names with commas between."
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lineSize is how much of a description stands in a line, in characters.
const lineSize = 160

// line writes a tool's name and the beginning of its description.
func (e *entry) line(b *strings.Builder) {
	text := strings.Join(strings.Fields(e.guard.ShownText(e.source, e.tool.Name, e.tool.Description)), " ")
	if runes := []rune(text[:min(len(text), 8*lineSize)]); len(runes) > lineSize {
		text = strings.TrimRight(string(runes[:lineSize]), " ") + "…"
	}
	fmt.Fprintf(b, "%s: %s\n", e.wire, text)
}

// describe answers tool_describe.
func (s *toolset) describe(name string) (string, error) {
	e := s.find(name)
	if e == nil || e.pages {
		return "", &tool.Error{Kind: tool.InvalidValue, Text: s.notFound(name)}
	}
	d := e.definition()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Name, d.Description)
	if len(d.Tags) > 0 {
		fmt.Fprintf(&b, "Tags: %s\n", strings.Join(d.Tags, ", "))
	}
	for _, x := range d.Examples {
		fmt.Fprintf(&b, "Example: %s\n", x.Input)
	}
	fmt.Fprintf(&b, "Input schema: %s", d.Input)
	return b.String(), nil
}

package ferrule

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/tool"
)

// maxNearest is how many tools are shown where none seems to fit.
const maxNearest = 3

// leastAngle is how near in meaning a tool must be that has none of the words. In a
// small set all tools are compared, and most are a little near.
const leastAngle = 0.25

// look finds tools of the set: those that the view does not show are not found.
func (s *toolset) look(ctx context.Context, r *registry, text string, limit int) search.Answer {
	answer := r.library.search(ctx, r, search.Query{Text: text, Limit: limit, Only: func(d *search.Document) bool {
		e := s.names[d.ID]
		return e != nil && e.source.Name == d.Source && !e.pages
	}})
	answer.Hits = slices.DeleteFunc(answer.Hits, func(h search.Hit) bool {
		return len(h.Reasons) == 0 && h.Angle < leastAngle && h.Score < 1 // 1: it was asked for by its name
	})
	return answer
}

// search answers tool_search.
func (s *toolset) search(ctx context.Context, r *registry, q searchRequest, o DeferOptions) (text string, found []*entry) {
	query, limit := q.Query, q.Limit
	switch {
	case limit <= 0 && o.Load:
		limit = usualLoaded
	case limit <= 0:
		limit = usualFound
	}
	limit = min(limit, maxFound)
	if names, ok := strings.CutPrefix(strings.TrimSpace(query), "select:"); ok {
		return s.selected(names, o)
	}
	if !strings.ContainsFunc(query, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
		return "Give words to look for." + s.index(false), nil
	}
	answer := s.look(ctx, r, query, limit)
	var b strings.Builder
	switch {
	case len(answer.Hits) == 0:
		return "No tool has these words. Try others, or fewer." + s.index(false), nil
	case answer.Fit < search.Fits:
		answer.Hits = answer.Hits[:min(len(answer.Hits), maxNearest)]
		b.WriteString("No tool seems to fit. The nearest:\n")
	}
	for _, h := range answer.Hits {
		e := s.names[h.Document.ID]
		e.line(&b, h, o)
		found = append(found, e)
	}
	if answer.Fit < search.Fits {
		found = nil
	}
	return strings.TrimSuffix(b.String(), "\n"), found
}

// selected are the tools of exact names.
func (s *toolset) selected(names string, o DeferOptions) (text string, found []*entry) {
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
		e := s.findable(name)
		if e == nil {
			b.WriteString(s.unfound(name) + "\n")
			continue
		}
		e.line(&b, search.Hit{}, o)
		found = append(found, e)
	}
	if n == 0 {
		return "select: got no name, want names with commas between.", nil
	}
	return strings.TrimSuffix(b.String(), "\n"), found
}

// schemaSize is how many bytes of input schemas stand in one answer.
const schemaSize = 20_000

// unlisted says how tools are called that were found and not loaded.
func unlisted(left []*entry) string {
	if len(left) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d tools are loaded, which is the most. These are not, and are called by name all the same; their input schemas:", maxLoaded)
	room := schemaSize
	for _, e := range left {
		var input bytes.Buffer // on one line
		if err := json.Compact(&input, e.definition().Input); err != nil || input.Len() > room {
			fmt.Fprintf(&b, "\n%s: too long to be shown here", e.wire)
			continue
		}
		room -= input.Len()
		fmt.Fprintf(&b, "\n%s: %s", e.wire, input.Bytes())
	}
	return b.String()
}

// findable is the tool of a name. What reads kept results is not looked for: it is
// offered where there are any.
func (s *toolset) findable(name string) *entry {
	if e := s.find(name); e != nil && !e.pages {
		return e
	}
	return nil
}

// unfound says why no tool of a name is findable.
func (s *toolset) unfound(name string) string {
	if s.find(name) != nil {
		return name + " is listed once a result was kept: it need not be found."
	}
	return s.notFound(name)
}

// Bounds of a line about a tool.
const (
	lineSize      = 160 // characters of its description
	maxArguments  = 12  // that are named
	argumentChars = 40  // of each
)

// line writes a tool's name, its arguments, why it was found, and the beginning of
// its description: that stands last, so that it cannot be taken for what Ferrule says.
func (e *entry) line(b *strings.Builder, h search.Hit, o DeferOptions) {
	arguments, about := e.inLine()
	fmt.Fprintf(b, "%s(%s)", e.wire, arguments)
	var why []string
	if matched := h.Why(); matched != "" {
		why = append(why, matched)
	}
	if len(h.Alike) > 0 {
		var names []string
		for _, d := range h.Alike {
			names = append(names, d.ID)
		}
		why = append(why, "much the same: "+strings.Join(names, ", "))
	}
	if len(why) > 0 {
		fmt.Fprintf(b, " [%s]", strings.Join(why, "; "))
	}
	fmt.Fprintf(b, ": %s\n", about)
	if o.Examples {
		for _, x := range e.definition().Examples {
			fmt.Fprintf(b, "  Example: %s\n", x.Input)
		}
	}
}

// lineOnce is what a line says of the entry as it is. Schemas may be long: they are
// read once, not for each search.
func (e *entry) lineOnce() func() (arguments, about string) {
	return sync.OnceValues(func() (arguments, about string) {
		return e.arguments(), brief(e.guard.ShownText(e.source, e.tool.Name, e.tool.Description), lineSize)
	})
}

// brief is the beginning of a text on one line, in so many characters.
func brief(text string, most int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 64*most)]), " ")
	if runes := []rune(text[:min(len(text), 8*most)]); len(runes) > most {
		return strings.TrimRight(string(runes[:most]), " ") + "…"
	}
	return text
}

// arguments names those that must be given, then the others, each with a question
// mark.
func (e *entry) arguments() string {
	required := decoded[struct {
		Required []string `json:"required"`
	}](e.tool.Input).Required
	properties := e.properties()
	var must, may []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, name) {
			must = append(must, argument(name))
		} else {
			may = append(may, argument(name)+"?")
		}
	}
	names := slices.Concat(must, may)
	if more := len(names) - maxArguments; more > 0 {
		names = append(names[:maxArguments], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// argument is the name of an argument in a list of them: without what nobody sees,
// and without what lists and lines are made with.
func argument(name string) string {
	return brief(strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case strings.ContainsRune("()[],?", c), !unicode.IsGraphic(c),
			unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return c
	}, name[:min(len(name), 64*argumentChars)]), argumentChars)
}

// describe answers tool_describe.
func (s *toolset) describe(name string) (string, error) {
	e := s.findable(name)
	if e == nil {
		return "", &tool.Error{Kind: tool.InvalidValue, Text: s.unfound(name)}
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

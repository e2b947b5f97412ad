package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// remark is a place in what a tool, or a server, says of itself that reads like an
// attempt to steer a model.
type remark struct {
	Tool     string `json:"tool,omitempty"` // "": the server
	Where    string `json:"where"`          // such as inputSchema.properties.path.description
	Rule     string `json:"rule"`
	Family   string `json:"family"`
	Encoding string `json:"encoding,omitempty"`
	Text     string `json:"text"` // what stands there, with [[ and ]] around it
}

// String is one line of it, fit to be shown.
func (t remark) String() string {
	return fmt.Sprintf("%s: %s (%s): %s", t.Where, t.Rule, t.Family, t.Text)
}

// Bounds of what is looked at and told of one definition.
const (
	maxRemarks     = 20
	maxRemarkTexts = 20_000
)

// lookAt finds in a definition: its name, its texts, its schemas and the names in
// them.
func lookAt(s *scan.Scanner, definition json.RawMessage) (found []remark) {
	var whole any
	if err := json.Unmarshal(definition, &whole); err != nil {
		return remarkOn(s, "definition", string(definition), nil)
	}
	texts := 0
	var walk func(where string, v any)
	look := func(where, text string) {
		if texts++; texts <= maxRemarkTexts {
			found = remarkOn(s, where, text, found)
		}
	}
	walk = func(where string, v any) {
		switch v := v.(type) {
		case string:
			look(where, v)
		case []any:
			for i, item := range v {
				walk(where+"["+strconv.Itoa(i)+"]", item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				at := strings.TrimPrefix(where+"."+terminal.Brief(name, 60), ".")
				if where != "" { // the names at the top are those of MCP
					look("the name of "+at, name)
				}
				walk(at, v[name])
			}
		}
	}
	walk("", whole)
	if texts > maxRemarkTexts {
		found = append(found, remark{Where: "definition", Rule: "bounds", Family: string(scan.Unfinished), Text: fmt.Sprintf("more than %d texts: the rest was not looked at", maxRemarkTexts)})
	}
	return found
}

// remarkOn adds what is found in one text.
func remarkOn(s *scan.Scanner, where, text string, found []remark) []remark {
	all := s.ScanDefinition([]byte(text))
	slices.SortStableFunc(all, func(a, b scan.Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	for _, f := range all {
		if len(found) >= maxRemarks {
			break
		}
		found = append(found, remark{Where: where, Rule: f.Rule, Family: string(f.Family), Encoding: f.Encoding, Text: excerpt(text, f).String()})
	}
	return found
}

// marked is a place in a text with a little of what is around it, on one line.
type marked struct{ before, inside, behind string }

// String has [[ and ]] around it.
func (m marked) String() string { return m.before + "[[" + m.inside + "]]" + m.behind }

// excerpt is where something was found.
func excerpt(text string, f scan.Finding) marked {
	const around, most = 40, 160
	start, end := max(0, min(f.Start, len(text))), max(0, min(f.End, len(text)))
	from, to := start-min(start, around), end+min(len(text)-end, around)
	if nl := strings.LastIndexByte(text[from:start], '\n'); nl >= 0 { // its own line is enough
		from += nl + 1
	}
	if nl := strings.IndexByte(text[end:to], '\n'); nl >= 0 {
		to = end + nl
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	line := func(text string) string {
		return mcptool.Visible(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text))
	}
	before, inside, behind := line(text[from:start]), line(text[start:end]), line(text[end:to])
	if runes := []rune(inside); len(runes) > most {
		inside = string(runes[:most*2/3]) + "…" + string(runes[len(runes)-most/3:])
	}
	if from > 0 && text[from-1] != '\n' {
		before = "…" + before
	}
	if to < len(text) && text[to] != '\n' {
		behind += "…"
	}
	return marked{before, inside, behind}
}

// pointOut is lookAt for a person who is asked about a definition.
func pointOut(s *scan.Scanner) func(json.RawMessage) []string {
	return func(definition json.RawMessage) (lines []string) {
		for _, t := range lookAt(s, definition) {
			lines = append(lines, t.String())
		}
		return lines
	}
}

// remarksOn is what was found in what a server says of itself.
func remarksOn(s *scan.Scanner, status mcptool.Status) []remark {
	return remarkOn(s, "its name", status.Server, remarkOn(s, "instructions", status.Instructions, nil))
}

// remarksOf is what was found in what the tools of a server say now.
func remarksOf(s *scan.Scanner, known *mcptool.Pinned) (all []remark) {
	for i := range known.Tools {
		if known.Tools[i].State == mcptool.PinGone {
			continue
		}
		for _, t := range lookAt(s, known.Tools[i].Definition()) {
			t.Tool = known.Tools[i].Tool
			all = append(all, t)
		}
	}
	return all
}

// gravity is the families, the worst first.
func gravity() []string {
	list := []scan.Family{
		scan.Poisoning, scan.Shadowing, scan.Exfil, scan.Override, scan.Secrecy, scan.ToolCall, scan.Role, scan.Hidden, scan.Parameter,
		scan.Authority, scan.Persona, scan.Encoded, scan.Own, scan.Unfinished,
	}
	words := make([]string, len(list))
	for i, f := range list {
		words[i] = string(f)
	}
	return words
}

// worst is the family to be named where there is room for one.
func worst(all []remark) string {
	for _, f := range gravity() {
		if slices.ContainsFunc(all, func(t remark) bool { return t.Family == f }) {
			return f
		}
	}
	return ""
}

// printRemarks prints what was found in what the tools of servers say, below a list.
func (p *program) printRemarks(server string, all []remark) {
	for i, t := range all {
		if i == maxTrustFindings {
			p.printf("%s: … and %s: ferrule scan %s shows them\n", server, plural(int64(len(all)-i), "finding more", "findings more"), server)
			return
		}
		p.printf("%s: %s: %s\n", server, mcptool.Visible(cmp.Or(t.Tool, "the server")), t)
	}
}

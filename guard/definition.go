package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/tool"
)

// Definition looks through what a source says of a tool: its name, its description
// and its schemas. It says what was found, for the operator. What is the program's
// own or part of Ferrule is not looked at.
func (g *Guard) Definition(s tool.Source, i *tool.Info) (found []string) {
	if !g.doubts(s, i.Name) {
		return nil
	}
	scanner := g.scanner()
	for _, part := range []struct {
		what string
		text []byte
	}{
		{"name", bytesOf(i.Name)},
		{"description", bytesOf(i.Description)},
		{"input schema", i.Input},
		{"output schema", i.Output},
	} {
		for _, f := range scanner.ScanDefinition(part.text) {
			text := fmt.Sprintf("its %s reads like an attempt to steer a model: %s (%s) in “%s”", part.what, f.Rule, f.Family, excerpt(part.text, f))
			if !slices.Contains(found, text) && len(found) < maxTold {
				found = append(found, text)
			}
		}
	}
	return found
}

// Shown is the definition of a tool of a source, or a part of it, in JSON as a
// model is shown it: what nobody sees is taken out of its texts. Names of members
// stay: arguments have them.
func (g *Guard) Shown(s tool.Source, name string, raw json.RawMessage) json.RawMessage {
	if !g.doubts(s, name) || plain(raw) {
		return raw
	}
	c := cleaner{how: Wrap, values: true}
	clean, _ := c.inJSON(raw)
	return clean
}

// ShownText is Shown for a text.
func (g *Guard) ShownText(s tool.Source, name, text string) string {
	if !g.doubts(s, name) {
		return text
	}
	b := bytesOf(text)
	return stringOf(text, b, scan.StripInvisible(b))
}

// doubts reports whether definitions of a source are looked at.
func (g *Guard) doubts(s tool.Source, name string) bool {
	if s.Trust >= tool.Own && s.Trust <= tool.BuiltIn {
		return false
	}
	how, closed := g.handling(&tool.Request{Name: tool.WireName(s.Name, name), Source: s, Tool: &tool.Info{Name: name}})
	return how != Pass || closed
}

// excerpt is what was found, on one short line and with nothing that is not seen.
func excerpt(text []byte, f scan.Finding) string {
	const most = 80
	start, end := max(min(f.Start, len(text)), 0), max(min(f.End, len(text)), 0)
	var b strings.Builder
	for n, r := range string(bytes.ToValidUTF8(text[start:max(start, end)], []byte("?"))) {
		switch {
		case n >= most:
			return b.String() + "…"
		case r == ' ' || unicode.IsGraphic(r) && r != '“' && r != '”':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}

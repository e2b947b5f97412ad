package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editor changes the text of a file at the places that its tree names. What it
// makes of an unforeseen layout may be wrong: the caller looks at it.
type editor struct {
	file string
	text string
}

// list finds the value of policy.always, and the nodes on the way; nil: not there.
func (e *editor) list() (root, policyKey, policyValue, alwaysKey, always *yaml.Node) {
	r := &reader{file: e.file}
	root = r.tree([]byte(e.text))
	policyKey, policyValue = child(root, "policy")
	alwaysKey, always = child(policyValue, "always")
	return root, policyKey, policyValue, alwaysKey, always
}

func child(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func (e *editor) add(item string) string {
	root, policyKey, policyValue, alwaysKey, always := e.list()
	switch {
	case always != nil && always.Kind == yaml.SequenceNode && flow(always):
		return e.insert(e.after(always, "["), item+separator(always))
	case always != nil && always.Kind == yaml.SequenceNode:
		_, end := e.span(always.Content[len(always.Content)-1])
		return e.insertLine(1+strings.Count(e.text[:end], "\n"), indent(always)+"- "+item)
	case always != nil:
		return e.fill(alwaysKey, always, flow(policyValue), " ["+item+"]", indent(alwaysKey)+"  - "+item)
	case policyValue != nil && policyValue.Kind == yaml.MappingNode && flow(policyValue):
		return e.insert(e.after(policyValue, "{"), "always: ["+item+"]"+separator(policyValue))
	case policyValue != nil && policyValue.Kind == yaml.MappingNode:
		in := indent(policyValue.Content[0])
		return e.insertLine(policyKey.Line, in+"always:\n"+in+"  - "+item)
	case policyValue != nil:
		return e.fill(policyKey, policyValue, flow(root), " {always: ["+item+"]}", "  always:\n    - "+item)
	case root != nil && root.Kind == yaml.MappingNode && flow(root):
		return e.insert(e.after(root, "{"), "policy: {always: ["+item+"]}"+separator(root))
	}
	text := e.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.TrimSpace(text) != "" {
		text += "\n"
	}
	return text + "policy:\n  always:\n    - " + item + "\n"
}

// fill gives a key a value that has none: on its line within braces, else below.
func (e *editor) fill(key, value *yaml.Node, inline bool, short, below string) string {
	if value.Value != "" { // null, written out
		at := e.offset(value.Line, value.Column)
		e.text = e.text[:at] + e.text[at+len(value.Value):]
	}
	if !inline {
		return e.insertLine(key.Line, below)
	}
	at := e.offset(key.Line, key.Column) + len(key.Value)
	if colon := strings.IndexByte(e.text[at:], ':'); colon >= 0 {
		at += colon + 1
	}
	return e.insert(at, short)
}

// remove takes out an item: its lines in a list of lines, else what stands there.
func (e *editor) remove(i int) string {
	_, policyKey, policyValue, alwaysKey, always := e.list()
	start, end := e.span(always.Content[i])
	if !flow(always) {
		from := e.lineOf(start)
		if len(always.Content) == 1 { // nothing is left of the list, nor of what only it stood in
			above := []*yaml.Node{alwaysKey}
			if len(policyValue.Content) == 2 {
				above = append(above, policyKey)
			}
			for _, key := range above {
				line := e.lineOf(e.offset(key.Line, key.Column))
				if strings.TrimSpace(e.text[line:from]) != key.Value+":" { // somebody has written something there
					break
				}
				from = line
			}
		}
		return e.text[:from] + e.text[e.lineAfter(end):]
	}
	if comma := strings.IndexByte(e.text[end:], ','); i+1 < len(always.Content) && comma >= 0 {
		end += comma + 1
	} else if i > 0 { // the last: with the comma in front, if that is in its line
		_, before := e.span(always.Content[i-1])
		if strings.Trim(e.text[before:start], " ,") == "" {
			return e.text[:before] + e.text[end:]
		}
	}
	line, rest := e.text[e.lineOf(start):start], e.text[end:e.lineAfter(end)]
	if rest := strings.TrimSpace(rest); strings.TrimSpace(line) == "" && (rest == "" || rest[0] == '#') { // a line of its own
		return e.text[:e.lineOf(start)] + e.text[e.lineAfter(end):]
	}
	if i+1 < len(always.Content) {
		end += len(rest) - len(strings.TrimLeft(rest, " "))
	}
	return e.text[:start] + e.text[end:]
}

// lineOf is where the line of a place begins, lineAfter where the next one does.
func (e *editor) lineOf(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

func (e *editor) lineAfter(at int) int {
	if n := strings.IndexByte(e.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(e.text)
}

func (e *editor) replace(i int, item string) string {
	_, _, _, _, always := e.list()
	start, end := e.span(always.Content[i])
	return e.text[:start] + item + e.text[end:]
}

// span is where a value stands, with its quotes or brackets.
func (e *editor) span(n *yaml.Node) (start, end int) {
	start = e.offset(n.Line, n.Column)
	switch {
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		end = min(start+1, len(e.text))
		if len(n.Content) > 0 {
			_, end = e.span(n.Content[len(n.Content)-1])
		}
		if flow(n) {
			end = e.close(end)
		}
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for end = start + 1; end < len(e.text) && e.text[end] != '"'; end++ {
			if e.text[end] == '\\' {
				end++
			}
		}
		end++
	case n.Style&yaml.SingleQuotedStyle != 0:
		for end = start + 1; end < len(e.text); end++ {
			if e.text[end] == '\'' {
				if end+1 >= len(e.text) || e.text[end+1] != '\'' {
					break
				}
				end++
			}
		}
		end++
	default:
		end = start + len(n.Value)
	}
	return start, min(end, len(e.text))
}

// close is the place behind the bracket that comes next, beyond commas, spaces
// and comments; where something else comes, it is the place itself.
func (e *editor) close(from int) int {
	for at := from; at < len(e.text); at++ {
		switch e.text[at] {
		case ' ', '\t', '\r', '\n', ',':
		case '#':
			at = e.lineAfter(at) - 1
		case '}', ']':
			return at + 1
		default:
			return from
		}
	}
	return from
}

// offset is where a place of the tree is in the text.
func (e *editor) offset(line, column int) int {
	at := 0
	for range line - 1 {
		n := strings.IndexByte(e.text[at:], '\n')
		if n < 0 {
			return len(e.text)
		}
		at += n + 1
	}
	for range column - 1 {
		if at >= len(e.text) {
			break
		}
		at += len(string([]rune(e.text[at:min(at+4, len(e.text))])[:1]))
	}
	return min(at, len(e.text))
}

// after is the place behind the bracket that a node begins with.
func (e *editor) after(n *yaml.Node, bracket string) int {
	at := e.offset(n.Line, n.Column)
	if strings.HasPrefix(e.text[at:], bracket) {
		at += len(bracket)
	}
	return at
}

func (e *editor) insert(at int, text string) string { return e.text[:at] + text + e.text[at:] }

// insertLine puts lines below a line.
func (e *editor) insertLine(line int, text string) string {
	end := "\n"
	if strings.Contains(e.text, "\r\n") {
		end = "\r\n"
		text = strings.ReplaceAll(text, "\n", end)
	}
	at := e.offset(line+1, 1)
	if at > 0 && e.text[at-1] != '\n' { // the last line has no end
		return e.insert(at, end+text)
	}
	return e.insert(at, text+end)
}

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// separator stands between a new first item and what follows it.
func separator(n *yaml.Node) string {
	if len(n.Content) > 0 {
		return ", "
	}
	return ""
}

func indent(n *yaml.Node) string { return strings.Repeat(" ", max(n.Column-1, 0)) }

// quote writes a text as YAML reads it: JSON is YAML.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "''"
	}
	return strings.TrimSpace(b.String())
}

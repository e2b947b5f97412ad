package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// reader walks the tree of a file and collects what is wrong.
type reader struct {
	file      string
	dir       string
	workspace string
	lines     []string
	errs      Errors
	more      bool // there are faults that are not told
	wanted    []want
}

// maxSize is how long a file may be: longer ones are no configuration.
const maxSize = 1 << 20

// tree reads the one document of a file; nil: it is empty.
func (r *reader) tree(text []byte) (root *yaml.Node) {
	defer func() {
		if p := recover(); p != nil { // in the library
			r.at(1, 1, "got what is not YAML: %v", p)
			root = nil
		}
	}()
	switch {
	case len(text) > maxSize:
		r.at(1, 1, "got %d bytes, want at most %d", len(text), maxSize)
		return nil
	case !utf8.Valid(text):
		line := 1 + bytes.Count(text[:invalidAt(text)], []byte("\n"))
		r.at(line, 1, "got bytes that are not UTF-8")
		return nil
	}
	var doc, second yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(text))
	switch err := in.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := in.Decode(&second); {
	case err == nil:
		r.at(max(second.Line, 1), max(second.Column, 1), "got a second document, want one")
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	r.tags(doc.Content[0])
	return doc.Content[0]
}

// tags finds fault with each tag: what a value is says what it is read as.
func (r *reader) tags(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle != 0 {
		r.fault(n, "got the tag %s, want the value without one", n.Tag)
	}
	for _, c := range n.Content {
		r.tags(c)
	}
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// syntax is what the library says of text that is no YAML. It knows the line
// only, and a tab or a star is better named.
func (r *reader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	for i, l := range r.lines {
		if lead := l[:len(l)-len(strings.TrimLeft(l, " \t"))]; strings.Contains(lead, "\t") && strings.TrimSpace(l) != "" {
			r.at(i+1, strings.IndexByte(lead, '\t')+1, "got a tab, want spaces in front")
			return
		}
	}
	if strings.Contains(text, "alphabetic or numeric") || strings.Contains(text, "unknown anchor") {
		text += "; put quotes around a text that begins with * or &"
	}
	line = min(max(line, 1), max(len(r.lines), 1))
	column := 1
	if line <= len(r.lines) {
		l := r.lines[line-1]
		column += len(l) - len(strings.TrimLeft(l, " "))
	}
	r.at(line, column, "got what is not YAML: %s", text)
}

// maxFaults is how many faults are told: who made so many made them all alike.
const maxFaults = 100

// full reports whether no more faults are told.
func (r *reader) full() bool { return len(r.errs) >= maxFaults }

func (r *reader) at(line, column int, format string, args ...any) {
	if r.full() {
		r.more = true
		return
	}
	r.errs = append(r.errs, &Error{r.file, max(line, 1), max(column, 1), strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`)})
}

// fault is something wrong with a value.
func (r *reader) fault(n *yaml.Node, format string, args ...any) {
	r.at(n.Line, n.Column, format, args...)
}

// inText is something wrong within a text, at a character of it from 1. Where
// the text is written as it reads, the place is exact.
func (r *reader) inText(n *yaml.Node, column int, format string, args ...any) {
	start := n.Column
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		start++
	}
	if n.Line >= 1 && n.Line <= len(r.lines) && !r.full() {
		line := r.lines[n.Line-1]
		if at, ok := byteOf(line, start-1); ok && strings.HasPrefix(line[at:], n.Value) {
			r.at(n.Line, start+column-1, format, args...)
			return
		}
	}
	r.fault(n, format+" (at character %d)", append(args, column)...)
}

// byteOf is where a character of a text, from 0, begins.
func byteOf(text string, character int) (at int, ok bool) {
	for ; character > 0 && at < len(text); character-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at, character == 0
}

// empty reports whether a value says nothing.
func empty(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Tag == "!!null" || n.Tag == "!!str" && n.Value == ""
	case yaml.MappingNode, yaml.SequenceNode:
		return len(n.Content) == 0
	case yaml.AliasNode, yaml.DocumentNode:
	}
	return false
}

// kindOf is how an error names what it got.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (*" + n.Value + ")"
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return "nothing"
		case "!!str":
			return "the text " + strconv.Quote(n.Value)
		}
		return n.Value
	case yaml.DocumentNode:
	}
	return "nothing"
}

// fields calls f for each key of a mapping that is known, and finds fault with
// the others. what names the mapping in errors.
func (r *reader) fields(n *yaml.Node, what string, known []string, f func(key string, v *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		want := "names with what is said of each"
		if len(known) > 0 {
			want = "keys with values: " + strings.Join(known, ", ")
		}
		r.fault(n, "%s: got %s, want %s", what, kindOf(n), want)
		return
	}
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		if r.full() {
			r.more = true
			return
		}
		if key.Kind != yaml.ScalarNode {
			r.fault(key, "%s: got %s as a key, want one of %s", what, kindOf(key), strings.Join(known, ", "))
			continue
		}
		if line := seen[key.Value]; line > 0 {
			r.fault(key, "%s: got %q twice, want it once: it stands in line %d already", what, key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		if !slices.Contains(known, key.Value) {
			r.fault(key, "%s: unknown key %q%s", what, key.Value, hint(key.Value, known))
			continue
		}
		if v.Kind == yaml.AliasNode {
			r.fault(v, "%s: got %s, want the value written out", key.Value, kindOf(v))
			continue
		}
		f(key.Value, v)
	}
}

// items are the values of a list.
func (r *reader) items(n *yaml.Node, what, want string) []*yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "%s: got %s, want a list of %s", what, kindOf(n), want)
		return nil
	}
	return n.Content
}

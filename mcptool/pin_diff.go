package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parts are the members of a definition that are pinned, in the order in which they
// are shown.
func parts() []string {
	return []string{"name", "title", "description", "annotations", "inputSchema", "outputSchema"}
}

// changedParts are the parts that are different in two definitions.
func changedParts(accepted, now json.RawMessage) []string {
	var all []string
	for _, part := range parts() {
		a, _ := member(accepted, part)
		b, _ := member(now, part)
		if string(a) != string(b) {
			all = append(all, part)
		}
	}
	return all
}

// leaf is one value of a definition that has no others in it.
type leaf struct{ path, text string }

// leaves are all of them, in the order in which they are shown.
func leaves(definition json.RawMessage) []leaf {
	var all []leaf
	var walk func(raw json.RawMessage, path string)
	walk = func(raw json.RawMessage, path string) {
		n := len(all)
		switch kindOf(raw) {
		case '{':
			each(raw, func(key string, value json.RawMessage) { walk(value, path+"."+key) })
		case '[':
			list, _ := items(raw)
			for i, item := range list {
				walk(item, path+"."+strconv.Itoa(i))
			}
		case '"':
			if text, _ := unquote(raw); prose(path) {
				all = append(all, leaf{path, text})
				return
			}
		}
		if len(all) == n { // a scalar, or nothing in it
			all = append(all, leaf{path, string(raw)})
		}
	}
	for _, part := range parts() {
		if raw, ok := member(definition, part); ok {
			walk(raw, part)
		}
	}
	return all
}

// prose reports whether a value is a text for people: it is shown as that and not
// as JSON.
func prose(path string) bool {
	return strings.HasSuffix(path, "description") || strings.HasSuffix(path, "title")
}

// diffOf shows how two definitions in canonical JSON are different: each value that
// is, with - before what it was and + before what it is. The first may be nil.
func diffOf(accepted, now json.RawMessage) string {
	was, is := leaves(accepted), leaves(now)
	before := make(map[string][]string, len(was)) // a path has more than one where a name is there twice
	for _, l := range was {
		before[l.path] = append(before[l.path], l.text)
	}
	after := make(map[string][]string, len(is))
	for _, l := range is {
		after[l.path] = append(after[l.path], l.text)
	}
	var b strings.Builder
	shown := make(map[string]bool)
	for _, l := range slices.Concat(is, was) {
		if shown[l.path] || slices.Equal(before[l.path], after[l.path]) {
			continue
		}
		shown[l.path] = true
		fmt.Fprintf(&b, "%s\n", visibleLine(l.path, 200))
		writeLines(&b, strings.Join(before[l.path], "\n"), strings.Join(after[l.path], "\n"), before[l.path] != nil, after[l.path] != nil)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeLines shows how two texts are different, without the lines that both begin
// and end with.
func writeLines(b *strings.Builder, was, is string, had, has bool) {
	split := func(text string, there bool) []string {
		if !there {
			return nil
		}
		return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	}
	old, now := split(was, had), split(is, has)
	if slices.Equal(old, now) { // only the ends of lines are different
		fmt.Fprintf(b, "- (lines that end in another way)\n+ (lines that end in another way)\n")
		return
	}
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	same := func(n int) {
		if n > 0 {
			fmt.Fprintf(b, "  (%d lines that are the same)\n", n)
		}
	}
	same(head)
	for _, line := range old[head : len(old)-tail] {
		b.WriteString("- " + Visible(line) + "\n")
	}
	for _, line := range now[head : len(now)-tail] {
		b.WriteString("+ " + Visible(line) + "\n")
	}
	same(tail)
}

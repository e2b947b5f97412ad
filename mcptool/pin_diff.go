package mcptool

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
)

// parts are the members of a definition that are pinned, in the order in which they
// are shown.
func parts() []string {
	return []string{"name", "title", "description", "annotations", "inputSchema", "outputSchema", "execution", "icons", "_meta"}
}

// pinnedPart is what is pinned of a member; nil: nothing is.
//
// Icons, execution and _meta go to clients too, but are not pinned as a rule: honest
// servers write there what is another with each list (an address that expires, a
// time, the version of a template) or with the version of the protocol, and would be
// asked about for ever. Of them is pinned what this program itself goes by; and the
// whole of one that hides something, so that it is found also where the rest of the
// tool was accepted long ago.
func pinnedPart(part string, value json.RawMessage) json.RawMessage {
	switch part {
	case "icons", "execution", "_meta":
		if len(findingsOf(json.RawMessage(schema.Canonical(string(setMembers(nil, pair{part, value})))))) > 0 {
			return value
		}
		if always, ok := member(value, metaAlwaysLoad); ok && part == "_meta" && kindOf(always) == 't' {
			return setMembers(nil, pair{metaAlwaysLoad, always})
		}
		return nil
	}
	return value
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
type leaf struct {
	at        *way
	raw, text string // as JSON, and as it is shown
}

// leaves are all of them, in the order in which they are shown.
func leaves(definition json.RawMessage) []leaf {
	var all []leaf
	for _, part := range parts() {
		raw, ok := member(definition, part)
		if !ok {
			continue
		}
		walk(raw, (*way)(nil).to(part), func(at *way, value json.RawMessage) {
			if value == nil {
				return
			}
			l := leaf{at: at, raw: string(value), text: string(value)}
			if text, ok := unquote(value); ok && at.prose() {
				l.text = text
			}
			all = append(all, l)
		})
	}
	return all
}

// diffOf shows how two definitions in canonical JSON are different: each value that
// is, with - before what it was and + before what it is. The first may be nil. It is
// never "" where they are different. It ends soon after so many bytes.
func diffOf(accepted, now json.RawMessage, most int) string {
	was, is := leaves(accepted), leaves(now)
	before := make(map[[sha256.Size]byte][]leaf, len(was)) // a way has more than one where a name is there twice
	for _, l := range was {
		before[l.at.sum] = append(before[l.at.sum], l)
	}
	after := make(map[[sha256.Size]byte][]leaf, len(is))
	for _, l := range is {
		after[l.at.sum] = append(after[l.at.sum], l)
	}
	same := func(a, b leaf) bool { return a.raw == b.raw }
	var b strings.Builder
	shown := make(map[[sha256.Size]byte]bool)
	for _, l := range slices.Concat(is, was) {
		old, now := before[l.at.sum], after[l.at.sum]
		if shown[l.at.sum] || slices.EqualFunc(old, now, same) {
			continue
		}
		if shown[l.at.sum] = true; b.Len() > most {
			break
		}
		fmt.Fprintf(&b, "%s\n", l.at)
		writeChange(&b, old, now)
	}
	if b.Len() == 0 && string(accepted) != string(now) {
		// They differ in something that has no way of its own.
		writeChange(&b, []leaf{{text: string(accepted)}}, []leaf{{text: string(now)}})
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeChange shows what was at a place and what is there now. Two that would look the
// same are shown in letters that do not.
func writeChange(b *strings.Builder, old, now []leaf) {
	text := func(of func(leaf) string) (was, is string) {
		join := func(all []leaf) string {
			texts := make([]string, len(all))
			for i, l := range all {
				texts[i] = of(l)
			}
			return strings.Join(texts, "\n")
		}
		return join(old), join(now)
	}
	was, is := text(func(l leaf) string { return l.text })
	if len(old) > 0 && len(now) > 0 && Visible(was) == Visible(is) {
		was, is = text(func(l leaf) string { return strconv.QuoteToASCII(cmp.Or(l.raw, l.text)) })
	}
	writeLines(b, was, is, len(old) > 0, len(now) > 0)
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

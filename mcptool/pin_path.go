package mcptool

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// maxDefinitionDepth is how deep a definition may be nested: a schema may be 128
// deep. What is deeper costs more than it is worth wherever it is looked at, and has
// no canonical form from some depth on.
const maxDefinitionDepth = 160

// deeper reports whether JSON is nested more than so deep. It looks at each byte
// once.
func deeper(raw json.RawMessage, most int) bool {
	s := scanner{b: raw}
	for depth := 0; s.i < len(s.b); {
		switch s.b[s.i] {
		case '"':
			if !s.text() {
				return false
			}
			continue
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
		s.i++
	}
	return false
}

// way leads to a value of JSON. Ways to what is beside each other share what they have
// in common, and are made to texts only where they are shown: as texts, those of a
// definition could be a thousand times its length.
type way struct {
	from   *way // nil: it is the first step
	member string
	item   int // -1: it is a member
	// sum tells ways apart: no two have the same, whatever members are called.
	sum [sha256.Size]byte
}

func (w *way) to(member string) *way { return w.step(&way{from: w, member: member, item: -1}) }

func (w *way) at(item int) *way { return w.step(&way{from: w, item: item}) }

func (w *way) step(next *way) *way {
	var b []byte
	if w != nil {
		b = append(b, w.sum[:]...)
	}
	b = strconv.AppendInt(b, int64(next.item), 10)
	next.sum = sha256.Sum256(append(append(b, '.'), next.member...))
	return next
}

// String is a way as it is shown: inputSchema.properties."to.type".enum[0], on one
// line, without what a person cannot see, and cut where it is long.
func (w *way) String() string {
	const most, mostStep = 200, 60
	var all []*way
	for at := w; at != nil; at = at.from {
		all = append(all, at)
	}
	slices.Reverse(all)
	var b strings.Builder
	for i, at := range all {
		if b.Len() > 4*most { // no more is made than may be shown
			break
		}
		switch {
		case at.item >= 0:
			b.WriteString("[" + strconv.Itoa(at.item) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		name := visibleLine(at.member, mostStep)
		if !word(at.member) {
			name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		b.WriteString(name)
	}
	return visibleLine(b.String(), most)
}

// word reports whether a name needs no quotes to be told from what is around it.
func word(name string) bool {
	for _, r := range name {
		switch {
		case r == '_', r == '-', r == '$', r == '/', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r > '~':
		default:
			return false
		}
	}
	return name != ""
}

// prose reports whether a value is a text for people: it is shown as that and not
// as JSON.
func (w *way) prose() bool {
	return strings.HasSuffix(w.member, "description") || strings.HasSuffix(w.member, "title")
}

// walk gives every value of JSON that has no others in it, and every name of a member
// (with a value of nil), and the way there.
func walk(raw json.RawMessage, from *way, f func(at *way, value json.RawMessage)) {
	walkDown(raw, from, maxDefinitionDepth, f)
}

func walkDown(raw json.RawMessage, from *way, depth int, f func(at *way, value json.RawMessage)) {
	empty := true
	switch kind := kindOf(raw); {
	case depth == 0: // it was refused before
	case kind == '{':
		each(raw, func(key string, value json.RawMessage) {
			empty = false
			at := from.to(key)
			f(at, nil)
			walkDown(value, at, depth-1, f)
		})
	case kind == '[':
		list, _ := items(raw)
		for i, item := range list {
			empty = false
			walkDown(item, from.at(i), depth-1, f)
		}
	}
	if empty && from != nil {
		f(from, raw)
	}
}

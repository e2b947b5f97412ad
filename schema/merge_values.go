package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// values merges enum and const, each a set of values.
func (m *merge) values() bool {
	a, b := valuesOf(m.a), valuesOf(m.b)
	if b == nil {
		return true
	}
	if a == nil {
		for _, key := range []string{"enum", "const"} {
			if v := m.b.get(key); v != nil {
				m.out.set(key, v)
			}
		}
		return true
	}
	m.toil(size(a).values + size(b).values)
	theirs := set(apply(b.items, canonical)...)
	kinds := set(apply(b.items, func(v *value) string { return v.kind.String() })...)
	common := array()
	for _, v := range a.items {
		if theirs[canonical(v)] || inexact(v) && kinds[v.kind.String()] {
			common.items = append(common.items, v)
		}
	}
	m.out.drop("const")
	m.out.set("enum", common)
	return len(common.items) > 0
}

// valuesOf lists the values that enum and const leave, or nil for any.
func valuesOf(s *value) *value {
	list, one := s.get("enum"), s.get("const")
	switch {
	case one == nil:
		return list
	case list == nil:
		return array(one)
	}
	out := array()
	for _, v := range list.items {
		if v.equal(one) || inexact(v) && v.kind == one.kind {
			out.items = append(out.items, v)
		}
	}
	return out
}

// inexact reports whether a value holds numbers that equal cannot compare.
func inexact(v *value) bool {
	if v.isNumber() {
		_, ok := parseDecimal(v.text)
		return !ok
	}
	return slices.ContainsFunc(v.items, inexact) || slices.ContainsFunc(v.members, func(m member) bool { return inexact(m.value) })
}

// typesOf lists the names of a type; nil means any.
func typesOf(v *value) []string {
	if v.isString() {
		return []string{v.text}
	}
	return v.strings()
}

func typeValue(names []string) *value {
	if len(names) == 1 {
		return str(names[0])
	}
	return strs(names)
}

// commonTypes intersects two lists of types. An integer is a number.
func commonTypes(a, b []string) []string {
	var out []string
	for _, t := range a {
		switch {
		case slices.Contains(b, t), t == "integer" && slices.Contains(b, "number"):
			out = append(out, t)
		case t == "number" && slices.Contains(b, "integer") && !slices.Contains(a, "integer"):
			out = append(out, "integer")
		}
	}
	return out
}

// canonical is a text that two values share exactly if they are equal.
func canonical(v *value) string {
	switch v.kind {
	case '"':
		return string(quote(v.text))
	case '0':
		if d, ok := parseDecimal(v.text); ok {
			return strconv.FormatInt(d.digits, 10) + "e" + strconv.Itoa(d.exp)
		}
		return v.text
	case '[':
		return "[" + strings.Join(apply(v.items, canonical), ",") + "]"
	case '{':
		sorted := slices.SortedFunc(slices.Values(v.members), func(a, b member) int { return cmp.Compare(a.name, b.name) })
		return "{" + strings.Join(apply(sorted, func(m member) string { return string(quote(m.name)) + ":" + canonical(m.value) }), ",") + "}"
	}
	return v.kind.String()
}

// few is how many names are looked through one by one; more get a map.
const few = 16

// unionOf is a with what only b has; what stands twice in a stays.
func unionOf(a, b []string) []string {
	out := slices.Clone(a)
	if len(a)+len(b) <= few {
		for _, s := range b {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		return out
	}
	has := set(a...)
	for _, s := range b {
		if !has[s] {
			has[s] = true
			out = append(out, s)
		}
	}
	return out
}

// finder looks up members of an object by name.
func finder(v *value) func(name string) *value {
	if len(v.list()) <= few {
		return v.get
	}
	index := make(map[string]*value, len(v.members))
	for _, m := range v.members {
		index[m.name] = m.value
	}
	return func(name string) *value { return index[name] }
}

// Comparing schemas that share parts can take exponential time.
const (
	maxComparison  = 1 << 12 // values in one comparison
	maxComparisons = 1 << 18 // in all of them
)

// same is equal for schemas of the first stage. It says no where it would take
// too long to tell.
func (f *flattener) same(a, b *value) bool {
	left := min(maxComparison, maxComparisons-f.compared)
	steps := left
	yes := sameWithin(a, b, &steps)
	f.compared += left - steps
	return yes && steps >= 0
}

func sameWithin(a, b *value, steps *int) bool {
	if *steps--; *steps < 0 {
		return false
	}
	switch {
	case a == b:
		return true
	case a.kind != b.kind || len(a.items) != len(b.items) || len(a.members) != len(b.members):
		return false
	case len(a.items) == 0 && len(a.members) == 0:
		return a.equal(b)
	}
	for i, item := range a.items {
		if !sameWithin(item, b.items[i], steps) {
			return false
		}
	}
	find := finder(b)
	for _, m := range a.members {
		if other := find(m.name); other == nil || !sameWithin(m.value, other, steps) {
			return false
		}
	}
	return true
}

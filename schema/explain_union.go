package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// union explains why no branch took the value. Branches of another type, or
// with another constant, were not meant; if one is left, its violation is the
// answer.
func (x *explainer) union(e *jsonschema.ValidationError, brief bool) Violation {
	v := Violation{Pointer: pointer(e.InstanceLocation...), Keyword: keywordOf(e), Got: x.got(e)}
	var types []string
	var meant [][]finding
	for _, cause := range e.Causes {
		list := leaves(cause)
		x.locate(list)
		i := slices.IndexFunc(list, func(l *jsonschema.ValidationError) bool {
			_, isType := l.ErrorKind.(*kind.Type)
			return isType && slices.Equal(l.InstanceLocation, e.InstanceLocation)
		})
		if i >= 0 {
			types = append(types, x.leaf(list[i]).Want)
			continue
		}
		meant = append(meant, x.findings(list))
	}
	slices.Sort(types)
	types = slices.Compact(types)
	meant = withoutOtherConstants(meant, v.Pointer)
	switch {
	case len(meant) == 0:
		v.Keyword, v.Want = "type", strings.Join(types, " or ")
	case x.discriminator(meant, v.Pointer) != nil:
		return *x.discriminator(meant, v.Pointer)
	case brief:
		v.Want = fmt.Sprintf("a value that fits one of its %d forms", len(e.Causes))
	case len(meant) == 1 && len(meant[0]) == 1:
		v = x.violation(meant[0][0], false)
		if v.Pointer == pointer(e.InstanceLocation...) && len(types) > 0 {
			v.Want += " or " + strings.Join(types, " or ")
		}
	default:
		v.Want = x.ways(meant, types, pointer(e.InstanceLocation...))
	}
	return v
}

// withoutOtherConstants drops the branches that fail on a constant which
// another branch has right: they were not meant.
func withoutOtherConstants(branches [][]finding, here string) [][]finding {
	for _, list := range branches {
		for at := range constantsIn(list, here) {
			right := slices.DeleteFunc(slices.Clone(branches), func(other []finding) bool { return constantsIn(other, here)[at] })
			if len(right) > 0 && len(right) < len(branches) {
				return withoutOtherConstants(right, here)
			}
		}
	}
	return branches
}

// discriminator explains a union whose branches each want another constant at
// one place: that constant is what is wrong.
func (x *explainer) discriminator(branches [][]finding, here string) *Violation {
	if len(branches) < 2 {
		return nil
	}
	for at := range constantsIn(branches[0], here) {
		var wants []string
		var got string
		for _, list := range branches {
			for _, f := range list {
				if pointer(f.err.InstanceLocation...) == at {
					leaf := x.leaf(f.err)
					wants, got = append(wants, leaf.Want), leaf.Got
					break
				}
			}
		}
		if len(wants) == len(branches) {
			return &Violation{Pointer: at, Keyword: "const", Got: got, Want: clip("one of "+strings.Join(wants, ", "), maxText)}
		}
	}
	return nil
}

// constantsIn are the places inside the value where a branch wants one value
// and no other.
func constantsIn(list []finding, here string) map[string]bool {
	at := map[string]bool{}
	for _, f := range list {
		k, listed := f.err.ErrorKind.(*kind.Enum)
		_, constant := f.err.ErrorKind.(*kind.Const)
		if constant || listed && len(k.Want) == 1 {
			at[pointer(f.err.InstanceLocation...)] = true
		}
	}
	delete(at, here)
	return at
}

// ways says what each branch would need, the simplest first.
func (x *explainer) ways(branches [][]finding, types []string, here string) string {
	const most = 3 // violations of one branch
	var ways, constants []string
	for _, list := range branches {
		var parts []string
		for _, f := range list[:min(len(list), most)] {
			v := x.violation(f, true)
			if len(list) == 1 && v.Pointer == here && (v.Keyword == "const" || v.Keyword == "enum") {
				constants = append(constants, strings.TrimPrefix(v.Want, "one of "))
			}
			parts = append(parts, v.String())
		}
		if len(list) > most {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-most))
		}
		ways = append(ways, strings.Join(parts, " and "))
	}
	if len(constants) == len(branches) {
		return clip("one of "+strings.Join(append(constants, types...), ", "), maxText)
	}
	slices.SortStableFunc(ways, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	ways = slices.Compact(ways)
	more := ""
	if len(ways) > maxWays {
		more = fmt.Sprintf("; or %d other ways", len(ways)-maxWays)
		ways = ways[:maxWays]
	}
	if len(types) > 0 {
		more += "; or " + strings.Join(types, " or ")
	}
	for i := range ways {
		ways[i] = fmt.Sprintf("(%d) %s", i+1, ways[i])
	}
	return "one of these put right: " + clip(strings.Join(ways, "; "), maxText) + more
}

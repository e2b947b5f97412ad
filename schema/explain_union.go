package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// branches says what is wrong with each branch of a union. Those of another
// type, or with another constant, were not meant; of the first kind only the
// types are kept.
func (x *explainer) branches(e *jsonschema.ValidationError) (meant [][]finding, types []string) {
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
	return withoutOtherConstants(meant, pointer(e.InstanceLocation...)), slices.Compact(types)
}

func isUnion(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return len(e.Causes) > 0
	}
	return false
}

// expand puts, in the place of a union of which one branch was meant, what is
// wrong with that branch.
func (x *explainer) expand(list []finding) []finding {
	var out []finding
	for _, f := range list {
		if isUnion(f.err) {
			if meant, _ := x.branches(f.err); len(meant) == 1 && len(meant[0]) > 1 {
				out = append(out, x.expand(meant[0])...)
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// union explains why no branch took the value.
func (x *explainer) union(e *jsonschema.ValidationError, brief bool) Violation {
	v := Violation{Pointer: pointer(e.InstanceLocation...), Keyword: keywordOf(e), Got: x.got(e)}
	meant, types := x.branches(e)
	if len(meant) == 0 {
		v.Keyword, v.Want = "type", strings.Join(types, " or ")
		return v
	}
	if d, ok := x.discriminator(meant, v.Pointer); ok {
		return d
	}
	switch {
	case brief:
		v.Want = fmt.Sprintf("a value that fits one of its %d forms", len(e.Causes))
	case len(meant) == 1 && len(meant[0]) == 1:
		only := x.violation(meant[0][0], false)
		if only.Pointer == v.Pointer && len(types) > 0 {
			only.Want += " or " + strings.Join(types, " or ")
		}
		return only
	default:
		v.Want = x.ways(meant, types, v.Pointer)
	}
	return v
}

// withoutOtherConstants drops the branches that fail on a constant which
// another branch has right: they were not meant.
func withoutOtherConstants(branches [][]finding, here string) [][]finding {
	for {
		_, some := constants(branches, here)
		if len(some) == 0 {
			return branches
		}
		branches = slices.DeleteFunc(branches, func(list []finding) bool { return constantAt(list, some[0]) != nil })
	}
}

// discriminator explains a union whose branches each want another constant at
// one place: that constant is what is wrong.
func (x *explainer) discriminator(branches [][]finding, here string) (Violation, bool) {
	all, _ := constants(branches, here)
	if len(branches) < 2 || len(all) == 0 {
		return Violation{}, false
	}
	var v Violation
	wants := make([]string, 0, maxNames)
	for _, list := range branches[:min(len(branches), maxNames)] {
		v = x.leaf(constantAt(list, all[0]))
		wants = append(wants, v.Want)
	}
	v.Keyword, v.Want = "const", clip("one of "+strings.Join(wants, ", "), maxText)
	return v, true
}

// constants are the places inside the value where all, or some but not all, of
// the branches want one value and no other.
func constants(branches [][]finding, here string) (all, some []string) {
	count := map[string]int{}
	for _, list := range branches {
		seen := map[string]bool{here: true}
		for _, f := range list {
			if at := pointer(f.err.InstanceLocation...); isConstant(f.err) && !seen[at] {
				seen[at] = true
				count[at]++
			}
		}
	}
	for at, n := range count {
		if n == len(branches) {
			all = append(all, at)
		} else {
			some = append(some, at)
		}
	}
	slices.Sort(all)
	slices.Sort(some)
	return all, some
}

func isConstant(e *jsonschema.ValidationError) bool {
	if k, ok := e.ErrorKind.(*kind.Enum); ok {
		return len(k.Want) == 1
	}
	_, ok := e.ErrorKind.(*kind.Const)
	return ok
}

func constantAt(list []finding, at string) *jsonschema.ValidationError {
	for _, f := range list {
		if isConstant(f.err) && pointer(f.err.InstanceLocation...) == at {
			return f.err
		}
	}
	return nil
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

package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain turns the library's tree of errors into a list that a model can
// repair from: every violation with its place, what was found, what is wanted.
// A value with very many violations gets the first of them, and their number.
func explain(source []byte, root *jsonschema.Schema, v *value, err error) error {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return &InvalidError{Violations: []Violation{{Got: shown(v), Want: err.Error()}}}
	}
	x := explainer{source: source, root: root, value: v}
	list := leaves(tree)
	x.locate(list)
	all := x.findings(list)
	// Only so many are said, so only so many are looked into.
	some := x.expand(all[:min(len(all), maxViolations)])
	shownOnes := some[:min(len(some), maxViolations)]
	return &InvalidError{
		Violations: slices.Compact(apply(shownOnes, func(f finding) Violation { return x.violation(f, false) })),
		More:       max(len(all), len(some)) - len(shownOnes),
	}
}

const (
	maxViolations = 20 // said of one value
	maxWays       = 5  // in which a union could be fitted
)

type explainer struct {
	source []byte
	root   *jsonschema.Schema
	value  *value
	named  map[string]*jsonschema.Schema // by location; made when first asked for
}

// finding is one violation, not yet in words: an error of the library, or the
// unknown properties of one object.
type finding struct {
	err     *jsonschema.ValidationError
	unknown []string
	over    bool // the unknown ones are named by a part that does not fit
}

// leaves lists the errors that say something themselves. A union says that none
// of its branches fits; what is wrong with each is looked at later.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.PropertyNames, *kind.Not, *kind.Contains:
		return []*jsonschema.ValidationError{e}
	}
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		out = append(out, leaves(cause)...)
	}
	return out
}

// locate mends the places of errors about names: the library overwrites them
// while it goes on. What has that name there, and should not, is the place.
func (x *explainer) locate(list []*jsonschema.ValidationError) {
	for _, e := range list {
		k, ok := e.ErrorKind.(*kind.PropertyNames)
		if !ok {
			continue
		}
		if at := x.value.at(e.InstanceLocation...); at.get(k.Property) != nil {
			continue
		}
		e.InstanceLocation = slices.Clone(e.InstanceLocation)
		x.value.find(len(e.InstanceLocation), nil, func(at []string, v *value) bool {
			if v.get(k.Property) == nil {
				return false
			}
			e.InstanceLocation = slices.Clone(at)
			return true
		})
	}
}

// find calls fn with every value so many levels below v until it says yes.
func (v *value) find(levels int, at []string, fn func(at []string, v *value) bool) bool {
	if levels == 0 {
		return fn(at, v)
	}
	for i, item := range v.items {
		if item.find(levels-1, append(at, strconv.Itoa(i)), fn) {
			return true
		}
	}
	for _, m := range v.members {
		if m.value.find(levels-1, append(at, m.name), fn) {
			return true
		}
	}
	return false
}

// findings groups the errors and puts them in the order of their places.
func (x *explainer) findings(list []*jsonschema.ValidationError) []finding {
	slices.SortFunc(list, func(a, b *jsonschema.ValidationError) int {
		if c := slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareTokens); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(keywordOf(a), keywordOf(b)), strings.Compare(a.SchemaURL, b.SchemaURL))
	})
	var out []finding
	group := map[string]int{} // unevaluated properties of one object
	for _, e := range list {
		at, ok := strings.CutSuffix(e.SchemaURL, "/unevaluatedProperties")
		if _, no := e.ErrorKind.(*kind.FalseSchema); !no || !ok || len(e.InstanceLocation) == 0 {
			out = append(out, finding{err: e})
			continue
		}
		last := len(e.InstanceLocation) - 1
		name := e.InstanceLocation[last]
		over := x.known(at)[name]
		key := fmt.Sprint(over, at, e.InstanceLocation[:last])
		i, seen := group[key]
		if !seen {
			i = len(out)
			group[key] = i
			object := *e
			object.SchemaURL, object.InstanceLocation = at, e.InstanceLocation[:last]
			out = append(out, finding{err: &object, over: over})
		}
		out[i].unknown = append(out[i].unknown, name)
	}
	// A property that only a branch names is left over when that branch fails.
	// What made it fail is the news.
	if rest := slices.DeleteFunc(slices.Clone(out), func(f finding) bool { return f.over }); len(rest) > 0 {
		return rest
	}
	return out
}

// compareTokens puts item 2 before item 10.
func compareTokens(a, b string) int {
	if digitsFrom(a, 0) == len(a) && digitsFrom(b, 0) == len(b) {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}

func keywordOf(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// violation puts a finding into words. Inside a list of ways to fit a union it
// is brief.
func (x *explainer) violation(f finding, brief bool) Violation {
	at := pointer(f.err.InstanceLocation...)
	switch {
	case isUnion(f.err):
		return x.union(f.err, brief)
	case f.over:
		return Violation{at, "unevaluatedProperties", names(f.unknown), "it left out: it does not go with the other values"}
	case f.unknown != nil:
		return Violation{at, "unevaluatedProperties", "unknown " + names(f.unknown), x.valid(f.err.SchemaURL, f.unknown)}
	}
	return x.leaf(f.err)
}

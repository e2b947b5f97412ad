package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
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
	shownOnes := all[:min(len(all), maxViolations)]
	return &InvalidError{
		Violations: slices.Compact(apply(shownOnes, func(f finding) Violation { return x.violation(f, false) })),
		More:       len(all) - len(shownOnes),
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
	slices.SortStableFunc(list, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareTokens), strings.Compare(keywordOf(a), keywordOf(b)), strings.Compare(a.SchemaURL, b.SchemaURL))
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
	_, errA := strconv.Atoi(a)
	_, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
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
	switch f.err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(f.err.Causes) > 0 {
			return x.union(f.err, brief)
		}
	}
	switch {
	case f.over:
		return Violation{at, "unevaluatedProperties", names(f.unknown), "it left out: it does not go with the other values"}
	case f.unknown != nil:
		return Violation{at, "unevaluatedProperties", "unknown " + names(f.unknown), x.valid(f.err.SchemaURL, f.unknown)}
	}
	return x.leaf(f.err)
}

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
		more = fmt.Sprintf(", or %d other ways", len(ways)-maxWays)
		ways = ways[:maxWays]
	}
	if len(types) > 0 {
		more += ", or " + strings.Join(types, " or ")
	}
	return "one of these mended: " + clip(strings.Join(ways, ", or "), maxText) + more
}

// leaf puts one error into words.
func (x *explainer) leaf(e *jsonschema.ValidationError) Violation {
	v := Violation{Pointer: pointer(e.InstanceLocation...), Keyword: keywordOf(e), Got: x.got(e)}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		v.Want = strings.Join(k.Want, " or ")
	case *kind.Enum:
		v.Want = oneOf(k.Want)
	case *kind.Const:
		v.Want = show(k.Want)
	case *kind.Required:
		v.Got, v.Want = "no "+names(k.Missing), x.described(e.SchemaURL, k.Missing)
	case *kind.DependentRequired:
		v.Got, v.Want = "no "+names(k.Missing), names(k.Missing)+", because "+names([]string{k.Prop})+" is given"
	case *kind.Dependency:
		v.Keyword, v.Got, v.Want = "dependencies", "no "+names(k.Missing), names(k.Missing)+", because "+names([]string{k.Prop})+" is given"
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		v.Got, v.Want = "unknown "+names(k.Properties), x.valid(e.SchemaURL, k.Properties)
	case *wrongCaseKind:
		v.Got, v.Want = "unknown "+names([]string{k.got}), names([]string{k.want})
	case *kind.FalseSchema:
		v.Keyword, v.Want = "false", "nothing there"
	case *kind.PropertyNames:
		v.Got, v.Want = "the name "+names([]string{k.Property}), "a name that fits"
		for _, cause := range e.Causes {
			v.Want = "a name that is " + x.leaf(leaves(cause)[0]).Want
		}
	case *kind.MinLength:
		v.Got, v.Want = counted(k.Got, "character"), fmt.Sprintf("at least %d", k.Want)
	case *kind.MaxLength:
		v.Got, v.Want = counted(k.Got, "character"), fmt.Sprintf("at most %d", k.Want)
	case *kind.MinItems:
		v.Got, v.Want = counted(k.Got, "item"), fmt.Sprintf("at least %d", k.Want)
	case *kind.MaxItems:
		v.Got, v.Want = counted(k.Got, "item"), fmt.Sprintf("at most %d", k.Want)
	case *kind.MinProperties:
		v.Got, v.Want = counted(k.Got, "member"), fmt.Sprintf("at least %d", k.Want)
	case *kind.MaxProperties:
		v.Got, v.Want = counted(k.Got, "member"), fmt.Sprintf("at most %d", k.Want)
	case *kind.AdditionalItems:
		v.Got, v.Want = counted(k.Count, "item")+" too many", "no more items"
	case *kind.UniqueItems:
		v.Got, v.Want = fmt.Sprintf("equal items at %d and %d", k.Duplicates[0], k.Duplicates[1]), "each item once"
	case *kind.Contains:
		v.Want = "an item that fits " + x.written(e, "contains")
	case *kind.Pattern:
		v.Want = "a string that matches " + clip(k.Want, maxText)
	case *kind.Format:
		v.Want = "a string in the format " + k.Want
	case *kind.Minimum:
		v.Want = "at least " + rat(k.Want)
	case *kind.Maximum:
		v.Want = "at most " + rat(k.Want)
	case *kind.ExclusiveMinimum:
		v.Want = "more than " + rat(k.Want)
	case *kind.ExclusiveMaximum:
		v.Want = "less than " + rat(k.Want)
	case *kind.MultipleOf:
		v.Want = "a multiple of " + rat(k.Want)
	case *kind.Not:
		v.Keyword, v.Want = "not", "a value that does not fit "+x.written(e, "not")
	case *kind.OneOf:
		v.Want = "a value that fits exactly one alternative, not several"
	default:
		v.Want = e.ErrorKind.LocalizedString(printer())
	}
	return v
}

func (x *explainer) got(e *jsonschema.ValidationError) string {
	return shown(x.value.at(e.InstanceLocation...))
}

// valid lists the names that an object takes, the nearest to a wrong one first
// said.
func (x *explainer) valid(location string, wrong []string) string {
	known := x.known(location)
	if len(known) == 0 {
		return "no properties"
	}
	list := make([]string, 0, len(known))
	for name := range known {
		list = append(list, name)
	}
	slices.Sort(list)
	var hint strings.Builder
	for _, w := range wrong[:min(len(wrong), 5)] {
		if near := nearest(w, list); near != "" {
			fmt.Fprintf(&hint, " (%s: did you mean %s?)", names([]string{w}), names([]string{near}))
		}
	}
	return "only " + names(list) + hint.String()
}

// known are the names in the schema at a location and all it is composed of.
func (x *explainer) known(location string) map[string]bool {
	known := map[string]bool{}
	x.names(x.schema(location), known, 0)
	return known
}

// written is a subschema as it stands in the schema's text.
func (x *explainer) written(e *jsonschema.ValidationError, keyword string) string {
	tree, err := parseSchema(string(x.source))
	if err == nil {
		if sub := tree.at(append(pointerTokens(fragment(e.SchemaURL)), keyword)...); sub != nil {
			return clip(string(sub.json()), maxText)
		}
	}
	return "what the schema names there"
}

// described names required properties with what they must be.
func (x *explainer) described(location string, missing []string) string {
	s := x.schema(location)
	out := make([]string, min(len(missing), maxNames))
	for i, name := range missing[:len(out)] {
		out[i] = names([]string{name})
		if s != nil && s.Properties[name] != nil && s.Properties[name].Types != nil {
			out[i] += " (" + strings.Join(s.Properties[name].Types.ToStrings(), " or ") + ")"
		}
	}
	return strings.Join(out, ", ")
}

func (x *explainer) names(s *jsonschema.Schema, into map[string]bool, depth int) {
	if s == nil || depth > maxChain {
		return
	}
	for name := range s.Properties {
		into[name] = true
	}
	for _, sub := range inPlace(s) {
		x.names(sub, into, depth+1)
	}
}

func (x *explainer) schema(location string) *jsonschema.Schema {
	if x.named == nil {
		x.named = map[string]*jsonschema.Schema{}
		x.index(x.root)
	}
	return x.named[location]
}

func (x *explainer) index(s *jsonschema.Schema) {
	if x.named[s.Location] != nil {
		return
	}
	x.named[s.Location] = s
	for _, sub := range inPlace(s) {
		x.index(sub)
	}
	for _, c := range children(s) {
		x.index(c.schema)
	}
}

func rat(r *big.Rat) string {
	if digits, exact := r.FloatPrec(); exact {
		return clip(r.FloatString(digits), 40)
	}
	return clip(r.RatString(), 40)
}

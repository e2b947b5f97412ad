package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain turns the library's tree of errors into a list that a model can
// repair from: every violation with its place, what was found, what is wanted.
func explain(root *jsonschema.Schema, v *value, err error) error {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return &InvalidError{[]Violation{{Got: shown(v), Want: err.Error()}}}
	}
	x := explainer{root: root, value: v}
	list := x.violations(tree)
	// A property that only a branch names is left over when that branch fails.
	// What made it fail is the news.
	if rest := slices.DeleteFunc(slices.Clone(list), func(v Violation) bool { return v.Want == leftOver }); len(rest) > 0 {
		list = rest
	}
	slices.SortStableFunc(list, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Keyword, b.Keyword), strings.Compare(a.Want, b.Want))
	})
	return &InvalidError{slices.Compact(list)}
}

// leftOver is what is wanted of a property that is named somewhere in a
// composition, but by no part that fits.
const leftOver = "it left out: it does not go with the other values"

type explainer struct {
	root  *jsonschema.Schema
	value *value
	named map[string]*jsonschema.Schema // by location; made when first asked for
}

func (x *explainer) violations(e *jsonschema.ValidationError) []Violation {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return x.union(e)
		}
	case *kind.PropertyNames, *kind.Not, *kind.Contains:
	default:
		if len(e.Causes) > 0 {
			var out []Violation
			for _, cause := range e.Causes {
				out = append(out, x.violations(cause)...)
			}
			return out
		}
	}
	return []Violation{x.leaf(e)}
}

// union explains why no branch took the value. Branches of another type, or
// with another constant, were not meant; if one is left, its violations are
// the answer.
func (x *explainer) union(e *jsonschema.ValidationError) []Violation {
	here := pointer(e.InstanceLocation...)
	keyword := e.ErrorKind.KeywordPath()[0]
	var wants []string
	var meant [][]Violation
	for _, cause := range e.Causes {
		list := x.violations(cause)
		if i := slices.IndexFunc(list, func(v Violation) bool { return v.Keyword == "type" && v.Pointer == here }); i >= 0 {
			wants = append(wants, list[i].Want)
			continue
		}
		meant = append(meant, list)
	}
	if len(meant) > 1 {
		same := slices.DeleteFunc(slices.Clone(meant), func(list []Violation) bool {
			return slices.ContainsFunc(list, func(v Violation) bool {
				return (v.Keyword == "const" || v.Keyword == "enum") && v.Pointer != here
			})
		})
		if len(same) > 0 {
			meant = same
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0]
	case len(meant) == 0 && len(wants) > 0:
		slices.Sort(wants)
		return []Violation{{Pointer: here, Keyword: "type", Got: x.got(e), Want: strings.Join(slices.Compact(wants), " or ")}}
	}
	var ways []string
	for _, list := range meant {
		ways = append(ways, strings.Join(apply(list, Violation.String), " and "))
	}
	return []Violation{{Pointer: here, Keyword: keyword, Got: x.got(e), Want: "one of these mended: " + strings.Join(ways, ", or ")}}
}

// leaf puts one error into words.
func (x *explainer) leaf(e *jsonschema.ValidationError) Violation {
	v := Violation{Pointer: pointer(e.InstanceLocation...), Got: x.got(e)}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		v.Keyword = path[0]
	}
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
		if at, ok := strings.CutSuffix(e.SchemaURL, "/unevaluatedProperties"); ok && len(e.InstanceLocation) > 0 {
			last := len(e.InstanceLocation) - 1
			name := []string{e.InstanceLocation[last]}
			v.Pointer, v.Keyword = pointer(e.InstanceLocation[:last]...), "unevaluatedProperties"
			v.Got, v.Want = "unknown "+names(name), x.valid(at, name)
			if known := x.known(at); known[name[0]] {
				v.Got, v.Want = names(name), leftOver
			}
		}
	case *kind.PropertyNames:
		v.Got, v.Want = "the name "+names([]string{k.Property}), "a name that fits"
		for _, cause := range e.Causes {
			v.Want = "a name that is " + x.violations(cause)[0].Want
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
		v.Want = "an item that fits what it must contain"
	case *kind.Pattern:
		v.Want = "a string that matches " + k.Want
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
		v.Keyword, v.Want = "not", "anything that the schema does not exclude"
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
	for _, w := range wrong {
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

// described names required properties with what they must be.
func (x *explainer) described(location string, missing []string) string {
	s := x.schema(location)
	out := make([]string, len(missing))
	for i, name := range missing {
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
		return r.FloatString(digits)
	}
	return r.RatString()
}

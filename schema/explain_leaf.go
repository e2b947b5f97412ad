package schema

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// leaf puts one error into words.
func (x *explainer) leaf(e *jsonschema.ValidationError) Violation {
	v := Violation{Pointer: pointer(e.InstanceLocation...), Keyword: keywordOf(e), Got: x.got(e)}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		v.Want = strings.Join(k.Want, " or ")
		if got := x.value.at(e.InstanceLocation...); got.isString() && strings.HasPrefix(strings.TrimSpace(got.text), opening(k.Want)) {
			v.Want += " itself, not inside a string"
		}
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

// opening is what the text of the only type wanted begins with.
func opening(types []string) string {
	if len(types) == 1 {
		switch types[0] {
		case "array":
			return "["
		case "object":
			return "{"
		}
	}
	return "\x00" // no text begins with it
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
		if s != nil && s.Properties[name] != nil {
			out[i] += about(s.Properties[name])
		}
	}
	return strings.Join(out, ", ")
}

// about says in brackets what a property must be, as far as it is short to say.
func about(s *jsonschema.Schema) string {
	for s.Ref != nil && s.Types == nil && s.Enum == nil && s.Const == nil {
		s = s.Ref
	}
	switch {
	case s.Const != nil:
		return " (" + show(*s.Const) + ")"
	case s.Enum != nil:
		return " (" + oneOf(s.Enum.Values) + ")"
	case s.Types != nil:
		return " (" + strings.Join(s.Types.ToStrings(), " or ") + ")"
	}
	return ""
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

package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// unserved reports whether s has a keyword that the one-pass engine leaves to
// the library.
func unserved(s *jsonschema.Schema) bool {
	return s.Not != nil || s.If != nil || s.Format != nil || s.DynamicRef != nil || s.RecursiveRef != nil ||
		s.PropertyNames != nil || len(s.PatternProperties) > 0 || len(s.Dependencies) > 0 || len(s.DependentRequired) > 0 ||
		len(s.DependentSchemas) > 0 || s.UniqueItems || s.Contains != nil || s.MinContains != nil || s.MaxContains != nil ||
		s.UnevaluatedItems != nil || s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil || foreign(s.Extensions)
}

func foreign(exts []jsonschema.SchemaExt) bool {
	for _, e := range exts {
		if _, ok := e.(*cased); !ok {
			return true
		}
	}
	return false
}

// asserts reports whether s says anything itself, beside what it refers to.
func asserts(s *jsonschema.Schema) bool {
	return s.Bool != nil || s.Types != nil || s.Enum != nil || s.Const != nil || len(s.Extensions) > 0 ||
		s.MaxProperties != nil || s.MinProperties != nil || len(s.Required) > 0 || len(s.Properties) > 0 || s.AdditionalProperties != nil ||
		s.MinItems != nil || s.MaxItems != nil || s.Items != nil || s.AdditionalItems != nil || len(s.PrefixItems) > 0 || s.Items2020 != nil ||
		s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil ||
		s.Maximum != nil || s.Minimum != nil || s.ExclusiveMaximum != nil || s.ExclusiveMinimum != nil || s.MultipleOf != nil
}

func isFalse(s *jsonschema.Schema) bool { return s.Bool != nil && !*s.Bool }

// onlyTypes reports whether the type is all that s says itself.
func onlyTypes(s *jsonschema.Schema) bool {
	other := *s
	other.Types = nil
	return s.Types != nil && !asserts(&other)
}

func typeSetOf(t *jsonschema.Types) typeSet {
	var set typeSet
	if t == nil {
		return anyType
	}
	for _, name := range t.ToStrings() {
		switch name {
		case "null":
			set |= typeNull
		case "boolean":
			set |= typeBoolean
		case "integer":
			set |= typeInteger
		case "number":
			set |= typeInteger | typeNumber
		case "string":
			set |= typeString
		case "array":
			set |= typeArray
		case "object":
			set |= typeObject
		}
	}
	return set
}

func (e *enum) add(v any) {
	switch v := v.(type) {
	case nil:
		e.null = true
	case bool:
		e.yes = e.yes || v
		e.no = e.no || !v
	case string:
		e.texts = append(e.texts, v)
	case json.Number:
		if d, ok := parseDecimal(v.String()); ok {
			e.numbers[d] = true // digits never end in a zero: equal numbers are one key
		} else {
			e.composite = true
		}
	default:
		e.composite = true
	}
}

// types are the types of the values that e lists.
func (e *enum) types() typeSet {
	var set typeSet
	for t, listed := range map[typeSet]bool{
		typeNull: e.null, typeBoolean: e.yes || e.no, typeString: len(e.texts) > 0,
		typeInteger | typeNumber: len(e.numbers) > 0, anyType: e.composite,
	} {
		if listed {
			set |= t
		}
	}
	return set
}

// decimalOf sets *to to r; it is false when r has no short decimal form.
func decimalOf(r *big.Rat, to **decimal) bool {
	if r == nil {
		return true
	}
	digits, exact := r.FloatPrec()
	if !exact || digits > maxDigits {
		return false
	}
	d, ok := parseDecimal(r.FloatString(digits))
	*to = &d
	return ok
}

// integers works out the bounds of plain integers, where they are integers.
func (b *numberBounds) integers() {
	b.least, b.most, b.whole = math.MinInt64, math.MaxInt64, b.multipleOf == nil
	limit := func(d *decimal, to *int64, off int64) {
		if d == nil {
			return
		}
		if n, ok := d.int64(); ok {
			*to = n + off
		} else {
			b.whole = false
		}
	}
	limit(b.maximum, &b.most, 0)
	limit(b.minimum, &b.least, 0)
	if b.above != nil && b.minimum == nil {
		limit(b.above, &b.least, 1)
	} else if b.above != nil {
		b.whole = false
	}
	if b.below != nil && b.maximum == nil {
		limit(b.below, &b.most, -1)
	} else if b.below != nil {
		b.whole = false
	}
}

// pointerTokens splits a JSON Pointer.
func pointerTokens(ptr string) []string {
	if ptr == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	for i, tok := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
	}
	return tokens
}

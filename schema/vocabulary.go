package schema

import (
	"fmt"
	"slices"
	"strings"
)

// shape is what the value of a keyword looks like.
type shape uint8

const (
	anything       shape = iota
	textShape            // a string
	flagShape            // true or false
	numberShape          // a number
	countShape           // a number from 0
	namesShape           // a list of strings
	nameListsShape       // an object of lists of strings
	typeShape            // a type, or a list of them
	listShape            // a list of anything
	schemaShape          // a schema
	schemasShape         // a list of schemas, at least one
	itemsShape           // a schema or a list of them
	schemaMapShape       // an object of schemas
	dependShape          // an object of schemas and lists of strings
)

// word is one keyword of JSON Schema: how its value looks and which drafts
// know it, by number (4, 6, 7) or year (2019, 2020).
type word struct {
	shape       shape
	since, last int // 0: no limit
}

// vocabulary is every keyword that says something about a value. What is not
// here is either a means of reference or unknown to JSON Schema.
//
//nolint:gochecknoglobals // a constant in all but form
var vocabulary = map[string]word{
	"title": {shape: textShape}, "description": {shape: textShape}, "default": {}, "examples": {shape: listShape},
	"deprecated": {shape: flagShape}, "readOnly": {shape: flagShape}, "writeOnly": {shape: flagShape},
	"format": {shape: textShape}, "contentEncoding": {shape: textShape}, "contentMediaType": {shape: textShape},

	"type": {shape: typeShape}, "enum": {shape: listShape}, "const": {since: 6},

	"minimum": {shape: numberShape}, "maximum": {shape: numberShape}, "multipleOf": {shape: numberShape},
	"exclusiveMinimum": {shape: numberShape, since: 6}, "exclusiveMaximum": {shape: numberShape, since: 6},
	"minLength": {shape: countShape}, "maxLength": {shape: countShape}, "pattern": {shape: textShape},

	"items": {shape: itemsShape}, "additionalItems": {shape: schemaShape, last: 2019}, "prefixItems": {shape: schemasShape, since: 2020},
	"minItems": {shape: countShape}, "maxItems": {shape: countShape}, "uniqueItems": {shape: flagShape},
	"contains": {shape: schemaShape, since: 6}, "minContains": {shape: countShape, since: 2019}, "maxContains": {shape: countShape, since: 2019},
	"unevaluatedItems": {shape: schemaShape, since: 2019},

	"properties": {shape: schemaMapShape}, "patternProperties": {shape: schemaMapShape}, "additionalProperties": {shape: schemaShape},
	"required": {shape: namesShape}, "minProperties": {shape: countShape}, "maxProperties": {shape: countShape},
	"propertyNames": {shape: schemaShape, since: 6}, "dependentRequired": {shape: nameListsShape, since: 2019},
	"dependentSchemas": {shape: schemaMapShape, since: 2019}, "dependencies": {shape: dependShape, last: 7},
	"unevaluatedProperties": {shape: schemaShape, since: 2019},

	"allOf": {shape: schemasShape}, "anyOf": {shape: schemasShape}, "oneOf": {shape: schemasShape}, "not": {shape: schemaShape},
	"if": {shape: schemaShape, since: 7}, "then": {shape: schemaShape, since: 7}, "else": {shape: schemaShape, since: 7},
}

// knows reports whether a draft has the keyword.
func (w word) knows(draft int) bool {
	return draft >= w.since && (w.last == 0 || draft <= w.last)
}

// draftOf reads the draft from a $schema; what it does not know counts as
// 2020-12.
func draftOf(uri *value) int {
	if !uri.isString() {
		return 2020
	}
	for mark, draft := range map[string]int{"draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019} {
		if strings.Contains(uri.text, mark) {
			return draft
		}
	}
	return 2020
}

// reference lists the keywords that name, hold or lead to other schemas; they
// are gone once those are written out.
//
//nolint:gochecknoglobals // a constant in all but form
var reference = []string{
	"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$ref", "$dynamicRef", "$recursiveRef",
	"$defs", "definitions", "$comment", "$vocabulary",
}

// typeNames are the types of JSON Schema.
//
//nolint:gochecknoglobals // a constant in all but form
var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// fits says what is wrong with the value of a keyword, or "". Schemas inside
// are not looked at.
func (s shape) fits(v *value) string {
	ok, want := true, ""
	switch s {
	case anything:
	case textShape:
		ok, want = v.isString(), "a string"
	case flagShape:
		ok, want = v.isBool(), "true or false"
	case numberShape:
		ok, want = v.isNumber(), "a number"
	case countShape:
		ok, want = v.isNumber() && !strings.HasPrefix(v.text, "-"), "a whole number from 0"
	case namesShape:
		ok, want = v.isArray() && len(v.strings()) == len(v.items), "a list of strings"
	case nameListsShape:
		ok, want = v.isObject() && !slices.ContainsFunc(v.members, func(m member) bool { return namesShape.fits(m.value) != "" }), "an object of lists of strings"
	case typeShape:
		names := v.strings()
		if v.isString() {
			names = []string{v.text}
		}
		ok = len(names) > 0 && (v.isString() || len(names) == len(v.items))
		for _, name := range names {
			ok = ok && slices.Contains(typeNames, name)
		}
		want = "one of " + strings.Join(typeNames, ", ") + ", or a list of them"
	case listShape:
		ok, want = v.isArray(), "a list"
	case schemaShape:
		ok, want = isSchema(v), "a schema"
	case schemasShape:
		ok, want = v.isArray() && len(v.items) > 0 && !slices.ContainsFunc(v.items, isNoSchema), "a list of schemas"
	case itemsShape:
		ok, want = isSchema(v) || v.isArray() && !slices.ContainsFunc(v.items, isNoSchema), "a schema or a list of schemas"
	case schemaMapShape:
		ok, want = v.isObject() && !slices.ContainsFunc(v.members, func(m member) bool { return isNoSchema(m.value) }), "an object of schemas"
	case dependShape:
		ok, want = v.isObject() && !slices.ContainsFunc(v.members, func(m member) bool {
			return isNoSchema(m.value) && namesShape.fits(m.value) != ""
		}), "an object of schemas or lists of strings"
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", clip(string(v.json()), 40), want)
}

func isSchema(v *value) bool   { return v.isObject() || v.isBool() }
func isNoSchema(v *value) bool { return !isSchema(v) }

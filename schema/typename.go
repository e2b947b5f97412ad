package schema

import (
	"slices"
	"strings"
)

// foreignTypes are names of types from other languages, in lower case, and
// what JSON Schema calls them. "" is any type.
//
//nolint:gochecknoglobals // a constant in all but form
var foreignTypes = map[string]string{
	"object": "object", "dict": "object", "dictionary": "object", "map": "object", "hashmap": "object", "hashtable": "object",
	"mapping": "object", "struct": "object", "record": "object", "treemap": "object", "linkedhashmap": "object",
	"number": "number", "float": "number", "float32": "number", "float64": "number", "double": "number", "decimal": "number",
	"bigdecimal": "number", "numeric": "number", "real": "number", "num": "number",
	"integer": "integer", "int": "integer", "int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer",
	"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer", "long": "integer",
	"short": "integer", "bigint": "integer", "biginteger": "integer", "byte": "integer",
	"string": "string", "str": "string", "text": "string", "char": "string", "character": "string", "varchar": "string",
	"date": "string", "datetime": "string", "date-time": "string", "time": "string", "uuid": "string",
	"uri": "string", "url": "string", "email": "string", "path": "string", "bytes": "string", "base64": "string",
	"boolean": "boolean", "bool": "boolean",
	"array": "array", "list": "array", "arraylist": "array", "linkedlist": "array", "tuple": "array", "set": "array",
	"hashset": "array", "frozenset": "array", "sequence": "array", "iterable": "array", "collection": "array", "vector": "array", "slice": "array",
	"null": "null", "none": "null", "nonetype": "null", "nil": "null", "void": "null", "undefined": "null",
	"any": "", "unknown": "", "mixed": "", "anything": "",
	// Either seconds or a date; any value.
	"timestamp": "", "json": "",
}

// foreignFormats are names of types that JSON Schema calls formats.
//
//nolint:gochecknoglobals // a constant in all but form
var foreignFormats = map[string]string{
	"date": "date", "datetime": "date-time", "date-time": "date-time", "time": "time",
	"uuid": "uuid", "uri": "uri", "url": "uri", "email": "email",
}

// A name of a type longer or deeper than this is not read.
const (
	maxTypeName  = 256
	maxTypeDepth = 8
	maxTypeParts = 64
)

// readType reads the name of a type as people write it: "dict", "List<String>",
// "str | None", "dict[str, int]", "array of strings". The schema that it means
// is {} for any type, and nil where it is not understood.
func readType(name string, depth int) *value {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxTypeName || depth > maxTypeDepth {
		return nil
	}
	if parts := splitOutside(name, "|", ",", " or ", "/"); len(parts) > 1 {
		return readUnion(parts, depth)
	}
	if inner, ok := strings.CutSuffix(name, "[]"); ok {
		return arrayOf(readType(inner, depth+1))
	}
	if inner, ok := strings.CutSuffix(name, "?"); ok {
		return readUnion([]string{inner, "null"}, depth)
	}
	lower := strings.ToLower(name)
	for _, prefix := range []string{"array of ", "list of ", "set of "} {
		if strings.HasPrefix(lower, prefix) {
			inner := name[len(prefix):]
			if v := readType(inner, depth+1); v != nil {
				return arrayOf(v)
			}
			return arrayOf(readType(strings.TrimSuffix(inner, "s"), depth+1))
		}
	}
	if i := strings.IndexAny(name, "[<("); i > 0 && strings.ContainsAny(name[len(name)-1:], "]>)") {
		return readGeneric(strings.ToLower(strings.TrimSpace(name[:i])), splitOutside(name[i+1:len(name)-1], ","), depth)
	}
	return readPlain(lower)
}

func readPlain(lower string) *value {
	// "typing.List" and "java.lang.String" are List and String.
	if i := strings.LastIndexByte(lower, '.'); i >= 0 {
		lower = lower[i+1:]
	}
	kind, ok := foreignTypes[lower]
	switch {
	case !ok:
		return nil
	case kind == "":
		return object()
	}
	out := object(member{"type", str(kind)})
	if format := foreignFormats[lower]; format != "" {
		out.set("format", str(format))
	}
	return out
}

// readGeneric reads a type with arguments.
func readGeneric(name string, args []string, depth int) *value {
	switch name {
	case "optional", "nullable":
		return readUnion(append(args, "null"), depth)
	case "union", "either":
		return readUnion(args, depth)
	}
	out := readPlain(name)
	if out == nil || out.get("type") == nil {
		return out
	}
	switch out.get("type").text {
	case "array":
		if strings.HasSuffix(name, "tuple") && len(args) > 1 && strings.TrimSpace(args[1]) != "..." {
			list := array()
			for _, arg := range args {
				list.items = append(list.items, orAny(readType(arg, depth+1)))
			}
			out.set("prefixItems", list)
			return out
		}
		return arrayOf(readType(args[0], depth+1))
	case "object":
		if inner := orAny(readType(args[len(args)-1], depth+1)); len(args) == 2 && len(inner.members) > 0 {
			out.set("additionalProperties", inner)
		}
	}
	return out // varchar(255), decimal(10,2)
}

// readUnion reads types of which a value may have any.
func readUnion(parts []string, depth int) *value {
	parts = unionOf(nil, parts)
	if len(parts) > maxTypeParts {
		return nil
	}
	var kinds []string
	var branches []*value
	simple := true
	for _, part := range parts {
		v := readType(part, depth+1)
		if v == nil {
			return nil
		}
		if v.get("type") == nil && v.get("anyOf") == nil {
			return object()
		}
		simple = simple && len(v.members) == 1 && v.get("type") != nil
		kinds = unionOf(kinds, typesOf(v.get("type")))
		if list := v.get("anyOf"); list != nil {
			branches = append(branches, list.items...)
		} else {
			branches = append(branches, v)
		}
	}
	switch {
	case simple:
		return object(member{"type", typeValue(kinds)})
	case len(branches) == 2 && len(branches[0].members) > 1 && branches[0].get("type").isString() && len(branches[1].members) == 1:
		// Keywords of one type say nothing of another: list[int] | None.
		branches[0].set("type", typeValue(kinds))
		return branches[0]
	}
	return object(member{"anyOf", array(branches...)})
}

func arrayOf(item *value) *value {
	out := object(member{"type", str("array")})
	if item != nil && len(item.members) > 0 {
		out.set("items", item)
	}
	return out
}

func orAny(v *value) *value {
	if v == nil {
		return object()
	}
	return v
}

// splitOutside splits at any of the separators, but not inside brackets.
func splitOutside(s string, seps ...string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '<', '(', '{':
			depth++
		case ']', '>', ')', '}':
			depth--
		}
		if depth != 0 {
			continue
		}
		if j := slices.IndexFunc(seps, func(sep string) bool { return strings.HasPrefix(s[i:], sep) }); j >= 0 {
			out = append(out, s[start:i])
			i += len(seps[j]) - 1
			start = i + 1
		}
	}
	return append(out, s[start:])
}

package schema

import (
	"math/big"
	"slices"
	"strconv"
)

// bounds turns exclusive bounds into inclusive ones where the dialect has only
// those.
func (w *writing) bounds() {
	whole := slices.Equal(typesOf(w.in.get("type")), []string{"integer"})
	for _, b := range []struct {
		exclusive, inclusive string
		step                 int64
		words                string
	}{{"exclusiveMinimum", "minimum", 1, "Greater than"}, {"exclusiveMaximum", "maximum", -1, "Less than"}} {
		v := w.in.get(b.exclusive)
		if v == nil || w.dialect.has(b.exclusive) {
			continue
		}
		w.in.drop(b.exclusive)
		n, err := strconv.ParseInt(v.text, 10, 64)
		if whole && err == nil && n+b.step > n == (b.step > 0) {
			v = number(strconv.FormatInt(n+b.step, 10))
			w.note(w.ptr, "%s became %s", b.exclusive, b.inclusive)
		} else {
			w.widen(w.ptr, "%s became %s", b.exclusive, b.inclusive)
			describe(w.in, b.words+" "+v.text+".")
		}
		m := merge{flattener: w.flattener, out: w.in, ptr: w.ptr}
		if old := w.in.get(b.inclusive); old != nil {
			m.tightest(b.inclusive, old, v, int(b.step))
		} else {
			w.in.set(b.inclusive, v)
		}
	}
}

// tuples turns prefixItems into items that are any of them.
func (w *writing) tuples() {
	prefix, rest := w.in.get("prefixItems"), w.in.get("items")
	if prefix == nil || w.dialect.has("prefixItems") {
		return
	}
	w.widen(w.ptr, "items that differ by position became items of any of these kinds")
	w.in.drop("prefixItems")
	w.in.drop("items")
	list := slices.Clone(prefix.items)
	if rest != nil && rest.kind == 'f' {
		limit := number(strconv.Itoa(len(list)))
		if old := w.in.get("maxItems"); old != nil {
			(&merge{flattener: w.flattener, out: w.in, ptr: w.ptr}).tightest("maxItems", old, limit, -1)
		} else {
			w.in.set("maxItems", limit)
		}
	} else if !within(w.in.get("maxItems"), len(list)) {
		list = append(list, rest) // nil: open
	}
	if one := w.anyOf(list, w.ptr); one != nil {
		w.in.set("items", one)
	}
}

// within reports whether a limit is given and at most so high.
func within(limit *value, most int) bool {
	if limit == nil {
		return false
	}
	n, ok := parseDecimal(limit.text)
	c, sure := n.compare(decimal{digits: int64(most)})
	return ok && sure && c <= 0
}

// enums turns const into enum, and drops an enum that the dialect cannot hold;
// the description then says the values. An enum says the types of its values,
// so they are written out where the dialect wants types.
func (w *writing) enums() {
	if w.in.get("const") != nil && !w.dialect.has("const") {
		w.in.set("enum", valuesOf(w.in))
		w.in.drop("const")
	}
	list := w.in.get("enum")
	if list == nil || !w.dialect.textEnum {
		return
	}
	if len(list.items) == 0 {
		w.in.drop("enum")
		w.widen(w.ptr, "removed an enum without values")
		return
	}
	own := typesOf(w.in.get("type"))
	if some := ofTypes(list, own); len(some.items) > 0 {
		list = some
		w.in.set("enum", list)
	}
	w.toil(len(list.items))
	types := valueTypes(list)
	if own == nil {
		w.in.set("type", typeValue(types))
	} else if both := commonTypes(types, own); len(both) > 0 {
		// Only values of these types can occur.
		w.in.set("type", typeValue(both))
	}
}

// valueTypes lists the types of the values of an enum.
func valueTypes(list *value) []string {
	var types []string
	for _, v := range list.items {
		if t := typeOf(v); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

// ofTypes lists the values of an enum that have one of the types; nil is any.
func ofTypes(list *value, types []string) *value {
	if types == nil {
		return list
	}
	return array(slices.DeleteFunc(slices.Clone(list.items), func(v *value) bool {
		t := typeOf(v)
		return !slices.Contains(types, t) && (t != "integer" || !slices.Contains(types, "number"))
	})...)
}

// typeOf is the narrowest type of a value.
func typeOf(v *value) string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '0':
		if wholeNumber(v.text) {
			return "integer"
		}
		return "number"
	case '"':
		return "string"
	case '[':
		return "array"
	}
	return "object"
}

// wholeNumber reports whether a number, of any length, has no fraction.
func wholeNumber(text string) bool {
	if d, ok := parseDecimal(text); ok {
		return d.isInteger()
	}
	r, ok := new(big.Rat).SetString(text)
	return ok && r.IsInt()
}

package schema

import (
	"slices"
	"strings"
)

// nullable turns OpenAPI's nullable into a type of JSON Schema.
func (n *normaliser) nullable(s *value, ptr string) {
	was := s.get("nullable")
	switch {
	case !was.isBool():
		return
	case was.kind == 'f':
		s.drop("nullable")
		n.note(ptr, "removed nullable: false")
		return
	}
	s.drop("nullable")
	n.acceptNull(s, ptr, "nullable: true")
}

// nullDefault lets a value be null whose default is null: x: str = None.
func (n *normaliser) nullDefault(s *value, ptr string) {
	if v, t := s.get("default"), s.get("type"); v == nil || v.kind != 'n' || t == nil || slices.Contains(typesOf(t), "null") {
		return
	}
	n.acceptNull(s, ptr, "default: null")
}

// acceptNull lets a schema accept null. What no list of types can be added to
// becomes one branch of an anyOf.
func (n *normaliser) acceptNull(s *value, ptr, why string) {
	refusing := []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "oneOf", "const", "not", "if"}
	if !hasAny(s, refusing) {
		addNull(s)
		n.note(ptr, "%s became the type null", why)
		return
	}
	outer := []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$defs", "definitions"}
	if n.draft >= 2019 || s.get("$ref") == nil { // else they are hidden by it
		outer = append(outer, "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")
	}
	out, branch := object(), object()
	for _, m := range s.members {
		if slices.Contains(outer, m.name) {
			out.members = append(out.members, m)
			continue
		}
		if n.referred(ptr + pointer(m.name)) {
			n.note(ptr, "removed %s: a reference leads into what it is about", why)
			return
		}
		branch.members = append(branch.members, m)
	}
	n.note(ptr, "%s became an anyOf with the type null", why)
	n.moved[branch] = ptr
	out.set("anyOf", array(branch, object(member{"type", str("null")})))
	s.members = out.members
}

// findRefs lists the references of the document.
func (n *normaliser) findRefs(v *value) {
	for _, item := range v.items {
		n.findRefs(item)
	}
	for _, m := range v.members {
		if m.name == "$ref" && m.value.isString() {
			n.refs = append(n.refs, m.value.text)
		}
		n.findRefs(m.value)
	}
}

// referred reports whether a reference may lead to a place or below it.
func (n *normaliser) referred(ptr string) bool {
	return slices.ContainsFunc(n.refs, func(ref string) bool {
		_, fragment, _ := strings.Cut(ref, "#")
		rest, ok := strings.CutPrefix(fragment, ptr)
		return ok && (rest == "" || rest[0] == '/') || strings.Contains(fragment, "%")
	})
}

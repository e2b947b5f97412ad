package schema

import (
	"slices"
	"strings"
)

// properties mends a list of properties, and takes from each property what
// belongs to the list: whether it is required.
func (n *normaliser) properties(s *value, ptr string) {
	props := s.get("properties")
	if props == nil {
		return
	}
	if !props.isObject() {
		if props.isArray() && len(props.items) == 0 {
			s.set("properties", object()) // how PHP writes an empty map
			n.note(ptr+"/properties", "[] became {}")
		}
		return
	}
	names := newNameList(s.get("required"))
	for i, m := range props.members {
		at := ptr + pointer("properties", m.name)
		sub := n.asSchema(m.value, at)
		props.members[i].value = sub
		if !sub.isObject() {
			continue
		}
		if was, flag := sub.get("required"), requiredFlag(sub); flag != nil {
			sub.drop("required")
			n.note(at, "removed required: %s, which belongs to the object", was.json())
			if *flag && names.add(m.name) {
				n.note(ptr+"/required", "added %q", m.name)
			}
		}
		if was := sub.get("optional"); flagLike(was) != nil {
			sub.drop("optional")
			n.note(at, "removed optional: %s, which is no keyword", was.json())
			if *flagLike(was) && names.remove(m.name) {
				n.note(ptr+"/required", "removed %q, which is optional", m.name)
			}
		}
	}
	if names.changed {
		s.set("required", names.value())
	}
}

// requiredFlag reads a required that says whether the schema's own property is
// required; nil if it is the list that it should be, or names a property.
func requiredFlag(s *value) *bool {
	was := s.get("required")
	if was.isString() && s.get("properties").get(was.text) != nil {
		return nil
	}
	return flagLike(was)
}

// nameList is a list of names to which some are added and from which others
// are removed.
type nameList struct {
	names   []string
	has     map[string]bool
	changed bool
}

func newNameList(v *value) *nameList {
	return &nameList{names: v.strings(), has: set(v.strings()...)}
}

func (l *nameList) add(name string) bool {
	if l.has[name] {
		return false
	}
	if _, removed := l.has[name]; !removed {
		l.names = append(l.names, name)
	}
	l.has[name], l.changed = true, true
	return true
}

func (l *nameList) remove(name string) bool {
	if !l.has[name] {
		return false
	}
	l.has[name], l.changed = false, true
	return true
}

func (l *nameList) value() *value {
	return strs(slices.DeleteFunc(l.names, func(name string) bool { return !l.has[name] }))
}

// flagLike reads a boolean as people write it; nil if it is none.
func flagLike(v *value) *bool {
	yes := v.isBool() && v.kind == 't'
	switch {
	case v.isBool():
		return &yes
	case !v.isString():
		return nil
	}
	switch strings.ToLower(v.text) {
	case "true", "yes":
		yes = true
		return &yes
	case "false", "no":
		return &yes
	}
	return nil
}

// asSchema reads what stands where a schema is wanted: the name of a type is
// meant as that type.
func (n *normaliser) asSchema(v *value, ptr string) *value {
	if isSchema(v) {
		return v
	}
	shown := clip(string(v.json()), 80)
	if v.isString() {
		if means := readType(v.text, 0); means != nil {
			n.note(ptr, "%s became a schema", shown)
			return means
		}
	}
	n.note(ptr, "%s is no schema: any value is accepted", shown)
	return object()
}

func (n *normaliser) required(s *value, ptr string) {
	if was := s.get("optional"); was.isArray() && namesShape.fits(was) == "" {
		s.drop("optional")
		n.note(ptr, "removed optional, which is no keyword")
		if list := s.get("required"); list.isArray() {
			optional := set(was.strings()...)
			s.set("required", array(slices.DeleteFunc(slices.Clone(list.items), func(v *value) bool { return v.isString() && optional[v.text] })...))
		}
	}
	was := s.get("required")
	switch {
	case was == nil:
	case was.isArray():
		if names := unionOf(nil, was.strings()); len(names) < len(was.items) {
			s.set("required", strs(names))
			n.note(ptr+"/required", "removed what is no name or stands twice")
		}
	case was.isString() && requiredFlag(s) != nil:
		s.drop("required")
		n.note(ptr, "removed required: %s, which names no property", was.json())
	case was.isString():
		s.set("required", strs([]string{was.text}))
		n.note(ptr+"/required", "%s became a list", clip(string(was.json()), maxShown))
	}
}

// unique reports whether no value of a list stands twice.
func unique(list *value) bool {
	return len(set(apply(list.items, canonical)...)) == len(list.items)
}

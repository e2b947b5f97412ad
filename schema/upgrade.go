package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// upgradeDocument rewrites a document of draft 7, in place, so that it means
// the same when read as 2020-12.
func upgradeDocument(d *document) {
	links := d.links()
	for _, s := range append([]*value{d.root.schema}, d.hidden...) {
		upgrade(s)
	}
	d.root.schema.set("$schema", str("https://json-schema.org/draft/2020-12/schema"))
	// Some places have moved; references by pointer follow them.
	places := map[*value]string{}
	d.root.schema.places("", places)
	for s, target := range links {
		if at, ok := places[target]; ok {
			s.set("$ref", str((&url.URL{Fragment: at}).String()))
		}
	}
}

// links are the references by pointer within the root resource, and what each
// leads to. That of the whole document stays as it is.
func (d *document) links() map[*value]*value {
	links := map[*value]*value{}
	for s, home := range d.owners {
		ref := s.get("$ref")
		if home != d.root || !ref.isString() || !strings.HasPrefix(ref.text, "#/") {
			continue
		}
		if target := d.target(s, ref.text); target != nil {
			links[s] = target
		}
	}
	return links
}

// places notes where every object and array of v stands.
func (v *value) places(at string, into map[*value]string) {
	into[v] = at
	for i, item := range v.items {
		item.places(at+pointer(strconv.Itoa(i)), into)
	}
	for _, m := range v.members {
		m.value.places(at+pointer(m.name), into)
	}
}

func upgrade(s *value) {
	if !s.isObject() {
		return
	}
	for _, unknown := range []string{
		"unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas", "prefixItems", "minContains", "maxContains",
		"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef",
		"$schema", // the root gets the new one
	} {
		s.drop(unknown)
	}
	if s.get("$ref").isString() {
		// Before 2019-09 whatever stands beside $ref is ignored; what can be
		// pointed at stays.
		s.members = slices.DeleteFunc(s.members, func(m member) bool {
			_, known := vocabulary[m.name]
			return known && m.name != "title" && m.name != "description"
		})
	}
	if id := s.get("$id"); id.isString() {
		if base, anchor, ok := strings.Cut(id.text, "#"); ok {
			s.drop("$id")
			if base != "" {
				s.set("$id", str(base))
			}
			if anchor != "" {
				s.set("$anchor", str(anchor))
			}
		}
	}
	if items := s.get("items"); items.isArray() {
		s.set("prefixItems", items)
		s.drop("items")
		if rest := s.get("additionalItems"); rest != nil {
			s.set("items", rest)
		}
		if len(items.items) == 0 {
			s.drop("prefixItems") // 2020-12 wants at least one
		}
	}
	s.drop("additionalItems")
	upgradeDependencies(s)
	eachChild(s, func(_ string, sub *value) { upgrade(sub) })
}

func upgradeDependencies(s *value) {
	deps := s.get("dependencies")
	if !deps.isObject() {
		return
	}
	s.drop("dependencies")
	required, schemas := object(), object()
	for _, m := range deps.members {
		if m.value.isArray() {
			required.set(m.name, m.value)
		} else {
			schemas.set(m.name, m.value)
		}
	}
	s.set("dependentRequired", required)
	s.set("dependentSchemas", schemas)
}

// dropHidden removes, beside each $ref, the keywords that draft 7 hides and the
// library does not.
func dropHidden(d *document) {
	for s := range d.owners {
		if !s.get("$ref").isString() {
			continue
		}
		for _, keyword := range []string{"const", "contains", "propertyNames", "if", "then", "else"} {
			s.drop(keyword)
		}
	}
}

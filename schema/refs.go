package schema

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// resource is a schema with an identity of its own: the document, or a part
// of it with an $id.
type resource struct {
	spot
	base    *url.URL
	draft   int
	anchors map[string]spot
}

// spot is a schema, and where in the document it stands.
type spot struct {
	schema *value
	ptr    string
	res    *resource // the resource that it belongs to
}

// document is one schema text with what its references can lead to.
type document struct {
	root      *resource
	resources map[string]*resource // by URI
	homes     map[*value]*resource // by the schema that begins one
	owners    map[*value]*resource // by any schema that belongs to one
	dynamic   map[string]int       // $dynamicAnchors, how many of each name
	// hidden are the schemas that stand where no keyword keeps schemas, such as
	// below components, and that references lead to.
	hidden []*value
	refs   []*value // schemas with references that were not followed yet
}

// newDocument finds the resources and anchors of a document.
func newDocument(root *value, draft int) *document {
	d := &document{
		resources: map[string]*resource{},
		homes:     map[*value]*resource{},
		owners:    map[*value]*resource{},
		dynamic:   map[string]int{},
	}
	base, err := url.Parse(baseURI)
	if err != nil {
		base = &url.URL{} // not reached: it is a constant
	}
	d.root = d.addResource(spot{schema: root}, base, draft)
	d.indexSchema(root, "", d.root)
	for len(d.refs) > 0 {
		s := d.refs[0]
		d.refs = d.refs[1:]
		for _, keyword := range []string{"$ref", "$dynamicRef"} {
			ref := s.get(keyword)
			if !ref.isString() {
				continue
			}
			if at, err := d.resolve(ref.text, d.owners[s]); err == nil && at.schema.isObject() && d.owners[at.schema] == nil {
				d.hidden = append(d.hidden, at.schema)
				d.indexSchema(at.schema, at.ptr, at.res)
			}
		}
	}
	return d
}

// target is what a reference in s leads to within the document, or nil.
func (d *document) target(s *value, ref string) *value {
	at, err := d.resolve(ref, d.owners[s])
	if err != nil {
		return nil
	}
	return at.schema
}

func (d *document) addResource(at spot, base *url.URL, draft int) *resource {
	r := &resource{spot: at, base: base, draft: draft, anchors: map[string]spot{}}
	r.res = r
	d.homes[at.schema] = r
	if _, taken := d.resources[base.String()]; !taken {
		d.resources[base.String()] = r
	}
	return r
}

func (d *document) indexSchema(s *value, ptr string, r *resource) {
	if !s.isObject() || d.owners[s] != nil {
		return
	}
	// Before 2019-09 whatever stands beside $ref is ignored, $id included.
	id := s.get("$id")
	if r.draft == 4 {
		id = s.get("id")
	}
	if id.isString() && (r.draft >= 2019 || s.get("$ref") == nil) {
		uri, anchor, _ := strings.Cut(id.text, "#")
		if rel, err := url.Parse(uri); err == nil && uri != "" {
			draft := r.draft
			if own := s.get("$schema"); own != nil {
				draft = draftOf(own)
			}
			r = d.addResource(spot{schema: s, ptr: ptr}, r.base.ResolveReference(rel), draft)
			if s == d.root.schema {
				d.root = r
			}
		}
		if anchor != "" && r.draft < 2019 {
			r.anchors[anchor] = spot{s, ptr, r}
		}
	}
	d.owners[s] = r
	if s.get("$ref") != nil || s.get("$dynamicRef") != nil {
		d.refs = append(d.refs, s)
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name := s.get(key); name.isString() && r.draft >= 2019 {
			r.anchors[name.text] = spot{s, ptr, r}
			if key == "$dynamicAnchor" {
				d.dynamic[name.text]++
			}
		}
	}
	eachChild(s, func(at string, sub *value) { d.indexSchema(sub, ptr+at, r) })
}

// errElsewhere says that a reference leads to a schema that is known, but not
// part of the document.
var errElsewhere = errors.New("leads to a meta-schema")

// resolve finds what a reference leads to.
func (d *document) resolve(ref string, from *resource) (spot, error) {
	if from == nil {
		from = d.root
	}
	u, err := url.Parse(ref)
	if err != nil {
		return spot{}, fmt.Errorf("reference %q is not a URI", ref)
	}
	target := from
	if ref != "" && ref[0] != '#' {
		abs := from.base.ResolveReference(u)
		abs.Fragment, abs.RawFragment = "", ""
		if target = d.resources[abs.String()]; target == nil {
			if abs.Host == "json-schema.org" {
				return spot{}, errElsewhere
			}
			return spot{}, fmt.Errorf("reference %q leads out of the schema; nothing is loaded", ref)
		}
	}
	switch name := u.Fragment; {
	case name == "":
		return target.spot, nil
	case name[0] == '/':
		return d.follow(target, name, ref)
	default:
		at, ok := target.anchors[name]
		if !ok {
			return spot{}, fmt.Errorf("reference %q leads nowhere", ref)
		}
		return at, nil
	}
}

// follow walks a JSON Pointer from a resource's root. On the way it may enter
// another resource.
func (d *document) follow(r *resource, ptr, ref string) (spot, error) {
	at := r.spot
	for tok := range strings.SplitSeq(ptr[1:], "/") {
		tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		at.schema = at.schema.at(tok)
		at.ptr += pointer(tok)
		if at.schema == nil {
			return spot{}, fmt.Errorf("reference %q leads nowhere", ref)
		}
		if home := d.homes[at.schema]; home != nil {
			at.res = home
		}
	}
	if isNoSchema(at.schema) {
		return spot{}, fmt.Errorf("reference %q leads to %s, want a schema", ref, clip(string(at.schema.json()), 40))
	}
	return at, nil
}

// scope is where the first stage is while it goes down a schema.
type scope struct {
	res   *resource
	ptr   string
	depth int
	refs  []*value // targets of references being written out, outermost first
	chain []*value // those of them that apply to the same value
}

// inside is the scope of a schema that applies to a part of the value.
func (s scope) inside(at string) scope {
	s.chain = nil
	return s.beside(at)
}

// beside is the scope of a schema that applies to the same value.
func (s scope) beside(at string) scope {
	s.ptr += at
	s.depth++
	return s
}

// deref writes out a reference. In doubt about what a dynamic one leads to,
// the place stays open.
func (f *flattener) deref(s *value, keyword string, sc scope) (*value, error) {
	ref := s.get(keyword)
	if !ref.isString() {
		return nil, &DefinitionError{Pointer: sc.ptr, Reason: keyword + ": want a string"}
	}
	at, err := f.resolve(ref.text, sc.res)
	if errors.Is(err, errElsewhere) {
		return f.open(s, sc.ptr, "%s %q leads to a meta-schema and is left open", keyword, ref.text), nil
	}
	if err != nil {
		return nil, &DefinitionError{Pointer: sc.ptr, Reason: err.Error(), Err: err}
	}
	if keyword != "$ref" && !f.static(ref.text) {
		return f.open(s, sc.ptr, "%s %q depends on where it is used and is left open", keyword, ref.text), nil
	}
	if slices.Contains(sc.chain, at.schema) {
		return nil, &DefinitionError{Pointer: sc.ptr, Reason: "refers to itself without an end"}
	}
	times := 0
	for _, r := range sc.refs {
		if r == at.schema {
			times++
		}
	}
	if times > 0 {
		if !f.recursive && !f.cut {
			f.place = sc.ptr
		}
		f.recursive = true
	}
	if times >= f.recursion {
		return f.open(at.schema, sc.ptr, "recursion of %q is cut at depth %d; what is deeper is left open", ref.text, f.recursion), nil
	}
	next := scope{
		res:   at.res,
		ptr:   at.ptr,
		depth: sc.depth + 1,
		refs:  append(slices.Clip(sc.refs), at.schema),
		chain: append(slices.Clip(sc.chain), at.schema),
	}
	return f.expand(at.schema, next)
}

// static reports whether a dynamic reference can only lead to one place.
func (d *document) static(ref string) bool {
	_, anchor, _ := strings.Cut(ref, "#")
	if anchor == "" {
		return len(d.homes) == 1
	}
	return d.dynamic[anchor] <= 1
}

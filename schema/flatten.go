package schema

import (
	"encoding/json"
	"fmt"
)

// Change is one thing that flattening or normalising altered.
type Change struct {
	Pointer string // in the schema as it was given; a very long one is shortened
	What    string
}

// Flat is a schema as one provider takes it.
type Flat struct {
	// Schema is the schema without references and allOf, in the provider's
	// dialect. It is for the model to read: check with the original.
	Schema json.RawMessage
	// Strict: it may be sent as strict. Only for OpenAIStrict.
	Strict bool
	// Reason is why a schema asked for as OpenAIStrict is not strict: the
	// place, then what strict cannot express. The schema is then the one of
	// OpenAI.
	Reason string
	// Cut: recursion or size was cut, and the place is left open.
	Cut bool
	// Changes lists what was altered, but for references written out and
	// allOf merged without a loss. The last one says how many more there were,
	// if there were too many.
	Changes []Change
	// Nullable lists the properties that a strict schema had to require and
	// for which a null now means "not given": drop those nulls before the
	// check. Each is a JSON Pointer into the arguments with * for every item of
	// an array: /filters/*/unit. A property that is itself called * is written
	// as ~2, as JSON Pointer writes ~ as ~0 and / as ~1.
	Nullable []string
	// Refused lists the properties, by their place in the schema as it was
	// given, whose names the provider does not take: sending the schema fails
	// the whole request.
	Refused []string
	// Empty: it takes no properties. Some providers then want no parameters at
	// all instead of an object without properties.
	Empty bool
}

// What flattening may take and make. The result stays within what Compile
// reads.
const (
	maxRecursion  = 4       // how often a reference is written out inside itself
	maxSubschemas = 1 << 14 // schemas looked at or merged
	maxRecursive  = 1 << 12 // those, while recursion can be cut earlier
	maxWork       = 1 << 19 // names, values and changes looked at, in each stage
	maxFlatValues = 40_000  // JSON values written
	maxFlatBytes  = 1 << 19
	maxFlatDepth  = 96      // of the JSON written
	readable      = 1 << 16 // bytes; above it recursion is cut earlier
	maxChanges    = 1000
	maxPlace      = 4096 // bytes of a pointer
	maxShown      = 80   // characters of a value in a change
)

// Flatten writes a schema for the arguments of a call in a provider's dialect.
//
// The result accepts every object that the original accepts, unless it is
// strict: what a dialect cannot say is left out, or said in the description.
// What it leaves out is listed; a check must always use the original.
func Flatten(text []byte, p Profile) (Flat, error) {
	d := dialectOf(p)
	if d == nil {
		return Flat{}, fmt.Errorf("profile: got %q, want one of %q", p, Profiles())
	}
	tree, err := parseSchema(string(text))
	if err != nil {
		return Flat{}, err
	}
	if p == OpenAIStrict {
		return flattenStrict(tree, d)
	}
	return flatten(tree, d)
}

// flatten tries with less and less recursion until the result is of a size
// that a model can read; only then are other parts cut.
func flatten(tree *value, d *dialect) (Flat, error) {
	for depth := maxRecursion; ; depth-- {
		f := newFlattener(tree, d, depth)
		root, err := f.core(tree)
		if err != nil {
			return Flat{}, err
		}
		last := depth == 1 || !f.recursive
		if f.full && !last {
			continue
		}
		out := f.write(root, 0)
		f.finish(out)
		text := out.json()
		if last || !f.full && len(text) <= readable {
			return Flat{Schema: text, Cut: f.cut, Changes: f.listed(), Refused: f.refused, Empty: f.empty(root)}, nil
		}
	}
}

// flattener holds one flattening. Its first stage writes out references and
// merges allOf (expand.go, merge.go), its second puts the result into the
// dialect (write.go).
type flattener struct {
	*document
	dialect *dialect

	recursion int               // how often a reference is written out inside itself
	origin    map[*value]string // where a schema of the first stage came from
	looked    int               // of maxSubschemas
	parts     int               // of maxSchemaParts
	values    int               // of maxFlatValues
	bytes     int               // of maxFlatBytes
	work      int               // of maxWork
	compared  int               // of maxComparisons
	forms     int               // of maxForms

	// widened counts what made a schema accept more. What stands under not or
	// oneOf must not accept more, or the whole accepts less.
	widened   int
	cut       bool
	full      bool   // a limit of size was met
	recursive bool   // recursion was met
	place     string // where recursion or a cut was met first
	union     bool   // the root was a union
	changes   []Change
	more      int // changes that are not listed
	seen      map[Change]bool
	refused   []string
}

func newFlattener(tree *value, d *dialect, recursion int) *flattener {
	return &flattener{
		document:  newDocument(tree, draftOf(tree.get("$schema"))),
		dialect:   d,
		recursion: recursion,
		origin:    map[*value]string{},
		seen:      map[Change]bool{},
	}
}

// core is the first stage: the root as an object without references and allOf.
func (f *flattener) core(tree *value) (*value, error) {
	root, err := f.expand(tree, scope{res: f.root})
	if err != nil {
		return nil, err
	}
	root, err = f.foldRoot(root)
	f.work = 0 // the second stage has as much
	return root, err
}

// note lists a change.
func (f *flattener) note(ptr, format string, args ...any) {
	f.toil(8) // what writing the sentence costs
	c := Change{Pointer: shortPlace(ptr), What: fmt.Sprintf(format, args...)}
	switch {
	case f.seen[c]:
		return
	case len(f.changes) < maxChanges:
		f.changes = append(f.changes, c)
	default:
		f.more++
	}
	f.seen[c] = true
}

// listed is what was changed.
func (f *flattener) listed() []Change {
	if f.more == 0 {
		return f.changes
	}
	return append(f.changes, Change{What: fmt.Sprintf("and %d more changes", f.more)})
}

// shortPlace keeps the length of pointers apart from that of names.
func shortPlace(ptr string) string {
	if len(ptr) <= maxPlace {
		return ptr
	}
	return shortPointer(ptr)
}

// widen lists a change that makes the schema accept more.
func (f *flattener) widen(ptr, format string, args ...any) {
	f.widened++
	f.note(ptr, format, args...)
}

// open is the schema that stands where something was cut: it accepts
// anything, and says what the part was for.
func (f *flattener) open(was *value, ptr, format string, args ...any) *value {
	if !f.cut && !f.recursive {
		f.place = ptr
	}
	f.cut = true
	f.widen(ptr, format, args...)
	out := f.new(ptr)
	for _, key := range []string{"title", "description"} {
		if text := was.get(key); text.isString() {
			out.set(key, text)
		}
	}
	return out
}

// new is an empty schema of the first stage that remembers where it is from.
func (f *flattener) new(ptr string, members ...member) *value {
	v := object(members...)
	f.origin[v] = ptr
	return v
}

// reserve takes n subschemas of the result. They are reserved before the first
// of them is written, so that the last has a place.
func (f *flattener) reserve(n int) bool {
	if f.parts+n > maxSchemaParts {
		f.full = true
		return false
	}
	f.parts += n
	return true
}

// spend takes one schema from the budget. Where recursion can be cut earlier
// the budget is smaller: more would not be readable.
func (f *flattener) spend() bool {
	f.looked++
	if f.looked > maxSubschemas || f.recursive && f.recursion > 1 && f.looked > maxRecursive {
		f.full = true
	}
	return !f.full
}

// toil counts work that is not by the schema: what is long, or referred to
// from many places, is met more often than it is written.
func (f *flattener) toil(n int) {
	if f.work += n; f.work > maxWork {
		f.full = true
	}
}

package schema

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decoder reads JSON text into one Go type. For plain structs it reads the
// text once and makes strings as parts of it; whatever it meets beyond that
// (escapes, other keys, null, types with methods of their own) it leaves to
// Decode, which reads the text anew.
type Decoder struct{ plan *plan }

// DecoderFor readies a Decoder for values of type t.
func DecoderFor(t reflect.Type) *Decoder { return &Decoder{planFor(t, nil)} }

// Decode does what the function [Decode] does; v points to a zero value of the
// Decoder's type.
func (d *Decoder) Decode(text string, v any) error {
	if d.plan != nil {
		to := reflect.ValueOf(v).Elem()
		w := walker{s: text, levels: maxFastDepth}
		w.space()
		if d.plan.read(&w, to) {
			if w.space(); w.i == len(text) {
				return nil
			}
		}
		to.SetZero()
	}
	return Decode(text, v)
}

// plan is how to read one type; nil means that Decode must.
type plan struct {
	kind   reflect.Kind
	bits   int
	elem   *plan
	fields []planField
	texts  bool // a []string

	strict bool   // numbers as they are mostly written, and no others
	must   uint64 // fields that must be there
}

type planField struct {
	quoted string
	index  int
	plan   *plan
}

func planFor(t reflect.Type, open []reflect.Type) *plan {
	if slices.Contains(open, t) {
		return nil // a type that contains itself
	}
	open = append(open, t)
	if implements(t, append(unmarshalers(), reflect.TypeFor[encoding.TextUnmarshaler]())...) {
		return nil
	}
	p := &plan{kind: t.Kind()}
	switch p.kind {
	case reflect.Bool, reflect.String:
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		p.bits = t.Bits()
	case reflect.Slice:
		p.elem = planFor(t.Elem(), open)
		p.texts = t == reflect.TypeFor[[]string]()
		if p.elem == nil || t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
	case reflect.Pointer:
		if p.elem = planFor(t.Elem(), open); p.elem == nil {
			return nil
		}
	case reflect.Struct:
		return structPlan(t, open)
	default:
		return nil
	}
	return p
}

func structPlan(t reflect.Type, open []reflect.Type) *plan {
	list, err := structFields(t, "", 0, nil)
	if err != nil || len(list) > maxFastProperties {
		return nil
	}
	p := &plan{kind: reflect.Struct}
	for _, f := range list {
		if f.depth > 0 {
			return nil
		}
		field := planField{quoted: string(quote(f.name)), index: f.Index[0]}
		if !f.quoted {
			field.plan = planFor(f.Type, open)
		}
		p.fields = append(p.fields, field)
	}
	return p
}

// read reads one value at w into to. False: the text is not what the plan
// knows, and to may be half filled.
func (p *plan) read(w *walker, to reflect.Value) bool {
	if p == nil || w.i >= len(w.s) {
		return false
	}
	switch p.kind {
	case reflect.String:
		s, ok := w.name()
		if ok {
			to.SetString(s)
		}
		return ok
	case reflect.Bool:
		yes := w.s[w.i] == 't'
		if yes && !w.literal("true") || !yes && !w.literal("false") {
			return false
		}
		to.SetBool(yes)
		return true
	case reflect.Slice:
		if p.texts {
			if list, ok := reflect.TypeAssert[*[]string](to.Addr()); ok {
				return readTexts(w, list)
			}
		}
		return p.readSlice(w, to)
	case reflect.Struct:
		return p.readStruct(w, to)
	case reflect.Pointer:
		if w.s[w.i] == 'n' {
			return w.literal("null")
		}
		to.Set(reflect.New(to.Type().Elem()))
		return p.elem.read(w, to.Elem())
	}
	return p.readNumber(w, to)
}

func (p *plan) readNumber(w *walker, to reflect.Value) bool {
	start := w.i
	plain, ok := w.digits()
	if !ok {
		return false
	}
	text := w.s[start:w.i]
	if p.strict && (len(text) > 24 || strings.ContainsAny(text, "eE")) {
		return false
	}
	switch {
	case p.kind == reflect.Float32 || p.kind == reflect.Float64:
		f, err := strconv.ParseFloat(text, p.bits)
		if err != nil {
			return false
		}
		to.SetFloat(f)
	case !plain:
		return false // 1.0 and 1e2 are integers too, but seldom
	case p.kind >= reflect.Uint:
		n, err := strconv.ParseUint(text, 10, p.bits)
		if err != nil {
			return false
		}
		to.SetUint(n)
	default:
		n, err := strconv.ParseInt(text, 10, p.bits)
		if err != nil {
			return false
		}
		to.SetInt(n)
	}
	return true
}

func (p *plan) readStruct(w *walker, to reflect.Value) bool {
	if w.s[w.i] != '{' {
		return false
	}
	w.i++
	if w.space(); w.i < len(w.s) && w.s[w.i] == '}' {
		w.i++
		return p.must == 0
	}
	var seen uint64
	next := 0
	for {
		at := p.field(w, next)
		if at < 0 || seen&(1<<at) != 0 {
			return false
		}
		seen |= 1 << at
		next = at + 1
		f := &p.fields[at]
		w.i += len(f.quoted)
		if w.space(); w.i >= len(w.s) || w.s[w.i] != ':' {
			return false
		}
		w.i++
		w.space()
		if !f.plan.read(w, to.Field(f.index)) {
			return false
		}
		more, ok := w.more('}')
		if !ok {
			return false
		}
		if !more {
			return seen&p.must == p.must
		}
	}
}

// field finds the field whose name stands at w; next is the likeliest.
func (p *plan) field(w *walker, next int) int {
	rest := w.s[w.i:]
	if next < len(p.fields) && strings.HasPrefix(rest, p.fields[next].quoted) {
		return next
	}
	for i := range p.fields {
		if strings.HasPrefix(rest, p.fields[i].quoted) {
			return i
		}
	}
	return -1
}

// open reads the [ of an array; empty is whether that was all.
func (w *walker) open() (empty, ok bool) {
	if w.s[w.i] != '[' {
		return false, false
	}
	w.i++
	if w.space(); w.i < len(w.s) && w.s[w.i] == ']' {
		w.i++
		return true, true
	}
	return false, true
}

func (p *plan) readSlice(w *walker, to reflect.Value) bool {
	empty, ok := w.open()
	if !ok {
		return false
	}
	if empty {
		to.Set(reflect.MakeSlice(to.Type(), 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == to.Cap() {
			to.Grow(max(4, n))
		}
		to.SetLen(n + 1)
		if !p.elem.read(w, to.Index(n)) {
			return false
		}
		if more, ok := w.more(']'); !ok || !more {
			return ok
		}
	}
}

// readTexts reads a []string, the commonest slice, into memory of its size.
func readTexts(w *walker, to *[]string) bool {
	empty, ok := w.open()
	if !ok {
		return false
	}
	if empty {
		*to = []string{}
		return true
	}
	var few [16]string
	list := few[:0]
	for {
		s, ok := w.name()
		if !ok {
			return false
		}
		list = append(list, s)
		more, ok := w.more(']')
		if !ok {
			return false
		}
		if !more {
			*to = append(make([]string, 0, len(list)), list...)
			return true
		}
	}
}

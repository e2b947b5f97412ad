package tool

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// quick writes values of one plain Go type as JSON, as Encode does and in a
// third of the time. What it meets beyond that (escapes, letters that are not
// ASCII, types with methods of their own) it leaves to Encode.
type quick struct {
	kind   reflect.Kind
	elem   *quick
	fields []quickField
	room   atomic.Int64
}

type quickField struct {
	opening   string // {"name": or ,"name":
	index     int
	value     *quick
	omitEmpty bool
}

// quickFor is nil where Encode must write the type.
func quickFor(t reflect.Type, open ...reflect.Type) *quick {
	if slices.Contains(open, t) || ownForm(t) {
		return nil
	}
	q := &quick{kind: t.Kind()}
	switch q.kind {
	case reflect.Bool, reflect.String, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return q
	case reflect.Slice, reflect.Pointer:
		q.elem = quickFor(t.Elem(), append(open, t)...)
		if q.elem == nil || q.kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return q
	case reflect.Struct:
		return q.structure(t, open)
	default:
		return nil
	}
}

func (q *quick) structure(t reflect.Type, open []reflect.Type) *quick {
	names := make(map[string]bool)
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		opening := `,"` + name + `":`
		if len(q.fields) == 0 {
			opening = "{" + opening[1:]
		}
		field := quickField{opening, f.Index[0], quickFor(f.Type, append(open, t)...), option == "omitempty"}
		if field.value == nil || f.Anonymous || option != "" && !field.omitEmpty || !plainName(name) || names[name] || field.omitEmpty && len(q.fields) == 0 {
			return nil
		}
		names[name] = true
		q.fields = append(q.fields, field)
	}
	if len(q.fields) == 0 {
		return nil
	}
	return q
}

// plainName reports whether encoding/json takes the name as it is.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// append writes v behind b. False: Encode must write it.
func (q *quick) append(b []byte, v reflect.Value) ([]byte, bool) {
	switch q.kind {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), true
	case reflect.String:
		return appendPlain(b, v.String())
	case reflect.Float64:
		f := v.Float()
		if abs := math.Abs(f); abs != 0 && !(abs >= 1e-6 && abs < 1e21) {
			return b, false
		}
		return strconv.AppendFloat(b, f, 'f', -1, 64), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), true
	case reflect.Struct:
		return q.appendStruct(b, v)
	case reflect.Slice, reflect.Pointer:
		switch {
		case v.IsNil():
			return append(b, "null"...), true
		case q.kind == reflect.Pointer:
			return q.elem.append(b, v.Elem())
		}
		return q.appendSlice(b, v)
	default:
		return strconv.AppendUint(b, v.Uint(), 10), true
	}
}

func (q *quick) appendStruct(b []byte, v reflect.Value) (to []byte, ok bool) {
	for i := range q.fields {
		f := &q.fields[i]
		field := v.Field(f.index)
		if f.omitEmpty && empty(field) {
			continue
		}
		b = append(b, f.opening...)
		if b, ok = f.value.append(b, field); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

func (q *quick) appendSlice(b []byte, v reflect.Value) (to []byte, ok bool) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = q.elem.append(b, v.Index(i)); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// appendPlain writes a text that needs no escapes.
func appendPlain(b []byte, s string) ([]byte, bool) {
	b = append(b, '"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return b, false
		}
	}
	return append(append(b, s...), '"'), true
}

// encode is JSON text in memory of its own; nil: Encode must write v. Results of
// one tool are often of a size, so the last one says how much room to make.
func (q *quick) encode(v reflect.Value) []byte {
	b, ok := q.append(make([]byte, 0, q.room.Load()), v)
	if !ok {
		return nil
	}
	q.room.Store(int64(min(len(b)+16, 1024)))
	return slices.Clip(b)
}

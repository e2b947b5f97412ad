package ferrule

import "reflect"

// late are findings about the fields that were set, or exchanged, after they
// were taken.
func (rt *Runtime) late() (all []Finding) {
	v := reflect.ValueOf(rt).Elem()
	for i, was := range rt.set.taken {
		if traceOf(v.Field(i)) != was {
			name := "Runtime." + v.Type().Field(i).Name
			all = append(all, Finding{name, name + " was set after the first Add or Session and is not used: set it before"})
		}
	}
	return all
}

// trace is enough of a value to see that another was put in its place. It costs
// nothing to make: every session does.
type trace struct {
	typ   reflect.Type
	at    uintptr // where what it refers to is
	n     int64   // the number, or how many
	text  string
	value any // another that can be compared
}

// traces are those of the exported fields, which come first.
func (rt *Runtime) traces() (all []trace) {
	v := reflect.ValueOf(rt).Elem()
	for i := 0; v.Field(i).CanInterface(); i++ {
		all = append(all, traceOf(v.Field(i)))
	}
	return all
}

func traceOf(v reflect.Value) trace {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return trace{}
	}
	t := trace{typ: v.Type()}
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		t.at, t.n = v.Pointer(), int64(v.Len())
	case reflect.Func, reflect.Pointer, reflect.Chan:
		t.at = v.Pointer()
	case reflect.Bool:
		if v.Bool() {
			t.n = 1
		}
	case reflect.Int, reflect.Int64:
		t.n = v.Int()
	case reflect.String:
		t.text = v.String()
	default:
		if v.Comparable() {
			t.value = v.Interface()
		}
	}
	return t
}

package tooltest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
)

// empty are the fields of v, and of its fields, that have nothing in them.
func empty(v reflect.Value, name string) (list []string) {
	if v.IsZero() {
		return []string{name}
	}
	switch {
	case v.Kind() == reflect.Struct && v.Type().PkgPath() != "time":
		for i := range v.NumField() {
			list = append(list, empty(v.Field(i), name+"."+v.Type().Field(i).Name)...)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			list = append(list, empty(v.Index(i), name+"[]")...)
		}
	}
	return list
}

func TestFill(t *testing.T) {
	t.Run("P4 nothing of a question or an answer is left out", func(t *testing.T) {
		for _, v := range []any{filled[policy.Question](t), filled[policy.Answer](t), filled[policy.Grant](t), filled[policy.SessionState](t)} {
			if list := empty(reflect.ValueOf(v), "it"); len(list) > 0 {
				t.Errorf("%T: got nothing in %q", v, list)
			}
		}
		if list := empty(reflect.ValueOf(full(t)), "it"); len(list) != 1 || list[0] != "it.Claims.ReadOnly" {
			t.Errorf("the question that is asked: got nothing in %q, want that it may change something", list)
		}
	})
	t.Run("P4 a field that cannot be filled is an error", func(t *testing.T) {
		var v struct{ More map[string]string }
		if err := fill(reflect.ValueOf(&v).Elem(), "it"); err == nil || !strings.Contains(err.Error(), "it.More: got a field of the kind map") {
			t.Errorf("got %v", err)
		}
	})
}

package tooltest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// filled has something in every field, and in those of its fields, so that one
// that is new is not forgotten by whoever keeps it.
func filled[T any](t *testing.T) T {
	t.Helper()
	var v T
	if err := fill(reflect.ValueOf(&v).Elem(), reflect.TypeFor[T]().Name()); err != nil {
		t.Fatal(err)
	}
	return v
}

// fill puts something into v that is as hard to keep as it may be, and that is
// another for each name.
func fill(v reflect.Value, name string) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		far := time.FixedZone("far", 5*3600)
		v.Set(reflect.ValueOf(time.Now().Add(time.Duration(len(name)) * time.Nanosecond).In(far)))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("{ \"" + name + "\":\t\"<b>&\u2028世界\" }\n")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint8:
		v.SetUint(2)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"` + name + `" : 1e400}`))
			return nil
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			if err := fill(v.Index(i), fmt.Sprint(name, i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := fill(v.Field(i), name+"."+v.Type().Field(i).Name); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s: got a field of the kind %s, want one that tooltest can fill: see its fill", name, v.Kind())
	}
	return nil
}

// full is a question with something in every field, but that it is about a call
// that changes something. It has an hour.
func full(t *testing.T) policy.Question {
	t.Helper()
	q := filled[policy.Question](t)
	q.ID, q.Digest, q.Tool, q.Source.Trust = "a", "d", "send", tool.MCP
	q.Claims.ReadOnly = false
	q.Claims.Touches = []tool.Access{{Resource: "file:/a", Write: true}}
	q.Offers = []string{"send(to: bob)", "send"}
	q.Asked = q.Asked.Add(-time.Minute)
	q.Expires = q.Expires.Add(time.Hour)
	return q
}

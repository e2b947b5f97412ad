package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
)

// fill sets everything in a value: texts are text, lists have one element.
func fill(v reflect.Value, text string, deep int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Now().UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		if deep > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), text, deep-1)
		}
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8: // JSON, wherever there is one
			v.SetBytes([]byte(`{"path": "` + jsonEscaped(text) + `"}`))
		case deep > 0:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), text, deep-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, deep)
			}
		}
	}
}

func jsonEscaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

const testKey = "the-key-of-a-console"

// filled is a console over a host that answers everything, with text wherever there is
// one. Functions that others add to Console are served as well.
func filled(text string) *Console {
	c := new(Console)
	served(c, func(t reflect.Type) reflect.Value {
		v := reflect.New(t).Elem()
		fill(v, text, 4)
		return v
	})
	c.Key, c.Place, c.Version, c.By = testKey, text, "v1", text
	c.Withheld = nil // everything is shown
	lines := c.Lines
	c.Lines = func(ctx context.Context, f Filter) ([]Line, error) {
		one, err := lines(ctx, f)
		var life []Line
		for _, kind := range []audit.Kind{audit.Requested, audit.Decided, audit.Asked, audit.Answered, audit.Started, audit.Ended} {
			l := one[0]
			l.Kind = kind
			life = append(life, l)
		}
		if f.Kind != "" {
			life = life[:1]
		}
		return life, err
	}
	return c
}

// get asks for something as a program does.
func get(t *testing.T, c *Console, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	return ask(c, r, append([]func(*http.Request){func(r *http.Request) {
		at, err := r.URL.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = at
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}}, change...)...)
}

// post sends something, as a program does.
func post(t *testing.T, c *Console, path, kind, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	return ask(c, r, append([]func(*http.Request){func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+c.Key) }}, change...)...)
}

func ask(c *Console, r *http.Request, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r.Host, r.RemoteAddr = "127.0.0.1:7711", "127.0.0.1:50000"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

const (
	kindJSON = "application/json"
	kindForm = "application/x-www-form-urlencoded"
)

// pageOf is the address of a page or an operation, with an id in it.
func pageOf(route, id string) string {
	parts := strings.Split(strings.TrimSuffix(route, "{$}"), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = id
		}
	}
	return strings.Join(parts, "/")
}

// hollow has all functions of a console give nothing: lists are nil.
func hollow(c *Console) { served(c, reflect.Zero) }

// served sets all functions of a console: what they give is made by its type.
func served(c *Console, give func(reflect.Type) reflect.Value) {
	all := reflect.ValueOf(c).Elem()
	for i := range all.NumField() {
		f := all.Field(i)
		if f.Kind() != reflect.Func || !all.Type().Field(i).IsExported() {
			continue
		}
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) (results []reflect.Value) {
			for t := range f.Type().Outs() {
				results = append(results, give(t))
			}
			return results
		}))
	}
}

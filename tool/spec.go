package tool

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/ferrule-dev/ferrule/schema"
)

// Spec is a tool whose functions take a Go type. The input schema is inferred
// from In, the output schema from Out where Out is a struct or a map; either
// may be given in Info instead. Each function is as in [Tool].
//
// Run may return a string, which stays as it is, any value that JSON can hold,
// content blocks ([Content] or a slice of them), a [Result], or a [Reply] with
// a value and blocks, each also by pointer. No function can change what another
// one sees, or what a second run sees: where the type could be written through,
// each has its own.
type Spec[In, Out any] struct {
	Info

	// All fields are as in [Tool], which says what each is for.

	ClaimsOf     func(In) Claims
	Validate     func(context.Context, In) (json.RawMessage, error)
	Permit       func(context.Context, In) (Decision, error)
	AskIf        func(context.Context, In) (bool, error)
	AskReasonOf  func(context.Context, In) (string, error)
	RejectTextOf func(context.Context, In) (string, error)
	Preview      func(context.Context, In) (string, error)
	Facts        func(In) (Facts, error)
	Scopes       func(In) ([]string, error)
	Key          func(context.Context, In) (string, error)
	Enabled      func(context.Context, Caller) (bool, error)

	DescriptionOf func(context.Context, Caller) (string, error)
	InputOf       func(context.Context, Caller) (json.RawMessage, error)

	Run func(context.Context, In) (Out, error)
}

// Reply is what a typed tool returns when it has content blocks beside its
// value.
type Reply[T any] struct {
	Value   T
	Content []Content
}

func (r Reply[T]) parts() (any, []Content) { return r.Value, r.Content }

func (Reply[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

type reply interface {
	parts() (any, []Content)
	valueType() reflect.Type
}

// New is the short form of a typed tool: what it is and what it does. Package
// [schema] says what the tags of In's fields can say about arguments.
func New[In, Out any](info Info, run func(context.Context, In) (Out, error)) (*Tool, error) {
	return Spec[In, Out]{Info: info, Run: run}.Tool()
}

// Tool makes the tool. A type that has no schema, or a bad definition, is an
// error.
func (s Spec[In, Out]) Tool() (*Tool, error) {
	in := input[In]{schema.DecoderFor(reflect.TypeFor[In]()), writable(reflect.TypeFor[In]())}
	t := Tool{
		Info:     s.Info,
		Validate: over(in, s.Validate), Permit: over(in, s.Permit), AskIf: over(in, s.AskIf), Preview: over(in, s.Preview), Key: over(in, s.Key),
		AskReasonOf: over(in, s.AskReasonOf), RejectTextOf: over(in, s.RejectTextOf),
		Facts: pure(in, s.Facts), Scopes: pure(in, s.Scopes),
		Enabled: s.Enabled, DescriptionOf: s.DescriptionOf, InputOf: s.InputOf,
		decode: in.decode, reader: in.reader,
	}
	if s.ClaimsOf != nil {
		t.ClaimsOf = pure(in, func(v In) (Claims, error) { return s.ClaimsOf(v), nil })
	}
	var plain *quick
	if out := reflect.TypeFor[Out](); structured(out) && !out.Implements(reflect.TypeFor[error]()) && !out.Implements(reflect.TypeFor[reply]()) {
		plain = quickFor(out)
	}
	if s.Run != nil {
		t.Run = func(ctx context.Context, a Args) (Result, error) {
			v, err := in.of(a)
			if err != nil {
				return Result{}, err
			}
			out, err := s.Run(ctx, *v)
			if err == nil && plain != nil {
				if text := plain.encode(reflect.ValueOf(out)); text != nil {
					return Result{Content: []Content{{Type: JSONContent, JSON: text}}}, nil
				}
			}
			return result(out, err)
		}
	}
	if err := inferSchemas[In, Out](&t); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	return t.Check()
}

func inferSchemas[In, Out any](t *Tool) (err error) {
	inferred, err := schema.InferInput(reflect.TypeFor[In]())
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if t.Input == nil {
		t.Input = inferred
	} else if name := unread(t.Input, inferred); name != "" {
		return fmt.Errorf("input schema: property %q: %s has no field for it, so Run would not see it", name, reflect.TypeFor[In]())
	}
	out := pointedTo(reflect.TypeFor[Out]())
	if r, ok := reflect.TypeAssert[reply](reflect.Zero(out)); ok {
		out = pointedTo(r.valueType())
	}
	if t.Output == nil && structured(out) {
		if t.Output, err = schema.InferOutput(out); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	} else if part := formless(out); part != nil {
		return fmt.Errorf("output: %s: %s has no JSON form", out, part)
	}
	return nil
}

// unread is a property that a schema names and a Go struct does not have.
func unread(given, inferred json.RawMessage) string {
	var want, have struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(given, &want) != nil || json.Unmarshal(inferred, &have) != nil || have.Properties == nil {
		return "" // not a plain struct, or the compiler says it better
	}
	for name := range want.Properties {
		if _, ok := have.Properties[name]; !ok {
			return name
		}
	}
	return ""
}

// formless is a type within t that JSON cannot hold; nil: there is none.
func formless(t reflect.Type, open ...reflect.Type) reflect.Type {
	if slices.Contains(open, t) || ownForm(t) {
		return nil
	}
	open = append(open, t)
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return t
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return formless(t.Elem(), open...)
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String && (k.Kind() < reflect.Int || k.Kind() > reflect.Uintptr) && !ownForm(k) {
			return t
		}
		return formless(t.Elem(), open...)
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
				continue
			}
			if part := formless(f.Type, open...); part != nil {
				return part
			}
		}
	}
	return nil
}

// ownForm reports whether t says itself how it is written.
func ownForm(t reflect.Type) bool {
	for _, i := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// structured reports whether values of t are JSON objects.
func structured(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[Result](), reflect.TypeFor[Content]():
		return false
	}
	return t.Kind() == reflect.Struct && t.NumField() > 0 && !t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Kind() == reflect.Map
}

// input gives the functions of a typed tool their decoded arguments.
type input[In any] struct {
	decoder  *schema.Decoder
	writable bool // a function could change what the next one sees
}

func (i input[In]) decode(text string) (any, error) {
	v := new(In)
	if err := i.decoder.Decode(text, v); err != nil {
		return nil, err
	}
	return v, nil
}

// reader makes a function that checks and decodes at once; nil: the schema says
// more than the Go type does.
func (i input[In]) reader(s json.RawMessage) func(text string) (any, bool) {
	d := i.decoder.Implying(s)
	if d == nil {
		return nil
	}
	return func(text string) (any, bool) {
		v := new(In)
		return v, d.Read(text, v)
	}
}

func (i input[In]) of(a Args) (*In, error) {
	if a.a == nil {
		return nil, errors.New("no arguments: they were not admitted")
	}
	v, ok := a.a.decoded.(*In)
	if !ok {
		return nil, fmt.Errorf("arguments of another tool: got %T, want %T", a.a.decoded, v)
	}
	if !i.writable || a.a.taken.CompareAndSwap(false, true) {
		return v, nil
	}
	v = new(In)
	return v, i.decoder.Decode(a.a.text, v)
}

// writable reports whether a value of t, passed by value, still shares memory
// that can be written to.
func writable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return true
	case reflect.Array:
		return writable(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if writable(f.Type) {
				return true
			}
		}
	}
	return false
}

// over and pure turn a function of the Go type into one of Args; nil stays nil.

func over[In, Out any](i input[In], f func(context.Context, In) (Out, error)) func(context.Context, Args) (Out, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, a Args) (out Out, err error) {
		in, err := i.of(a)
		if err != nil {
			return out, err
		}
		return f(ctx, *in)
	}
}

func pure[In, Out any](i input[In], f func(In) (Out, error)) func(Args) (Out, error) {
	if f == nil {
		return nil
	}
	return func(a Args) (out Out, err error) {
		in, err := i.of(a)
		if err != nil {
			return out, err
		}
		return f(*in)
	}
}

// result turns what a typed Run returned into a Result. Content that came with
// an error is kept beside it.
func result(out any, err error) (Result, error) {
	switch r := out.(type) {
	case Result:
		return r, err
	case *Result:
		if r == nil {
			return Result{}, err
		}
		return *r, err
	}
	if v := reflect.ValueOf(out); v.Kind() == reflect.Pointer && v.IsNil() {
		return Result{}, err
	}
	var extra []Content
	if r, ok := out.(reply); ok {
		out, extra = r.parts()
	}
	if err != nil {
		return Result{Content: extra}, err
	}
	content, err := Encode(out)
	if err != nil {
		return Result{}, err
	}
	if len(extra) > 0 {
		content = slices.Concat(content, extra)
	}
	return Result{Content: content}, nil
}

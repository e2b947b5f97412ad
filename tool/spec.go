package tool

import (
	"context"
	"encoding/json"
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
// a value and blocks. Decoded input is shared between the functions of one
// call: they read it, and do not write to it.
type Spec[In, Out any] struct {
	Info

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

// New is the short form of a typed tool: what it is and what it does.
func New[In, Out any](info Info, run func(context.Context, In) (Out, error)) (*Tool, error) {
	return Spec[In, Out]{Info: info, Run: run}.Tool()
}

// Tool makes the tool. A type that has no schema, or a bad definition, is an
// error.
func (s Spec[In, Out]) Tool() (*Tool, error) {
	t := Tool{
		Info:     s.Info,
		Validate: over(s.Validate), Permit: over(s.Permit), AskIf: over(s.AskIf), Preview: over(s.Preview), Key: over(s.Key),
		AskReasonOf: over(s.AskReasonOf), RejectTextOf: over(s.RejectTextOf),
		Facts: pure(s.Facts), Scopes: pure(s.Scopes),
		Enabled: s.Enabled, DescriptionOf: s.DescriptionOf, InputOf: s.InputOf,
		decode: decodeInto[In](),
	}
	if s.ClaimsOf != nil {
		t.ClaimsOf = pure(func(in In) (Claims, error) { return s.ClaimsOf(in), nil })
	}
	if s.Run != nil {
		t.Run = func(ctx context.Context, a Args) (Result, error) {
			in, err := typed[In](a)
			if err != nil {
				return Result{}, err
			}
			out, err := s.Run(ctx, *in)
			return result(out, err)
		}
	}
	if err := inferSchemas[In, Out](&t); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	return t.Check()
}

func inferSchemas[In, Out any](t *Tool) (err error) {
	if t.Input == nil {
		if t.Input, err = schema.InferInput(reflect.TypeFor[In]()); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	if t.Output == nil {
		out := reflect.TypeFor[Out]()
		if r, ok := reflect.TypeAssert[reply](reflect.Zero(out)); ok {
			out = r.valueType()
		}
		if out.Kind() == reflect.Pointer {
			out = out.Elem()
		}
		if !structured(out) {
			return nil
		}
		if t.Output, err = schema.InferOutput(out); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// structured reports whether values of t are JSON objects.
func structured(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[Result](), reflect.TypeFor[Content]():
		return false
	}
	return t.Kind() == reflect.Struct && t.NumField() > 0 && !t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Kind() == reflect.Map
}

func decodeInto[In any]() func(text string) (any, error) {
	d := schema.DecoderFor(reflect.TypeFor[In]())
	return func(text string) (any, error) {
		in := new(In)
		if err := d.Decode(text, in); err != nil {
			return nil, err
		}
		return in, nil
	}
}

// over and pure turn a function of the Go type into one of Args; nil stays nil.

func over[In, Out any](f func(context.Context, In) (Out, error)) func(context.Context, Args) (Out, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, a Args) (out Out, err error) {
		in, err := typed[In](a)
		if err != nil {
			return out, err
		}
		return f(ctx, *in)
	}
}

func pure[In, Out any](f func(In) (Out, error)) func(Args) (Out, error) {
	if f == nil {
		return nil
	}
	return func(a Args) (out Out, err error) {
		in, err := typed[In](a)
		if err != nil {
			return out, err
		}
		return f(*in)
	}
}

// result turns what a typed Run returned into a Result. Content that came with
// an error is kept beside it.
func result(out any, err error) (Result, error) {
	if r, ok := out.(Result); ok {
		return r, err
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

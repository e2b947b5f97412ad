package tool

import (
	"context"
	"errors"
	"io"
)

// Env is what a running call can reach beyond its arguments. The runtime puts
// it into the context of every function of a tool; [From] takes it out. All
// methods are safe on nil and for concurrent use, so a tool also runs without a
// runtime.
type Env struct {
	// Request says whose call it is.
	Request *Request
	// Answer is a person's answer to what the call asked with Outcome.Suspend;
	// nil: not asked yet.
	Answer *string
	// Send delivers an update at once; nil drops it.
	Send func(Update)
	// UseSecret hands a secret that the tool has named to use, and to nothing
	// else; nil refuses.
	UseSecret func(ctx context.Context, name string, use func(value []byte) error) error
}

// Update is what a call says while it runs. One of Text, Content and Progress
// is set.
type Update struct {
	Stream  string // of Text: stdout or stderr
	Text    string
	Content *Content
	// Progress is Current of Total, with a message; Total 0: not known.
	Progress       bool
	Current, Total float64
	Message        string
}

type envKey struct{}

// Context returns a context that carries e.
func (e *Env) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, envKey{}, e)
}

// From returns the environment of the call that ctx belongs to, nil outside of
// one.
func From(ctx context.Context) *Env {
	env, _ := ctx.Value(envKey{}).(*Env)
	return env
}

func (e *Env) send(u Update) {
	if e != nil && e.Send != nil {
		e.Send(u)
	}
}

// Stdout and Stderr stream text while the call runs. What is returned beats
// what was streamed; a tool that returns nothing has returned its stream.
func (e *Env) Stdout() io.Writer { return stream{e, "stdout"} }

// Stderr is like Stdout.
func (e *Env) Stderr() io.Writer { return stream{e, "stderr"} }

type stream struct {
	env  *Env
	name string
}

func (s stream) Write(p []byte) (int, error) {
	s.env.send(Update{Stream: s.name, Text: string(p)})
	return len(p), nil
}

// Progress says how far the call is; total 0: not known.
func (e *Env) Progress(current, total float64, message string) {
	e.send(Update{Progress: true, Current: current, Total: total, Message: message})
}

// Emit streams a block of content.
func (e *Env) Emit(c Content) { e.send(Update{Content: &c}) }

// errNoSecrets is what a call gets that runs where no secrets are kept.
var errNoSecrets = errors.New("no secrets here: the call runs without a runtime, or the runtime has no source of secrets")

// Secret uses a secret inside a function. The value must not leave it.
func (e *Env) Secret(ctx context.Context, name string, use func(value []byte) error) error {
	if e == nil || e.UseSecret == nil {
		return errNoSecrets
	}
	return e.UseSecret(ctx, name, use)
}

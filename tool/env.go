package tool

import (
	"context"
	"errors"
	"io"
)

// Env is what a running call can reach beyond its arguments: [From] takes it
// out of the context that a tool's functions are given. All methods are safe on
// nil and for concurrent use, so a tool also runs where there is no runtime.
type Env struct{ host Host }

// Host is what a runtime gives to a call. A zero field is something that the
// call does not have.
type Host struct {
	// Request says whose call it is.
	Request *Request
	// Answer is a person's answer to what the call asked with Outcome.Suspend;
	// nil: not asked yet.
	Answer *string
	// Send delivers an update at once.
	Send func(Update)
	// UseSecret hands a secret that the tool has named to use, and to nothing
	// else.
	UseSecret func(ctx context.Context, name string, use func(value []byte) error) error
	// Outside is for a call that runs something outside this process.
	Outside interface {
		// Isolated puts on the record how that is isolated.
		Isolated(how string)
		// Background is closed when the call should end and what it runs go on.
		Background() <-chan struct{}
		// WentOn puts on the record that it goes on, and under which name.
		WentOn(name string)
		// AtEnd has f called when the session ends, and reports whether it will be.
		AtEnd(f func()) bool
		// Aside has the call hold up no other of its session until back is called.
		Aside() (back func())
	}
}

// Update is what a call says while it runs. One of Text, Content and Progress
// is set.
type Update struct {
	Stream  string   `json:"stream,omitempty"` // of Text: stdout or stderr
	Text    string   `json:"text,omitempty"`
	Content *Content `json:"content,omitempty"`
	// Missed is how many bytes of output before this were left out, because who
	// looks was too slow for them.
	Missed int `json:"missed,omitempty"`
	// Progress is Current of Total, with a message; Total 0: not known.
	Progress bool    `json:"progress,omitempty"`
	Current  float64 `json:"current,omitempty"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"message,omitempty"`
}

type envKey struct{}

// Context returns a context for the functions of a tool.
func (h Host) Context(ctx context.Context) context.Context {
	return &envContext{ctx, Env{h}}
}

// Env is for a runtime whose own context holds it: see [Env.Value].
func (h Host) Env() Env { return Env{h} }

// Value is e for the key that [From] asks for, else nil.
func (e *Env) Value(key any) any {
	if e != nil && key == (envKey{}) {
		return e
	}
	return nil
}

// envContext is a context with one value, in one piece of memory.
type envContext struct {
	context.Context
	env Env
}

func (c *envContext) Value(key any) any {
	if v := c.env.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// AfterFunc is what package context looks for in a context that is not its own:
// with it, deriving another one needs no goroutine.
func (c *envContext) AfterFunc(f func()) (stop func() bool) {
	if own, ok := c.Context.(interface{ AfterFunc(func()) func() bool }); ok {
		return own.AfterFunc(f)
	}
	return context.AfterFunc(c.Context, f)
}

// From returns the environment of the call that ctx belongs to, nil outside of
// one.
func From(ctx context.Context) *Env {
	env, _ := ctx.Value(envKey{}).(*Env)
	return env
}

// Request says whose call it is; outside of a runtime it is empty. What it
// holds is a copy: changing it changes nothing.
func (e *Env) Request() Request {
	if e == nil || e.host.Request == nil {
		return Request{}
	}
	return e.host.Request.Clone()
}

// Answer is a person's answer to what the call asked with Outcome.Suspend; ok
// is false until there is one.
func (e *Env) Answer() (text string, ok bool) {
	if e == nil || e.host.Answer == nil {
		return "", false
	}
	return *e.host.Answer, true
}

func (e *Env) send(u Update) {
	if e != nil && e.host.Send != nil {
		e.host.Send(u)
	}
}

// Stdout streams text to the observer while the call runs. A tool that returns
// no content has returned what it streamed, up to 8 MiB, also where it failed;
// what is returned beats what was streamed.
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

// Emit streams a block of content. It counts among the 8 MiB of [Env.Stdout].
func (e *Env) Emit(c Content) { e.send(Update{Content: &c}) }

// Isolated says how what the call runs outside this process is isolated, as it
// really is: the level, then what else there is to say. It goes on the record.
func (e *Env) Isolated(how string) {
	if e != nil && e.host.Outside != nil {
		e.host.Outside.Isolated(how)
	}
}

// Background is closed when the host wants the call to end and what it runs to go
// on. A tool that can do so, and only such a one, asks for it, and returns soon
// after with what there is so far and with a name for the rest ([Env.WentOn]).
// Nil, which is never closed: there is nobody to want it.
func (e *Env) Background() <-chan struct{} {
	if e == nil || e.host.Outside == nil {
		return nil
	}
	return e.host.Outside.Background()
}

// WentOn says that what the call runs goes on when the call has ended, and under
// which name. It goes on the record.
func (e *Env) WentOn(name string) {
	if e != nil && e.host.Outside != nil {
		e.host.Outside.WentOn(name)
	}
}

// AtEnd has f called when the session ends, or at once if it has ended. False:
// there is no session, or the call has returned, and f will not be called; what
// must not outlast it is not to be begun.
func (e *Env) AtEnd(f func()) bool {
	return e != nil && e.host.Outside != nil && e.host.Outside.AtEnd(f)
}

// Aside says that the call waits for somebody outside, its client say: until back
// is called it holds up no other call of its session, and has no place under a cap.
// Those that have begun by then run on beside it. It may be said again meanwhile:
// the last back counts.
func (e *Env) Aside() (back func()) {
	if e == nil || e.host.Outside == nil {
		return func() {}
	}
	return e.host.Outside.Aside()
}

// errNoSecrets is what a call gets that runs where no secrets are kept.
var errNoSecrets = errors.New("no secrets here: the call runs without a runtime, or the runtime has no source of secrets")

// Secret uses a secret inside a function: one that the tool names in
// [Info.Secrets] and that its host lets it have, while it runs. The value must not
// leave the function, and is wiped when that has returned. Package ferrule takes
// it out of all that the call says, should it be in there. An error of use is
// returned as it is.
func (e *Env) Secret(ctx context.Context, name string, use func(value []byte) error) error {
	if e == nil || e.host.UseSecret == nil {
		return errNoSecrets
	}
	return e.host.UseSecret(ctx, name, use)
}

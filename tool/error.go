package tool

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is why a call has no ordinary result. It has two readers: the model
// gets Text, which helps it to try again; the operator gets Detail, where
// paths, hosts and stack traces belong.
//
// Marshalled to JSON it has no Cause: that is for errors.Is and errors.As.
type Error struct {
	Kind       Kind          `json:"kind"`
	Text       string        `json:"text,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	Cause      error         `json:"-"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // 0: no wish
	// Own: Text is the program's own words. Zero: the tool passes on what others
	// say, so that it is looked at, and marked, like their content.
	Own bool `json:"-"`
}

// Error is the operator's text.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>" // a result without an error that is printed
	}
	detail := e.Detail
	if detail == "" {
		detail = e.Text
	}
	if detail == "" && e.Cause != nil {
		detail = e.Cause.Error()
	}
	return fmt.Sprintf("%s: %s", e.Kind, detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// Foreign reports whether the text may be what a tool passes on of others.
func (e *Error) Foreign() bool { return e != nil && !e.Own && e.Kind.row().own }

// Outcome is an error that a tool returns to say more than that it failed. With
// Err nil and nothing else set it is a plain failure.
type Outcome struct {
	Err error
	// Fatal asks the host to end the run after the results of this turn. Ferrule
	// delivers them and goes on; the host finds it with errors.As, which leads
	// from Result.Err to the Outcome.
	Fatal bool
	// StopSiblings ends the calls beside this one.
	StopSiblings bool
	// Suspend is a question to a person. Nothing was done yet: the call runs
	// anew once there is an answer, and finds it with Env.Answer.
	Suspend string
	// RetryAfter says that the same call may work later. The model reads when.
	RetryAfter time.Duration
}

// Error is the error inside, or what the outcome asks for.
func (o *Outcome) Error() string {
	switch {
	case o == nil:
	case o.Err != nil:
		return o.Err.Error()
	case o.Suspend != "":
		return "suspended: " + o.Suspend
	case o.RetryAfter > 0:
		return fmt.Sprintf("retry after %s", o.RetryAfter)
	}
	return "failed"
}

// Unwrap returns the error inside.
func (o *Outcome) Unwrap() error {
	if o == nil {
		return nil
	}
	return o.Err
}

// Kind is what became of a call that has no ordinary result. The set is closed:
// act on the kind, never on a text.
type Kind string

// Every kind that a result can have.
const (
	UnknownTool    Kind = "unknown_tool"    // no tool of the view has that name
	NotLoaded      Kind = "not_loaded"      // a deferred tool; it is loaded now
	InvalidInput   Kind = "invalid_input"   // the arguments do not fit the schema
	InvalidValue   Kind = "invalid_value"   // they fit, and the tool cannot take them
	Denied         Kind = "denied"          // by a rule, the host, the tool, or for want of somebody to ask
	Rejected       Kind = "rejected"        // a person said no
	Expired        Kind = "expired"         // nobody answered in time
	NeedsUser      Kind = "needs_user"      // it must talk to a person, and nobody is there
	HookBlocked    Kind = "hook_blocked"    // a hook stopped it, or failed
	Failed         Kind = "failed"          // the tool returned an error, or panicked
	Timeout        Kind = "timeout"         // it took too long
	Aborted        Kind = "aborted"         // it was stopped: by the host, a person or a sibling
	InvalidOutput  Kind = "invalid_output"  // the tool returned what no model can be sent
	UnsafeContent  Kind = "unsafe_content"  // what it returned was withheld
	FlowBlocked    Kind = "flow_blocked"    // this data may not go there
	Sandbox        Kind = "sandbox"         // it cannot be run as safely as it must
	RateLimited    Kind = "rate_limited"    // too many calls
	OutcomeUnknown Kind = "outcome_unknown" // it is not known whether it has happened
	Loop           Kind = "loop"            // the same call again and again
	Pending        Kind = "pending"         // it waits for a person, and the client cannot
	Suspended      Kind = "suspended"       // it waits for a person; goes to no model
)

type kindRow struct {
	kind  Kind
	again bool
	own   bool // a tool may give it to its own error
	hint  string
}

// kinds is the one table of what a model may do about each kind.
func kinds() []kindRow {
	return []kindRow{
		{UnknownTool, true, false, "Call one of the tools you were offered."},
		{NotLoaded, true, false, "Call it again."},
		{InvalidInput, true, false, "Mend the arguments and call again."},
		{InvalidValue, true, true, "Choose other values and call again."},
		{Denied, false, false, "Do not call it again. Go on without it, or say what you need."},
		{Rejected, false, false, "A person said no. Do not call it again unless you are asked to."},
		{Expired, true, false, "Nobody answered in time. Call again only if it is still needed."},
		{NeedsUser, false, false, "Nobody is there to talk to. Go on without it."},
		{HookBlocked, false, false, "A rule of this program stopped it. Go on without it."},
		{Failed, true, true, "Read the error. Change what caused it, or go another way."},
		{Timeout, true, true, "Ask for less at once."},
		{Aborted, true, false, "It was stopped. Call again only if it is still needed."},
		{InvalidOutput, false, true, "The tool returned what it must not. Use another one."},
		{UnsafeContent, false, false, "What it returned was withheld. Use another source."},
		{FlowBlocked, false, false, "This data may not go there. Do not try another way round."},
		{Sandbox, false, true, "It cannot be run safely here. Go on without it."},
		{RateLimited, true, true, "Wait, then call again."},
		{OutcomeUnknown, false, false, "It may or may not have happened. Find out before anything else."},
		{Loop, false, false, "Change the input or stop."},
		{Pending, true, false, "Waiting for a person. Call again with the same input."},
		{Suspended, false, false, ""},
	}
}

// Again reports whether the model may try again.
func (k Kind) Again() bool { return k.row().again }

// Hint is what the model should do about it, in words for it. A host may add it
// to what the model reads; Ferrule does so only where a failure has no text.
func (k Kind) Hint() string { return k.row().hint }

// Known reports whether k belongs to the closed set.
func (k Kind) Known() bool { return k.row().kind != "" }

func (k Kind) row() kindRow {
	for _, row := range kinds() {
		if row.kind == k {
			return row
		}
	}
	return kindRow{}
}

// AsError turns what a tool returned into an Error: its own texts where it has
// some, else the text of the error. The kind is failed, suspended where the
// tool asked for it, or one of the few that a tool may give itself; a tool
// cannot say that a person rejected its call. The error stays the cause. Nil
// stays nil.
func AsError(err error) (out *Error) {
	if err == nil {
		return nil
	}
	defer func() {
		if recover() != nil { // a method of the error failed
			out = &Error{Kind: Failed, Text: string(Failed), Cause: err}
		}
	}()
	e := Error{Kind: Failed}
	own := (*Error)(nil)
	switch found := errors.As(err, &own); {
	case !found:
		e.Text = err.Error()
	case own == nil:
		e.Text = string(Failed)
	default:
		if e = *own; !e.Kind.row().own {
			e.Kind = Failed
		}
	}
	if o := (*Outcome)(nil); errors.As(err, &o) && o != nil {
		e.RetryAfter = max(e.RetryAfter, o.RetryAfter)
		if o.Suspend != "" {
			e.Kind, e.Text = Suspended, o.Suspend
		}
	}
	e.RetryAfter = max(e.RetryAfter, 0)
	e.Text = strings.ToValidUTF8(e.Text, "\uFFFD")
	if own, ok := err.(*Error); !ok || own == nil { //nolint:errorlint // only err itself needs no cause
		e.Cause = err
	}
	return &e
}

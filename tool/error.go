package tool

import (
	"errors"
	"fmt"
	"time"
)

// Error is why a call has no ordinary result. It has two readers: the model
// gets Text, which helps it to try again; the operator gets Detail, where
// paths, hosts and stack traces belong.
type Error struct {
	Kind       Kind
	Text       string
	Detail     string
	Cause      error         // for errors.Is and errors.As
	RetryAfter time.Duration // 0: no wish
}

// Error is the operator's text.
func (e *Error) Error() string {
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
func (e *Error) Unwrap() error { return e.Cause }

// Outcome is an error that a tool returns to say more than that it failed. With
// Err nil and nothing else set it is a plain failure.
type Outcome struct {
	Err error
	// Fatal ends the run after the results of this turn.
	Fatal bool
	// StopSiblings ends the calls beside this one.
	StopSiblings bool
	// Suspend is a question to a person. Nothing was done yet: the call runs
	// anew once there is an answer, and finds it in its environment.
	Suspend string
	// RetryAfter says that the same call may work later.
	RetryAfter time.Duration
}

// Error is the error inside, or what the outcome asks for.
func (o *Outcome) Error() string {
	switch {
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
func (o *Outcome) Unwrap() error { return o.Err }

// Kind is what became of a call that has no ordinary result. The set is closed:
// act on the kind, never on a text.
type Kind string

// Every kind that a result can have.
const (
	UnknownTool    Kind = "unknown_tool"
	NotLoaded      Kind = "not_loaded"
	InvalidInput   Kind = "invalid_input"
	InvalidValue   Kind = "invalid_value"
	Denied         Kind = "denied"
	Rejected       Kind = "rejected"
	Expired        Kind = "expired"
	NeedsUser      Kind = "needs_user"
	HookBlocked    Kind = "hook_blocked"
	Failed         Kind = "failed"
	Timeout        Kind = "timeout"
	Aborted        Kind = "aborted"
	InvalidOutput  Kind = "invalid_output"
	UnsafeContent  Kind = "unsafe_content"
	FlowBlocked    Kind = "flow_blocked"
	Sandbox        Kind = "sandbox"
	RateLimited    Kind = "rate_limited"
	OutcomeUnknown Kind = "outcome_unknown"
	Loop           Kind = "loop"
	Pending        Kind = "pending"
	Suspended      Kind = "suspended" // goes to no model
)

type kindRow struct {
	kind  Kind
	again bool
	hint  string
}

// kinds is the one table of what a model may do about each kind.
func kinds() []kindRow {
	return []kindRow{
		{UnknownTool, true, "Call one of the tools you were offered."},
		{NotLoaded, true, "Call it again."},
		{InvalidInput, true, "Mend the arguments and call again."},
		{InvalidValue, true, "Choose other values and call again."},
		{Denied, false, "Do not call it again. Go on without it, or say what you need."},
		{Rejected, false, "A person said no. Do not call it again unless you are asked to."},
		{Expired, true, "Nobody answered in time. Call again only if it is still needed."},
		{NeedsUser, false, "Nobody is there to talk to. Go on without it."},
		{HookBlocked, false, "A rule of this program stopped it. Go on without it."},
		{Failed, true, "Read the error. Change what caused it, or go another way."},
		{Timeout, true, "Ask for less at once."},
		{Aborted, true, "It was stopped. Call again only if it is still needed."},
		{InvalidOutput, false, "The tool returned what it must not. Use another one."},
		{UnsafeContent, false, "What it returned was withheld. Use another source."},
		{FlowBlocked, false, "This data may not go there. Do not try another way round."},
		{Sandbox, false, "It cannot be run safely here. Go on without it."},
		{RateLimited, true, "Wait, then call again."},
		{OutcomeUnknown, false, "It may or may not have happened. Find out before anything else."},
		{Loop, false, "Change the input or stop."},
		{Pending, true, "Waiting for a person. Call again with the same input."},
		{Suspended, false, ""},
	}
}

// Again reports whether the model may try again.
func (k Kind) Again() bool { return k.row().again }

// Hint is what the model is told to do about it.
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

// AsError turns what a tool returned into an Error of a known kind: its own
// where it has one, else a failure whose text is the error's. Nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	e := Error{Kind: Failed, Text: err.Error(), Cause: err}
	if own := (*Error)(nil); errors.As(err, &own) {
		e = *own
		if !e.Kind.Known() {
			e.Kind = Failed
		}
	}
	if o := (*Outcome)(nil); errors.As(err, &o) && o.RetryAfter > 0 {
		e.RetryAfter = o.RetryAfter
	}
	return &e
}

// Package tool holds Ferrule's nouns: what a tool is, what a call asks, what a
// result says. It decides and runs nothing.
//
// A tool is a name, a description, an input schema and a function. Everything
// else is optional, and what is left out falls to the strict side: a tool that
// claims nothing writes, runs alone, destroys, reaches outside and is never run
// twice.
//
//	type In struct {
//		Path string `json:"path" jsonschema:"description=file to read"`
//	}
//
//	read, err := tool.New(tool.Info{
//		Name:        "read_file",
//		Description: "Read a text file.",
//		Claims:      tool.Claims{ReadOnly: true, Local: true},
//	}, func(ctx context.Context, in In) (string, error) {
//		b, err := os.ReadFile(in.Path)
//		return string(b), err
//	})
//
// A call goes through [Tool.Admit], which checks the arguments, and then through
// Validate, the rules and Permit, a person where one must be asked, Run and
// [Tool.CheckOutput]. Package ferrule leads it there; what this package says of
// time-outs, limits, approval and failing functions is what it does. Admit and
// Run also work by hand, in a test.
//
// [Info] is the part of a tool that is data, [Tool] adds the functions. [Spec]
// is a tool with typed functions; [New] is the short form. What decides about
// calls (policy, audit, guard) sees Info and [Request] only.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/schema"
)

// Info is what a tool says about itself. The zero value of each field is the
// safe one.
type Info struct {
	// Name is what the model calls: letters, digits, _ . and -, at most 128.
	Name string
	// Description is what the model chooses by.
	Description string

	// Input is the JSON Schema of the arguments; its root is an object. Typed
	// tools leave it out: it is inferred.
	Input json.RawMessage
	// Output is the JSON Schema of structured output; nil: not checked.
	Output json.RawMessage
	// Open lets arguments have properties that the schema does not name. Zero:
	// an object that names properties takes no others.
	Open bool

	// Claims are what holds for every call. What depends on the arguments is not
	// said here: Tool.ClaimsOf says it for each.
	Claims Claims

	// Aliases are old names that still answer; Tags group tools for filters.
	Aliases, Tags []string
	// Examples are calls with their output, checked against the schemas.
	Examples []Example
	// Model is a hint which model reads the results best: fast, balanced, smart
	// or an exact model; "": no wish.
	Model string

	// Timeout bounds running, waiting not counted. Zero: 60 s; Unlimited must
	// be said. A Run that ignores its context is given up 1 s after that has
	// ended. Until it returns, calls of the same tool, and calls that conflict
	// with it, fail in this session: Claims.Touches keep that small.
	Timeout time.Duration
	// Cancel: an interrupt, or the end of the host's context, ends the context of
	// the call at once. Zero: an interrupt lets it run on, and the host's end
	// leaves it 10 s before its own context ends.
	Cancel bool
	// Cooperative: Run, and every other function of the tool, returns soon once
	// its context ends, so that a call may run on the goroutine of who waits for
	// it. Zero: it may not.
	Cooperative bool
	// AtOnce caps how many of its calls run at once; 0: no cap of its own.
	AtOnce int
	// NeedsUser: it must talk to a person.
	NeedsUser bool
	// Silent: no spinner, no printed result.
	Silent bool
	// Repeatable: calling it again and again with one input is no loop. Others
	// are told when they do so within one Caller.Run, and then not run.
	Repeatable bool
	// Streams: it writes output while running; a hint.
	Streams bool

	// Deferred keeps it out of the prompt until it is found; AlwaysLoad keeps
	// it in. Zero of both: it is in, unless the host defers what it offers.
	Deferred, AlwaysLoad bool

	// Limit bounds what one result puts into the model's context.
	Limit Limit

	// New: its source was known without it, and nobody has accepted it yet. Calls
	// are asked for, unless what allows them names the tool exactly; see
	// Decision.Exact.
	New bool
	// Pin names all that its source says of it, also what has no place here, so that
	// an answer given for one form of it is not good for another. "": there is no
	// more.
	Pin string

	// Approval is the tool's own word on asking a person: always, never, or
	// unset for none. A rule that denies, or asks, still does.
	Approval Approval
	// AskReason is shown to the person; RejectText goes to the model when the
	// person says no. "": the default texts.
	AskReason, RejectText string

	// Secrets names what Run may use; no other secret is given out.
	Secrets []string
	// InputSensitivity and OutputSensitivity say where arguments and results
	// may be shown. Zero: internal.
	InputSensitivity, OutputSensitivity Sensitivity
	// Sanitize is what is done about instructions in results: pass, flag, strip,
	// wrap or strip+wrap, where the host does not say and the source is believed;
	// "": by the trust of the source.
	Sanitize string
	// Memory is what the tool may do to the agent's memory: pure, no-memory,
	// memory-aware or untrusted, where the host has regions; "": unknown, and watched.
	Memory string
	// Isolation is the least that what it runs outside this process needs:
	// process, namespace or container; "": by its claims.
	Isolation string
}

// Example is one call of a tool and what it returned.
type Example struct {
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"` // nil: not shown
}

// Tool is Info and the functions behind it. Only Run is needed. Every function
// must be safe for concurrent use; a panic in one counts as its failure. What a
// function with a context may know of the call beyond its arguments is in
// there: see [From].
//
// A Tool is made by Check, by [New] or by [Spec.Tool] and not changed after.
type Tool struct {
	Info

	// ClaimsOf are the claims of one call, where they depend on its arguments:
	// they hold beside Info.Claims, whose Touches are then nil. Where it fails,
	// the call claims nothing at all.
	ClaimsOf func(Args) (Claims, error)
	// Validate looks at the meaning of arguments that fit the schema. It returns
	// nil to keep them, or corrected ones, which are checked anew.
	Validate func(context.Context, Args) (json.RawMessage, error)
	// Permit can only tighten: its allow counts as nothing. Failing, it denies.
	Permit func(context.Context, Args) (Decision, error)
	// AskIf asks a person where it says so. Failing, it asks.
	AskIf func(context.Context, Args) (bool, error)
	// AskReasonOf and RejectTextOf are the texts of one call. Failing, the
	// default ones stand.
	AskReasonOf, RejectTextOf func(context.Context, Args) (string, error)
	// Preview is what the call would do, for a person. It must have no effect.
	Preview func(context.Context, Args) (string, error)
	// Facts are what the call is about, for rules. It looks at the arguments
	// alone. Failing, nothing is known, and no rule that allows by it fits.
	Facts func(Args) (Facts, error)
	// Scopes are rules that would cover this call and others like it, narrowest
	// first, for a person to allow more than once: what stands within the
	// parentheses of a short rule, such as git status* or path: /work/src/**.
	// Those that do not cover the call, or cover every call, are not offered.
	Scopes func(Args) ([]string, error)
	// Key names the effect of a call: of those that have the same, for one
	// principal and within a day, one runs, and the others have its result. That
	// takes a journal. Failing, or "": no key.
	Key func(context.Context, Args) (string, error)
	// Enabled says whether an agent of a session is offered the tool. It is asked
	// once for each, and the answer is kept until Session.Refresh. Failing: it is
	// not.
	Enabled func(context.Context, Caller) (bool, error)
	// DescriptionOf and InputOf replace the static forms for one session, and
	// are asked once like Enabled. Failing, the static forms stand.
	DescriptionOf func(context.Context, Caller) (string, error)
	InputOf       func(context.Context, Caller) (json.RawMessage, error)

	// Run does the work. Its error goes to the model as a failed result; an
	// [Outcome] says more, an [Error] has a text of its own for each reader.
	Run func(context.Context, Args) (Result, error)

	input, output *schema.Schema
	opened        bool                           // how input was compiled
	decode        func(text string) (any, error) // typed tools: into the Go type
	// reader makes the function that checks against a schema and decodes at once;
	// both are nil where that cannot be done.
	reader func(json.RawMessage) func(text string) (any, bool)
	read   func(text string) (any, bool)
}

// Check makes a working tool from its fields. The result shares nothing that
// the caller could change. A bad definition is an error that says what is
// wrong with it.
func (t Tool) Check() (*Tool, error) {
	c := t
	c.Info = t.Clone()
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if err := c.compile(); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	switch {
	case c.Run == nil:
		return nil, fmt.Errorf("tool %q: no Run function", t.Name)
	case c.ClaimsOf != nil && c.Claims.Touches != nil:
		return nil, fmt.Errorf("tool %q: what it touches is said by constants and by a function: want one of them", t.Name)
	case c.AskIf != nil && c.Approval != "":
		return nil, fmt.Errorf("tool %q: approval %q and AskIf at once", t.Name, c.Approval)
	}
	for i, e := range c.Examples {
		if err := c.checkExample(e); err != nil {
			return nil, fmt.Errorf("tool %q: example %d: %w", t.Name, i+1, err)
		}
	}
	return &c, nil
}

// CheckOutput reports whether structured output is JSON that fits the tool's
// output schema; without a schema any JSON does.
func (t *Tool) CheckOutput(text json.RawMessage) error {
	switch {
	case t.output != nil:
		return t.output.CheckBytes(text)
	case len(t.Output) > 0:
		return fmt.Errorf("tool %q: not made by Check, New or Spec.Tool", t.Name)
	}
	return schema.ValidBytes(text)
}

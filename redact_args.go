package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is what becomes of placeholders in arguments. Rules, hooks and people
// see the placeholder. The tool gets the value, when it runs, if it is built in and
// stays on this machine; every other call with one is refused. A text of the same
// form that this session never gave out is a text like any other, and so is each in
// a query of tool_search: nothing is found by a key, and an embedder may be anywhere.

// holes are the placeholders of this session in arguments.
func (c *call) holes(args tool.Args) []string {
	if !c.turn.set.redacts || c.entry.looks {
		return nil
	}
	r := c.turn.view.session.conv.redactor.Load()
	if r == nil { // nothing was given out
		return nil
	}
	return r.Placeholders(args.Text())
}

// placeholders refuses a call whose arguments hold placeholders that cannot be put
// back. What is put back may change nothing of what was decided on: claims are the
// same, and what the call is about is the same but for the values.
func (c *call) placeholders() *tool.Error {
	all := c.holes(c.req.Args)
	if all == nil {
		return nil
	}
	r := c.keys()
	if c.entry.source.Trust != tool.BuiltIn || !c.req.Claims.Local {
		return c.notPut(all, "only tools that are built in and stay on this machine are given the value. Leave it out, and tell the person what this call needs")
	}
	for _, p := range all {
		if !r.Known(p) { // it could not be taken out of what the tool returns
			return c.notPut([]string{p}, "its value is not kept, or too short to be told from other text. Leave it out, and tell the person what this call needs")
		}
	}
	args, err := c.filled(c.req.Args)
	if err != nil {
		return c.notPut(all, "the value does not fit in there")
	}
	claims, failure := c.claimsAnew(args)
	if failure != nil {
		return failure
	}
	if !sameClaims(claims, c.req.Claims) || !c.sameFacts(r, args) {
		return c.notPut(all, "with the value the call would be another one. Use it as a text only, never as a name or a part of one; in a command, in double quotes")
	}
	return nil
}

func (c *call) notPut(all []string, why string) *tool.Error {
	return &tool.Error{
		Kind: tool.InvalidValue, Text: fmt.Sprintf("ValidationError: %s in the arguments stands for a value that was taken out of an earlier result, and cannot be put back here: %s.", strings.Join(all, ", "), why),
		Detail: fmt.Sprintf("placeholders: %s", strings.Join(all, ", ")), Own: true,
	}
}

// sameFacts reports whether arguments with values are about the same as they were
// with placeholders, but for the values.
func (c *call) sameFacts(r *redact.Redactor, args tool.Args) bool {
	if c.entry.tool.Facts == nil {
		return true
	}
	c.facts()
	before, err := c.req.Args.Facts()
	if err != nil { // nobody has decided by them
		return true
	}
	after, err := timed(c, func(context.Context) (tool.Facts, error) { return args.Facts() })
	if err != nil {
		return false
	}
	a, err := json.Marshal(before)
	b, failure := json.Marshal(after)
	if errors.Join(err, failure) != nil {
		return false
	}
	a, err = r.RestoreJSON(a)
	return err == nil && schema.Canonical(string(a)) == schema.Canonical(string(b))
}

// filled are arguments with values in the place of placeholders. Only the tool gets
// them.
func (c *call) filled(args tool.Args) (tool.Args, error) {
	if c.holes(args) == nil {
		return args, nil
	}
	raw, err := c.keys().RestoreJSON(json.RawMessage(args.Text()))
	if err != nil {
		return args, err
	}
	return c.entry.tool.Readmit(args, raw)
}

// asMeant are the arguments of a person, who was shown placeholders in the place of
// what the model sent: that goes back to where it came from.
func (c *call) asMeant(input json.RawMessage) json.RawMessage {
	if !c.turn.set.redacts {
		return input
	}
	had, r := c.req.Args.Text(), c.keys()
	shown := r.Placeholders(c.keyless(had))
	shown = slices.DeleteFunc(shown, func(p string) bool { return slices.Contains(r.Placeholders(had), p) })
	if len(shown) == 0 {
		return input
	}
	meant, err := r.RestoreJSON(input, shown...)
	if err != nil {
		return input
	}
	return meant
}

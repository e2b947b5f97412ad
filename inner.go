package ferrule

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// inner is the call that a tool_call holds.
type inner struct {
	name  string
	input json.RawMessage
}

// resolve is phase 1 of a call, through tool_call too: whatever comes after it sees
// the inner tool and its arguments.
func (c *call) resolve() {
	v := c.turn.view
	c.entry, c.unresolved, c.known = v.resolve(c.first.CalledAs)
	if c.entry == nil || !c.entry.calls {
		return
	}
	if c.open(c.entry); c.within == nil {
		return // phase 2 says what is wrong with it
	}
	c.first.Name = c.within.name
	c.entry, c.unresolved, c.known = v.resolve(c.within.name)
	if c.entry != nil && c.entry.calls {
		c.entry, c.known = nil, &tool.Error{Kind: tool.InvalidInput, Text: "InputValidationError: /name: got tool_call itself, want the name of the tool to call, with its arguments beside it."}
	}
}

// open takes a tool_call apart, if it can be read.
func (c *call) open(e *entry) {
	if c.within != nil {
		return
	}
	args, failure := c.admitFor(e, c.input)
	if failure != nil {
		return
	}
	var in innerCall
	if json.Unmarshal([]byte(args.Text()), &in) == nil {
		c.within = &inner{in.Name, in.Arguments}
	}
}

// called is the name of the tool that is meant: what the model wrote, also where it
// wrote that into a tool_call.
func (c *call) called() string {
	if c.within != nil {
		return c.within.name
	}
	return c.first.CalledAs
}

// arguments are those for the tool that is meant, as they came.
func (c *call) arguments() json.RawMessage {
	if c.within != nil {
		return c.within.input
	}
	return c.input
}

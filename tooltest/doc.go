// Package tooltest tests what others write for Ferrule.
//
// A tool: [Do] runs one call through every gate, in one line of a test, and
// [Trial] finds out whether the tool keeps what it claims.
//
//	if res := tooltest.Do(t, search, `{"word":"ferrule"}`); res.Err != nil { … }
//	tooltest.Trial{Tool: search, Inputs: []string{`{"word":"ferrule"}`}, Dir: dir}.Run(t)
//
// A store: there is a conformance test for each seam, which checks all that the
// comments of the interface promise.
//
//	tooltest.Blobs(t, func(t *testing.T) durable.Blobs { return open(t) })
//	tooltest.Inbox(t, func(t *testing.T) policy.Inbox { return open(t) })
//	tooltest.Ledger(t, func(t *testing.T) policy.Ledger { return open(t) })
//	tooltest.Region(t, func(t *testing.T) (memory.Region, func(n int)) { return open(t) })
//
// The names of its subtests begin with the rule of the specification that they
// show.
package tooltest

// Package policy decides whether a call may run, and keeps the questions that
// a person must answer first. It sees [tool.Info] and [tool.Request], never a
// tool that could run: what decides cannot run.
//
// Several voices speak about a call: the rules ([Policy]), the host, the tool's
// own Permit and approval, the flow of data. [Combine] makes one [Ruling] of
// them: deny beats ask beats allow, and where all are silent only a call that
// reads, stays on this machine and belongs to a trusted tool is allowed.
//
// What must be asked becomes a [Question] in an [Inbox]. The [Answer] is bound
// to a digest of principal, definition and exact arguments and is used once. A
// yes can be made to last: then a [Grant] answers later questions of the same
// kind. A [Ledger] keeps those, and what else is known of sessions.
//
// [Memory] is an inbox and a ledger for one process; package store has one in a
// file. A [Rule] is one line of the short rules that package policy/cedar turns
// into Cedar, and that a grant consists of.
package policy

import "github.com/ferrule-dev/ferrule/tool"

// Policy says what the rules say about a call. An implementation of Decide
//
//   - is pure and quick: it depends on the request alone and is asked again when
//     that changes,
//   - neither changes the request nor keeps it: it is the call itself,
//   - returns [tool.Silent] where no rule speaks: the zero decision denies, and
//     so does a panic,
//   - is safe for concurrent use.
//
// Rules match Request.Name, and those that ask or deny Request.OwnName too:
// Tool.Name is the same for tools of every source.
type Policy interface {
	// Decide gives the decision and why.
	Decide(*tool.Request) tool.Decision
	// Fixed is what Decide says of every call of a tool by a caller, whatever
	// its arguments; ok is false where that depends on them, or on anything else
	// that this request does not have: Args, CalledAs, ids, turn, and where it
	// Varies Claims. A tool that is denied for every call is not even shown.
	Fixed(*tool.Request) (d tool.Decision, ok bool)
}

// Func is a Policy that is a function. It is asked about each call.
type Func func(*tool.Request) tool.Decision

// Decide calls the function.
func (f Func) Decide(r *tool.Request) tool.Decision { return f(r) }

// Fixed says that it depends on the call.
func (f Func) Fixed(*tool.Request) (d tool.Decision, ok bool) { return d, false }

// AllowOwn is the policy of a program that lets its own tools do what they
// like: those of trust own are allowed, about others it is silent.
type AllowOwn struct{}

// Decide allows own tools.
func (AllowOwn) Decide(r *tool.Request) tool.Decision {
	if r.Source.Trust == tool.Own {
		return tool.Decision{Verdict: tool.Allow, Rule: "policy.AllowOwn"}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// Fixed is Decide: arguments change nothing.
func (p AllowOwn) Fixed(r *tool.Request) (d tool.Decision, ok bool) { return p.Decide(r), true }

var (
	_ Policy = Func(nil)
	_ Policy = AllowOwn{}
)

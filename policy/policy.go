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
// to a digest of principal, definition and exact arguments and is used once.
// [Memory] is an inbox for one process.
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
// Rules match Request.Name: Tool.Name is the same for tools of every source.
type Policy interface {
	// Decide gives the decision and why.
	Decide(*tool.Request) tool.Decision
}

// Func is a Policy that is a function.
type Func func(*tool.Request) tool.Decision

// Decide calls the function.
func (f Func) Decide(r *tool.Request) tool.Decision { return f(r) }

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

var (
	_ Policy = Func(nil)
	_ Policy = AllowOwn{}
)

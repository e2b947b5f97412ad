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

// Policy says what the rules say about a call. Decide is pure and quick: it
// depends on the request alone, is asked again when the request changes, and
// must be safe for concurrent use. Where no rule speaks it is [tool.Silent];
// the zero decision denies. A panic denies.
type Policy interface {
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

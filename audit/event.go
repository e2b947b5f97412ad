// Package audit says what an event is: every decision about a call and every
// effect of one, as the runtime saw it. What is made of events (a log, a page,
// spans) reads this one stream.
//
// A [Log] puts events on the record, each as an [Entry], a line of JSON. In a log
// that can be shown to be unchanged each line is a [Row]: each writer numbers its
// own and links each to the one before it ([Chain]). [Verify] follows the links.
// That the end of a log was not taken away, and that nobody wrote all of it anew,
// only a [Head] shows, which was signed and kept elsewhere.
//
// [Memory] and [Lines] are logs; package store has one in a file.
package audit

import (
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Event is one thing that happened. It is valid only while it is looked at: who
// keeps it copies what it needs. Nothing in it may be changed.
type Event struct {
	Kind Kind
	Time time.Time
	// Request is the call that it belongs to, as it stood then; nil: none. Its
	// Tool is nil where the name led to no tool.
	Request *tool.Request
	// Session and Turn are also of events without a call.
	Session string
	Turn    int

	// Name is the tool as it is called, or the source.
	Name string
	// By is who: the voice, the hook, the person.
	By string
	// Text says it in words, for the operator.
	Text string

	// Args are the arguments of Requested and Changed as records may hold them,
	// where there is a Log.
	Args     string
	Question string         // of Asked and Answered: its id in the inbox
	Decision *tool.Decision // of Decided
	Result   *tool.Result   // of Ended and Late, and of Cut by the budget of its turn
	Update   *tool.Update   // of Updated
	Took     time.Duration  // of Ended and Late: from the start of its run
	// Flow is what the flow of data has to say, as JSON: of Decided the flows, where
	// they lead and where arguments came from (package guard/flow: Verdict); of Ended
	// what was taken in of the result (Noted). "": nothing.
	Flow string
}

// Kind is what happened.
type Kind string

// Every kind of event.
const (
	Registered Kind = "registered" // a tool can be called from now on
	Removed    Kind = "removed"    // it no longer can
	Found      Kind = "found"      // something about a tool or a setting to look at
	Refreshed  Kind = "refreshed"  // the host gave a new set of tools, or could not

	Requested Kind = "requested" // a call arrived
	Decided   Kind = "decided"   // allow, ask or deny, and by which rule
	Asked     Kind = "asked"     // a person is asked
	Answered  Kind = "answered"  // the answer reached its call
	Changed   Kind = "changed"   // the input is another now
	Moved     Kind = "moved"     // its claims are others now: it is scheduled anew
	Governed  Kind = "governed"  // somebody changed what may run: a mode, a rule
	Begun     Kind = "begun"     // it is about to change something; on the record before it does
	Started   Kind = "started"   // the tool runs; of one that claims nothing Text says that it does so in process
	Isolated  Kind = "isolated"  // how what it runs outside this process is isolated
	WentOn    Kind = "went on"   // the call ends, and what it runs goes on in the background, by the name that Text is
	Updated   Kind = "updated"   // output or progress while it runs
	Blocked   Kind = "blocked"   // a hook stopped it, a secret was refused (by secrets), or it changed memory (by memory)
	Used      Kind = "used"      // a secret, which Text names, was given to its tool
	Scrubbed  Kind = "scrubbed"  // secrets, which Text names, were taken out of what it said
	Joined    Kind = "joined"    // it has the result of another call, which did the same
	Retried   Kind = "retried"   // the tool runs once more
	Cut       Kind = "cut"       // its result was too long
	Ended     Kind = "ended"     // it has its result
	GivenUp   Kind = "given up"  // it did not return when it was told to
	Late      Kind = "late"      // it returned after it was given up
	Resolved  Kind = "resolved"  // a person said what became of a call that a crash cut off
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{
		Registered, Removed, Found, Refreshed, Requested, Decided, Asked, Answered, Governed, Changed, Moved, Begun, Started, Isolated, WentOn, Updated, Blocked,
		Used, Scrubbed, Joined, Retried, Cut, Ended, GivenUp, Late, Resolved,
	}
}

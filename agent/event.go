package agent

import (
	"time"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Kind says what an event is.
type Kind string

// What happens in a run.
const (
	Asking   Kind = "asking"   // a model is asked: Model
	Said     Kind = "said"     // it said Text
	Thought  Kind = "thought"  // it thought Text
	Refused  Kind = "refused"  // it does not answer: Text
	Writing  Kind = "writing"  // it writes the input of Call
	Called   Kind = "called"   // Call is complete, and starts when it may
	Changed  Kind = "changed"  // Call has other arguments now, by Text: a person, or the name of a hook
	Started  Kind = "started"  // Call runs
	Updated  Kind = "updated"  // Call says something while it runs: Update
	Waits    Kind = "waits"    // Call waits for a person: Question
	Answered Kind = "answered" // a person has answered: Text
	Joined   Kind = "joined"   // Call does not run: it is done already, and Ended has what came of it then
	Ended    Kind = "ended"    // Call has Result; they come as calls end
	Aside    Kind = "aside"    // Call has ended, and what it runs goes on
	Turned   Kind = "turned"   // a turn is over: Answer
	Noted    Kind = "noted"    // something that did not stop the run: Text
	Over     Kind = "over"     // the run is over: Why
)

// Event is one thing that happened in a run, of the agent or of one that it called as
// a tool. Which fields count depends on its kind.
type Event struct {
	Kind  Kind   `json:"kind"`
	Agent string `json:"agent"` // its name
	// Inside is the call in which the agent runs, by Ferrule's id: "" for the outermost.
	Inside string `json:"inside,omitempty"`
	Turn   int    `json:"turn,omitempty"` // of the session

	Text  string `json:"text,omitempty"`
	Model string `json:"model,omitempty"` // "": its own default
	// Call has the id that it has in the conversation, where no other call has it; its
	// input is there from Called on, and in Changed. Own
	// is Ferrule's id, from Started, Waits or Ended on: what Live.Stop and
	// Live.Background take. Silent: its tool wants neither spinner nor printed result.
	Call   *tool.Call `json:"call,omitempty"`
	Own    string     `json:"own,omitempty"`
	Silent bool       `json:"silent,omitempty"`

	Update   *tool.Update     `json:"update,omitempty"`
	Question string           `json:"question,omitempty"` // its id in the inbox
	Result   *provider.Result `json:"result,omitempty"`   // as the model reads it
	Failure  tool.Kind        `json:"failure,omitempty"`  // of Result; "": it went well
	Took     time.Duration    `json:"took,omitempty"`     // of Ended: from the start of its run
	Answer   *provider.Answer `json:"answer,omitempty"`
	Why      Why              `json:"why,omitempty"`
}

// Why says why a run is over.
type Why string

// How runs end.
const (
	Done      Why = "done"      // the model asks for no more calls
	Waiting   Why = "waiting"   // for a person: Transcript.Waiting
	Exhausted Why = "exhausted" // a budget: Event.Text says which
	CutShort  Why = "cut short" // the answer reached its limit of tokens
	Declined  Why = "declined"  // the model, or its provider, refused
	Stopped   Why = "stopped"   // by the host or a person
	Failed    Why = "failed"    // the error says it
)

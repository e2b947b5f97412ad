package durable

import (
	"context"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Journal keeps a record of each call that may change something, so that it is
// known after a crash what became of it, and so that one effect is had once.
//
// Records have two names. A place (session, turn and index) is that of one call.
// A key is that of an effect: calls of one key, of one tool and principal, are
// the same call made again. Under either name stands a digest of what the call
// was: another call there is [ErrAnother], never a hit.
//
// A record is running until it has ended. Who began it is its owner: this
// journal, as it was opened. An owner that is gone left its records behind
// ([Record.Live] is false), and it is not known how far those calls came. Only
// the owner of a record can end it: whoever was taken for gone, and is not, is
// refused with [ErrStale].
//
// All methods are safe for concurrent use, and by several processes where the
// journal lies outside of one. tooltest.Journal is the test of what is said here.
type Journal interface {
	// Begin keeps a record as running, under its id, and gives it with its Attempt.
	// It is on the disk when Begin returns without an error, and not there at all
	// where Begin returns with one. Where there is one under its place or its key
	// already, that is given instead, with an error:
	//
	//   - [ErrAnother]: its digest differs.
	//   - [ErrBegun]: it is running and Live, or running and left behind, or done.
	//
	// With these exceptions:
	//
	//   - One that was left behind at its place is taken over, and Attempt counts
	//     on, if it may run again as this one ([Record.RunsAs]).
	//   - Of a key counts only what is running, or went well in the last 24 hours.
	//     One that was left behind no longer has its key. Where one of another
	//     place went well, its result is kept at this place too, as done; given is
	//     that of the other place.
	Begin(ctx context.Context, r Record) (Record, error)
	// End says what became of a call that this journal began; [ErrStale] where it is
	// not its any more, or has ended. A journal may keep no result that is very
	// large: then the call is done, with none.
	End(ctx context.Context, e Ending) error
	// Wait returns the record of that id once it is not both running and Live, or
	// is gone: [ErrNotFound].
	Wait(ctx context.Context, id string) (Record, error)
	// Open lists records in the order in which they began: those of a turn, ended
	// or not; where Turn is 0 those of the session that have not ended; where
	// Session is "" those of everybody that have not ended.
	Open(ctx context.Context, of Place) ([]Record, error)
}

// Prompt is a journal whose Begin and End return within a second of the end of
// their context, whatever they wait for: what they began and did not see the end
// of they take back. It is called where the call is; another one is called on a
// goroutine of its own, which can be left behind.
type Prompt interface {
	Journal
	// Prompt does nothing.
	Prompt()
}

// Place is where a call stands. No other call ever stands there.
type Place struct {
	Tenant    string `json:"tenant,omitempty"`
	Principal string `json:"principal"`
	Session   string `json:"session"`
	Turn      int    `json:"turn"`
	Index     int    `json:"index"`
}

// State is how far a call is known to have come.
type State string

// A call is running until it is done, whether it went well or not.
const (
	Running State = "running"
	Done    State = "done"
)

// Record is what a journal keeps of a call.
type Record struct {
	Place  Place  `json:"place"`
	ID     string `json:"id"`                // Ferrule's own, unique
	CallID string `json:"call_id,omitempty"` // the provider's
	Source string `json:"source,omitempty"`  // of the tool; "": the program itself
	Tool   string `json:"tool"`              // its name within the source
	// Given is a digest of for whom, which definition, and the arguments as they
	// were received.
	Given string `json:"given"`
	// Key names the effect, for the tool and the principal; "": nothing does. Like
	// all texts here it is UTF-8 without a zero byte: a journal may refuse others.
	// Digest is like Given with the arguments as the tool gets them.
	Key    string `json:"key,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Repeats: a second run can do no harm, whatever its key is.
	Repeats bool      `json:"repeats,omitempty"`
	Input   string    `json:"input,omitempty"` // for people: the arguments, as records may hold them
	Began   time.Time `json:"began"`

	// What follows the journal sets.

	State   State     `json:"state"`
	Attempt int       `json:"attempt"`        // from 1
	Live    bool      `json:"live,omitempty"` // its owner is there
	Ended   time.Time `json:"ended,omitzero"`
	// Result is nil where it is running, and where it was not to be kept.
	Result *tool.Result `json:"result,omitempty"`
	Failed bool         `json:"failed,omitempty"`
	Fatal  bool         `json:"fatal,omitempty"` // the tool asked the host to end the run
	// Resolved is the person who said what became of a call that was left behind,
	// and Note what they wrote.
	Resolved string `json:"resolved,omitempty"`
	Note     string `json:"note,omitempty"`
}

// Ending is how a call came to its end.
type Ending struct {
	ID      string
	Attempt int
	// Undone takes the record back: nothing was done, and the call may begin anew.
	Undone bool
	// Result is final; nil: it is not to be kept. Failed: it is an error, and the
	// key is free again.
	Result        *tool.Result
	Failed, Fatal bool
	// Sync: it is on the disk when End returns. Otherwise the end of this process
	// cannot undo it, but the machine's can, until the next Begin of anybody.
	Sync bool
}

// Refusal is why a journal refuses.
type Refusal string

// Why a journal refuses.
const (
	ErrBegun   Refusal = "the call has begun already"
	ErrAnother Refusal = "another call has that place or key"
	ErrStale   Refusal = "the call is not this process's any more"
)

// Error is the text.
func (r Refusal) Error() string { return string(r) }

// KeyTime is how long a call that went well answers for others of its key.
const KeyTime = 24 * time.Hour

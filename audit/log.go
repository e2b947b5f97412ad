package audit

import "context"

// Log puts events on the record. All methods are safe for concurrent use.
// tooltest.Log is the test of what is said here.
//
// One that can keep what it was given at once, at the cost of about one write to a
// file, may have a method Jot() (kept bool): it does what Flush does and waits for
// nobody, or says false, and then Flush is asked.
type Log interface {
	// Append takes events, in this order and behind all that it was given before.
	// It takes what it needs of them before it returns, and waits for nothing. kept
	// is false where they, or some from before, stay only when [Log.Flush] says so.
	// An error means that they are not taken, and that calls must not go on.
	Append(events ...Event) (kept bool, err error)
	// Flush returns nil once all that was appended before is kept, so that the end
	// of this process does not undo it.
	Flush(ctx context.Context) error
}

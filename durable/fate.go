package durable

// Fate is what becomes of a call when its turn is gone on with.
type Fate string

// What becomes of a call that a journal has a record of. One that it has none of
// has not begun, or only reads, and runs.
const (
	FateDone    Fate = "done"    // its recorded result is its result
	FateAgain   Fate = "again"   // it was under way, and runs again: that can do no harm
	FateUnknown Fate = "unknown" // it was under way, and does not run again: a person must look
	FateRunning Fate = "running" // somebody is at it
)

// RunsAs reports whether a call that was left behind may run again as that call:
// both can do no harm, or have the effect of one key.
func (r *Record) RunsAs(next *Record) bool {
	return r.Repeats && next.Repeats || r.Key != "" && r.Key == next.Key
}

// Fate is what becomes of the call, and why, for the operator.
func (r *Record) Fate() (f Fate, why string) {
	switch {
	case r.State == Done && r.Resolved != "":
		return FateDone, r.Resolved + " said so"
	case r.State == Done && r.Result == nil:
		return FateDone, "it ended; its result was not to be kept"
	case r.State == Done:
		return FateDone, "it ended"
	case r.Live:
		return FateRunning, "it has not ended, and its process is there"
	case r.Repeats:
		return FateAgain, "its process is gone; its tool says that it is idempotent"
	case r.Key != "":
		return FateAgain, "its process is gone; it has an idempotency key, and runs if it has that again"
	}
	return FateUnknown, "its process is gone, and its tool does not say that it may run twice"
}

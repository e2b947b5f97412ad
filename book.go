package ferrule

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// book is the log that events go into.
type book struct {
	audit.Log
	missing atomic.Uint64 // events that it did not take
	why     atomic.Pointer[error]
	room    sync.Pool // *[1]audit.Event: what is handed on would be made anew each time
}

// take hands an event on. What is thrown is an error.
func (b *book) take(e *audit.Event) (kept bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = thrown(r)
		}
	}()
	room, _ := b.room.Get().(*[1]audit.Event)
	if room == nil {
		room = new([1]audit.Event)
	}
	room[0] = *e
	kept, err = b.Append(room[:]...)
	room[0] = audit.Event{}
	b.room.Put(room)
	return kept, err
}

// jot keeps what the log was given, where it can do that at once.
func (b *book) jot() (kept bool) {
	j, ok := b.Log.(interface{ Jot() (kept bool) })
	if !ok {
		return false
	}
	defer func() {
		if recover() != nil {
			kept = false
		}
	}()
	return j.Jot()
}

// noted reports whether somebody wants to know of events: else none is made.
func (s *settings) noted() bool { return s.observe != nil || s.book != nil }

// emit puts an event on the record, and tells the observer.
func (s *settings) emit(e audit.Event) { s.send(&e) }

// send is emit, and reports whether the event stays on the record already.
func (s *settings) send(e *audit.Event) (kept bool) {
	s.scrubEvent(e)
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	kept = s.put(e)
	tell(s.observe, e)
	return kept
}

// noted and send are those of the runtime for what happens in a turn, which
// may have an observer of its own.

func (t *Turn) noted() bool { return t.told != nil || t.set.trace != nil || t.set.noted() }

func (t *Turn) send(e *audit.Event) (kept bool) {
	if t.set.redacts {
		t.redactEvent(e)
	}
	kept = t.set.send(e)
	tell(t.told, e)
	return kept
}

// observed reports whether somebody looks on.
func (t *Turn) observed() bool { return t.told != nil || t.set.observe != nil }

// tell tells all who look on.
func (t *Turn) tell(e *audit.Event) {
	tell(t.set.observe, e)
	tell(t.told, e)
}

// put puts an event on the record, and reports whether it stays there already.
// Where that fails, the calls that are under way fail: see unwritten.
func (s *settings) put(e *audit.Event) (kept bool) {
	if s.book == nil || e.Kind == audit.Updated {
		return true
	}
	if r := e.Request; r != nil && r.Tool != nil && !s.guard.Accepts(guard.Audit, r.Tool.InputSensitivity) {
		shown := withholding(*e, guard.Withheld(r.Tool.InputSensitivity))
		e = &shown
	}
	kept, err := s.book.take(e)
	if err != nil {
		s.book.miss(err)
	}
	return kept
}

// miss remembers that an event is not on the record.
func (b *book) miss(err error) {
	b.why.Store(&err)
	b.missing.Add(1)
}

// withholding is an event about a call whose arguments the record does not accept:
// what is said of such a call may quote them.
func withholding(e audit.Event, withheld string) audit.Event {
	if e.Text != "" && e.Kind != audit.Used && e.Kind != audit.Scrubbed {
		e.Text = withheld
	}
	if e.Kind == audit.Decided {
		e.Flow = ""
	}
	if e.Decision != nil {
		e.Decision = &tool.Decision{Verdict: e.Decision.Verdict, Rule: e.Decision.Rule, Override: e.Decision.Override}
	}
	if e.Result != nil && e.Result.Err != nil {
		res := *e.Result
		res.Err = &tool.Error{Kind: res.Err.Kind, Text: withheld, RetryAfter: res.Err.RetryAfter}
		e.Result = &res
	}
	return e
}

// tell tells an observer, if there is one. A panic there is nobody's failure.
func tell(observe func(audit.Event), e *audit.Event) {
	if observe == nil {
		return
	}
	defer func() { _ = recover() }()
	observe(*e)
}

// missing is how many events were not put on the record so far.
func (s *settings) missing() uint64 {
	if s.book == nil {
		return 0
	}
	return s.book.missing.Load()
}

// flush sees to it that all that was put on the record stays there.
func (s *settings) flush(ctx context.Context) error {
	if s.book == nil || s.book.jot() {
		return nil
	}
	_, err := bounded(ctx, ledgerTime, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.book.Flush(ctx) })
	if err != nil {
		return fmt.Errorf("Runtime.Log: %w", err)
	}
	return nil
}

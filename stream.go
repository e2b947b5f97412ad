package ferrule

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Stream runs calls as they come, while the model still talks, and gives their
// results in the order of the calls, each as soon as it and those before it are
// there.
//
// An error of calls is the end of the stream: the model's answer was cut off. A
// call that comes with it was received in part; it does not run and has an error
// result like any other. The error itself comes last, with a result that is of no
// call. What Stream returns can be ranged over once.
//
// Leaving the loop discards what is left: calls are stopped as by the end of ctx
// (see [Turn]: those that do not say Cancel have 10 s), and waited for. calls is
// read on a goroutine of its own and should end when ctx does. Where it does not,
// or cannot know that the loop was left, it is left behind after 1 s, until it
// gives a call or returns: who leaves early cancels ctx first.
func (v *View) Stream(ctx context.Context, calls iter.Seq2[tool.Call, error]) iter.Seq2[tool.Result, error] {
	var used atomic.Bool
	return func(yield func(tool.Result, error) bool) {
		if !used.CompareAndSwap(false, true) {
			yield(noMore(errStreamed))
			return
		}
		v.begin(ctx, TurnOptions{}).Stream(calls)(yield)
	}
}

var errStreamed = errors.New("the turn is over, or has a stream already")

// noMore is what comes last where a stream has an error.
func noMore(err error) (tool.Result, error) {
	return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "The answer was cut off.", Detail: err.Error(), Cause: err}}, err
}

// Stream is [View.Stream] for a turn that was begun with options. It can be
// ranged over once, and the turn is over then.
func (t *Turn) Stream(calls iter.Seq2[tool.Call, error]) iter.Seq2[tool.Result, error] {
	return func(yield func(tool.Result, error) bool) {
		if !t.streamsFirst() {
			yield(noMore(errStreamed))
			return
		}
		whole := false
		defer func() {
			if !whole { // who ranges over it has panicked, or ended its goroutine
				t.discard()
				t.attend(nil)
			}
		}()
		f := t.feed(calls)
		listening := true
		t.attend(func(res tool.Result) {
			if listening = listening && yield(res, nil); !listening {
				t.discard()
			}
		})
		if err := f.failure(); err != nil && listening {
			yield(noMore(err))
		}
		whole = true
	}
}

// streamsFirst makes the turn one whose results are given out one by one, if it
// is not one already.
func (t *Turn) streamsFirst() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.streams || t.closed {
		return false
	}
	t.streams, t.gone = true, make(chan struct{})
	return true
}

// errDiscarded is why calls are stopped whose results nobody wants.
var errDiscarded = errors.New("the stream of results was left")

// discard stops the turn as the host does by ending its context.
func (t *Turn) discard() {
	t.mu.Lock()
	if !t.dropped {
		t.dropped = true
		close(t.gone)
	}
	t.mu.Unlock()
	t.hostStops()
}

// hostStop is why the host stopped the turn.
func (t *Turn) hostStop() *stop {
	if t.ctx.Err() == nil {
		return &stop{text: "Aborted: the run was stopped.", cause: errDiscarded}
	}
	return hostStop(t.ctx)
}

// feed is a stream of calls that is read. Its fields are guarded by the turn's
// mutex.
type feed struct {
	turn  *Turn
	err   error
	ended bool
}

// feed adds calls to the turn as they come.
func (t *Turn) feed(calls iter.Seq2[tool.Call, error]) *feed {
	f := &feed{turn: t}
	conv := t.view.session.conv
	conv.active.Add(1) // who closes the session waits for it
	conv.feeds.Add(1)
	t.mu.Lock()
	t.feeding = true
	t.mu.Unlock()
	go func() {
		err := errors.New("the stream of calls ended its goroutine")
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("the stream of calls: %w", thrown(r))
			}
			t.mu.Lock()
			if f.ended = true; f.err == nil {
				f.err = err
			}
			t.feeding = false
			t.cond.Broadcast()
			t.mu.Unlock()
			conv.feeds.Add(-1)
			conv.done()
		}()
		err = f.read(calls)
	}()
	return f
}

// read reads a stream to its end, or until nobody wants it.
func (f *feed) read(calls iter.Seq2[tool.Call, error]) error {
	t := f.turn
	if calls == nil {
		return errors.New("got no stream of calls")
	}
	for c, err := range calls {
		if t.over() {
			return nil
		}
		if err != nil {
			t.mu.Lock()
			f.err = err // whatever the stream does now
			t.mu.Unlock()
			if c.ID != "" || c.Name != "" || len(c.Input) > 0 {
				t.addBroken(c, err)
			}
			return err
		}
		t.Add(c)
	}
	return nil
}

// failure is what the stream ended with. One that was left behind may have had
// more to say.
func (f *feed) failure() error {
	f.turn.mu.Lock()
	defer f.turn.mu.Unlock()
	if !f.ended && f.err == nil {
		return fmt.Errorf("the stream of calls has not ended: %w", f.turn.hostStop().cause)
	}
	return f.err
}

// over reports whether nobody waits for results any more.
func (t *Turn) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed || t.dropped
}

// addBroken adds a call that was received in part.
func (t *Turn) addBroken(given tool.Call, cause error) {
	t.adding.Lock()
	defer t.adding.Unlock()
	c := &call{turn: t, index: t.reserve(1), input: given.Input, broken: cause}
	c.first = &tool.Request{ID: t.ids(c.index, 1), CallID: given.ID, Name: given.Name, CalledAs: given.Name}
	c.arrive()
	t.admit(c)
}

// brokenOff is the result of a call that was received in part.
func brokenOff(cause error) *tool.Error {
	return &tool.Error{Kind: tool.Aborted, Text: "The answer was cut off in the middle of this call, so it did not run.", Detail: fmt.Sprint(cause), Cause: cause}
}

// leaveFeed stops waiting, after a while, for a stream that does not end although
// the host has stopped. The mutex is held.
func (t *Turn) leaveFeed() {
	if !t.feeding || !t.heard || t.patience != nil {
		return
	}
	t.patience = time.AfterFunc(grace, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.feeding = false
		t.cond.Broadcast()
	})
}

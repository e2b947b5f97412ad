package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// watch is one region while calls run.
type watch struct {
	name   string
	region Region
	// held has one place: who looks at the region, or changes it, is alone. What
	// stands below it is its.
	held chan struct{}
	snap Snapshot // what the region must hold; nil: not known

	mu      sync.Mutex
	running map[*Call]bool
	// doubt is why the region may hold what it must not though calls have ended:
	// until that is known to be over, what it must hold is not forgotten.
	doubt error
}

func newWatch(name string, r Region) *watch {
	return &watch{name: name, region: r, held: make(chan struct{}, 1), running: make(map[*Call]bool)}
}

func (w *watch) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memory %q: %w", w.name, err)
	}
	select {
	case w.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("memory %q: others are looking at it: %w", w.name, ctx.Err())
	}
}

// unlock lets others look. A snapshot that is dear to keep is not kept for nobody.
func (w *watch) unlock() {
	if w.snap != nil && w.doubted() == nil && w.idle() && !w.snap.Light() {
		_ = w.forget()
	}
	<-w.held
}

func (w *watch) doubted() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doubt
}

func (w *watch) doubts(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubt = why
}

// idle reports whether no call is under way.
func (w *watch) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running) == 0
}

// under reports whether a call is under way.
func (w *watch) under(c *Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[c]
}

func (w *watch) forget() (err error) {
	if w.snap != nil {
		err = w.snap.Close()
	}
	w.snap = nil
	return err
}

// expect makes a snapshot what the region must hold.
func (w *watch) expect(s Snapshot) error {
	err := w.forget()
	w.snap = s
	return err
}

// tries is how often something is done again that others may have disturbed.
const tries = 3

// take copies the region as it is.
func (w *watch) take(ctx context.Context) (Snapshot, error) {
	for range tries {
		s, err := w.region.Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("memory %q: snapshot: %w", w.name, err)
		}
		now, err := w.region.Hash(ctx)
		if err == nil && now == s.Hash() {
			return s, nil
		}
		if err = errors.Join(err, s.Close()); err != nil {
			return nil, fmt.Errorf("memory %q: %w", w.name, err)
		}
	}
	return nil, fmt.Errorf("memory %q: it changes while it is copied", w.name)
}

// differs is why the region does not hold what it must; nil: it does. It is exact
// where no fingerprint is believed.
func (w *watch) differs(ctx context.Context, exact bool) error {
	if exact {
		names, err := w.changed(ctx)
		if err == nil && len(names) > 0 {
			err = errChanged
		}
		return err
	}
	return caught(func() error {
		now, err := w.region.Hash(ctx)
		if err == nil && now != w.snap.Hash() {
			err = errChanged
		}
		return err
	})
}

func (w *watch) changed(ctx context.Context) (names []string, err error) {
	err = caught(func() (err error) {
		names, err = w.snap.Changed(ctx)
		return err
	})
	return names, err
}

// errChanged is no failure of the region.
var errChanged = errors.New("it was changed")

// caught calls a region, whose panic is its error: what is not known to be as it
// must be is put back.
func caught(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// verify looks whether the region holds what it must. If not it is put back, and
// every call under way is blamed. An error says that it holds something else still.
// When no call is under way there is nothing that it must hold, except where there
// is a doubt.
func (w *watch) verify(ctx context.Context, exact bool) error {
	doubt := w.doubted()
	if w.snap == nil {
		return nil
	}
	err := w.differs(ctx, exact || doubt != nil)
	switch {
	case err == nil:
		w.doubts(nil)
		return nil
	case unseen(ctx, err):
		return fmt.Errorf("memory %q: %w", w.name, err)
	case doubt == nil && w.idle():
		return w.forget()
	}
	w.doubts(nil)
	_ = w.breach(ctx, err) // those who are blamed have it
	return w.doubted()
}

// unseen reports whether nothing was found because who looked was stopped. Those
// beside it are not to blame for that.
func unseen(ctx context.Context, err error) bool {
	return ctx.Err() != nil && !errors.Is(err, errChanged)
}

// restoreTime is how long it may take to put a region back. It is done also where
// who found it is out of time.
const restoreTime = 30 * time.Second

// breach puts the region back, and blames every call under way.
func (w *watch) breach(ctx context.Context, why error) *Breach {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	b := &Breach{Region: w.name}
	var err error
	if b.Changed, err = w.changed(ctx); err != nil {
		b.Unknown = errors.Join(why, err)
	} else if !errors.Is(why, errChanged) {
		b.Unknown = why
	}
	b.Left = w.restore(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.Left != nil {
		w.doubt = fmt.Errorf("memory %q: it holds what it must not, and could not be put back: %w", w.name, b.Left)
	}
	b.Calls = len(w.running)
	for c := range w.running {
		c.blame(b)
	}
	return b
}

// restore puts the region back, and looks whether that is so.
func (w *watch) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	var names []string
	for range tries {
		err := caught(func() error { return w.snap.Restore(ctx) })
		if err == nil {
			names, err = w.changed(ctx)
		}
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return nil
		}
	}
	return fmt.Errorf("it was put back %d times, and is another still: %s", tries, shown(names))
}

// enter begins to watch the region for a call.
func (w *watch) enter(ctx context.Context, c *Call) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if err := w.verify(ctx, c.tier == Untrusted); err != nil {
		return err
	}
	if w.snap == nil {
		s, err := w.take(ctx)
		if err != nil {
			return err
		}
		w.snap = s
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[c] = true
	return nil
}

// leave looks at the region once more, and ends the watch for a call.
func (w *watch) leave(ctx context.Context, c *Call) {
	defer w.drop(c)
	if err := w.lock(ctx); err != nil {
		w.doubts(err) // before it is dropped: the next one looks
		c.blame(&Breach{Region: w.name, Unknown: err, Left: err, Calls: 1})
		return
	}
	defer w.unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	if err := w.differs(ctx, c.tier == Untrusted); err != nil {
		_ = w.breach(ctx, err) // it is blamed for it
	}
}

// drop ends the watch for a call without a look.
func (w *watch) drop(c *Call) {
	w.mu.Lock()
	delete(w.running, c)
	w.mu.Unlock()
	select {
	case w.held <- struct{}{}:
		w.unlock()
	default: // who looks now sees it
	}
}

// changes does what a call has declared to a key, and expects it from then on.
func (w *watch) changes(ctx context.Context, c *Call, key string, f func() error) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if !w.under(c) {
		return fmt.Errorf("memory %q: the call is over", w.name)
	}
	switch err := w.differs(ctx, false); {
	case err == nil:
	case unseen(ctx, err):
		return fmt.Errorf("memory %q: %w", w.name, err)
	default:
		return w.breach(ctx, err)
	}
	var next Snapshot
	err := caught(f)
	if err == nil {
		next, err = w.take(ctx)
	}
	if by := w.others(ctx, key); by != nil {
		err = errors.Join(w.breach(ctx, by), err)
	} else if err != nil { // it may have done a part
		if left := w.restore(ctx); left != nil {
			err = errors.Join(w.breach(ctx, left), err)
		}
	}
	if err == nil {
		return w.expect(next)
	}
	if next != nil {
		err = errors.Join(err, next.Close())
	}
	return fmt.Errorf("memory %q: %w", w.name, err)
}

// others is why more than a key has changed; nil: it has not.
func (w *watch) others(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	names, err := w.changed(ctx)
	if err == nil && slices.ContainsFunc(names, func(name string) bool { return !owns(name, key) }) {
		err = errChanged
	}
	return err
}

// owns reports whether a key is what has that name, or lies in it.
func owns(name, key string) bool {
	return name == key || name == "." || len(key) > len(name) && key[:len(name)] == name && key[len(name)] == '/'
}

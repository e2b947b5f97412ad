package mcptool

import (
	"errors"
	"sync"
	"time"
)

// ward has the children of a hub in its care: they end with the hub, and also with
// this program, however that ends. The zero value is ready; nil cares for none.
//
// What a program that is killed can still do is to let go of what it holds. On
// Windows that is the jobs of its children; elsewhere it is a pipe, at whose other
// end a sentry waits to kill the process groups that it was told of. The kernel of
// Linux could send a signal by itself (PR_SET_PDEATHSIG), but to the child alone and
// not to what that has started, and it would do so whenever the thread ends that has
// started the child.
type ward struct {
	warn func(error) // that nobody watches, and why; nil: nobody is told

	mu     sync.Mutex
	closed bool
	living map[*process]bool
	empty  chan struct{} // closed when none is living; nil: nobody waits for it
	sentry *sentry       // nil: there is none
	warned bool
	over   chan struct{}  // closed when no sentry is needed any more; nil: none was
	posts  sync.WaitGroup // who waits for sentries
}

// sentryPause is how soon after its beginning a sentry has a successor at the earliest.
const sentryPause = 500 * time.Millisecond

var errWardClosed = errors.New("the program ends")

// ready is called before a child is started, so that there is a sentry by then.
func (w *ward) ready() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errWardClosed
	}
	if w.sentry == nil {
		w.renew()
	}
	return nil
}

// take takes a child in, which was just started; false: it is too late.
func (w *ward) take(p *process) bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if w.living == nil {
		w.living = make(map[*process]bool)
	}
	w.living[p] = true
	if group := p.pid(); group != 0 && (w.sentry == nil || w.sentry.begun(group) != nil) {
		w.renew()
	}
	return true
}

// drop forgets a child whose group has ended. It is called before the number of the
// group can become another's.
func (w *ward) drop(p *process) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.living[p] {
		return
	}
	delete(w.living, p)
	if group := p.pid(); group != 0 && w.sentry != nil && w.sentry.ended(group) != nil {
		w.renew()
	}
	if len(w.living) == 0 && w.empty != nil {
		close(w.empty)
		w.empty = nil
	}
}

// renew starts a sentry, in the place of one that is gone or does not read. The
// mutex is held.
func (w *ward) renew() {
	if w.sentry != nil {
		w.sentry.kill()
	}
	var err error
	if w.sentry, err = startSentry(); err == nil {
		if w.over == nil {
			w.over = make(chan struct{})
		}
		s, over, began := w.sentry, w.over, time.Now()
		w.posts.Go(func() { w.relieve(s, began, over) })
		for p := range w.living {
			if group := p.pid(); group != 0 {
				err = errors.Join(err, w.sentry.begun(group))
			}
		}
	}
	if err != nil && w.warn != nil && !w.warned {
		w.warned = true
		w.warn(err)
	}
}

// relieve has another sentry in the place of one that was ended by somebody else: it
// would be missed only when it is needed.
func (w *ward) relieve(s *sentry, began time.Time, over <-chan struct{}) {
	s.wait()
	pause := time.NewTimer(sentryPause - time.Since(began)) // where none can live
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-over:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sentry == s {
		w.renew()
	}
}

// kill ends all children at once, and lets no more begin.
func (w *ward) kill() {
	w.mu.Lock()
	w.closed = true
	living := make([]*process, 0, len(w.living))
	for p := range w.living {
		living = append(living, p)
	}
	w.mu.Unlock()
	for _, p := range living {
		p.signal(true, false)
	}
}

// close lets no more children begin, waits until all have ended, and ends the sentry.
// Who has started them closes them.
func (w *ward) close() {
	w.mu.Lock()
	w.closed = true
	if len(w.living) > 0 {
		if w.empty == nil {
			w.empty = make(chan struct{})
		}
		empty := w.empty
		w.mu.Unlock()
		<-empty
		w.mu.Lock()
	}
	sentry := w.sentry
	w.sentry = nil
	if w.over != nil {
		close(w.over)
		w.over = nil
	}
	w.mu.Unlock()
	if sentry != nil {
		sentry.close()
	}
	w.posts.Wait()
}

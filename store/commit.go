package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostLazy is how many lazy jobs can wait.
	mostLazy = 10_000
	// mostJobs is how many are done in one transaction.
	mostJobs = 1_000
	// lazyTime is how long a lazy job waits for others.
	lazyTime = 20 * time.Millisecond
	// lazyAgain is how long it waits after it could not be done.
	lazyAgain = 250 * time.Millisecond
)

// job is something to be written. Many are done in one transaction, in the order
// in which they were queued.
type job struct {
	// do looks whether it can be done, and only then writes. An error before it
	// has written anything is a verdict on this job alone; an error of the database,
	// and any after it has written, undoes the transaction. Then do is called once
	// more, in one of its own.
	do func(context.Context, *pen) error
	// synced: it is on the disk when it is done. Otherwise it is committed: the end
	// of this process cannot undo it, but the machine's can, until the next
	// synced one of anybody.
	synced bool
	// lazy: nobody waits for it, and it wakes nobody. It goes with the next that is
	// not lazy, or by itself after lazyTime. Where it could not be done it stays
	// the first of the queue, and what stands behind it is not done either.
	lazy bool
	kept func() // is called where a lazy one is done

	done chan error // of one; nil: lazy
	err  error      // the verdict
}

// committer is the queue of jobs, and the goroutine that does them.
type committer struct {
	mu     sync.Mutex
	queue  []*job
	lazy   int  // how many of them are
	due    bool // it is time for those
	alarm  *time.Timer
	wake   chan struct{} // of one
	ending chan struct{} // is closed with the store
	crowd  int           // how many who wait went together lately
	began  bool          // the goroutine is there
	closed bool
	works  sync.WaitGroup

	commits, jobs atomic.Int64 // done
}

// commit does a job, together with others, and returns when it is done or has
// failed. Where ctx ends before the transaction began it is never done; after
// that it is waited for, so that an error never hides that it was done.
func (s *Store) commit(ctx context.Context, what string, synced bool, do func(context.Context, *pen) error) error {
	return s.commitBy(ctx, what, synced, do, nil)
}

// lateTime is how long after the end of its context a job that has begun is waited
// for by commitBy.
const lateTime = 500 * time.Millisecond

// commitBy is commit that does not wait for ever for a disk that hangs: late is
// called, some time, with what became of a job that was left behind; nil: it waits.
func (s *Store) commitBy(ctx context.Context, what string, synced bool, do func(context.Context, *pen) error, late func(error)) error {
	err := ctx.Err()
	if err == nil {
		err = s.usable()
	}
	if err == nil {
		j := &job{do: do, synced: synced, done: make(chan error, 1)}
		if err = s.queue(j); err == nil { //nolint:contextcheck // who does it lives as long as the store
			err = s.commits.await(ctx, j, late)
		}
	}
	return s.fault(ctx, what, err)
}

// await waits for a job. The goroutine does it also where there is no other: the
// stack that SQLite needs has grown there once, and would grow anew in each call's.
func (c *committer) await(ctx context.Context, j *job, late func(error)) error {
	c.call()
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
	}
	if c.drop(j) {
		return ctx.Err()
	}
	if late == nil {
		return <-j.done
	}
	wait := time.NewTimer(lateTime)
	defer wait.Stop()
	select {
	case err := <-j.done:
		return err
	case <-wait.C:
		go func() { late(<-j.done) }()
		return fmt.Errorf("it took too long, and is not known to be done: see what the system says about the disk: %w", ctx.Err())
	}
}

// later queues a lazy job and waits for nothing; flush waits until all that were
// queued before it are done.
func (s *Store) later(what string, do func(context.Context, *pen) error) error {
	err := s.usable()
	if err == nil {
		err = s.queue(&job{do: do, lazy: true})
	}
	return s.fault(s.life, what, err)
}

func (s *Store) flush(ctx context.Context, what string) error {
	return s.commit(ctx, what, false, func(context.Context, *pen) error { return nil })
}

// queue puts a job at the end, and starts the goroutine if there is none.
func (s *Store) queue(j *job) error {
	c := &s.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errClosed
	case j.lazy && c.lazy >= mostLazy:
		return fmt.Errorf("got more than %d lines that could not be written yet: see what else the store says", mostLazy)
	}
	c.queue = append(c.queue, j)
	if !c.began {
		c.began, c.wake, c.ending = true, make(chan struct{}, 1), make(chan struct{})
		c.alarm = time.AfterFunc(lazyTime, c.ring)
		c.alarm.Stop()
		ctx := context.WithoutCancel(s.life) // what it has begun it ends
		c.works.Go(func() { s.work(ctx) })
	}
	if !j.lazy {
		return nil
	}
	if c.lazy++; c.lazy == 1 {
		c.alarm.Reset(lazyTime)
	}
	return nil
}

// call wakes the goroutine.
func (c *committer) call() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// ring says that lazy jobs have waited long enough.
func (c *committer) ring() {
	c.mu.Lock()
	c.due = true
	c.mu.Unlock()
	c.call()
}

// drop takes a job out of the queue; false: it has begun.
func (c *committer) drop(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.queue, j)
	if i < 0 {
		return false
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	return true
}

// work does jobs until the store is closed, and then what is left.
func (s *Store) work(ctx context.Context) {
	c := &s.commits
	for closing := false; !closing; {
		select {
		case <-c.wake:
		case <-c.ending:
			closing = true
		}
		for more, meanwhile := true, false; more; meanwhile = true {
			c.gather(meanwhile)
			if s.pen.take(ctx) != nil {
				return
			}
			more = s.batch(ctx)
			s.pen.leave()
		}
	}
}

// gatherTime is how long those who went together lately are waited for after one
// of them has come.
const gatherTime = 30 * time.Microsecond

// gather lets those come who went together lately, who are about to queue
// again: else there would be two crowds, which go by turns. Those who queued
// meanwhile are others. It waits for nobody who has something else to do.
func (c *committer) gather(meanwhile bool) {
	want, had := -1, 0
	var since time.Time
	for {
		c.mu.Lock()
		n, crowd := len(c.queue)-c.lazy, c.crowd
		c.mu.Unlock()
		if want < 0 {
			want = crowd
			if meanwhile {
				want += n
			}
		}
		switch {
		case n >= want || n == 0 || crowd <= 1:
			return
		case n != had:
			had, since = n, time.Now()
		case time.Since(since) > gatherTime:
			return
		}
		runtime.Gosched()
	}
}

// pending reports whether there is something to do now.
func (c *committer) pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lazy > 0 && (c.due || c.closed) || len(c.queue) > c.lazy
}

// begun takes jobs from the queue, which then cannot be dropped any more.
func (c *committer) begun() []*job {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.queue), mostJobs)
	jobs := slices.Clone(c.queue[:n])
	c.queue = slices.Delete(c.queue, 0, n)
	for _, j := range jobs {
		if j.lazy {
			c.lazy--
			n--
		}
	}
	c.crowd = max(n, c.crowd*3/4) // some may come too late once
	if c.lazy == 0 {
		c.due = false
		c.alarm.Stop()
	}
	return jobs
}

// back puts jobs that could not be done to the front again. The others among them
// fail with the same error: they would stand behind those.
//
// It reports whether to go on: not while lazy ones wait for a better time.
func (c *committer) back(jobs []*job, err error) bool {
	var lazy []*job
	for _, j := range jobs {
		if j.lazy {
			lazy = append(lazy, j)
		}
	}
	goOn := lazy == nil || c.wait(lazy)
	for _, j := range jobs {
		if !j.lazy {
			j.done <- err
		}
	}
	return goOn
}

// wait has lazy jobs be the first of the queue again, for a better time.
func (c *committer) wait(lazy []*job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = slices.Concat(lazy, c.queue)
	c.lazy += len(lazy)
	c.due = false
	if !c.closed {
		c.alarm.Reset(lazyAgain)
	}
	return !c.closed
}

// batch does what is queued in one transaction, and reports whether to go on. The
// jobs are taken when the transaction has begun, so that whoever comes while it
// waits for its turn goes along. Who has the turn calls it.
func (s *Store) batch(ctx context.Context) bool {
	c := &s.commits
	if !c.pending() {
		return false
	}
	if u := s.unsure.Load(); u != nil {
		return c.back(c.begun(), u)
	}
	if err := s.pen.begin(ctx); err != nil {
		return c.back(c.begun(), err)
	}
	jobs := c.begun()
	err := s.perform(ctx, jobs)
	switch {
	case err == nil:
		c.finish(jobs)
		if s.shorten.Swap(false) {
			s.empty(ctx)
		}
		return true
	case len(jobs) == 1 || s.unsure.Load() != nil:
		return c.back(jobs, err)
	}
	for i, j := range jobs { // one of them is to blame, or none
		alone := jobs[i : i+1]
		if err = s.pen.begin(ctx); err != nil {
			return c.back(jobs[i:], err)
		}
		if err = s.perform(ctx, alone); err != nil {
			if j.lazy || s.unsure.Load() != nil {
				return c.back(jobs[i:], err)
			}
			c.back(alone, err)
			continue
		}
		c.finish(alone)
	}
	return true
}

// perform does jobs and ends the transaction: all of them are committed, except
// those with a verdict, or none. It is synced where one of them asks for that.
func (s *Store) perform(ctx context.Context, jobs []*job) error {
	err := s.pen.current(ctx)
	synced, wrote := false, false
	for _, j := range jobs {
		if err != nil {
			break
		}
		s.pen.wrote = false
		j.err = j.do(ctx, s.pen)
		if j.err != nil && (j.lazy || s.pen.wrote || code(j.err) != 0) {
			err = j.err
		}
		synced, wrote = synced || j.synced, wrote || s.pen.wrote
	}
	if err == nil {
		err = s.moved() // then nobody else would know of it, nor a later process
	}
	if err != nil || len(jobs) == 0 {
		s.pen.undo(ctx)
		return err
	}
	if err := s.pen.end(ctx); err != nil || !synced || !wrote {
		return err
	}
	return s.sync()
}

// sync has what was committed be on the disk. Where that fails nobody knows what
// is, nor would a later sync say so: then nothing is done by this store any more.
func (s *Store) sync() error {
	err := s.pen.sync()
	if u, ok := errors.AsType[*unsynced](err); ok {
		s.unsure.CompareAndSwap(nil, u)
	}
	return err
}

// Commits is how many transactions this store has made since it was opened for
// what shares them, which is calls and lines of the log, and how many things they
// did. The fewer for as many, the more has shared a sync.
func (s *Store) Commits() (commits, things int64) {
	return s.commits.commits.Load(), s.commits.jobs.Load()
}

// finish tells who waits.
func (c *committer) finish(jobs []*job) {
	c.commits.Add(1)
	c.jobs.Add(int64(len(jobs)))
	for _, j := range jobs {
		switch {
		case !j.lazy:
			j.done <- j.err
		case j.kept != nil:
			j.kept()
		}
	}
}

// close does what is queued, and lets no more be. Lazy jobs that could not be
// done are an error.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	if c.began {
		c.alarm.Stop()
		close(c.ending)
		c.began = false
	}
	c.mu.Unlock()
	c.works.Wait()
	for _, j := range c.queue {
		if !j.lazy {
			j.done <- errClosed
		}
	}
	if c.lazy > 0 {
		return fmt.Errorf("%d lines could not be written any more", c.lazy)
	}
	return nil
}

package sandbox

import (
	"context"
	"time"
)

// shortGrace is how long a command has, after it was asked to end, when its time
// or its context is over.
const shortGrace = 2 * time.Second

// Running is a command that was started. Its methods may be called concurrently.
type Running struct {
	work    work
	done    chan struct{}
	stops   chan time.Duration
	outcome Outcome // written before done is closed
}

// Wait waits until the command has ended, nothing that it started is left, and
// its output is written.
func (r *Running) Wait() Outcome {
	<-r.done
	return r.outcome
}

// Done is closed when Wait would return.
func (r *Running) Done() <-chan struct{} { return r.done }

// Stop asks the command to end (SIGTERM to its process group) and, when grace is
// over, ends it with all that it started. It does not wait for that.
func (r *Running) Stop(grace time.Duration) {
	select {
	case r.stops <- grace:
	case <-r.work.ended():
	}
}

// launch starts a command and what waits for it.
func (b *Box) launch(ctx context.Context, c Command) (*Running, error) {
	limits := b.limits.lowered(c.Limits)
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	flow, err := newStreams(c, limits.Output)
	if err != nil {
		return nil, err
	}
	dir := c.Dir
	if dir == "" {
		dir = b.config.Workspace[0]
	}
	begun, vacant := time.Now(), b.vacant()
	w, err := b.by.start(order{
		args: c.Args, dir: dir, env: merged(b.env, c.Env),
		files: flow.files, read: c.ReadOnly, limits: limits,
	})
	flow.started()
	if err != nil {
		flow.abandon()
		return nil, err
	}
	flow.copy()
	r := &Running{work: w, done: make(chan struct{}), stops: make(chan time.Duration)}
	b.add(r)
	go func() {
		defer close(r.done)
		defer b.remove(r)
		why := r.watch(ctx, limits.Time, flow.over)
		flow.wait()
		end := w.result()
		if why == "" {
			why = end.why
		}
		r.outcome = Outcome{
			Code: end.code, Signal: end.signal, Stopped: why, Applied: b.by.applied(),
			Took: time.Since(begun), Peak: end.peak, Aside: b.putAside(vacant),
		}
	}()
	return r, nil
}

// watch waits until the command has ended, and ends it where something asks for
// that. It says what did so first.
func (r *Running) watch(ctx context.Context, limit time.Duration, over <-chan struct{}) string {
	var (
		why     string
		last    time.Time   // when it is killed
		killing *time.Timer // fires then
		killNow <-chan time.Time
	)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	stop := func(reason string, grace time.Duration) {
		if why == "" {
			why = reason
		}
		at := time.Now().Add(grace)
		if killing != nil && last.Before(at) {
			return
		}
		if killing == nil && grace > 0 {
			r.work.terminate()
		}
		if killing != nil {
			killing.Stop()
		}
		last, killing = at, time.NewTimer(grace)
		killNow = killing.C
	}
	defer func() {
		if killing != nil {
			killing.Stop()
		}
	}()
	ended := ctx.Done()
	for {
		select {
		case <-r.work.ended():
			return why
		case <-timer.C:
			stop("time", shortGrace)
		case <-ended:
			ended = nil
			stop("context", shortGrace)
		case <-over:
			over = nil
			stop("output", 0)
		case grace := <-r.stops:
			stop("stopped", grace)
		case <-killNow:
			killNow = nil
			r.work.kill()
		}
	}
}

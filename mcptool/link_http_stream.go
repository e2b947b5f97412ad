package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// resumeWait is how long is waited before a stream is asked for again, unless
	// the server says how long, which is at most maxWait.
	resumeWait = time.Second
	maxWait    = 30 * time.Second
	// maxStale is how often a stream is resumed without a new event, and maxResumed
	// how often in all.
	maxStale   = 6
	maxResumed = 200
)

var (
	errStreamEnded = errors.New("the server ended the stream")
	errNoAnswer    = errors.New("the server did not answer")
)

// place is how far a stream was read, and so where it is resumed.
type place struct {
	id    string        // of the last event that had one; "": it cannot be resumed
	wait  time.Duration // as the server wants it; 0: resumeWait
	moved bool          // there was an event since the last look
}

// readAnswer reads an answer that is one JSON value.
func (l *httpLink) readAnswer(ctx context.Context, c *httpCall, r *httpReply) (message, error) {
	body, err := readBounded(r.Body, r.ContentLength, l.own.bound())
	r.close()
	if err != nil {
		return message{}, fmt.Errorf("reading the answer: %w", err)
	}
	m, done, err := l.take(ctx, c, body)
	if err != nil || done {
		return m, err
	}
	// What refuses a request that it could not read has no id.
	if m, err := parseMessage(body); err == nil && m.isAnswer() && m.fault != nil && m.id == nil {
		return m, nil
	}
	return message{}, fmt.Errorf("%w: got something that is no answer to the request", errNoAnswer)
}

// follow reads the stream of a call until its answer. M6: a stream that breaks is
// asked for again with GET where its events have ids; the request never is.
func (l *httpLink) follow(ctx context.Context, c *httpCall, r *httpReply) (message, error) {
	var at place
	stale := 0
	for resumed := 0; ; resumed++ {
		m, err := l.read(ctx, c, r, &at)
		if err == nil {
			r.finish()
			return m, nil
		}
		r.close()
		if !errors.Is(err, errStreamEnded) || ctx.Err() != nil || l.life.Err() != nil {
			return message{}, err
		}
		if stale++; at.moved {
			stale = 0
		}
		if l.speaks == newEra || at.id == "" || stale == maxStale || resumed == maxResumed {
			return message{}, fmt.Errorf("%w before it answered", err)
		}
		if r, err = l.resume(ctx, &at); err != nil {
			return message{}, fmt.Errorf("%w before it answered, and does not resume it: %w", errStreamEnded, err)
		}
	}
}

// read reads one reply of a stream until the answer to c (nil: without end). The
// error is errStreamEnded where the rest may be had by resuming.
func (l *httpLink) read(ctx context.Context, c *httpCall, r *httpReply, at *place) (message, error) {
	events := newSSE(r.Body, l.own.bound())
	at.moved = false
	for {
		e, err := events.next()
		switch {
		case errors.Is(err, errLong):
			return message{}, err
		case errors.Is(err, io.EOF):
			return message{}, errStreamEnded
		case err != nil:
			return message{}, fmt.Errorf("%w (%s)", errStreamEnded, err.Error())
		}
		if e.id != "" && e.id != at.id {
			at.id, at.moved = e.id, true
		}
		if e.waits {
			at.wait = max(min(e.retry, maxWait), time.Millisecond)
		}
		if len(e.data) == 0 || e.kind != "" && e.kind != "message" {
			continue
		}
		m, done, err := l.take(ctx, c, e.data)
		if done || err != nil {
			return m, err
		}
	}
}

// resume asks for the rest of a stream, a few times if the server cannot be
// reached.
func (l *httpLink) resume(ctx context.Context, at *place) (*httpReply, error) {
	wait := resumeWait
	if at.wait > 0 {
		wait = at.wait
	}
	for tries := 1; ; tries++ {
		if !l.pause(ctx, wait) {
			return nil, errStreamEnded // do says why
		}
		r, err := l.get(ctx, at.id, true)
		if err == nil || tries == maxStale || !passing(err) {
			return r, err
		}
		wait = min(2*wait, maxWait)
	}
}

// get asks for a stream: the rest of one, from the event behind id, or (id is "")
// the one for what belongs to no request. known: there is one. Else 404 says only
// that there is none, as many servers do in place of 405, and not that the session
// has ended.
func (l *httpLink) get(ctx context.Context, id string, known bool) (*httpReply, error) {
	h := l.headers()
	h.Set("Accept", typeStream)
	if id != "" {
		h.Set(linkResume, id)
	}
	r, _, err := l.send(ctx, http.MethodGet, h, nil)
	if err != nil {
		return nil, &unreachable{err}
	}
	if r.StatusCode == http.StatusNotFound && !known || transient(r.StatusCode) {
		r.finish()
		return nil, &statusError{status: r.StatusCode}
	}
	if _, err := l.refused(r); err != nil {
		return nil, err
	}
	if kind := mediaType(r.Response); kind != typeStream {
		r.finish()
		return nil, fmt.Errorf("got content type %q, want %s", short(kind), typeStream)
	}
	return r, nil
}

// pause waits. It is false when ctx or the link ended meanwhile.
func (l *httpLink) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-l.life.Done():
	}
	return false
}

// unreachable is the error of a GET that got no answer.
type unreachable struct{ error }

func (u *unreachable) Unwrap() error { return u.error }

// passing says whether a GET may succeed if it is tried again.
func passing(err error) bool {
	if refusal, ok := errors.AsType[*statusError](err); ok {
		return transient(refusal.status)
	}
	_, ok := errors.AsType[*unreachable](err)
	return ok
}

func transient(status int) bool {
	return status >= 500 && status != http.StatusNotImplemented ||
		status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

package mcptool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"sync"
	"time"
)

// session is one client of the old era. It lasts until it is deleted, or nothing
// was asked and no stream open for a while.
type session struct {
	d         *door
	id        string
	principal string
	room      room
	ctx       context.Context // ends with the session, and with it all its requests
	cancel    context.CancelCauseFunc
	kept      kept
	once      sync.Once
	unwatch   func() bool // of the room

	// Guarded by d.mu.
	active int // requests and streams
	last   time.Time
	idle   *time.Timer

	mu     sync.Mutex
	tracks int    // so far, for their ids
	alone  *track // for what belongs to no request; nil: nobody has asked for it
	unhear func() // ends what room sends there
	linger *time.Timer
}

// errManySessions: all sessions that a principal may have are in use.
var errManySessions = errors.New("too many sessions")

// open makes a session that is in use: done must be called. Its id is as hard to
// guess as a key, and yet it opens nothing without the principal's token.
func (d *door) open(ctx context.Context, principal string, r room) (*session, error) {
	var key [16]byte
	_, _ = rand.Read(key[:]) // it never fails
	s := &session{d: d, id: hex.EncodeToString(key[:]), principal: principal, room: r, active: 1}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.kept = kept{d: d, tracks: make(map[string]*track)}

	d.mu.Lock()
	oldest, err := d.makeRoom(principal)
	if err == nil {
		s.idle = time.AfterFunc(d.Idle, s.expire)
		s.idle.Stop()
		d.sessions[s.id] = s
	}
	d.mu.Unlock()
	if oldest != nil {
		oldest.end()
	}
	if err != nil {
		s.cancel(err)
		return nil, err
	}
	stop := r.until(s.end)
	d.mu.Lock()
	s.unwatch = stop
	d.mu.Unlock()
	return s, nil
}

// makeRoom takes out the session of a principal that was idle for longest, where
// there are too many.
func (d *door) makeRoom(principal string) (oldest *session, err error) {
	if d.closed {
		return nil, errLeft
	}
	n := 0
	for _, s := range d.sessions {
		if s.principal != principal {
			continue
		}
		n++
		if s.active == 0 && (oldest == nil || s.last.Before(oldest.last)) {
			oldest = s
		}
	}
	if n < d.bounds.sessions {
		return nil, nil
	}
	if oldest == nil {
		return nil, errManySessions
	}
	delete(d.sessions, oldest.id)
	return oldest, nil
}

// enter finds a principal's session and has it in use until done is called. It is
// nil where there is none: that of another principal is none.
func (d *door) enter(id, principal string) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[id]
	if s == nil || s.principal != principal {
		return nil
	}
	s.active++
	s.idle.Stop()
	return s
}

func (s *session) done() {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.active--
	s.last = time.Now()
	if s.active == 0 && s.ctx.Err() == nil {
		s.idle.Reset(s.d.Idle)
	}
}

// expire ends a session that nobody uses.
func (s *session) expire() {
	s.d.mu.Lock()
	used := s.active > 0 || s.d.sessions[s.id] != s
	if !used {
		delete(s.d.sessions, s.id)
	}
	s.d.mu.Unlock()
	if !used {
		s.end()
	}
}

// shut has nobody enter the session, and stops what runs in it.
func (s *session) shut() {
	s.d.mu.Lock()
	delete(s.d.sessions, s.id)
	s.idle.Stop()
	if s.unwatch != nil {
		s.unwatch()
	}
	s.d.mu.Unlock()
	s.cancel(errLeft)
}

// end ends the session, and waits for its calls to stop.
func (s *session) end() {
	s.once.Do(func() {
		s.shut()
		s.mu.Lock()
		s.stopHearing()
		s.mu.Unlock()
		s.kept.end()
		s.room.leave()
	})
}

// track begins a stream for so many answers.
func (s *session) track(answers int) *track {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newTrack(answers)
}

// newTrack begins one. Answers below 0: it has no end. The mutex is held.
func (s *session) newTrack(answers int) *track {
	t := &track{
		s: s, id: strconv.Itoa(s.tracks), waiting: answers, endless: answers < 0,
		prime: s.room.version() >= oldVersion, over: make(chan struct{}),
	}
	s.tracks++
	s.kept.open(t)
	return t
}

// hear is the track for what belongs to no request, which is begun if there is
// none; nil: the session has ended.
func (s *session) hear() *track {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linger != nil {
		s.linger.Stop()
	}
	if s.ctx.Err() != nil {
		return nil
	}
	if s.alone == nil {
		s.alone = s.newTrack(-1)
		s.unhear = s.room.listen(s.alone)
	}
	return s.alone
}

// hearAgain has t be the track for what belongs to no request once more, where it
// was given up and there is no other.
func (s *session) hearAgain(t *track) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone != nil || s.ctx.Err() != nil {
		return
	}
	t.revive()
	s.alone = t
	s.unhear = s.room.listen(t)
}

// unattended has t end unless its client comes back in time.
func (s *session) unattended(t *track) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone != t || t.attended() {
		return
	}
	if s.linger != nil {
		s.linger.Stop()
	}
	s.linger = time.AfterFunc(s.d.linger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.alone == t && !t.attended() {
			s.stopHearing()
		}
	})
}

func (s *session) stopHearing() {
	if s.linger != nil {
		s.linger.Stop()
	}
	if s.alone == nil {
		return
	}
	s.unhear()
	s.alone.finish()
	s.alone = nil
}

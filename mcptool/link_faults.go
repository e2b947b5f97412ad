package mcptool

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// faults are what a server did wrong, without an end of the connection.
//
// Some print a line of their own with each call, for as long as they live: that is
// borne. What ends a connection is very much at once, with nothing between that
// was of use.
type faults struct {
	count atomic.Int64 // ever
	told  func(string) // nil: nobody

	mu     sync.Mutex
	texts  []string  // the first few
	since  time.Time // of recent and logged
	recent int       // since then, and since the last message that was one
	logged int       // since then

	idle      int // messages that nobody waits for, since idleSince
	idleSince time.Time
}

const (
	maxFaults      = 1000
	faultTime      = 10 * time.Second
	maxFaultTexts  = 8
	maxFaultLogged = 20 // within faultTime
	// maxUnheard is how many messages that nobody waits for a server may send within
	// faultTime. Few send more than one a second; one that goes on with a call that
	// was given up, as fast as it can, would cost as much as the server likes.
	maxUnheard = 5000
)

// errUnheard is in the tree of an error about a server that sends too much that nobody
// waits for.
var errUnheard = errors.New("the server says too much that nobody waits for")

// unheard counts a message that nobody waits for. An error is that there are too
// many: no more are to be read.
func (f *faults) unheard(method string) error {
	f.mu.Lock()
	if time.Since(f.idleSince) > faultTime {
		f.idleSince, f.idle = time.Now(), 0
	}
	f.idle++
	many := f.idle > maxUnheard
	f.mu.Unlock()
	if !many {
		return nil
	}
	err := fmt.Errorf("%w: more than %d messages within %s, the last %s", errUnheard, maxUnheard, faultTime, short(method))
	f.add(err.Error()) // who calls the server may never hear of it
	return err
}

// add counts a fault. loud: it may be logged.
func (f *faults) add(text string) (loud bool) {
	f.count.Add(1)
	if f.told != nil {
		f.told(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.texts) < maxFaultTexts {
		f.texts = append(f.texts, text)
	}
	loud = f.log()
	f.recent++
	return loud
}

// loud reports whether something else that the server has led to may be logged: it
// chooses how often.
func (f *faults) loud() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log()
}

// log counts a line. The mutex is held.
func (f *faults) log() bool {
	if time.Since(f.since) > faultTime {
		f.since, f.recent, f.logged = time.Now(), 0, 0
	}
	f.logged++
	return f.logged <= maxFaultLogged
}

// valid is for a message that was one.
func (f *faults) valid() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent = 0
}

func (f *faults) tooMany() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent >= maxFaults
}

// String is how many there are, and the first.
func (f *faults) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.texts) == 0 {
		return "nothing"
	}
	return strconv.FormatInt(f.count.Load(), 10) + " times, first " + f.texts[0]
}

package mcptool

import (
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
}

const (
	maxFaults      = 1000
	faultTime      = 10 * time.Second
	maxFaultTexts  = 8
	maxFaultLogged = 20 // within faultTime
)

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
	if time.Since(f.since) > faultTime {
		f.since, f.recent, f.logged = time.Now(), 0, 0
	}
	f.recent++
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

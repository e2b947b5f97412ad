package mcptool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kinds of what a server does wrong while it is there. Calls are answered all the
// same, so that nobody would see it. There is one entry of each, whatever a server
// writes.
const (
	faultWrote   = "wrote"   // what is no message, or no answer to anything
	faultLate    = "late"    // no answer to a call
	faultLong    = "long"    // an answer that is too long
	faultBroken  = "broken"  // a connection, while it was in use
	faultChanges = "changes" // too many of its lists
	faultAsked   = "asked"   // its client, where no call ran
	faultPaused  = "paused"  // it was left alone, as it did not answer
	faultTools   = "tools"   // are not what was accepted any more
)

const (
	// maxFaultText is how much of one is kept, in bytes.
	maxFaultText = 300
	// faultsKept is how long one is told of, and faultsEvery how often they are
	// written to the disk.
	faultsKept  = 24 * time.Hour
	faultsEvery = 5 * time.Second
	maxFaultDoc = 64 << 10
	// maxChanges is how often a server may say that its lists have changed within
	// faultTime.
	maxChanges = 20
)

// noted is one kind of fault.
type noted struct {
	Count int64     `json:"count"`
	Text  string    `json:"text"` // of the last
	Last  time.Time `json:"last"`
}

// faultNotes are what a server did wrong, on any of its connections. All methods
// are safe for concurrent use.
type faultNotes struct {
	mu      sync.Mutex
	all     map[string]*noted
	written time.Time
	unsaved bool
	changes int // of lists, since
	since   time.Time
}

// faultDoc is the file that they are kept in.
type faultDoc struct {
	Reach  string            `json:"reach"` // digest of how the server is reached
	Faults map[string]*noted `json:"faults"`
}

// fault notes something that the server did wrong.
func (s *server) fault(kind, text string) {
	n := &s.faults
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = make(map[string]*noted)
	}
	one := n.all[kind]
	fresh := one == nil
	if fresh {
		one = &noted{}
		n.all[kind] = one
	}
	one.Count++
	one.Last = time.Now()
	one.Text = strings.ToValidUTF8(text[:min(len(text), maxFaultText)], "")
	n.unsaved = true
	if fresh || time.Since(n.written) > faultsEvery {
		s.saveFaultsLocked()
	}
}

// saveFaults writes what was not written yet.
func (s *server) saveFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if s.faults.unsaved {
		s.saveFaultsLocked()
	}
}

func (s *server) saveFaultsLocked() {
	n := &s.faults
	n.written, n.unsaved = time.Now(), false
	if s.hub.Cache == "" {
		return
	}
	b, err := json.Marshal(faultDoc{s.reached(), n.all})
	if err == nil {
		err = writeWhole(s.faultFile(s.hub.Cache), b)
	}
	if err != nil {
		s.hub.log().Warn("what a server did wrong could not be kept", slog.String("server", s.Name), slog.String("why", err.Error()))
	}
}

func (s *server) faultFile(dir string) string { return filepath.Join(dir, s.Name+".faults.json") }

// recallFaults takes what was noted before, by this program or another.
func (s *server) recallFaults() {
	dir := cmp.Or(s.hub.Noted, s.hub.Cache)
	if dir == "" {
		return
	}
	f, err := os.Open(s.faultFile(dir))
	if err != nil {
		return // there is none
	}
	defer f.Close()
	var doc faultDoc
	b, err := io.ReadAll(io.LimitReader(f, maxFaultDoc))
	if err != nil || json.Unmarshal(b, &doc) != nil || doc.Reach != s.reached() {
		return // of another server: what it was is not worth an error
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.all = make(map[string]*noted)
	for kind, one := range doc.Faults {
		if one != nil && faultWord(kind) != "" && time.Since(one.Last) < faultsKept {
			s.faults.all[kind] = one
		}
	}
}

// noteChange counts a change of a list, and notes when there are too many.
func (s *server) noteChange() {
	n := &s.faults
	n.mu.Lock()
	if time.Since(n.since) > faultTime {
		n.since, n.changes = time.Now(), 0
	}
	n.changes++
	many := n.changes == maxChanges+1
	n.mu.Unlock()
	if many {
		s.fault(faultChanges, fmt.Sprintf("more than %d times within %s", maxChanges, faultTime))
	}
}

// told are the faults in words, the last first.
func (n *faultNotes) told() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var kinds []string
	for kind, one := range n.all {
		if time.Since(one.Last) < faultsKept {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(n.all[b].Last.Compare(n.all[a].Last), strings.Compare(a, b))
	})
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		one := n.all[kind]
		times := "once"
		if one.Count > 1 {
			times = fmt.Sprintf("%d times", one.Count)
		}
		words[i] = fmt.Sprintf("%s: %s (%s, last at %s)", faultWord(kind), one.Text, times, one.Last.Format(time.DateTime))
	}
	return words
}

// faultWord is what a kind is for a person; "": there is none.
func faultWord(kind string) string {
	switch kind {
	case faultWrote:
		return "it wrote what is of no use"
	case faultLate:
		return "a call got no answer"
	case faultLong:
		return "an answer was not taken"
	case faultBroken:
		return "a connection broke"
	case faultChanges:
		return "it said that its lists have changed"
	case faultTools:
		return "it changed a tool"
	case faultAsked:
		return "it asked where no call ran"
	case faultPaused:
		return "it was not asked for a while"
	}
	return ""
}

// writeWhole writes a file that is there as a whole or not at all.
func writeWhole(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if failed := f.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

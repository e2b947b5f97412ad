package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// sighted notes what is seen, and asks about it where a person should look. What the
// server did not just say is judged only: of several processes that were told different
// things, each would undo what another has noted, for ever.
func (s *server) sighted(ctx context.Context, c *catalogue) (*pinFile, error) {
	const most = 4 // an answer may leave something to ask, and that be answered already
	for range most {
		kept, err := s.noted(ctx, c)
		if err != nil {
			return nil, err
		}
		if again, err := s.askPins(ctx, kept); err != nil || !again {
			return s.weighed(kept, c, err)
		}
	}
	kept, err := s.noted(ctx, c)
	return s.weighed(kept, c, err)
}

// errUnseen is that nothing is known of a server, and that it has not listed its tools
// to this process: what the cache has is nothing that anybody sees for the first time.
var errUnseen = errors.New("the server was not seen yet")

// noted is what is kept after a catalogue was seen. It is written only if it is
// something else than what was kept. What was forgotten begins with what the server
// itself says: the list of the cache may be one that it has long since changed.
func (s *server) noted(ctx context.Context, c *catalogue) (*pinFile, error) {
	path := s.pinFile()
	if err := s.readAgain(path); err != nil {
		return nil, err
	}
	see := func(had *pinFile) (*pinFile, bool) {
		if had != nil && !c.told {
			next := *had
			return &next, false
		}
		return s.see(had, c)
	}
	if next, changed := see(s.pins.kept); !changed && next.asksTheSame() && !next.Question.due(time.Now()) {
		return s.pins.kept, nil
	}
	var over, before string // questions that are no longer to be answered
	kept, info, err := changePins(path, func(had *pinFile) (*pinFile, error) {
		if had == nil && !c.told && !s.wasJudged() {
			return nil, errUnseen
		}
		last, asked, err := s.heritage(had)
		if err != nil {
			return nil, err
		}
		before = asked
		next, changed := see(last)
		next.renames()
		over = next.question(time.Now().UTC())
		if had != nil && !changed && had.Question == next.Question {
			return nil, nil
		}
		return next, nil
	})
	if err != nil {
		return nil, err
	}
	s.keep(kept, info)
	for _, id := range []string{over, before} {
		if id != "" {
			s.withdraw(ctx, id)
		}
	}
	return s.pins.kept, nil
}

// weighed is what is kept, and how the tools of a catalogue stand to it that were not
// noted.
func (s *server) weighed(kept *pinFile, c *catalogue, err error) (*pinFile, error) {
	if err != nil || kept == nil || c.told {
		return kept, err
	}
	if next, changed := s.see(kept, c); !changed {
		return next, nil
	}
	full, _, err := readPins(s.pinFile()) // with what is to be compared
	if err != nil {
		return nil, err
	}
	next, _ := s.see(full, c)
	return next, nil
}

// unasked are tools that wait, by name, and nobody is asked about: they are judged by
// what was said before.
func (s *server) unasked(judged *pinFile, c *catalogue) map[string]bool {
	if c.told || s.pins.kept == nil {
		return nil
	}
	waits := make(map[string]string)
	for i := range s.pins.kept.Tools {
		if e := &s.pins.kept.Tools[i]; e.Waiting != nil {
			waits[e.Tool] = e.Waiting.Digest
		}
	}
	all := make(map[string]bool)
	for i := range judged.Tools {
		e := &judged.Tools[i]
		all[e.Tool] = e.Waiting != nil && e.Waiting.Rejected == "" && waits[e.Tool] != e.Waiting.Digest
	}
	return all
}

// heritage is what is known of a server that was not reached before as it is now (had
// is nil), but by the same program with other arguments, or in another folder. It may
// be a new version, or something else that the program runs: what it says is compared
// with what was accepted before, which is stricter than a first sight, and what was
// left out stays out; but nobody has answered for it, and no rule is its own. Nil: it
// was never reached, or by another program or URL. asked is the question about what it
// was, where that was in the same folder: who has other arguments there has them in place
// of the old ones. Where those are still in use it is asked anew.
func (s *server) heritage(had *pinFile) (was *pinFile, asked string, err error) {
	is := s.who()
	if had != nil || is.program == "" {
		return had, "", nil
	}
	files, err := (&Pins{Dir: s.hub.Pins}).files()
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		if f.server != s.Name || f.path == s.pinFile() {
			continue
		}
		last, _, err := readPins(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was just taken away
		}
		if err != nil {
			return nil, "", fmt.Errorf("it was reached in another way before, and what was known then cannot be read: %w", err)
		}
		if last.Program == is.program {
			if last.Question != nil && last.Dir == is.dir {
				asked = last.Question.ID
			}
			return last.handedTo(is), asked, nil
		}
	}
	return nil, "", nil
}

// handedTo is what of a file, which nobody else has, is known of another version.
func (f *pinFile) handedTo(w who) *pinFile {
	f.Identity, f.Dir, f.Question, f.Answer = w.identity, w.dir, nil, f.Answer.over()
	for i := range f.Tools {
		f.Tools[i].Waiting = nil // refusals are kept beside
	}
	f.Tools = slices.DeleteFunc(f.Tools, func(e pinEntry) bool { return e.Accepted == nil })
	return f
}

// knowsPins reports whether anything is pinned of the server.
func (s *server) knowsPins() bool {
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	return s.pins.kept != nil
}

// keep remembers what is kept on the disk.
func (s *server) keep(kept *pinFile, info os.FileInfo) {
	if s.pins.kept = nil; kept != nil {
		s.pins.kept = kept.light()
	}
	s.pins.info = info
}

// readAgain reads the pins, if they are not what they were when they were last read.
func (s *server) readAgain(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.keep(nil, nil)
		return nil
	case err != nil:
		return err
	case s.pins.kept != nil && s.pins.info != nil && samePinFile(info, s.pins.info):
		return nil
	}
	kept, info, err := readPins(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.keep(nil, nil)
		return nil
	}
	if err != nil {
		s.keep(nil, nil)
		return err
	}
	if s.pins.info == nil { // the first time: this is how the server is reached now
		now := time.Now()
		if os.Chtimes(path, now, now) == nil { // only who asks for the last used cares
			if again, err := os.Stat(path); err == nil && os.SameFile(again, info) && again.Size() == info.Size() {
				info = again
			}
		}
	}
	s.keep(kept, info)
	return nil
}

// samePinFile reports whether nobody has written a file since.
func samePinFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/internal/lock"
)

// pinFile is what is kept of one server. Forms are never changed, only replaced, so
// that a copy of the file may share them.
type pinFile struct {
	Form     int          `json:"form"` // of this file
	Server   string       `json:"server"`
	Identity string       `json:"identity"`
	Dir      string       `json:"dir,omitempty"`
	Program  string       `json:"program,omitempty"`
	First    time.Time    `json:"first"`
	Empty    bool         `json:"empty,omitempty"`    // no tool of it was ever seen
	Question *pinQuestion `json:"question,omitempty"` // that is open
	Answer   *PinAnswer   `json:"answer,omitempty"`   // for the server as a whole; never changed, only replaced
	Tools    []pinEntry   `json:"tools"`              // by name
	// Refused is what was rejected, the last at the end: also what tools are not now,
	// so that it is rejected still when they are that again.
	Refused []pinRefusal `json:"refused,omitempty"`
}

// pinRefusal is that somebody does not want a tool as it once was.
type pinRefusal struct {
	Tool   string `json:"tool"`
	Digest string `json:"digest"`
	By     string `json:"by"`
}

// maxRefused is how many are kept. They are a person's answers, and more than a list
// can have.
const maxRefused = 2 * maxItems

// refusals finds who has rejected a tool as a digest names it; "": nobody.
func (f *pinFile) refusals() func(tool, digest string) string {
	if len(f.Refused) == 0 {
		return func(string, string) string { return "" }
	}
	by := make(map[pinRefusal]string, len(f.Refused))
	for _, r := range f.Refused {
		by[pinRefusal{Tool: r.Tool, Digest: r.Digest}] = r.By
	}
	return func(tool, digest string) string { return by[pinRefusal{Tool: tool, Digest: digest}] }
}

// refuse notes that somebody has rejected tools, digests by name, or accepted them.
func (f *pinFile) refuse(tools map[string]string, by string, refused bool) {
	next := slices.DeleteFunc(slices.Clone(f.Refused), func(r pinRefusal) bool { return tools[r.Tool] == r.Digest })
	if refused {
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			next = append(next, pinRefusal{name, tools[name], by})
		}
	}
	f.Refused = next[max(0, len(next)-maxRefused):]
}

// pinEntry is one tool.
type pinEntry struct {
	Tool     string   `json:"tool"`
	Accepted *pinForm `json:"accepted,omitempty"`
	// Waiting is what the tool is now, where that is not what was accepted.
	Waiting *pinForm `json:"waiting,omitempty"`
	Gone    bool     `json:"gone,omitempty"` // the server has it no more
}

// pinForm is what a tool said of itself once.
type pinForm struct {
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition"`
	Findings   []string        `json:"findings,omitempty"`
	Since      time.Time       `json:"since"`
	By         string          `json:"by,omitempty"`       // who accepted it
	Rejected   string          `json:"rejected,omitempty"` // who rejected it
	Why        string          `json:"why,omitempty"`      // it is not offered, while it waits
	RenameOf   string          `json:"rename_of,omitempty"`
}

// pinQuestion is what a person is asked about the tools of a server.
type pinQuestion struct {
	ID     string            `json:"id"` // "": nothing is asked, or could be shown, or it is too soon
	Digest string            `json:"digest"`
	Tools  map[string]string `json:"tools"` // what is shown: digests, by name
	Whole  string            `json:"whole"` // names all that is to be asked, shown or not
	Asked  time.Time         `json:"asked"` // when one was put last
	Times  int               `json:"times"` // others that were put before it, and replaced
}

// pinForm1 is the form of the file that is read and written.
const pinForm1 = 1

// maxPins bounds what is read: two lists, and some more.
const maxPins = 2*maxListBytes + 64<<20

// pinPath is where the pins of a server are.
type pinPath struct {
	path, server string
	changed      time.Time
}

// files are those of all servers: by name, the last used first.
func (p *Pins) files() ([]pinPath, error) {
	if p.Dir == "" {
		return nil, errors.New("pins: no folder")
	}
	list, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	var all []pinPath
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		dot := strings.LastIndexByte(name, '.')
		if !ok || dot < 1 {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was just taken away
		}
		if err != nil {
			return nil, fmt.Errorf("pins: %w", err)
		}
		all = append(all, pinPath{filepath.Join(p.Dir, e.Name()), name[:dot], info.ModTime()})
	}
	slices.SortStableFunc(all, func(a, b pinPath) int {
		if c := strings.Compare(a.server, b.server); c != 0 {
			return c
		}
		return b.changed.Compare(a.changed)
	})
	return all, nil
}

// Forget takes away all that is known of a server, however it was reached: it is
// seen for the first time when it is next reached.
func (p *Pins) Forget(server string) error {
	return p.each(server, func(path string) error {
		unlock, err := lockPins(path)
		if err != nil {
			return err
		}
		return errors.Join(os.Remove(path), unlock())
	})
}

// each does something with every file of a server, however it was reached.
func (p *Pins) each(server string, do func(path string) error) error {
	files, err := p.files()
	if err != nil {
		return err
	}
	var faults []error
	for _, f := range files {
		if f.server != server {
			continue
		}
		if err := do(f.path); err != nil {
			faults = append(faults, fmt.Errorf("pins: %w", err))
		}
	}
	return errors.Join(faults...)
}

// readPins reads the pins of a server, and which file it was. One that is not there
// is fs.ErrNotExist.
func readPins(path string) (*pinFile, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPins+1))
	if err != nil {
		return nil, nil, err
	}
	kept := &pinFile{}
	switch err := json.Unmarshal(b, kept); {
	case len(b) > maxPins:
		return nil, nil, fmt.Errorf("%s: got more than %d bytes", path, maxPins)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w: whoever has changed it must undo that, or take the file away: then the tools of the server are accepted as they are", path, err)
	case kept.Form != pinForm1:
		return nil, nil, fmt.Errorf("%s: got form %d, want %d: it is of another version of Ferrule", path, kept.Form, pinForm1)
	}
	return kept, info, nil
}

// changePins changes what is kept of a server, while nobody else does. f gets nil
// where nothing is kept yet, and returns what is to be kept; nil: nothing changes.
func changePins(path string, f func(*pinFile) (*pinFile, error)) (*pinFile, os.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	unlock, err := lockPins(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = unlock() }() // nothing was written to it
	had, info, err := readPins(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	now, err := f(had)
	if err != nil || now == nil {
		return had, info, err
	}
	if err := writePins(path, now); err != nil {
		return nil, nil, err
	}
	if had == nil {
		sweepPins(path)
	}
	info, err = os.Stat(path)
	return now, info, err
}

// maxWays is of how many ways to reach a server the pins are kept: some have an
// argument that is another each time.
const maxWays = 16

// sweepPins takes away what is kept of a server beside a file, where that is much: the
// ways in which it was not reached for longest, and what was left of writing. The
// server is locked. What cannot be taken away is tried again the next time.
func sweepPins(path string) {
	name := filepath.Base(path)
	name = name[:strings.LastIndexByte(strings.TrimSuffix(name, ".json"), '.')]
	dir := &Pins{Dir: filepath.Dir(path)}
	files, err := dir.files()
	if err != nil {
		return
	}
	files = slices.DeleteFunc(files, func(f pinPath) bool { return f.server != name || f.path == path })
	for _, f := range files[min(len(files), maxWays-1):] {
		_ = os.Remove(f.path)
	}
	left, err := filepath.Glob(filepath.Join(globbed(dir.Dir), globbed(name)+".*.json.*.tmp"))
	if err != nil {
		return
	}
	for _, tmp := range left {
		_ = os.Remove(tmp) // who writes one has the lock
	}
}

// globbed is a text in a pattern.
func globbed(text string) string {
	return strings.NewReplacer(`[`, `[[]`, `?`, `[?]`, `*`, `[*]`).Replace(text)
}

// writePins writes the file: it is there as a whole, as it was or as it is now.
func writePins(path string, kept *pinFile) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false) // definitions stay the bytes that they are
	err = enc.Encode(kept)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = replaceFile(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // else the old file may be back after a loss of power; not every system can
		_ = dir.Close()
	}
	return nil
}

// lockWait is how long another process is waited for, lockPause how often it is
// looked for.
const (
	lockWait  = 5 * time.Second
	lockPause = 5 * time.Millisecond
)

// replaceFile puts a file in the place of another. Some systems refuse that while
// somebody reads the other, which takes a moment.
func replaceFile(from, to string) error {
	for began := time.Now(); ; time.Sleep(lockPause) {
		err := os.Rename(from, to)
		if err == nil || !errors.Is(err, fs.ErrPermission) || time.Since(began) > lockWait/10 {
			return err
		}
	}
}

// lockPins waits until nobody else changes what is kept of a server, however it is
// reached.
func lockPins(path string) (unlock func() error, err error) {
	name := strings.TrimSuffix(path, ".json")
	f, err := os.OpenFile(name[:strings.LastIndexByte(name, '.')]+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(lockPause) {
		ok, err := lock.File(f, false)
		switch {
		case ok:
			return f.Close, nil
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case time.Since(began) > lockWait:
			return nil, errors.Join(fmt.Errorf("%s: another process has had it for %s", f.Name(), lockWait), f.Close())
		}
	}
}

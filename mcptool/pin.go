package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"
)

// Pins are what the tools of servers said of themselves when they were accepted: a
// folder with a file for each server, which several processes share. A [Hub] with
// the same folder as its Pins writes what it sees there, and acts within a second
// on what is accepted or rejected here.
type Pins struct{ Dir string }

// PinState is how a tool stands to what was accepted of it.
type PinState string

// How a tool can stand.
const (
	// PinAccepted: it is what was accepted, and is offered.
	PinAccepted PinState = "accepted"
	// PinNew: the server is known and the tool is not. It is offered, and each call
	// is asked for unless a rule names it exactly.
	PinNew PinState = "new"
	// PinChanged: it is not what was accepted, and is not offered.
	PinChanged PinState = "changed"
	// PinBlocked: it was never accepted, and is not offered for what Why says.
	PinBlocked PinState = "blocked"
	// PinGone: it was accepted, and the server has it no more.
	PinGone PinState = "gone"
)

// Pin is one tool of a server.
type Pin struct {
	Tool  string // as the server names it
	State PinState
	// Why says why it is not offered, or what is to be known of one that is new. It
	// is fit to be shown.
	Why string
	// Rejected is who said no to what the tool is now; "": nobody has.
	Rejected string
	// Accepted is the definition that was accepted, Now the one that waits: of a
	// tool that is accepted, or gone, it is nil. Both are canonical JSON of the parts
	// that count (name, title, description, schemas, annotations, and what else hides something),
	// without the values of secrets; they are to be shown through [Visible].
	Accepted, Now json.RawMessage
	// Digest names the whole of Now, or else of Accepted; Key names that of a tool of
	// exactly this server, and is its [tool.Info].Pin while it is offered.
	Digest, Key string
	// Findings are characters and comments that a person does not see, in Now or
	// else in Accepted; they are fit to be shown.
	Findings []string
	// RenameOf is an accepted tool that is gone and may be this one under another
	// name; "": none.
	RenameOf string
	// Since is when it was accepted or, where it waits, when it was first seen so;
	// By is who accepted it: a person, or "first sight", or "follow".
	Since time.Time
	By    string
}

// Waits reports whether somebody should look at the tool: it is new, changed or
// blocked, and was not rejected as it is.
func (p *Pin) Waits() bool { return p.Now != nil && p.Rejected == "" }

// Definition is what the tool says of itself now.
func (p *Pin) Definition() json.RawMessage {
	if p.Now != nil {
		return p.Now
	}
	return p.Accepted
}

// Diff shows what is different from what was accepted, part by part, with what a
// person cannot see written as <U+200B>. Of a tool that was never accepted it is
// all of it, of one that has not changed "".
func (p *Pin) Diff() string {
	if p.Now == nil {
		return ""
	}
	return diffOf(p.Accepted, p.Now, math.MaxInt)
}

// Pinned is what is known of the tools of one server.
type Pinned struct {
	Server string
	// Identity is what the tools were pinned for: command and arguments, with those
	// variables that decide what runs, or the URL, without the values of secrets.
	// Beside it the folder of the command counts.
	Identity string
	First    time.Time // when it was first seen
	Tools    []Pin     // by name
	// Answer is what was last answered for the server as a whole; nil: nobody has.
	Answer *PinAnswer

	file string
}

// Waiting are the tools that somebody should look at.
func (p *Pinned) Waiting() []Pin {
	return slices.DeleteFunc(slices.Clone(p.Tools), func(t Pin) bool { return !t.Waits() })
}

// All is what is known of every server, by name; those that were reached in several
// ways have one for each, the last used first. A file that cannot be read is an
// error, beside what could be.
func (p *Pins) All() ([]Pinned, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	var (
		all    []Pinned
		faults []error
	)
	for _, f := range files {
		kept, _, err := readPins(f.path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, kept.pinned(f.path))
	}
	return all, errors.Join(faults...)
}

// Of is what is known of one server, as it was last reached. One that was never
// seen has no tools.
func (p *Pins) Of(server string) (Pinned, error) {
	files, err := p.files()
	if err != nil {
		return Pinned{}, err
	}
	for _, f := range files {
		if f.server == server {
			kept, _, err := readPins(f.path)
			if err != nil {
				return Pinned{}, err
			}
			return kept.pinned(f.path), nil
		}
	}
	return Pinned{Server: server}, nil
}

// As is what is known of a server that is reached exactly so, whatever its variables
// are. One that was never seen so has no tools, and nobody has answered for it.
func (p *Pins) As(s Server) (Pinned, error) { return p.as(s.who()) }

func (p *Pins) as(w who) (Pinned, error) {
	path := w.file(p.Dir)
	switch kept, _, err := readPins(path); {
	case errors.Is(err, fs.ErrNotExist):
		return Pinned{Server: w.server, Identity: w.identity}, nil
	case err != nil:
		return Pinned{}, err
	default:
		return kept.pinned(path), nil
	}
}

// Pinned is what is known of a server of the hub, as it is reached here.
func (h *Hub) Pinned(server string) (Pinned, error) {
	s := h.server(server)
	if s == nil {
		return Pinned{}, fmt.Errorf("pins: server %q is not connected to", server)
	}
	return (&Pins{Dir: h.Pins}).as(s.who())
}

// Accept accepts tools of a server exactly as they are shown; none named: all that
// wait, also those that were rejected. By is who says so. Where one of them is not
// what is shown any more, nothing is accepted.
func (p *Pins) Accept(shown Pinned, by string, tools ...string) error {
	return p.answer(shown, by, true, tools)
}

// Reject notes that somebody does not want tools as they are shown; none named: all
// that wait. They are not offered, and not asked about again, until they change.
func (p *Pins) Reject(shown Pinned, by string, tools ...string) error {
	return p.answer(shown, by, false, tools)
}

func (p *Pins) answer(shown Pinned, by string, allow bool, tools []string) error {
	say := "reject"
	if allow {
		say = "accept"
	}
	if shown.file == "" {
		return fmt.Errorf("pins: %s: server %q was never seen: connect to it first", say, shown.Server)
	}
	if strings.TrimSpace(by) == "" {
		return fmt.Errorf("pins: %s: got nobody who says so, want a name", say)
	}
	wanted := make(map[string]string, len(tools))
	for _, name := range tools {
		i := slices.IndexFunc(shown.Tools, func(t Pin) bool { return t.Tool == name })
		switch {
		case i < 0:
			return fmt.Errorf("pins: %s: server %s has no tool %q", say, shown.Server, Visible(name))
		case shown.Tools[i].Now == nil:
			return fmt.Errorf("pins: %s: tool %q of server %s does not wait: it is %s", say, name, shown.Server, shown.Tools[i].State)
		}
		wanted[name] = shown.Tools[i].Digest
	}
	if len(tools) == 0 {
		for _, t := range shown.Tools {
			if t.Now != nil && (allow || t.Rejected == "") {
				wanted[t.Tool] = t.Digest
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	_, _, err := changePins(shown.file, func(kept *pinFile) (*pinFile, error) {
		if kept == nil {
			return nil, errors.New("what was known of the server is gone: look again")
		}
		return kept.answer(wanted, by, allow, time.Now())
	})
	if err != nil {
		return fmt.Errorf("pins: %s: server %s: %w", say, shown.Server, err)
	}
	return nil
}

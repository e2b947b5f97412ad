package mcptool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// pinning is what a server knows of its pins.
type pinning struct {
	mu    sync.Mutex // held while tools are judged and registered
	kept  *pinFile   // as it was read, without the definitions; nil: there is none
	info  os.FileInfo
	fault string    // why they cannot be used; "": they can
	retry time.Time // when that is tried again
	asked string    // the question that this process has put, or found
	// answered: it was, and the answer is to be taken.
	answered bool
	fresh    map[string]*tool.Tool // what is offered and not accepted, by definition

	once sync.Once
	who  who
}

// pinSum is what a definition comes to.
type pinSum struct {
	digest   string
	findings []string
}

// pinDefinition is what is pinned of a definition, in the one form that all texts of
// the same have.
func pinDefinition(raw json.RawMessage) json.RawMessage {
	var all []pair
	for _, part := range parts() {
		value, ok := member(raw, part)
		if ok {
			value = pinnedPart(part, value)
		}
		if value != nil {
			all = append(all, pair{part, value})
		}
	}
	return json.RawMessage(schema.Canonical(string(setMembers(nil, all...))))
}

func pinSumOf(raw json.RawMessage) *pinSum {
	definition := pinDefinition(raw)
	sum := sha256.Sum256(definition)
	return &pinSum{"sha256:" + hex.EncodeToString(sum[:]), findingsOf(definition)}
}

// pinFile is where they are.
func (s *server) pinFile() string { return s.who().file(s.hub.Pins) }

// pinRetry is how long pins are left alone that could not be used.
const pinRetry = 5 * time.Second

// pin takes out of a catalogue what is not accepted, and notes what is new. Where
// the pins cannot be read or written, nothing is left.
func (s *server) pin(ctx context.Context, c *catalogue) {
	if s.hub.Pins == "" {
		return
	}
	// Somebody may answer for a server that has no tools, once it has said so.
	if len(c.tools) == 0 && s.pins.kept == nil && (!c.told || c.left != "") {
		if _, err := os.Stat(s.pinFile()); errors.Is(err, fs.ErrNotExist) {
			return // nothing was seen yet
		}
	}
	began := time.Now()
	kept, err := s.sighted(ctx, c)
	if errors.Is(err, errUnseen) {
		s.pins.fault, c.tools = "", c.tools[:0]
		return
	}
	if err != nil {
		why := "its pins cannot be used, so that nobody knows whether it has changed: " + err.Error()
		for i, t := range c.tools {
			c.block(i, t, why)
		}
		if why != s.pins.fault {
			s.hub.log().LogAttrs(ctx, slog.LevelWarn, "the tools of a server are not offered", slog.String("server", s.Name), slog.String("why", why))
		}
		s.pins.fault, s.pins.retry = why, time.Now().Add(pinRetry)
		c.out = true
		return
	}
	s.pins.fault = ""
	if kept == nil { // there was nothing to be seen
		kept = &pinFile{}
	}
	c.out = kept.leftWhole()
	unasked := s.unasked(kept, c)
	states := make(map[string]*pinEntry, len(kept.Tools))
	for i := range kept.Tools {
		states[kept.Tools[i].Tool] = &kept.Tools[i]
	}
	fresh := make(map[string]*tool.Tool)
	s.nameImitations(c)
	for i, t := range c.tools {
		if t.tool == nil {
			continue
		}
		e := states[t.name]
		if e == nil { // it cannot be: it was seen
			c.block(i, t, "it is not pinned")
			continue
		}
		if by := kept.leftOut(t.name); by != "" {
			c.block(i, t, outAdvice(by, s.Name))
			continue
		}
		switch state, why := e.state(); state {
		case PinAccepted, PinGone:
		case PinNew:
			again := *t
			again.tool = s.unaccepted(t, fresh)
			c.tools[i] = &again
		case PinChanged, PinBlocked:
			// One that changes back is as it was to who looks then.
			if state == PinChanged && !e.Waiting.Since.Before(began) {
				s.fault(faultTools, visibleLine(t.name, 80)+": "+why)
			}
			if unasked[t.name] {
				why += " (the server has said something else to another process; it is asked about when it next says it here)"
			} else {
				why += s.advice()
			}
			c.block(i, t, why)
		}
	}
	s.pins.fresh = fresh
}

// nameImitations says of tools that cannot be used for the letters of their name
// whose name it is made to look like.
func (s *server) nameImitations(c *catalogue) {
	var all *lookalikes
	for i, t := range c.tools {
		if !t.final || !suspect(t.name) {
			continue
		}
		if all == nil {
			all = s.lookalikes()
		}
		if why := all.of(t.name); why != "" && !strings.Contains(t.why, why) {
			again := *t
			again.why += "; " + why
			c.tools[i] = &again
		}
	}
}

// unaccepted is a tool as it is offered while nobody has accepted it: the very same
// each time.
func (s *server) unaccepted(t *listedTool, fresh map[string]*tool.Tool) *tool.Tool {
	made := s.pins.fresh[string(t.raw)]
	if made == nil {
		with := *t.made
		with.New = true
		made = &with
	}
	fresh[string(t.raw)] = made
	return made
}

// advice is what a person can do about a tool that is not offered.
func (s *server) advice() string {
	return fmt.Sprintf(" (to look at it: ferrule pins diff %s)", s.Name)
}

// block quarantines a tool for now.
func (c *catalogue) block(i int, t *listedTool, why string) {
	if t.tool == nil {
		return
	}
	again := *t
	again.tool, again.why = nil, why
	c.tools[i] = &again
}

// see is what is to be kept after a catalogue was seen.
func (s *server) see(had *pinFile, c *catalogue) (*pinFile, bool) {
	seen := &sightings{at: time.Now().UTC(), there: make(map[string]bool, len(c.tools)), whole: c.left == "", follow: s.Follow}
	for _, t := range c.tools {
		seen.there[t.name] = true
		if t.tool == nil || t.pin == nil {
			continue
		}
		seen.tools = append(seen.tools, sighting{
			t.name, t.pin.digest, t.pin.findings,
			func() json.RawMessage { return s.cleanDefinition(t.raw) },
		})
	}
	var all *lookalikes
	seen.imitates = func(name string) string {
		if all == nil {
			all = s.lookalikes()
		}
		return all.of(name)
	}
	return had.see(s.who(), seen)
}

// cleanDefinition is what is kept of a definition: without the values of secrets.
func (s *server) cleanDefinition(raw json.RawMessage) json.RawMessage {
	definition := pinDefinition(raw)
	if clean := json.RawMessage(s.clean(string(definition))); json.Valid(clean) {
		return clean
	}
	return setMembers(nil, pair{"name", quote(s.clean(textMember(raw, "name")))}, pair{"description", quote("withheld: there is a secret in it")})
}

// repin judges the tools anew by what is kept now.
func (s *server) repin(ctx context.Context) {
	defer survive(s.hub.log(), func(error) {})
	at := s.listedAt() // before what is listed there
	c := s.catalogue(ctx, s.raws())
	s.mu.Lock()
	c.left = s.tools.left
	judged := s.judged
	s.mu.Unlock()
	if at == nil && !judged || ctx.Err() != nil {
		return
	}
	changed, err := s.reoffer(ctx, c, at)
	if err != nil {
		s.hub.log().LogAttrs(ctx, slog.LevelWarn, "tools could not be judged anew", slog.String("server", s.Name), slog.String("why", err.Error()))
	}
	if changed {
		s.hub.tell(s.Name, "tools")
	}
}

// raws are the definitions of the last list.
func (s *server) raws() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]json.RawMessage, len(s.tools.tools))
	for i, t := range s.tools.tools {
		all[i] = t.raw
	}
	return all
}

// reoffer is offer for a catalogue that was made of the one at a place; where there
// is another by now, that was judged later.
func (s *server) reoffer(ctx context.Context, c *catalogue, at **listedTool) (changed bool, err error) {
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	if s.listedAt() != at {
		return false, nil
	}
	s.pin(ctx, c)
	c.quarantine()
	return s.register(c) //nolint:contextcheck // registering has none
}

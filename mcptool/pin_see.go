package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// sighting is a tool as a server lists it.
type sighting struct {
	tool, digest string
	findings     []string
	definition   func() json.RawMessage
}

// sightings are all of them.
type sightings struct {
	at    time.Time
	tools []sighting
	// there are the names that are listed, of tools too that cannot be used; whole:
	// no other is.
	there map[string]bool
	whole bool
	// follow accepts what has changed.
	follow bool
	// refused is who has rejected a tool as it is now; "": nobody.
	refused func(tool, digest string) string
	// imitates says what a name is made to be taken for; "": nothing.
	imitates func(name string) string
}

// Who accepts where no person does.
const (
	byFirstSight = "first sight"
	byFollowing  = "follow"
)

// see is what is to be kept after a list was seen, and whether that is something
// else than before; f is nil where the server was never seen.
func (f *pinFile) see(w who, s *sightings) (now *pinFile, changed bool) {
	if f == nil {
		f = &pinFile{Form: pinForm1, Server: w.server, Identity: w.identity, Dir: w.dir, Program: w.program, First: s.at, Empty: true}
		changed = true
	}
	next := *f
	first := f.Empty && f.Answer == nil // who has answered for no tools has accepted none
	if next.Empty = f.Empty && len(s.there) == 0; next.Empty != f.Empty {
		changed = true
	}
	s.refused = f.refusals()
	next.Tools = slices.Clone(f.Tools)
	places := make(map[string]int, len(next.Tools))
	for i := range next.Tools {
		places[next.Tools[i].Tool] = i
	}
	var added []pinEntry
	for i := range s.tools {
		t := &s.tools[i]
		at, known := places[t.tool]
		if !known {
			added = append(added, *t.seen(nil, first, s)) // it is never nil
			continue
		}
		if e := t.seen(&next.Tools[at], first, s); e != nil {
			next.Tools[at], changed = *e, true
		}
	}
	for i := range next.Tools {
		if e := &next.Tools[i]; s.whole && !s.there[e.Tool] && (e.Waiting != nil || !e.Gone) {
			e.Waiting, e.Gone, changed = nil, true, true
		}
	}
	// What nobody has accepted but by following is accepted again should it come back:
	// else a server with other names in each list would have them all kept.
	next.Tools = slices.DeleteFunc(next.Tools, func(e pinEntry) bool {
		return e.Accepted == nil && e.Waiting == nil || s.follow && e.Gone && e.Accepted != nil && e.Accepted.By == byFollowing
	})
	changed = changed || len(next.Tools) != len(f.Tools)
	if len(added) > 0 {
		next.Tools = append(next.Tools, added...)
		slices.SortFunc(next.Tools, func(a, b pinEntry) int { return strings.Compare(a.Tool, b.Tool) })
		changed = true
	}
	return &next, changed
}

// seen is what becomes of what is kept of a tool, nil where that is nothing yet; nil:
// it stays as it is.
func (t *sighting) seen(had *pinEntry, first bool, s *sightings) *pinEntry {
	e := pinEntry{Tool: t.tool}
	if had != nil {
		e = *had
	}
	switch {
	case e.Accepted != nil && e.Accepted.Digest == t.digest:
		if e.Waiting == nil && !e.Gone {
			return nil
		}
		e.Waiting, e.Gone = nil, false
		return &e
	case e.Waiting != nil && e.Waiting.Digest == t.digest:
		// Its operator may have begun to follow it.
		if !s.follow || len(t.findings) > 0 || e.Waiting.Rejected != "" || e.Accepted == nil && e.Waiting.Why != "" {
			return nil
		}
	}
	now := &pinForm{Digest: t.digest, Definition: t.definition(), Findings: t.findings, Since: s.at, Rejected: s.refused(t.tool, t.digest)}
	var why []string
	if e.Accepted != nil {
		why = append(why, "it is not what was accepted: "+changes(changedParts(e.Accepted.Definition, now.Definition)))
	}
	if imitates := s.imitates(t.tool); imitates != "" && e.Accepted == nil {
		why = append(why, imitates)
	}
	if len(t.findings) > 0 {
		why = append(why, "it says what a person does not see: "+strings.Join(t.findings, ", "))
	}
	e.Gone = false
	switch {
	case now.Rejected != "":
		now.Why, e.Waiting = strings.Join(why, "; "), now
	case first && len(why) == 0:
		now.By, e.Accepted, e.Waiting = byFirstSight, now, nil
	case s.follow && len(t.findings) == 0 && (len(why) == 0 || e.Accepted != nil):
		now.By, e.Accepted, e.Waiting = byFollowing, now, nil
	default:
		now.Why, e.Waiting = strings.Join(why, "; "), now
	}
	return &e
}

// changes says which parts have changed.
func changes(parts []string) string {
	switch n := len(parts); n {
	case 0:
		return "something has changed"
	case 1:
		return parts[0] + " has changed"
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + " have changed"
	}
}

// answer is what is to be kept after somebody has answered for tools, by name with
// their digests.
func (f *pinFile) answer(tools map[string]string, by string, allow bool, at time.Time) (*pinFile, error) {
	next := *f
	next.Tools = slices.Clone(f.Tools)
	var faults []error
	for name, digest := range tools {
		i := slices.IndexFunc(next.Tools, func(e pinEntry) bool { return e.Tool == name })
		if i < 0 || next.Tools[i].Waiting == nil || next.Tools[i].Waiting.Digest != digest {
			faults = append(faults, fmt.Errorf("tool %q is not what was shown any more: look again", visibleLine(name, 80)))
			continue
		}
		e := &next.Tools[i]
		form := *e.Waiting
		if allow {
			form.By, form.Since, form.Why, form.Rejected = by, at, "", ""
			e.Accepted, e.Waiting = &form, nil
			continue
		}
		form.Rejected = by
		e.Waiting = &form
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	next.refuse(tools, by, !allow)
	return &next, nil
}

// light is what is kept without the definitions: enough to see whether a list says
// something else.
func (f *pinFile) light() *pinFile {
	next := *f
	next.Tools = slices.Clone(f.Tools)
	for i := range next.Tools {
		e := &next.Tools[i]
		e.Accepted, e.Waiting = e.Accepted.light(), e.Waiting.light()
	}
	return &next
}

func (f *pinForm) light() *pinForm {
	if f == nil {
		return nil
	}
	next := *f
	next.Definition = nil
	return &next
}

// state is how a tool stands, and why it is not offered.
func (e *pinEntry) state() (PinState, string) {
	w := e.Waiting
	switch {
	case w == nil && e.Gone:
		return PinGone, ""
	case w == nil:
		return PinAccepted, ""
	}
	why := w.Why
	if w.RenameOf != "" {
		why = strings.TrimPrefix(why+"; it may be "+visibleLine(w.RenameOf, 80)+", which is gone, under another name", "; ")
	}
	if w.Rejected != "" {
		why = strings.TrimPrefix(why+"; "+w.Rejected+" has rejected it", "; ")
	}
	switch {
	case e.Accepted != nil:
		return PinChanged, why
	case w.Why != "" || w.Rejected != "":
		return PinBlocked, why
	}
	return PinNew, why
}

// asks are the tools that a person is to be asked about: none, unless one is not
// offered for it.
func (f *pinFile) asks() []*pinEntry {
	var all []*pinEntry
	blocked := false
	for i := range f.Tools {
		e := &f.Tools[i]
		if e.Waiting == nil || e.Waiting.Rejected != "" || f.leftOut(e.Tool) != "" {
			continue
		}
		state, _ := e.state()
		blocked = blocked || state != PinNew
		all = append(all, e)
	}
	if !blocked {
		return nil
	}
	return all
}

// pinned is what is kept, for who looks at it.
func (f *pinFile) pinned(path string) Pinned {
	all := Pinned{Server: f.Server, Identity: f.Identity, First: f.First, Tools: make([]Pin, len(f.Tools)), Answer: f.Answer, file: path}
	is := who{server: f.Server, identity: f.Identity, dir: f.Dir}
	for i := range f.Tools {
		e := &f.Tools[i]
		p := Pin{Tool: e.Tool}
		p.State, p.Why = e.state()
		if a := e.Accepted; a != nil {
			p.Accepted, p.Digest, p.Findings, p.Since, p.By = a.Definition, a.Digest, a.Findings, a.Since, a.By
		}
		if w := e.Waiting; w != nil {
			p.Now, p.Digest, p.Findings, p.Since, p.By = w.Definition, w.Digest, w.Findings, w.Since, ""
			p.Rejected, p.RenameOf = w.Rejected, w.RenameOf
		}
		if by := f.leftOut(e.Tool); by != "" && p.State != PinGone {
			p.State, p.Rejected = PinBlocked, by
			p.Why = strings.TrimPrefix(p.Why+"; "+outAdvice(by, f.Server), "; ")
		}
		p.Key = is.key(p.Digest)
		all.Tools[i] = p
	}
	return all
}

// digestOf binds an answer to what is shown.
func (f *pinFile) digestOf(tools map[string]string) string {
	names := make([]string, 0, len(tools))
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	all := []string{"pins", f.Server, f.Identity}
	for _, name := range names {
		all = append(all, name, tools[name])
	}
	return policy.Digest(all...)
}

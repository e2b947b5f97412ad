package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// byPins is the rule of questions about pins.
const byPins = "pins"

// pinsNamed is what stands in the place of a tool in a question about the pins of a
// server. No tool has a name with blanks.
func pinsNamed(server string) string { return "pins of " + server }

// pinInput is what such a question shows as its arguments.
type pinInput struct {
	Server string            `json:"server"`
	Tools  map[string]string `json:"tools"` // digests, by name
}

func aboutPins(q *policy.Question) bool {
	return q.Rule == byPins && q.Source.Name != "" && q.Tool == pinsNamed(q.Source.Name)
}

// Asks are the tools that a question is about whether they are accepted; none: it is
// another question.
func (*Pins) Asks(q policy.Question) []string {
	if !aboutPins(&q) {
		return nil
	}
	var in pinInput
	if json.Unmarshal([]byte(q.Input), &in) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(in.Tools))
}

// stillAsks reports whether what is kept has a question open, and all that it shows is to
// be asked about still.
func (f *pinFile) stillAsks(id string) bool {
	if f.Question == nil || f.Question.ID != id {
		return false
	}
	waits := make(map[string]string)
	for _, e := range f.asks() {
		waits[e.Tool] = e.Waiting.Digest
	}
	for name, digest := range f.Question.Tools {
		if waits[name] != digest {
			return false
		}
	}
	return true
}

// answered reports whether tools, digests by name, are accepted, or rejected, so.
func (f *pinFile) answered(tools map[string]string, allow bool) bool {
	by := f.refusals()
	for name, digest := range tools {
		i := slices.IndexFunc(f.Tools, func(e pinEntry) bool { return e.Tool == name })
		accepted := i >= 0 && f.Tools[i].Accepted != nil && f.Tools[i].Accepted.Digest == digest
		if allow && !accepted || !allow && by(name, digest) == "" {
			return false
		}
	}
	return true
}

// asker is the file of a server that a question was put for, and what it shows; "":
// none is, so that an answer would be about nothing.
func (p *Pins) asker(q *policy.Question) (path string, shown map[string]string, err error) {
	files, err := p.files()
	if err != nil {
		return "", nil, err
	}
	var faults []error
	for _, f := range files {
		if f.server != q.Source.Name {
			continue
		}
		kept, _, err := readPins(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was just taken away
		case err != nil:
			faults = append(faults, err)
		case kept.stillAsks(q.ID):
			return f.path, kept.Question.Tools, nil
		}
	}
	return "", nil, errors.Join(faults...) // one that cannot be read may be it
}

// Answer answers a question about pins, and does what was answered; of another
// question it only reports that it is none. Nil is that all it shows is accepted, or
// rejected, as it was shown. One that is about nothing any more is withdrawn.
func (p *Pins) Answer(ctx context.Context, inbox policy.Inbox, q policy.Question, a policy.Answer) (about bool, err error) {
	if !aboutPins(&q) {
		return false, nil
	}
	if a.Input != nil {
		return true, errors.New("pins: got edited arguments: what a server says of its tools is accepted or rejected as it is")
	}
	path, shown, err := p.asker(&q)
	switch {
	case err != nil:
		return true, fmt.Errorf("pins: %w", err)
	case path == "":
		_, err := p.Withdraw(ctx, inbox, q.Source.Name)
		return true, errors.Join(fmt.Errorf("the tools of server %s are not what it asks about any more, or were answered for: it is withdrawn (ferrule pins diff %s shows what waits)", q.Source.Name, q.Source.Name), err)
	}
	if err := inbox.Answer(ctx, q.ID, a); err != nil {
		return true, err
	}
	if _, _, err := takeAnswer(ctx, path, inbox, q.ID); err != nil {
		return true, fmt.Errorf("it is answered, and counts when the server is next reached: %w", err)
	}
	// Another process may have been faster.
	if kept, _, err := readPins(path); err != nil || !kept.answered(shown, a.Allow) {
		return true, errors.Join(fmt.Errorf("the tools of server %s have changed meanwhile: they are asked about again", q.Source.Name), err)
	}
	return true, nil
}

// Withdraw takes back the questions about the pins of a server that are about nothing
// any more: what they show was forgotten, answered for in another way, or has changed.
func (p *Pins) Withdraw(ctx context.Context, inbox policy.Inbox, server string) (n int, err error) {
	pending, err := inbox.Pending(ctx)
	if err != nil {
		return 0, err
	}
	var faults []error
	for i := range pending {
		q := &pending[i]
		if q.Source.Name != server || !aboutPins(q) {
			continue
		}
		path, _, err := p.asker(q)
		if err == nil && path == "" {
			if err = withdrawPins(ctx, inbox, q.ID); err == nil {
				n++
			}
		}
		faults = append(faults, err)
	}
	return n, errors.Join(faults...)
}

// withdrawPins takes back a question that is not to be answered any more.
func withdrawPins(ctx context.Context, inbox policy.Inbox, id string) error {
	err := inbox.Answer(ctx, id, policy.Answer{Withdrawn: true, By: "ferrule", Reason: "the tools of the server have changed again, or were answered for elsewhere"})
	if refusal := policy.Refusal(""); errors.As(err, &refusal) {
		return nil // it is over already
	}
	return err
}

// takeAnswer does what was answered to the open question of a file, while nobody else
// does; id is the one that is meant, "": any.
func takeAnswer(ctx context.Context, path string, inbox policy.Inbox, id string) (*pinFile, fs.FileInfo, error) {
	return changePins(path, func(had *pinFile) (*pinFile, error) {
		if had == nil || had.Question == nil || id != "" && had.Question.ID != id {
			return nil, nil
		}
		a, err := inbox.Use(ctx, had.Question.ID, had.Question.Digest)
		var refusal policy.Refusal
		switch {
		case errors.Is(err, policy.ErrWaiting):
			return nil, nil
		case errors.As(err, &refusal): // it was withdrawn, or who took the answer has not lived to keep it
			next := *had
			next.Question = nil
			return &next, nil
		case err != nil:
			return nil, fmt.Errorf("the answer to %s: %w", had.Question.ID, err)
		}
		by := a.By
		if by == "" {
			by = "somebody"
		}
		// Edited arguments are not what was shown.
		next, err := had.answer(had.Question.Tools, by, a.Allow && a.Input == nil, time.Now().UTC())
		if err != nil {
			copied := *had
			next = &copied // something is not what was shown: it is asked about again
		}
		next.Question = nil
		return next, nil
	})
}

package mcptool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PinAnswer is what somebody who was shown all tools of a server answered for it.
// The next one takes its place.
type PinAnswer struct {
	Said string    `json:"said"` // in a word of who has asked
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	// Out are tools that are not offered, however they change; Whole: none is, also
	// none that comes later.
	Out   []string `json:"out,omitempty"`
	Whole bool     `json:"whole,omitempty"`
	// Earlier: it was given for the server as it was before, by other arguments say, or
	// before somebody has removed it. What it leaves out stays out, and nobody has
	// answered for what the server is now.
	Earlier bool `json:"earlier,omitempty"`
}

// over is what is left of an answer when the server is another.
func (a *PinAnswer) over() *PinAnswer {
	if a == nil || !a.Whole && len(a.Out) == 0 {
		return nil
	}
	next := *a
	next.Earlier = true
	return &next
}

// same reports whether two are one answer.
func (a *PinAnswer) same(b *PinAnswer) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Said == b.Said && a.By == b.By && a.At.Equal(b.At) && a.Earlier == b.Earlier
}

// Settle notes an answer for a server whose tools were shown, and accepts some of
// them that wait, by name, exactly as they were shown. Where any tool is not what
// was shown any more, or somebody else has answered meanwhile, nothing is noted.
func (p *Pins) Settle(shown Pinned, a PinAnswer, accept ...string) error {
	if shown.file == "" {
		return fmt.Errorf("pins: server %q was never seen: connect to it first", shown.Server)
	}
	if strings.TrimSpace(a.By) == "" {
		return errors.New("pins: got nobody who answers, want a name")
	}
	wanted := make(map[string]string, len(accept))
	for _, name := range accept {
		i := slices.IndexFunc(shown.Tools, func(t Pin) bool { return t.Tool == name })
		if i < 0 || shown.Tools[i].Now == nil {
			return fmt.Errorf("pins: server %s has no tool %q that waits", shown.Server, Visible(name))
		}
		wanted[name] = shown.Tools[i].Digest
	}
	a.Out = slices.Sorted(slices.Values(a.Out))
	_, _, err := changePins(shown.file, func(kept *pinFile) (*pinFile, error) {
		if kept == nil {
			return nil, errors.New("what was known of it is gone: look again")
		}
		if err := kept.stillAs(shown); err != nil {
			return nil, err
		}
		next, err := kept.answer(wanted, a.By, true, a.At)
		if err != nil {
			return nil, err
		}
		next.Answer = &a
		return next, nil
	})
	if err != nil {
		return fmt.Errorf("pins: server %s: %w", shown.Server, err)
	}
	return nil
}

// Retire ends what was answered for a server, however it was reached: nobody has
// answered for it any more. What the answers left out stays out until the next one,
// and what was accepted stays accepted.
func (p *Pins) Retire(server string) error {
	return p.each(server, func(path string) error {
		_, _, err := changePins(path, func(kept *pinFile) (*pinFile, error) {
			if kept == nil || kept.Answer.over().same(kept.Answer) {
				return nil, nil
			}
			next := *kept
			next.Answer = kept.Answer.over()
			return &next, nil
		})
		return err
	})
}

// stillAs reports why what is kept is not what was shown.
func (f *pinFile) stillAs(shown Pinned) error {
	if !f.Answer.same(shown.Answer) {
		return errors.New("somebody else has answered for it meanwhile: look again")
	}
	now := f.pinned("")
	for i, t := range now.Tools {
		if i >= len(shown.Tools) || shown.Tools[i].Tool != t.Tool || shown.Tools[i].Digest != t.Digest || shown.Tools[i].State != t.State {
			return fmt.Errorf("tool %q is not what was shown any more: look again", visibleLine(t.Tool, 80))
		}
	}
	if len(now.Tools) < len(shown.Tools) {
		return fmt.Errorf("tool %q is not there any more: look again", visibleLine(shown.Tools[len(now.Tools)].Tool, 80))
	}
	return nil
}

// leftOut is who has left a tool out by an answer for the server; "": nobody.
func (f *pinFile) leftOut(tool string) string {
	a := f.Answer
	if a == nil {
		return ""
	}
	if a.Whole {
		return a.By
	}
	if _, out := slices.BinarySearch(a.Out, tool); out {
		return a.By
	}
	return ""
}

// outAdvice is what a person can do about a tool that somebody has left out.
func outAdvice(by, server string) string {
	return fmt.Sprintf("%s has left it out (to answer anew: ferrule trust %s)", visibleLine(by, 80), server)
}

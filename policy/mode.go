package policy

import (
	"fmt"
	"slices"
)

// Mode is how far a session lets calls run without asking. The operator or a
// person sets it, never a call. What is no mode counts as ModeRead.
type Mode string

// The modes.
const (
	ModeAsk     Mode = ""        // as the rules say
	ModeEdit    Mode = "edit"    // and what can be undone, within the workspace, where no rule speaks
	ModeRead    Mode = "read"    // only calls that read
	ModeAuto    Mode = "auto"    // a question is a yes, unless the tool or the flow of data asks, or it destroys
	ModeObserve Mode = "observe" // a question is a yes, and is recorded
	ModeDryRun  Mode = "dry-run" // nothing runs; what would run is shown
)

// String is the word used in configuration, rules and records.
func (m Mode) String() string {
	if m == ModeAsk {
		return "ask"
	}
	return string(m)
}

// MarshalText writes the word.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word; "ask" and "" are the same.
func (m *Mode) UnmarshalText(text []byte) error {
	read := Mode(text)
	if read == "ask" {
		read = ModeAsk
	}
	if !slices.Contains(modes(), read) {
		return fmt.Errorf("mode: got %q, want ask, edit, read, auto, observe or dry-run", text)
	}
	*m = read
	return nil
}

func modes() []Mode {
	return []Mode{ModeAsk, ModeEdit, ModeRead, ModeAuto, ModeObserve, ModeDryRun}
}

// Known reports whether it is one of the modes.
func (m Mode) Known() bool { return slices.Contains(modes(), m) }

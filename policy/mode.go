package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
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

// inMode is what the mode of the session makes of a ruling. It can turn a
// question into a yes, and in ModeRead anything into a no; a no stays.
func (c Case) inMode(r Ruling) Ruling {
	switch c.Mode {
	case ModeAsk:
	case ModeEdit:
		if r.Asks() && r.By == ByDefault && !r.Firm && c.undoable() {
			return Ruling{By: ByMode, Decision: tool.Decision{Verdict: tool.Allow, Rule: "mode edit", Reason: "it can be undone, and stays within the workspace"}}
		}
	case ModeAuto:
		if r.Asks() && !r.Firm && (c.Confined || !c.Claims.Destructive()) && !c.protects() {
			return r.yes(c.Mode)
		}
	case ModeObserve, ModeDryRun:
		if r.Asks() {
			return r.yes(c.Mode)
		}
	default: // ModeRead, and what is no mode
		if r.Verdict != tool.Deny && !c.Claims.ReadOnly {
			return Ruling{By: ByMode, Decision: tool.Decision{
				Verdict: tool.Deny, Rule: "mode " + c.Mode.String(), Reason: "only calls that claim to read may run",
				Message: "Only calls that read may run now.",
			}}
		}
	}
	return r
}

// yes is a question that the mode answers. That it would have been asked is on
// the record.
func (r Ruling) yes(m Mode) Ruling {
	return Ruling{By: ByMode, Decision: tool.Decision{Verdict: tool.Allow, Rule: "mode " + m.String(), Reason: strings.TrimSuffix("would ask: "+first(r.Reason, r.Rule), ": ")}}
}

// undoable reports whether ModeEdit lets a call be: it claims that what it does
// can be undone, stays on this machine, and touches the workspace only.
func (c Case) undoable() bool {
	trusted := c.Trust == tool.Own || c.Trust == tool.BuiltIn
	if !trusted || !c.Claims.Reversible || !c.Claims.Local || c.Claims.Touches == nil || c.Workspace == "" {
		return false
	}
	home := tool.Access{Resource: "file:" + strings.TrimSuffix(rooted(c.Workspace), "/")}
	return !slices.ContainsFunc(c.Claims.Touches, func(a tool.Access) bool { return !home.Covers(a) }) && !c.protects()
}

// protects reports whether a call says that it changes what the rules stand in.
func (c Case) protects() bool {
	paths := c.Protected
	if w := strings.TrimSuffix(rooted(c.Workspace), "/"); c.Workspace != "" {
		paths = append(slices.Clip(paths), w+"/.ferrule", w+"/ferrule.yaml")
	}
	return slices.ContainsFunc(c.Claims.Touches, func(a tool.Access) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return a.Write && a.Meets(tool.Access{Resource: "file:" + rooted(p)}) })
	})
}

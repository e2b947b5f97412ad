package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Rules are how the flow of data is watched. They are not changed once a [Ledger] has
// it. The zero value asks, and believes what tools claim as far as a request does.
type Rules struct {
	Mode Mode // "": enforce
	// Labels are the operator's word on tools, by the name that models call them, by
	// source__name, or by source__* for all of a source. What the most exact one does
	// not speak of, the others do.
	Labels map[string]Label
	// Trusted are flows that are not asked for.
	Trusted []Trusted
	// OnlyOne are capabilities of which a session has one, whichever comes first: an
	// agent that may read untrusted content or act outside, not both. A call that has
	// another, or two of them, is denied. Empty: each may have all.
	OnlyOne []Capability
}

// Mode is what is done about a flow that should be asked for.
type Mode string

// The modes. Off keeps no ledger; shadow only records what it would have asked.
const (
	Off     Mode = "off"
	Shadow  Mode = "shadow"
	Enforce Mode = "enforce"
)

// Capability is what a call can do, or bring, that matters to the flow of data.
type Capability string

// The capabilities.
const (
	External    Capability = "external"    // reaches outside this machine
	Destructive Capability = "destructive" // what it changes may be lost
	Credential  Capability = "credential"  // touches passwords, keys or who may do what
	Untrusted   Capability = "untrusted"   // returns what strangers wrote
	Sensitive   Capability = "sensitive"   // returns what is private
)

func capabilities() []Capability {
	return []Capability{External, Destructive, Credential, Untrusted, Sensitive}
}

// Label is what an operator says of a tool. What neither list names stays as the
// tool's claims, source and sensitivity have it.
type Label struct {
	Is, Not []Capability
	// To names the arguments that say where data goes; nil: by their names and
	// values.
	To []string
}

// Trusted is a flow that an operator trusts. Each field is a name or a pattern
// with *; all must fit, and an empty one fits nothing.
type Trusted struct {
	From string // the source or the tool (source__name) that content came from
	To   string // the tool it goes to
	At   string // the destination: an address, a host, or the value of an argument
}

// Check says what is wrong with the settings.
func (f *Rules) Check() error {
	switch f.mode() {
	case Off, Shadow, Enforce:
	default:
		return fmt.Errorf("flow: mode: got %q, want %q, %q or %q", f.Mode, Off, Shadow, Enforce)
	}
	for name, l := range f.Labels {
		for _, c := range slices.Concat(l.Is, l.Not) {
			if !slices.Contains(capabilities(), c) {
				return fmt.Errorf("flow: label of %q: got %q, want one of %q", name, c, capabilities())
			}
			if slices.Contains(l.Is, c) && slices.Contains(l.Not, c) {
				return fmt.Errorf("flow: label of %q: %s and not %s", name, c, c)
			}
		}
	}
	for i, c := range f.OnlyOne {
		if !slices.Contains(capabilities(), c) || slices.Contains(f.OnlyOne[:i], c) || len(f.OnlyOne) == 1 {
			return fmt.Errorf("flow: only one of: got %q, want two or more of %q, each once", f.OnlyOne, capabilities())
		}
	}
	for i, t := range f.Trusted {
		if t.From == "" || t.To == "" || t.At == "" {
			return fmt.Errorf("flow: trusted flow %d: got %+v, want from, to and at, each a name or a pattern with *", i+1, t)
		}
	}
	return nil
}

// mode is what counts. A word that is none enforces.
func (f *Rules) mode() Mode {
	switch {
	case f == nil || f.Mode == "":
		return Enforce
	}
	return f.Mode
}

// label is the operator's word on a tool, with that on its source.
func (f *Rules) label(r *tool.Request) Label {
	if f == nil || len(f.Labels) == 0 {
		return Label{}
	}
	all, found := Label{}, false
	for _, name := range []string{r.Name, r.OwnName(), r.Source.Name + "__*"} {
		switch l, ok := f.Labels[name]; {
		case ok && found:
			all = all.with(l)
		case ok:
			all, found = l, true
		}
	}
	return all
}

// with is the label, and what a less exact one says of what it does not speak of.
func (l Label) with(less Label) Label {
	spoken := slices.Concat(l.Is, l.Not)
	unspoken := func(all []Capability) (others []Capability) {
		for _, c := range all {
			if !slices.Contains(spoken, c) {
				others = append(others, c)
			}
		}
		return others
	}
	l.Is, l.Not = slices.Concat(l.Is, unspoken(less.Is)), slices.Concat(l.Not, unspoken(less.Not))
	if l.To == nil {
		l.To = less.To
	}
	return l
}

// says is what a label has to say of a capability, else what stands without it.
func (l Label) says(c Capability, without bool) bool {
	switch {
	case slices.Contains(l.Is, c):
		return true
	case slices.Contains(l.Not, c):
		return false
	}
	return without
}

// Has reports whether a call has a capability, by the operator's label, else by
// its claims and its tool. What is not known of a tool, it can. Whether a result is
// untrusted or sensitive is known for certain only once it is there.
func (f *Rules) Has(r *tool.Request, c Capability) bool {
	var without bool
	switch c {
	case External:
		without = !r.Claims.Local
	case Destructive:
		without = r.Claims.Destructive()
	case Credential:
		without = slices.ContainsFunc(r.Claims.Touches, func(a tool.Access) bool {
			kind, _, _ := strings.Cut(a.Resource, ":")
			return a.Write && (kind == "credential" || kind == "secret" || kind == "keyring")
		})
	case Untrusted:
		without = r.Source.Trust.Untrusted()
	case Sensitive:
		without = r.Tool != nil && r.Tool.OutputSensitivity >= tool.Secret
	default:
		return true
	}
	return f.label(r).says(c, without)
}

// trusts reports whether an operator trusts a flow.
func (f *Rules) trusts(from place, r *tool.Request, to destination) bool {
	if f == nil {
		return false
	}
	return slices.ContainsFunc(f.Trusted, func(t Trusted) bool {
		return (fits(t.From, from.source) || fits(t.From, from.name())) &&
			(fits(t.To, r.Name) || fits(t.To, r.OwnName())) && fits(t.At, to.value)
	})
}

// place is a tool that content came from.
type place struct{ source, tool string }

func (p place) name() string {
	if p.source == "" {
		return p.tool
	}
	return p.source + "__" + p.tool
}

// fits matches a pattern with * for any run of characters, whatever the case, in
// time that grows with the lengths added up.
func fits(pattern, s string) bool {
	pattern, s = strings.ToLower(pattern), strings.ToLower(s)
	if pattern == "" {
		return false
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

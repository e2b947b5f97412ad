package flow

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/tool"
)

// Match is how an argument equals what it was copied from.
type Match string

// The ways, surest first.
const (
	Exact      Match = "exact"
	Normalised Match = "normalised" // but for case, white space and encoding
	Substring  Match = "substring"  // a part of it
)

// Copied is an argument, or a part of one, that came from an earlier result.
type Copied struct {
	Argument   string `json:"argument"` // such as recipients[0]
	Start, End int    `json:"-"`        // the part of its value, in bytes
	How        Match  `json:"how"`

	Source    string `json:"source,omitempty"` // of the result; "": the program's own
	Tool      string `json:"tool"`
	Call      string `json:"call"` // Ferrule's id of the call it came from
	Untrusted bool   `json:"untrusted"`
	Sensitive bool   `json:"sensitive"`
}

// Verdict is what the flow of data says about one call. As JSON it is what records
// hold of it.
type Verdict struct {
	// Flows are those that a person must agree to, of a, b and c; none: nothing.
	Flows []string `json:"flows,omitempty"`
	// To are the destinations that nobody has named or agreed to, where flows are.
	To []string `json:"to,omitempty"`
	// Copied are the arguments that came from untrusted or sensitive results. They
	// are pointed out to a person whoever asks for the call.
	Copied []Copied `json:"copied,omitempty"`
	// Unseen is why arguments may have come from results that are not in Copied, where
	// flows are; "": they were compared with all of them.
	Unseen string `json:"unseen,omitempty"`
	// Refused is why it may not run whatever a person says; "": it may.
	Refused string `json:"refused,omitempty"`
	// Shadow: it is only recorded.
	Shadow bool `json:"shadow,omitempty"`

	keys []string // what a yes is remembered by
	self bool     // it goes to the tool alone: no argument says where
	// ends says how the operator can have it not asked for.
	ends string
	// never: it is refused in every session.
	never bool
}

// Asks reports whether a person should be asked; in shadow it is only recorded.
func (v Verdict) Asks() bool { return len(v.Flows) > 0 && !v.Shadow }

// Empty reports whether there is nothing to say about the call.
func (v Verdict) Empty() bool { return len(v.Flows) == 0 && len(v.Copied) == 0 && v.Refused == "" }

// Decision is the voice of the flow of data: it asks, denies, or is silent. In
// shadow it is silent and says what it would have asked. The reason is the same
// wherever the call is judged, also where nobody knows any more what was copied.
func (v Verdict) Decision() tool.Decision {
	d := tool.Decision{Verdict: tool.Silent}
	switch {
	case v.Refused != "":
		d = tool.Decision{
			Verdict: tool.Deny, Rule: "data flow (only one of)", Reason: v.Refused,
			Message: "What this call does is not allowed in a session that has done what this one has.",
		}
		if v.never {
			d.Message = "This tool may do two things of which a session may do only one, so it is not run in any. Whoever runs this can say which of them it does."
		}
		return d
	case len(v.Flows) == 0:
		return d
	}
	d.Rule, d.Reason = "data flow ("+strings.Join(v.Flows, ", ")+")", v.reason()
	if v.Shadow {
		d.Reason = "would ask: " + d.Reason
		return d
	}
	d.Verdict = tool.Ask
	if v.self {
		d.Reason += " (a yes is for this tool until the session ends"
	} else {
		d.Reason += " (a yes is for all that goes there until the session ends"
	}
	if v.ends != "" {
		d.Reason += "; not asked again: " + v.ends
	}
	d.Reason += ")"
	d.Message = "This call could carry data to where it should not go. A person must agree to it first."
	return d
}

func (v Verdict) reason() string {
	var parts []string
	for _, f := range v.Flows {
		switch f {
		case "a":
			parts = append(parts, "arguments may carry what came from earlier results out of this machine")
		case "b":
			parts = append(parts, "strangers' content and private data are in this session, and the call is a way out")
		case "c":
			parts = append(parts, "it destroys or touches credentials after strangers' content was read")
		}
	}
	text := strings.Join(parts, ", and ")
	switch {
	case v.self:
		return text
	case slices.Equal(v.Flows, []string{"c"}):
		return text + ", and it acts on " + list(v.To)
	}
	return text + ", and it goes to " + list(v.To)
}

// From says of each argument that was copied where it came from, a line each. Where
// none is known to be, it says why that is not sure.
func (v Verdict) From() []string {
	var from []string
	if len(v.Copied) == 0 && v.Unseen != "" {
		return []string{"arguments may have come from anything: " + v.Unseen}
	}
	for _, c := range v.Copied {
		if line := c.String(); !slices.Contains(from, line) {
			from = append(from, line)
		}
	}
	return from
}

// String says where an argument came from.
func (c Copied) String() string {
	var what []string
	if c.Untrusted {
		what = append(what, "untrusted")
	}
	if c.Sensitive {
		what = append(what, "sensitive")
	}
	return fmt.Sprintf("%s came from %s (%s, call %s, %s)", shown(c.Argument), place{c.Source, c.Tool}.name(), strings.Join(what, " and "), shown(c.Call), c.How)
}

func list(to []string) string {
	quoted := make([]string, 0, len(to))
	for _, t := range to[:min(len(to), 5)] {
		quoted = append(quoted, "“"+shown(t)+"”")
	}
	if more := len(to) - len(quoted); more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return strings.Join(quoted, ", ")
}

// shown is foreign text on one short line, without what could pass for ours.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '“' || r == '”' || r == ';' {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return s
}

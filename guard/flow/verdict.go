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
	Substring  Match = "substring"  // a long part of it
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

// Verdict is what the flow of data says about one call.
type Verdict struct {
	// Flows are those that a person must agree to, of a, b and c; none: nothing.
	Flows []string
	// To are the destinations that nobody has named or agreed to, where flows are.
	To []string
	// Copied are the arguments that came from untrusted or sensitive results. They
	// are pointed out to a person whoever asks for the call.
	Copied []Copied

	shadow bool
	keys   []string // what a yes is remembered by
}

// Asks reports whether a person should be asked; in shadow it is only recorded.
func (v Verdict) Asks() bool { return len(v.Flows) > 0 && !v.shadow }

// Decision is the voice of the flow of data: it asks, or is silent. In shadow it
// is silent and says what it would have asked.
func (v Verdict) Decision() tool.Decision {
	d := tool.Decision{Verdict: tool.Silent}
	if len(v.Flows) == 0 {
		return d
	}
	d.Rule, d.Reason = "data flow ("+strings.Join(v.Flows, ", ")+")", v.reason()
	if v.shadow {
		d.Reason = "would ask: " + d.Reason
		return d
	}
	d.Verdict = tool.Ask
	d.Message = "This call could carry data to where it should not go. A person must agree to it first."
	return d
}

func (v Verdict) reason() string {
	var parts []string
	for _, f := range v.Flows {
		switch f {
		case "a":
			parts = append(parts, "arguments that came from earlier results leave this machine")
		case "b":
			parts = append(parts, "strangers' content and private data are in this session, and the call is a way out")
		case "c":
			parts = append(parts, "it destroys or touches credentials after strangers' content was read")
		}
	}
	text := strings.Join(parts, ", and ") + "; it goes to " + list(v.To)
	var from []string
	for _, c := range v.Copied {
		from = append(from, c.String())
	}
	if from = slices.Compact(from); len(from) > 0 {
		text += "; " + strings.Join(from[:min(len(from), 5)], ", ")
	}
	return text
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

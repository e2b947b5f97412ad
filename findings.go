package ferrule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// Finding is something about a tool or a setting that works but should be
// looked at.
type Finding struct {
	Name string // of the tool, as models call it, or of the setting
	Text string
}

// maxAlwaysLoad is how many tools can always be in the prompt before that is a
// finding.
const maxAlwaysLoad = 10

// Findings lists what was found about the tools and settings as they are now.
func (rt *Runtime) Findings() []Finding {
	set := rt.freeze()
	set.found.Lock()
	all := slices.Clone(set.findings)
	set.found.Unlock()
	c := rt.reg.catalogue()
	for _, e := range c.list {
		all = append(all, e.found()...)
	}
	for _, h := range c.hidden {
		all = append(append(all, h.found()...), h.finding())
	}
	if c.always > maxAlwaysLoad {
		all = append(all, tooManyAlways(c.always))
	}
	return all
}

func (e *entry) found() (all []Finding) {
	for _, f := range e.findings {
		all = append(all, Finding{e.wire, f})
	}
	return all
}

// alwaysLoaded is how many of them are always in the prompt.
func alwaysLoaded(list []*entry) (n int) {
	for _, e := range list {
		if e.tool.AlwaysLoad {
			n++
		}
	}
	return n
}

func tooManyAlways(n int) Finding {
	return Finding{"always load", fmt.Sprintf("got %d tools that are always in the prompt, want at most %d", n, maxAlwaysLoad)}
}

// inspect says what is not wrong with a tool but not good either.
func inspect(e *entry) []string {
	t := e.tool
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	switch {
	case t.ClaimsOf == nil && t.Claims.Class() == "unsafe":
		say("no claims: it runs alone, counts as destructive and is asked for")
	case t.ClaimsOf == nil && !t.Claims.ReadOnly && !t.Claims.Idempotent && t.Key == nil:
		say("it writes and has no key: it is never run again after a failure")
	}
	if t.Timeout == tool.Unlimited {
		say("its runs have no time limit")
	}
	switch {
	case t.Limit.Chars == tool.Unlimited || t.Limit.Tokens == tool.Unlimited:
		say("its results have no limit")
	case t.Limit.Chars == 0 && t.Limit.Tokens == 0:
		say("no limit set for its results: 64,000 characters and 16,384 tokens")
	}
	if n := len(t.Examples); n > 5 {
		say("got %d examples, want at most 5: the others are not shown", n)
	}
	if n := utf8.RuneCountInString(t.Name); n < 3 {
		say("a name of %d characters is too short to choose by", n)
	}
	if words := len(strings.Fields(t.Description)); words < 3 {
		say("a description of %d words is too short to choose by", words)
	}
	return append(found, inspectInput(t.Input)...)
}

// inspectInput looks at the arguments that the schema names at its root.
func inspectInput(text json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage
		Required   []string
		Defs       map[string]struct{ Description string } `json:"$defs"`
	}
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	var bare []string
	for name, text := range s.Properties {
		var p struct {
			Description string
			Ref         string `json:"$ref"`
		}
		if json.Unmarshal(text, &p) != nil || p.Description == "" && s.Defs[strings.TrimPrefix(p.Ref, "#/$defs/")].Description == "" {
			bare = append(bare, name)
		}
	}
	var found []string
	if len(bare) > 0 {
		slices.Sort(bare)
		found = append(found, "arguments without description: "+strings.Join(bare, ", "))
	}
	optional := 0
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			optional++
		}
	}
	if optional > 12 {
		found = append(found, fmt.Sprintf("got %d optional arguments, want at most 12", optional))
	}
	return found
}

package ferrule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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
	for _, h := range set.hooks {
		for _, n := range h.Only.Names {
			if c.names[n] == nil {
				all = append(all, Finding{"hook " + h.Name, fmt.Sprintf("it is for the tool %q, and there is none of that name", n)})
			}
		}
	}
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
	case t.Limit.Chars == 0 && t.Limit.Tokens == 0 && e.source.Trust != tool.BuiltIn: // which mean the default
		say("no limit set for its results: 64,000 characters and 16,384 tokens")
	}
	if n := len(t.Examples); n > 5 {
		say("got %d examples, want at most 5: the others are not shown", n)
	}
	if n := len(t.Name); n < 3 {
		say("a name of %s is too short to choose by", plural(n, "character"))
	}
	if n := words(t.Description); n < 3 {
		say("a description of %s is too short to choose by", plural(n, "word"))
	}
	return append(found, inspectInput(t.Input)...)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// words is about how many words a text has. Where they are not set apart, two
// characters are one.
func words(text string) int {
	joined := 0
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			joined++
		}
	}
	return max(len(strings.Fields(text)), (joined+1)/2)
}

// inspectInput looks at the arguments that the schema names at its root.
func inspectInput(text json.RawMessage) []string {
	type object = map[string]json.RawMessage
	root := decoded[object](text)
	defs := map[string]object{"$defs": decoded[object](root["$defs"]), "definitions": decoded[object](root["definitions"])}
	described := func(text json.RawMessage) bool { return decoded[string](decoded[object](text)["description"]) != "" }
	properties, required := decoded[object](root["properties"]), decoded[[]string](root["required"])
	var bare []string
	optional := 0
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name]
		ref, _ := strings.CutPrefix(decoded[string](decoded[object](p)["$ref"]), "#/")
		place, def, _ := strings.Cut(ref, "/")
		if !described(p) && !described(defs[place][def]) {
			bare = append(bare, name)
		}
		if !slices.Contains(required, name) {
			optional++
		}
	}
	var found []string
	if len(bare) > 0 {
		found = append(found, "arguments without description: "+strings.Join(bare, ", "))
	}
	if optional > 12 {
		found = append(found, fmt.Sprintf("got %d optional arguments, want at most 12", optional))
	}
	return found
}

// decoded is a part of a schema; what is not of that type is the zero value.
func decoded[T any](text json.RawMessage) (v T) {
	if json.Unmarshal(text, &v) != nil {
		return *new(T)
	}
	return v
}

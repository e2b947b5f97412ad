package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// geminiPartial is a call whose arguments come one by one.
type geminiPartial struct {
	call      tool.Call
	signature string
	whole     json.RawMessage // the arguments, where they came at once all the same
	args      partialValue
}

// part is the call as a part.
func (g *geminiPartial) part() Part {
	c := g.call
	switch {
	case g.whole != nil:
		c.Input = g.whole
	case g.args.names == nil:
		c.Input = json.RawMessage("{}")
	default:
		var w writer
		g.args.write(&w)
		c.Input = json.RawMessage(w)
	}
	p := Part{Kind: PartCall, Call: &c}
	if c.ID == "" && g.signature == "" {
		return p
	}
	var w writer
	w.open('{')
	geminiCall(&w, c.ID, c.Name, inputObject(c.Input))
	if g.signature != "" {
		w.text("thoughtSignature", g.signature)
	}
	w.close('}')
	p.Own, p.Of = json.RawMessage(w), "gemini"
	return p
}

// geminiPartialArg is a value somewhere in the arguments, or a piece of a string.
type geminiPartialArg struct {
	Path   string           `json:"jsonPath"`
	String *string          `json:"stringValue"`
	Number *json.Number     `json:"numberValue"`
	Bool   *bool            `json:"boolValue"`
	Null   *json.RawMessage `json:"nullValue"`
	// WillContinue: the string goes on.
	WillContinue bool `json:"willContinue"`
}

// partialValue is a value that grows: an object, an array or a leaf.
type partialValue struct {
	names   map[string]int // of an object: the place of each
	keys    []string
	items   []*partialValue // of an object or array
	array   bool
	text    []byte // of a string
	isText  bool
	goes    bool   // the string goes on
	literal string // of another leaf
}

// Bounds of what a path may say, so that a few bytes cannot make much.
const (
	maxPathDepth = 64
	maxPathItems = 1 << 16
)

// open reports whether a string in it still goes on.
func (v *partialValue) open() bool {
	return v.goes || slices.ContainsFunc(v.items, (*partialValue).open)
}

// set puts a value where its path says.
func (v *partialValue) set(arg *geminiPartialArg) error {
	steps, err := pathSteps(arg.Path)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if v, err = v.at(s); err != nil {
			return fmt.Errorf("path %.80q: %w", arg.Path, err)
		}
	}
	if v.names != nil || v.array {
		return fmt.Errorf("path %.80q: got a value for what has members", arg.Path)
	}
	switch {
	case arg.String != nil:
		if !v.isText || !v.goes {
			*v = partialValue{isText: true}
		}
		v.text = append(v.text, *arg.String...)
		v.goes = arg.WillContinue
	case arg.Number != nil:
		*v = partialValue{literal: arg.Number.String()}
	case arg.Bool != nil:
		*v = partialValue{literal: strconv.FormatBool(*arg.Bool)}
	case v.isText:
		v.goes = arg.WillContinue
	case arg.WillContinue: // only strings do
		*v = partialValue{isText: true, goes: true}
	default:
		*v = partialValue{literal: "null"}
	}
	return nil
}

// step is a name or an index of a path.
type step struct {
	name  string
	index int // -1: a name
}

// at is the value behind a step, which is made if it is not there.
func (v *partialValue) at(s step) (*partialValue, error) {
	if v.isText || v.literal != "" || v.names != nil && s.index >= 0 || v.array && s.index < 0 {
		return nil, fmt.Errorf("got a member of what is no %s", map[bool]string{true: "array", false: "object"}[s.index >= 0])
	}
	if s.index >= 0 {
		v.array = true
		if s.index > len(v.items) || s.index >= maxPathItems {
			return nil, fmt.Errorf("got index %d, want at most %d", s.index, min(len(v.items), maxPathItems-1))
		}
		if s.index == len(v.items) {
			v.items = append(v.items, &partialValue{})
		}
		return v.items[s.index], nil
	}
	if v.names == nil {
		v.names = map[string]int{}
	}
	i, there := v.names[s.name]
	if !there {
		i = len(v.items)
		v.names[s.name] = i
		v.keys, v.items = append(v.keys, s.name), append(v.items, &partialValue{})
	}
	return v.items[i], nil
}

// write writes the value as JSON.
func (v *partialValue) write(w *writer) {
	switch {
	case v.array:
		w.open('[')
		for _, item := range v.items {
			item.write(w)
		}
		w.close(']')
	case v.names != nil:
		w.open('{')
		for i, key := range v.keys {
			w.name(key)
			v.items[i].write(w)
		}
		w.close('}')
	case v.isText:
		w.string(string(v.text))
	case v.literal != "":
		w.raw([]byte(v.literal))
	default:
		w.raw([]byte("null"))
	}
}

// pathSteps reads a path such as $.days[0].name or $['a b'].
func pathSteps(path string) ([]step, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, fmt.Errorf("path: got %.80q, want it to begin with $", path)
	}
	var steps []step
	for rest != "" {
		var s step
		if s, rest, ok = nextStep(rest); !ok || len(steps) == maxPathDepth {
			return nil, fmt.Errorf("path: got %.80q, want names and indices", path)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 || steps[0].index >= 0 {
		return nil, fmt.Errorf("path: got %.80q, want a member of the arguments", path)
	}
	return steps, nil
}

// nextStep cuts the first step from a path.
func nextStep(path string) (step, string, bool) {
	if name, ok := strings.CutPrefix(path, "."); ok {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		return step{name[:end], -1}, name[end:], end > 0
	}
	inner, ok := strings.CutPrefix(path, "[")
	if !ok || inner == "" {
		return step{}, "", false
	}
	if quote := inner[0]; quote == '\'' || quote == '"' {
		var name []byte
		for i := 1; i < len(inner); i++ {
			switch c := inner[i]; {
			case c == '\\' && i+1 < len(inner):
				i++
				name = append(name, inner[i])
			case c == quote:
				rest, ok := strings.CutPrefix(inner[i+1:], "]")
				return step{string(name), -1}, rest, ok
			default:
				name = append(name, c)
			}
		}
		return step{}, "", false
	}
	digits, rest, ok := strings.Cut(inner, "]")
	n, err := strconv.Atoi(digits)
	return step{index: n}, rest, ok && err == nil && n >= 0
}

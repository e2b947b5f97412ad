package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// about is what a call is about, by the tool's Facts and its claims.
type about struct {
	facts   tool.Facts
	touches []tool.Access
	local   bool
}

// value is one thing that a call is about.
type value struct {
	kind  kind
	text  string   // a path or a host
	words []string // of a command
}

// aboutOf asks the tool. Where its Facts fail nothing is known.
func aboutOf(q *tool.Request) about {
	facts, err := q.Args.Facts()
	if err != nil {
		return about{}
	}
	return about{facts, q.Claims.Touches, q.Claims.Local}
}

// knows reports whether what a call is about is known, be it nothing.
func (a about) knows(k kind) bool {
	switch k {
	case kindCommand:
		return a.facts.Commands != nil
	case kindPath:
		return a.facts.Paths != nil || a.touches != nil
	case kindHost:
		return a.facts.Hosts != nil || a.local
	case kindArgs:
	}
	return false
}

// states reports whether the call is about anything of a kind.
func (a about) states(k kind) bool {
	for range a.each(k) {
		return true
	}
	return false
}

// each is everything of a kind that the call is about: what its Facts state, and
// the files that it claims to touch.
func (a about) each(k kind) iter.Seq[value] {
	return func(yield func(value) bool) {
		switch k {
		case kindCommand:
			for _, words := range a.facts.Commands {
				if !yield(value{k, "", words}) {
					return
				}
			}
		case kindPath:
			for _, p := range a.facts.Paths {
				if !yield(value{k, p, nil}) {
					return
				}
			}
			for _, t := range a.touches {
				file, ok := strings.CutPrefix(t.Resource, "file:")
				if file == "" {
					file = "/" // every file
				}
				if ok && !yield(value{k, file, nil}) {
					return
				}
			}
		case kindHost:
			for _, h := range a.facts.Hosts {
				if !yield(value{k, h, nil}) {
					return
				}
			}
		case kindArgs:
		}
	}
}

// unclear reports whether a command or a path has no one reading. A first word
// that is empty, or gives a variable a value, does not say what is run.
func (v value) unclear() bool {
	if v.kind == kindCommand {
		return len(v.words) == 0 || v.words[0] == "" || strings.Contains(v.words[0], "=") ||
			slices.ContainsFunc(v.words, func(w string) bool { return strings.Contains(w, "\x00") })
	}
	return len(v.text) > maxPath || !absolute(v.text) || !clean(v.text)
}

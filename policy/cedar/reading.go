package cedar

import (
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/ferrule-dev/ferrule/tool"
)

// reading is what rules read of a call.
type reading struct {
	args     []argument
	patterns []pattern
	claims   []string
}

// argument is one that rules read, and its keys in the flat context.
type argument struct {
	name        string
	key, unheld types.String
	short       bool // like reads it
}

// readingOf is what stands under keys of the flat context. Whether an argument is
// short depends on all rules of the set, so that each rule says the same
// whichever others are evaluated with it.
func (s *Set) readingOf(keys map[string]bool) (r reading) {
	for key := range keys {
		switch name, isArgument := strings.CutPrefix(key, argsPrefix); {
		case isArgument:
			r.args = append(r.args, argument{name, types.String(key), types.String(unheldPrefix + name), s.reads.liked[key]})
		case strings.HasPrefix(key, claimsPrefix):
			r.claims = append(r.claims, strings.TrimPrefix(key, claimsPrefix))
		case isCovered(key) || isMet(key):
			r.patterns = append(r.patterns, s.patternOf(key))
		}
	}
	return r
}

// fill puts what is read of a call into the flat context. Arguments that Cedar
// cannot hold are returned.
func (r *reading) fill(q *tool.Request, m types.RecordMap) (unheld []string) {
	for i := range r.patterns {
		m[r.patterns[i].key] = types.Boolean(r.patterns[i].fits(q))
	}
	for _, word := range r.claims {
		m[types.String(claimsPrefix+word)] = claim(q, word)
	}
	if len(r.args) == 0 {
		return nil
	}
	arguments(q.Args.Text(), func(name, value string) {
		name = unquote(name)
		for i := range r.args {
			a := &r.args[i]
			if a.name != name {
				continue
			}
			if v, ok := (&holder{short: a.short}).value(value); ok {
				m[a.key] = v
			} else {
				m[a.unheld] = types.True
				unheld = append(unheld, string(a.key))
			}
			return
		}
	})
	return unheld
}

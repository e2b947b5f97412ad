package scan

import (
	"slices"
	"strings"
	"sync"
)

// engine are rules that run together.
type engine struct {
	rules  []checked
	ways   []way
	always []int     // rules that are not found by words
	owners [][]owner // of a word of the automaton
	auto   *automaton
}

// owner is a way that a word is an anchor of, and whether no letter stands
// behind it.
type owner struct {
	way    int
	border bool
}

func newEngine(rules []checked) *engine {
	e := &engine{rules: rules}
	index := make(map[string]int)
	var words []string
	room := mostStates
	for i, r := range rules {
		for _, w := range r.ways {
			for _, word := range w.anchors {
				room -= len(word)
			}
		}
		if len(r.ways) == 0 || room < 0 {
			e.always = append(e.always, i)
			continue
		}
		for _, w := range r.ways {
			w.rule = i
			for _, word := range w.anchors {
				plain := strings.TrimSuffix(word, border)
				at, ok := index[plain]
				if !ok {
					at = len(words)
					index[plain] = at
					words = append(words, plain)
					e.owners = append(e.owners, nil)
				}
				e.owners[at] = append(e.owners[at], owner{way: len(e.ways), border: plain != word})
			}
			e.ways = append(e.ways, w)
		}
	}
	e.auto = build(words, true)
	return e
}

// builtIn are the rules of this package, and builtInEngine what finds them:
// made once, when a text is first scanned, as they cost some milliseconds.
var (
	builtIn = sync.OnceValue(func() []checked { //nolint:gochecknoglobals // never changed once made
		var all []checked
		for _, r := range defaults() {
			c, err := parse(r)
			if err != nil {
				continue // a test misses what it should have found
			}
			all = append(all, c)
		}
		return all
	})
	builtInEngine = sync.OnceValue(func() *engine { return newEngine(builtIn()) }) //nolint:gochecknoglobals // never changed once made
)

// engineWith adds rules of an operator.
func engineWith(own []checked) func() *engine {
	if len(own) == 0 {
		return builtInEngine
	}
	return sync.OnceValue(func() *engine { return newEngine(slices.Concat(builtIn(), own)) })
}

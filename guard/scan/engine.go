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
	always []int    // rules that are not found by words
	words  [][]word // of a stem that the automaton finds
	auto   *automaton
}

// owner is a way that a word is an anchor of, and whether no letter stands
// behind it.
type owner struct {
	way    int
	border bool
	spots  []spot // see way
}

func newEngine(rules []checked) *engine {
	e := &engine{rules: rules}
	index := make(map[string]int)
	var words []string
	var owners [][]owner
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
			for i, word := range w.anchors {
				plain := strings.TrimSuffix(word, border)
				at, ok := index[plain]
				if !ok {
					at = len(words)
					index[plain] = at
					words = append(words, plain)
					owners = append(owners, nil)
				}
				owners[at] = append(owners[at], owner{len(e.ways), plain != word, w.spots[i]})
			}
			e.ways = append(e.ways, w)
		}
	}
	stems := e.stem(words, owners)
	e.auto = build(stems, true)
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

package scan

import (
	"slices"
	"sync"
)

// engine are rules that run together.
type engine struct {
	rules  []checked
	ways   []way
	always []int     // rules that are not found by words
	owners [][]int32 // of a word of the automaton: indexes of ways
	auto   *automaton
}

func newEngine(rules []checked) *engine {
	e := &engine{rules: rules}
	index := make(map[string]int)
	var words []string
	for i, r := range rules {
		if len(r.ways) == 0 {
			e.always = append(e.always, i)
		}
		for _, w := range r.ways {
			w.rule = i
			for _, word := range w.anchors {
				at, ok := index[word]
				if !ok {
					at = len(words)
					index[word] = at
					words = append(words, word)
					e.owners = append(e.owners, nil)
				}
				e.owners[at] = append(e.owners[at], int32(len(e.ways))) //nolint:gosec // few
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
				panic(err) // a test parses them all
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

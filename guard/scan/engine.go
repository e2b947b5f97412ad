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

// The rules of this package, and what finds them in texts and in definitions: made
// once, when one is first scanned, as they cost some milliseconds.
//
//nolint:gochecknoglobals // never changed once made
var (
	ofTexts          = sync.OnceValue(func() []checked { return parsed(defaults(), false) })
	ofDefinitions    = sync.OnceValue(func() []checked { return slices.Concat(ofTexts(), parsed(defaults(), true)) })
	textEngine       = sync.OnceValue(func() *engine { return newEngine(ofTexts()) })
	definitionEngine = sync.OnceValue(func() *engine { return newEngine(ofDefinitions()) })
)

// parsed are rules that look at definitions only, or those that do not.
func parsed(rules []Rule, definitions bool) (all []checked) {
	for _, r := range rules {
		if r.Definitions != definitions {
			continue
		}
		c, err := parse(r)
		if err != nil {
			continue // a test misses what it should have found
		}
		all = append(all, c)
	}
	return all
}

// finders find the rules of this package and those of an operator.
func finders(own []checked) (texts, definitions *finder) {
	if len(own) == 0 {
		return &finder{engine: textEngine}, &finder{engine: definitionEngine}
	}
	both := slices.DeleteFunc(slices.Clone(own), func(r checked) bool { return r.Definitions })
	return &finder{engine: sync.OnceValue(func() *engine { return newEngine(slices.Concat(ofTexts(), both)) })},
		&finder{engine: sync.OnceValue(func() *engine { return newEngine(slices.Concat(ofDefinitions(), own)) })}
}

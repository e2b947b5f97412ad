package ferrule

import (
	"encoding/json"
	"iter"
	"sync"
)

// usualContext is how many tokens a model reads at once, where nobody says.
const usualContext = 200_000

// contextShare is the part of a context, one in so many, that definitions may take
// before they are deferred.
const contextShare = 10

// Auto is [View.Defer] where the definitions of what the view offers, in the plain
// format, take more than a tenth of a context of so many tokens; else it is the view
// itself. What was loaded does not count: it would change what is offered. Of a
// picked view, what it was picked from decides, so that no choice changes it. 0: the
// context is not known, and taken for 200,000 tokens.
func (v *View) Auto(context int, o DeferOptions) *View {
	if context <= 0 {
		context = usualContext
	}
	switch {
	case v.picked != nil:
		return v.picked.from.Auto(context, o).offering(v.picked.names)
	case v.whole != nil || v.tools.fit(context/contextShare):
		return v
	}
	return v.Defer(o)
}

// Costs are the tools of [View.Offered], each with how many tokens its definition
// takes in the plain format. A definition is counted once, by CountTokens; without it
// by length.
func (v *View) Costs() iter.Seq2[Resolved, int] {
	return func(yield func(Resolved, int) bool) {
		for _, list := range [][]*entry{v.tools.offered, v.loaded.entries()} {
			for _, e := range list {
				if !yield(*e.shown(), e.cost.tokens()) {
					return
				}
			}
		}
	}
}

// fit reports whether what the set offers takes at most so many tokens. They are
// counted only where its length does not say enough.
func (s *toolset) fit(tokens int) bool {
	s.size.Do(func() {
		for _, e := range s.offered {
			s.bytes += e.cost.bytes()
		}
	})
	switch {
	case s.bytes <= tokens:
		return true
	case s.bytes/farTooLong > tokens:
		return false
	}
	for _, e := range s.offered {
		if tokens -= e.cost.tokens(); tokens < 0 {
			return false
		}
	}
	return true
}

// cost is how long the definition of a tool is.
type cost struct {
	bytes, tokens func() int // each found once
}

// costOnce is the cost of the entry as it is.
func (e *entry) costOnce() cost {
	text := func() []byte {
		b, err := json.Marshal(e.definition())
		if err != nil { // it is not offered either
			return nil
		}
		return b
	}
	return cost{
		bytes: sync.OnceValue(func() int { return len(text()) }),
		tokens: sync.OnceValue(func() int {
			if e.count == nil {
				return (e.cost.bytes() + bytesPerToken - 1) / bytesPerToken
			}
			return meter{count: e.count}.tokensIn([]string{string(text())})
		}),
	}
}

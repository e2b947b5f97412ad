package agent

import (
	"slices"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
)

// toolFacts are what the loop wants to know of tools that are called. They are looked
// up once in a turn.
type toolFacts struct {
	rt    *ferrule.Runtime
	known map[string]toolFact
	last  string // the name that was looked up last: most turns have few
	fact  toolFact
}

type toolFact struct {
	hint   string
	silent bool
}

// forget has tools looked up anew: they may have changed between two turns.
func (f *toolFacts) forget() { f.known, f.last, f.fact = nil, "", toolFact{} }

func (f *toolFacts) of(name string) toolFact {
	if name == f.last {
		return f.fact
	}
	fact, ok := f.known[name]
	if !ok {
		if r, found := f.rt.Find(name); found {
			fact = toolFact{r.Info.Model, r.Info.Silent}
		}
		if f.last != "" { // a second one
			if f.known == nil {
				f.known = map[string]toolFact{f.last: f.fact}
			}
			f.known[name] = fact
		}
	}
	f.last, f.fact = name, fact
	return fact
}

// tiers are from the lowest to the highest.
var tiers = []string{"fast", "balanced", "smart"} //nolint:gochecknoglobals // never changed

// hint is the model that the tools of a turn want: one that is named exactly, the first
// of them, else the highest tier; "": none.
func (f *toolFacts) hint(o *Open) string {
	best := ""
	for i := range o.Answer.Parts {
		p := &o.Answer.Parts[i]
		if p.Kind != provider.PartCall || p.Call == nil {
			continue
		}
		h := f.of(p.Call.Name).hint
		tier := slices.Index(tiers, h)
		switch {
		case h == "":
		case tier < 0:
			return h
		case tier >= slices.Index(tiers, best):
			best = h
		}
	}
	return best
}

package agent

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/provider"
)

// idsOf are the ids of all calls of a transcript.
func idsOf(t *Transcript) map[string]bool {
	ids := make(map[string]bool, 2*usualCalls)
	note := func(parts []provider.Part) {
		for _, p := range parts {
			if p.Kind == provider.PartCall && p.Call != nil {
				ids[p.Call.ID] = true
			}
		}
	}
	for _, m := range t.Said {
		note(m.Parts)
	}
	if t.Open != nil {
		note(t.Open.Answer.Parts)
	}
	return ids
}

// name gives a call an id that no other call of the conversation has: its own where it
// can be.
func (l *Live) name(p provider.Part) provider.Part {
	id := p.Call.ID
	for n := len(l.ids) + 1; id == "" || l.ids[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	l.ids[id] = true
	return renamed(p, id)
}

// named gives calls of a changed answer ids where they lack one, or have one that is
// another call's: those of the answer before it was changed are theirs to keep.
func (l *Live) named(parts []provider.Part, before provider.Answer) []provider.Part {
	own := make(map[string]bool)
	for _, c := range before.Calls() {
		own[c.ID] = true
	}
	out := make([]provider.Part, len(parts))
	for i, p := range parts {
		if p.Kind == provider.PartCall && p.Call != nil {
			if own[p.Call.ID] {
				delete(own, p.Call.ID)
			} else {
				p = l.name(p)
			}
		}
		out[i] = p
	}
	return out
}

// renamed is a call with an id. What the provider wrote of it holds its own id: where
// that was another, it does not go back.
func renamed(p provider.Part, id string) provider.Part {
	if p.Call.ID == id {
		return p
	}
	c := *p.Call
	if c.ID != "" {
		p.Own, p.Of = nil, ""
	}
	c.ID = id
	p.Call = &c
	return p
}

package scan

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// place is a list of words in a concatenation, and from which of its parts.
type place struct {
	words       []string
	texts       []string // all that the parts can be; nil: that is not known
	cost        float64
	first, last int
}

// spots says of each word where the parts begin and end, nil where that may be
// at many places.
func (p *place) spots() [][]spot {
	const most = 4
	all := make([][]spot, len(p.words))
	if p.texts == nil {
		return all
	}
	unclear := make([]bool, len(p.words))
	for _, t := range p.texts {
		plain := strings.ReplaceAll(strings.ReplaceAll(t, "\n", " "), border, "")
		led := len(plain) - len(strings.TrimLeft(plain, " "))
		whole := short(bare(t))
		i := slices.IndexFunc(p.words, func(w string) bool { return strings.Contains(whole, w) })
		w := p.words[i]
		at := strings.Index(whole, w)
		end := at + len(w) - strings.Count(whole[:at]+w, border) + led
		s := spot{end, len(plain) - end}
		if !slices.Contains(all[i], s) {
			all[i] = append(all[i], s)
		}
		unclear[i] = unclear[i] || len(all[i]) > most
	}
	for i := range all {
		if unclear[i] {
			all[i] = nil
		}
	}
	return all
}

// findPlaces gives the lists of which every match has a word each, in order.
func findPlaces(subs []*syntax.Regexp) []place {
	var places []place
	keep := func(texts []string, first, last int, all bool) {
		if words, cost := clean(texts); words != nil {
			if !all {
				texts = nil
			}
			places = append(places, place{words, texts, cost, first, last})
		}
	}
	run, from := []string(nil), 0 // what neighbours spell together
	for i, sub := range subs {
		words := exact(sub)
		if words == nil {
			keep(run, from, i-1, true)
			run = nil
			keep(rarest(conjunction(sub)), i, i, false)
			continue
		}
		if run == nil {
			run, from = words, i
			continue
		}
		if joined := cross(run, words); joined != nil {
			run = joined
			continue
		}
		// Too many: as much of what stands before it as there is room for.
		keep(run, from, i-1, true)
		run = nil
		for from++; run == nil; from++ {
			run = exact(&syntax.Regexp{Op: syntax.OpConcat, Sub: subs[from : i+1]})
		}
		from--
	}
	keep(run, from, len(subs)-1, true)
	return places
}

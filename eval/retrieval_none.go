package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/ferrule-dev/ferrule/search"
)

// noneFigure is how well it is told that none of a few tools serves a query, in
// percent but for AUC.
type noneFigure struct {
	Set        string  `json:"set"`
	None       int     `json:"none"` // queries that none of their candidates serves
	Some       int     `json:"some"` // queries that one does
	AUC        float64 `json:"auc"`
	Recognised float64 `json:"recognised"` // of none
	Lost       float64 `json:"lost"`       // of some
	OK         bool    `json:"ok"`
}

// none ranks the queries that have candidates against these alone. It says nothing
// where a set has no query that none of them serves.
func (s *retrievalSet) none(f *finder) (noneFigure, bool) {
	n := noneFigure{Set: s.name}
	place := make(map[string]string, len(s.tools))
	for i, t := range s.tools {
		place[t.ID] = strconv.Itoa(s.first + i)
	}
	type judged struct {
		fit  float64
		some bool
	}
	var all []judged
	recognised, lost := 0, 0
	for _, q := range s.queries {
		if len(q.Candidates) == 0 {
			continue
		}
		var ids []string
		for _, c := range q.Candidates {
			ids = append(ids, place[c])
		}
		a := f.index.Search(context.Background(), search.Query{Text: q.Query, Limit: 1, Only: func(d *search.Document) bool { return slices.Contains(ids, d.ID) }})
		some := len(q.GoldTools) > 0
		all = append(all, judged{a.Fit, some})
		switch {
		case some:
			if n.Some++; a.Fit < search.Fits {
				lost++
			}
		default:
			if n.None++; a.Fit < search.Fits {
				recognised++
			}
		}
	}
	if n.None == 0 || n.Some == 0 {
		return n, false
	}
	// The share of pairs of a query that a tool serves and one that none does which
	// stand in this order; equal ones count half.
	slices.SortFunc(all, func(a, b judged) int { return cmp.Compare(a.fit, b.fit) })
	pairs, below := 0.0, 0.0
	for i := 0; i < len(all); {
		end, some, none := i, 0.0, 0.0
		for ; end < len(all) && all[end].fit == all[i].fit; end++ {
			if all[end].some {
				some++
			} else {
				none++
			}
		}
		pairs += some * (below + none/2)
		below += none
		i = end
	}
	round := func(x float64, by float64) float64 { return math.Round(x*by) / by }
	n.AUC = round(pairs/float64(n.Some)/float64(n.None), 1e4)
	n.Recognised = round(100*float64(recognised)/float64(n.None), 100)
	n.Lost = round(100*float64(lost)/float64(n.Some), 100)
	n.OK = n.AUC >= 0.87 && n.Recognised >= 50 && n.Lost <= 4
	return n, true
}

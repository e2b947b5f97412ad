package search

import "math"

// Fits is the least [Answer.Fit] at which a hit is likely to serve the query. It
// is the least at which 6 of 10 queries that were given tools of others are told that
// none fits (docs/search.md).
const Fits = 0.18

// fit is how sure it is that a document serves the query, from 0 to 1: by how much
// its name and description have of the query's words, how much of its name is in the
// query, and what both mean. How much of the query is left over does not count: who
// asks says names, numbers and reasons that no tool has words for. The factors are
// those of a logistic regression.
func (x *Index) fit(p *parsed, c *candidate, meant bool) float64 {
	const own = 1<<InName | 1<<InDescription | 1<<InTags
	said, named := 0.0, 0
	for i := range p.terms {
		fields, _ := p.terms[i].has(c.slot)
		if fields&own != 0 {
			said += p.terms[i].weight
		}
		if fields&(1<<InName) != 0 {
			named++
		}
	}
	said /= math.Log(float64(x.count) + 1)
	covers := float64(named) / float64(max(x.names[c.slot], 1))
	angle := float64(c.angle)
	if !meant {
		angle = 0.5 // as most are that serve
	}
	return 1 / (1 + math.Exp(2.7-2.5*angle-2.3*covers-3.3*math.Log1p(said)))
}

package guard

import "github.com/ferrule-dev/ferrule/guard/scan"

// Finder is the scanner that counts: Scanner, or the one of the default rules, which
// is made when it is first needed, once for all.
func (g *Guard) Finder() *scan.Scanner { return g.scanner() }

package policy

// About is what tool a question is about, as far as grants are looked up by it.
type About struct {
	Source string // where the tool comes from
	Pin    string // that of tool.Info; "": it has none
}

// About reports whether the grant may answer a question about such a tool: whether it
// does, Answers says. It is what a ledger looks grants up by: of those with a Pin
// there may be thousands, of which each is for one tool.
func (g Grant) About(a About) bool {
	return g.Source == a.Source && (g.Pin == "" || g.Pin == a.Pin)
}

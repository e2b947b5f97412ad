package policy

// About reports whether the grant may answer a question about a tool with the Source
// and the Pin of like: whether it does, Answers says. It is what a ledger looks grants
// up by: of those with a Pin there may be thousands, of which each is for one tool.
func (g Grant) About(like Grant) bool {
	return g.Source == like.Source && (g.Pin == "" || g.Pin == like.Pin)
}

package guard

import "github.com/ferrule-dev/ferrule/guard/redact"

// Redacts reports whether something is taken out of what tools return and what is
// put on the record: keys, tokens, personal data.
func (g *Guard) Redacts() bool { return g != nil && (g.Keys != nil || g.Personal != 0) }

// Redactor takes it out of the texts of one session; nil: nothing is taken out.
func (g *Guard) Redactor() *redact.Redactor {
	if !g.Redacts() {
		return nil
	}
	o := redact.Options{Secrets: g.Keys, Personal: g.Personal}
	if o.Secrets == nil {
		o.Secrets = redact.None{}
	}
	return redact.New(o)
}

package guard

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// Look is Clean for what a source says beside the content of results, in JSON: what
// else a gateway hands on of them, data of errors, what a server asks a client's
// model. Names of members stay: programs read them.
func (g *Guard) Look(r *tool.Request, said json.RawMessage) (json.RawMessage, Report) {
	how, closed := g.how(r, r.Source.Trust)
	if how == Pass && !closed {
		return said, Report{How: how}
	}
	c := cleaner{scanner: g.scanner(), how: how, values: true}
	said, _ = c.json(said)
	return said, c.report(closed)
}

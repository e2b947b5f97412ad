package mcptool

import (
	"crypto/sha256"
	"encoding/json"
)

// mostRenames bounds how many tools are compared with how many.
const mostRenames = 200

// partSums are what a definition says, to be compared with others quickly: a file has
// many, and is locked meanwhile.
type partSums struct {
	all, input [sha256.Size]byte // all but name and title
}

func partSumsOf(definition json.RawMessage) (p partSums) {
	input, _ := member(definition, "inputSchema")
	p.input = sha256.Sum256(input)
	p.all = sha256.Sum256(setMembers(definition, pair{"name", nil}, pair{"title", nil}))
	return p
}

// renames points out which of the tools that wait may be one that is gone: it says
// the same of itself, or takes the same and has a similar name.
func (f *pinFile) renames() {
	var gone, fresh []*pinEntry
	for i := range f.Tools {
		switch e := &f.Tools[i]; {
		case e.Gone && e.Accepted != nil && len(gone) < mostRenames:
			gone = append(gone, e)
		case e.Accepted == nil && e.Waiting != nil && e.Waiting.RenameOf == "" && len(fresh) < mostRenames:
			fresh = append(fresh, e)
		}
	}
	if len(gone) == 0 || len(fresh) == 0 {
		return
	}
	was := make([]partSums, len(gone))
	for i, e := range gone {
		was[i] = partSumsOf(e.Accepted.Definition)
	}
	for _, e := range fresh {
		is, of := partSumsOf(e.Waiting.Definition), ""
		for i, old := range gone {
			if was[i].all == is.all {
				of = old.Tool
				break // none fits better
			}
			if was[i].input == is.input && similar(old.Tool, e.Tool) {
				of = old.Tool
			}
		}
		if of != "" {
			form := *e.Waiting
			form.RenameOf = of
			e.Waiting = &form
		}
	}
}

package guard

import (
	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/tool"
)

// Stream takes out of a text that comes in pieces what Clean would take out of the
// whole; nil: nothing is taken out. However it is cut, the same passes.
func (g *Guard) Stream(r *tool.Request, trust tool.Trust) *scan.Stream {
	switch how, _ := g.how(r, trust); {
	case how.strips():
		return g.scanner().Strainer(scan.StripFindings)
	case how.wraps():
		return g.scanner().Strainer(scan.StripUnseen)
	}
	return nil
}

// CleanUpdate takes out of what a call says by the way what Clean would take out of
// a result.
func (g *Guard) CleanUpdate(r *tool.Request, trust tool.Trust, u *tool.Update) {
	how, _ := g.how(r, trust)
	if !how.strips() && !how.wraps() {
		return
	}
	c := cleaner{scanner: g.scanner(), how: how}
	u.Text, u.Message = c.text(u.Text), c.text(u.Message)
	if u.Content != nil {
		b := *u.Content
		c.block(&b)
		u.Content = &b
	}
}

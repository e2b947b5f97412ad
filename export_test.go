package ferrule

import "github.com/ferrule-dev/ferrule/tool"

// SetClean sets phase 10, which no setting of a host reaches yet.
func SetClean(rt *Runtime, f func(*tool.Request, tool.Result) tool.Result) {
	rt.freeze().clean = f
}

// SessionOf is the session that a view belongs to.
func SessionOf(v *View) *Session { return v.session }

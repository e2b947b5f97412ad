package ferrule

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// Look has the guard look through what a source says to a client beside the content
// of results, in JSON, and take out what is to be taken out. The request says who says
// it: Source, Tool, Name. Events say what was found, and what must not be handed on
// (Report.Unsafe).
func (s *Session) Look(r *tool.Request, said json.RawMessage) (clean json.RawMessage, report guard.Report) {
	set := &s.rt.set
	what := ""
	defer func() {
		if p := recover(); p != nil { // of a rule of the host's: nobody has looked at it
			clean, report = nil, guard.Report{How: guard.Flag, Unsafe: true}
			what = "the scan failed: " + thrown(p).Error()
		}
		if what == "" || !set.noted() {
			return
		}
		what = r.Name + ", beside its content: " + what
		if len(report.Findings) > 0 {
			set.emit(audit.Event{Kind: audit.Found, Session: s.caller.Session, By: "guard", Text: what})
		}
		if report.Unsafe {
			set.emit(audit.Event{Kind: audit.Blocked, Session: s.caller.Session, By: "guard", Text: what})
		}
	}()
	clean, report = set.guard.Look(r, said)
	what = report.String()
	return clean, report
}

package ferrule

import (
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// SessionOf is the session that a view belongs to.
func SessionOf(v *View) *Session { return v.session }

// Histories is how many runs of agents a session remembers for loops.
func Histories(s *Session) int {
	h := &s.conv.histories
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.of)
}

// Rewrite writes every line of a recording again, at no time.
func Rewrite(p *Replay) (text []byte) {
	for _, s := range p.sessions {
		for _, l := range s.lines {
			w := *l
			w.at = time.Time{}
			text = w.append(text)
		}
	}
	return text
}

// WriteLine writes one line of a usual call.
func WriteLine(r *Recorder, call tool.Call, res tool.Result) error {
	return r.write(&line{session: sessionKey{"", localPrincipal, "s"}, turn: 1, call: call, isJSON: true, result: res})
}

//go:build unix

package mcptool

import (
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestRemoteProcesses(t *testing.T) {
	t.Run("M1 no process is left when the hub is closed", func(t *testing.T) {
		held := newHolders(t)
		h := &Hub{Runtime: allowAll(), Servers: []Server{child(t, "old", childPipe+"="+held.path, childLog+"="+t.TempDir()+"/calls")}}
		start(t, h)
		session := h.Runtime.Session(tool.Caller{})
		for _, version := range bothEras {
			for range 2 {
				x := &testExchange{a: &testAudience{version: version}, raw: `{}`}
				if got := session.Call(withExchange(t.Context(), x), "old__pid", `{}`); got.Err != nil {
					t.Error(got.Err)
				}
			}
		}
		held.wantStarted(t, 5) // the hub's own, and one for each session
		closeHub(t, h)
		held.wantGone(t)
	})
}

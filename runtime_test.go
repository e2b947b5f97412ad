package ferrule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestCloseAll(t *testing.T) {
	t.Parallel()
	t.Run("D8 closing closes every session at once and waits for each", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt := lenient()
			done(t, rt.Add(checkedTool(t, slowTool("slow", 20*time.Second)), checkedTool(t, readerTool("read"))))
			all := make([]*ferrule.Session, 10)
			for i := range all {
				all[i] = rt.Session(tool.Caller{Session: fmt.Sprint(i)})
			}
			for _, s := range all[:3] {
				go s.Call(t.Context(), "slow", "{}")
			}
			time.Sleep(time.Second)
			closed := make(chan error)
			go func() { closed <- rt.Close(t.Context()) }()
			time.Sleep(time.Second)
			for i, s := range all {
				if res := s.Call(t.Context(), "read", "{}"); res.Err == nil || res.Err.Kind != tool.Aborted {
					t.Errorf("session %d: a call after Close says %s", i, res)
				}
			}
			began := time.Now()
			if err := <-closed; err != nil || time.Since(began) != 18*time.Second {
				t.Errorf("Close() = %v after %s, want nil after the 18 s that the calls still take", err, time.Since(began))
			}
		})
	})
}

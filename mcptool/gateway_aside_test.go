package mcptool

import (
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestGatewayAside(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 calls of one session that wait for their client hold up nobody, client of the "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const calls = 4
				ts := asksOnce()
				g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
				answer := make(chan struct{})
				k := meet(t, g, e, func(k *talker) {
					k.asked = func(string, json.RawMessage) (json.RawMessage, *Fault) {
						<-answer
						return json.RawMessage(`{"action":"accept"}`), nil
					}
				})
				var all sync.WaitGroup
				for range calls {
					all.Go(func() {
						r := k.must("tools/call", `{"name":"s__ask"}`)
						if e == newEra {
							<-answer
							state, _ := member(r, "requestState")
							r = k.must("tools/call", comeBack("s__ask", state))
						}
						if got := callText(r); got != `answered {"action":"accept"}` {
							t.Errorf("got %q", got)
						}
					})
				}
				synctest.Wait()
				if e == newEra { // questions wait a while for others
					time.Sleep(calls * roundTime)
				}
				if n := len(ts.heard("tools/call")); n != calls {
					t.Errorf("%d calls are at the server while their client thinks, want %d", n, calls)
				}
				close(answer)
				all.Wait()
			})
		})
	}
}

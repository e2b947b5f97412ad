package mcptool

import (
	"maps"
	"slices"
	"testing"
)

// A session of many calls kept each answer, and with it what net/http holds of the
// request, until it ended: 500 clients took 3.7 KB more with each call.
func TestHTTPKept(t *testing.T) {
	t.Run("M2 of a session of many calls only the last answers are kept", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		var ids []string
		for i := range 3 * maxFinished {
			all := streamOf(t, s.do("POST", rpc(i, "echo", `{}`), "Mcp-Session-Id", id)).rest()
			ids = append(ids, all[0].id)
		}
		for i, want := range map[int]int{0: 400, maxFinished: 400, len(ids) - 1: 200, len(ids) - maxFinished/2: 200} {
			if res := s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", ids[i]); res.StatusCode != want {
				t.Errorf("answer %d: got %d, want %d", i, res.StatusCode, want)
			}
		}
		s.door.mu.Lock()
		k := &s.sessions[id].kept
		s.door.mu.Unlock()
		k.mu.Lock()
		if len(k.tracks) > maxFinished+1 || len(k.order) > 2*(maxFinished+1) || k.size != s.kept.Load() {
			t.Errorf("got %d tracks, %d events and %d bytes (%d of all), want those of %d answers", len(k.tracks), len(k.order), k.size, s.kept.Load(), maxFinished)
		}
		k.mu.Unlock()
		s.do("DELETE", "", "Mcp-Session-Id", id)
		soonFrom(t, s.room(0).gone, "leave")
		if n := s.kept.Load(); n != 0 {
			t.Errorf("%d bytes are kept after the session, want 0", n)
		}
	})
	t.Run("M2 an answer that is kept holds nothing of the request", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		streamOf(t, s.do("POST", rpc(1, "echo", `{}`), "Mcp-Session-Id", id)).rest()
		s.door.mu.Lock()
		k := &s.sessions[id].kept
		s.door.mu.Unlock()
		k.mu.Lock()
		all := slices.Collect(maps.Values(k.tracks))
		k.mu.Unlock()
		if len(all) == 0 {
			t.Error("got no answer that is kept, want one")
		}
		for _, kept := range all {
			kept.mu.Lock()
			if kept.out != nil || kept.beat != nil {
				t.Errorf("got %v and %v, want neither who was there nor a timer that holds it", kept.out, kept.beat)
			}
			kept.mu.Unlock()
		}
	})
}

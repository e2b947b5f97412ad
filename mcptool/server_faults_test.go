package mcptool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

func TestServerFaults(t *testing.T) {
	done := func(*testCall) (json.RawMessage, error) { return says("done"), nil }
	tests := []struct {
		name, want string
		timeout    time.Duration
		call       method
	}{
		{"a call without an answer", "a call got no answer: server s did not answer within 300ms (once,", 300 * time.Millisecond, func(c *testCall) (json.RawMessage, error) {
			<-c.ctx.Done()
			return nil, c.ctx.Err()
		}},
		{"an answer to nothing", `it wrote what is of no use: an answer to nothing that was asked: id "nope" (3 times,`, 0, func(c *testCall) (json.RawMessage, error) {
			for range 3 {
				c.conn.send(message{id: json.RawMessage(`"nope"`), result: json.RawMessage("{}")})
			}
			return done(c)
		}},
		{"a flood of changes", "it said that its lists have changed: more than 20 times within 10s (once,", 0, func(c *testCall) (json.RawMessage, error) {
			for range 2 * maxChanges {
				c.notify("notifications/prompts/list_changed", "{}")
			}
			return done(c)
		}},
		{"nothing", "", 0, done},
	}
	for _, tt := range tests {
		t.Run("M1 what a server did wrong while a call ran is told: "+tt.name, func(t *testing.T) {
			ts := &testServer{methods: map[string]method{"tools/list": lists(), "tools/call": tt.call}}
			h := hubOf(t, map[string]*testServer{"s": ts})
			h.Cache, h.Servers[0].Timeout = t.TempDir(), tt.timeout
			start(t, h)
			_, _ = h.server("s").do(t.Context(), &testExchange{a: &testAudience{version: newVersion}}, "tools/call", nil) // it may fail
			check := func(h *Hub, want string) {
				t.Helper()
				if got := strings.Join(h.Status()[0].Faults, "|"); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			check(h, tt.want)
			closeHub(t, h)
			looks := hubOf(t, map[string]*testServer{"s": ts})
			looks.Noted, looks.Servers[0].Timeout = h.Cache, h.Servers[0].Timeout
			start(t, looks)
			check(looks, tt.want)
			another := hubOf(t, map[string]*testServer{"s": ts})
			another.Noted, another.Servers[0].Env = h.Cache, []string{"A=1"}
			start(t, another)
			check(another, "")
		})
	}
	t.Run("M1 a server that asks where no call runs is told of", func(t *testing.T) {
		s := serverOf(t, &testServer{old: true, methods: map[string]method{"tools/list": func(c *testCall) (json.RawMessage, error) {
			_, _ = c.ask("sampling/createMessage", "{}") // it is refused
			return lists()(c)
		}}})
		if got := strings.Join(s.status().Faults, "|"); !strings.HasPrefix(got, "it asked where no call ran: sampling/createMessage (once,") {
			t.Errorf("got %q, want what it asked", got)
		}
	})
	t.Run("M4 a tool that changed, and changed back, is told of", func(t *testing.T) {
		s := pinnedServer(t, t.TempDir(), nil, plainTool("x"))
		s.h.Cache = t.TempDir()
		start(t, s.h)
		changed := strings.Replace(plainTool("x"), "does it", "does more", 1)
		for range 3 { // it is one change
			s.now(changed)
		}
		s.want("-x")
		s.now(plainTool("x"))
		s.want("+x")
		const want = "it changed a tool: x: it is not what was accepted: description has changed (once,"
		if got := strings.Join(s.h.Status()[0].Faults, "|"); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("what is kept is bounded, whatever a server writes", func(t *testing.T) {
		s := serverOf(t, &testServer{methods: map[string]method{"tools/list": lists()}})
		for range 100 {
			s.wrote(strings.Repeat("\u00fc", maxFaultText))
		}
		if got := s.status().Faults; len(got) != 1 || len(got[0]) > 2*maxFaultText || !strings.Contains(got[0], "100 times") {
			t.Errorf("got %q, want one entry", got)
		}
	})
}

// A definition that is too long to be offered was kept whole, and any other of its
// page kept it too: they were parts of one message.
func TestLongDefinitionNotKept(t *testing.T) {
	long := `{"name":"long","description":"` + strings.Repeat("x", maxDefinition) + `","inputSchema":{"type":"object"}}`
	s := serverOf(t, &testServer{methods: map[string]method{"tools/list": lists(long, plainTool("short"))}})
	s.repin(t.Context()) // which judges what was kept
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tools.bad) != 1 || s.tools.bad[0].Tool != "long" || !strings.Contains(s.tools.bad[0].Why, "bytes, want at most") {
		t.Errorf("got %+v, want why it is not offered", s.tools.bad)
	}
	for _, d := range s.tools.tools {
		if cap(d.raw) > 4<<10 || cap(d.tidy) > 4<<10 {
			t.Errorf("%s: got %d and %d bytes that are kept, want those of a short one", d.name, cap(d.raw), cap(d.tidy))
		}
	}
}

func TestRememberOnce(t *testing.T) {
	s := pinnedServer(t, "", nil, plainTool("x"))
	s.h.Cache = t.TempDir()
	start(t, s.h)
	file := s.h.server("s").cacheFile()
	for _, step := range []struct {
		name  string
		tools []string
		wrote bool
	}{
		{"the same list", []string{plainTool("x")}, false},
		{"another", []string{plainTool("x"), plainTool("y")}, true},
		{"the same again", []string{plainTool("x"), plainTool("y")}, false},
		{"the first", []string{plainTool("x")}, true},
	} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		s.now(step.tools...)
		if _, err := os.Stat(file); (err == nil) != step.wrote {
			t.Errorf("M1 %s: written: %v, want %v", step.name, err == nil, step.wrote)
		}
	}
}

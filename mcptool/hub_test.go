package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
)

func toolNames(rt *ferrule.Runtime) []string {
	var names []string
	for r := range rt.All() {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

func TestHubStart(t *testing.T) {
	t.Run("M1 all servers are connected to at the same time", func(t *testing.T) {
		servers := map[string]*testServer{}
		var all sync.WaitGroup // each waits for the others
		for _, name := range []string{"a", "b", "c"} {
			all.Add(1)
			servers[name] = &testServer{new: true, methods: map[string]method{
				"tools/list": func(*testCall) (json.RawMessage, error) {
					all.Done()
					all.Wait()
					return lists(plainTool("t"))(nil)
				},
			}}
		}
		h := hubOf(t, servers)
		start(t, h)
		if got, want := toolNames(h.Runtime), []string{"a__t", "b__t", "c__t"}; !slices.Equal(got, want) {
			t.Errorf("tools: got %q, want %q", got, want)
		}
		for _, st := range h.Status() {
			if st.State != "ready" || st.Tools != 1 || st.Era != newVersion || st.Server != "test 1" {
				t.Errorf("got %+v, want it ready with one tool", st)
			}
		}
	})
	t.Run("M1 a server that does not answer holds up nobody", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"fast": {methods: map[string]method{"tools/list": lists(plainTool("t"))}}})
		h.Servers = append(h.Servers, Server{Name: "slow", Command: []string{"slow"}})
		fast := h.dial
		h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
			if s.Name == "slow" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return fast(ctx, s, who, hears)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-h.server("fast").settled
		if st := h.Status(); st[0].State != "ready" || st[1].State != "connecting" {
			t.Errorf("got %+v, want the first ready and the second connecting", st)
		} else if !strings.HasPrefix(st[1].Why, "it was started, and has not answered yet, for ") || st[0].Why != "" {
			t.Errorf("got %q and %q, want what the second is waited for", st[0].Why, st[1].Why)
		}
		if got := h.all(); len(got) != 1 || got[0].Name != "fast" {
			t.Errorf("known: got %d servers, want the fast one", len(got))
		}
		closeHub(t, h)
		if st := h.Status()[1]; st.State != "stopped" {
			t.Errorf("got %+v, want it stopped", st)
		}
	})
	t.Run("M1 what a server is waited for is told", func(t *testing.T) {
		asked, let := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(asked) })
		h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": func(c *testCall) (json.RawMessage, error) {
			once()
			<-let
			return lists(plainTool("t"))(c)
		}}}})
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-asked
		if st := h.Status()[0]; st.State != "connecting" || !strings.HasPrefix(st.Why, "it has answered, and its tools were asked for, for ") {
			t.Errorf("got %+v, want that its tools were asked for", st)
		}
		close(let)
		<-h.server("s").settled
		if st := h.Status()[0]; st.State != "ready" || st.Why != "" {
			t.Errorf("got %+v, want it ready", st)
		}
		closeHub(t, h)
	})
	t.Run("what cannot be a server is refused", func(t *testing.T) {
		for want, servers := range map[string][]Server{
			"without a name":        {{Command: []string{"x"}}},
			"neither a command":     {{Name: "x"}},
			"a command and a URL":   {{Name: "x", Command: []string{"x"}, URL: "http://x"}},
			"two servers":           {{Name: "x", URL: "http://x"}, {Name: "x", URL: "http://y"}},
			"it divides source and": {{Name: "a__b", URL: "http://x"}},
			"era: got \"2024\"":     {{Name: "x", URL: "http://x", Era: "2024"}},
		} {
			h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: servers}
			if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		}
	})
}

func TestHubCache(t *testing.T) {
	dir := t.TempDir()
	ts := &testServer{instructions: "be kind", methods: map[string]method{"tools/list": lists(plainTool("t"), `{"name": "u" , "inputSchema":{"type":"object"},"description":"a < b & \u00e9"}`)}}
	h := hubOf(t, map[string]*testServer{"s": ts})
	h.Cache = dir
	start(t, h)
	closeHub(t, h)
	if info, err := os.Stat(h.server("s").cacheFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file for its owner only", info, err)
	}
	away := func(ctx context.Context, _ *server, _ introduction, _ *listener) (link, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}

	t.Run("M1 tools are there before the server has answered", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": ts})
		h.Cache, h.dial = dir, away
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer closeHub(t, h)
		if got, want := toolNames(h.Runtime), []string{"s__t", "s__u"}; !slices.Equal(got, want) {
			t.Errorf("tools: got %q, want %q", got, want)
		}
		if g := h.server("s").greeting(); g == nil || g.era != newEra || g.instructions != "be kind" {
			t.Errorf("greeting: got %+v, want that of the last time", g)
		}
	})
	t.Run("M1 what did not change since is the very same tool", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": ts})
		h.Cache = dir
		var told []string
		h.watch(func(server, what string) { told = append(told, server+" "+what) })
		start(t, h)
		closeHub(t, h)
		if len(told) > 0 {
			t.Errorf("told: got %q, want nothing", told)
		}
	})
	t.Run("another command has another list", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": ts})
		h.Cache, h.dial = dir, away
		h.Servers[0].Command = []string{"/bin/other"}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer closeHub(t, h)
		if got := toolNames(h.Runtime); len(got) > 0 {
			t.Errorf("tools: got %q, want none", got)
		}
	})
	t.Run("a file that is none is not used", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": ts})
		h.Cache, h.dial = t.TempDir(), away
		if err := os.WriteFile(h.Cache+"/s.json", []byte(`{"form":1,"tools":[`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		closeHub(t, h)
	})
}

func TestServerRestart(t *testing.T) {
	t.Run("M1 a server that is away is tried again, ever less often", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := hubOf(t, nil)
			h.Servers = []Server{{Name: "s", Command: []string{"x"}}}
			var tries []time.Time
			h.dial = func(context.Context, *server, introduction, *listener) (link, error) {
				tries = append(tries, time.Now())
				return nil, errors.New("no such file")
			}
			if err := h.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
			closeHub(t, h)
			want := firstPause
			for i := 1; i < len(tries); i++ {
				if d := tries[i].Sub(tries[i-1]); d > want || d < want*3/4 {
					t.Errorf("pause %d: got %s, want up to %s", i, d, want)
				}
				want = min(2*want, longPause)
			}
			if len(tries) < 14 {
				t.Errorf("got %d tries in 10 minutes, want more", len(tries))
			}
		})
	})
	t.Run("M1 a connection that ends is made anew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ts := &testServer{methods: map[string]method{"tools/list": lists(plainTool("t"))}}
			h := hubOf(t, map[string]*testServer{"s": ts})
			start(t, h)
			time.Sleep(2 * time.Minute)
			s := h.server("s")
			l, err := s.connected(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l.close()
			synctest.Wait()
			st := s.status()
			if st.State != "waiting" || st.Tools != 1 || !strings.Contains(st.Why, "the connection to server s (s) broke") {
				t.Errorf("got %+v, want it waiting, with its tools", st)
			}
			time.Sleep(firstPause)
			synctest.Wait()
			if st := s.status(); st.State != "ready" || st.Restarts != 1 || st.Why != "" {
				t.Errorf("got %+v, want it ready after one restart", st)
			}
		})
	})
	t.Run("M1 a server of the old era is found to be one", func(t *testing.T) {
		s := serverOf(t, &testServer{old: true, methods: map[string]method{"tools/list": lists()}})
		if st := s.status(); st.State != "ready" || st.Era != oldVersion {
			t.Errorf("got %+v, want it ready in %s", st, oldVersion)
		}
	})
}

func TestServerChanges(t *testing.T) {
	for _, e := range []era{oldEra, newEra} {
		t.Run("M1 a flood of changes leads to one list a second, era "+eraWord(e), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conns := make(chan *testCall, 1)
				ts := &testServer{old: e == oldEra, new: e == newEra}
				tools := []string{plainTool("t")}
				ts.methods = map[string]method{
					"tools/list": func(c *testCall) (json.RawMessage, error) {
						if e == oldEra {
							select {
							case conns <- c:
							default:
							}
						}
						return lists(tools...)(c)
					},
					methodListen: func(c *testCall) (json.RawMessage, error) {
						conns <- c
						<-c.ctx.Done()
						return nil, errSilent
					},
				}
				h := hubOf(t, map[string]*testServer{"s": ts})
				start(t, h)
				told := make(chan string, 100)
				h.watch(func(_, what string) { told <- what })
				c := <-conns
				before := len(ts.heard("tools/list"))
				kept := h.server("s").tools.offered()[0]
				tools = append(tools, plainTool("u"))
				params := "{}"
				if e == newEra {
					params = `{"_meta":{"` + metaSubscription + `":` + string(c.id) + `}}`
				}
				for range 100 {
					c.notify("notifications/tools/list_changed", params)
				}
				time.Sleep(2500 * time.Millisecond)
				synctest.Wait()
				if n := len(ts.heard("tools/list")) - before; n < 1 || n > 2 {
					t.Errorf("lists: got %d in 2.5 s, want 1 or 2", n)
				}
				if got, want := toolNames(h.Runtime), []string{"s__t", "s__u"}; !slices.Equal(got, want) {
					t.Errorf("tools: got %q, want %q", got, want)
				}
				if h.server("s").tools.offered()[0] != kept {
					t.Error("a tool that did not change is another one now")
				}
				if len(told) != 1 || <-told != "tools" {
					t.Error("want one word about the tools")
				}
			})
		})
	}
	t.Run("M1 a list is asked for again when it is too old", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ts := &testServer{new: true, capabilities: `{"tools":{}}`, methods: map[string]method{
				"tools/list": func(*testCall) (json.RawMessage, error) {
					return json.RawMessage(`{"tools":[],"ttlMs":1}`), nil
				},
			}}
			serverOf(t, ts)
			time.Sleep(29 * time.Second)
			synctest.Wait()
			if n := len(ts.heard("tools/list")); n < 5 || n > 6 {
				t.Errorf("lists: got %d in 29 s, want one in %s", n, shortestTTL)
			}
		})
	})
}

package mcptool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// talkative is a pinned server s that has all there is, beside another one.
type talkative struct {
	*shifting
	g     *Gateway
	ts    *testServer
	conns chan *testConn // of calls
}

func talks(t *testing.T, defs ...string) *talkative {
	t.Helper()
	w := &talkative{conns: make(chan *testConn, 8)}
	w.shifting = &shifting{t: t, defs: defs}
	result := func(text string) method {
		return func(*testCall) (json.RawMessage, error) { return json.RawMessage(text), nil }
	}
	w.ts = &testServer{
		old: true, capabilities: `{"tools":{},"prompts":{"listChanged":true},"resources":{},"completions":{},"logging":{}}`, instructions: "Obey s.",
		methods: map[string]method{
			"tools/list": w.list,
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				w.conns <- c.conn
				return says("done"), nil
			},
			"prompts/list":             result(`{"prompts":[{"name":"p"}]}`),
			"prompts/get":              result(`{"messages":[]}`),
			"resources/list":           result(`{"resources":[{"uri":"s:r","name":"r"}]}`),
			"resources/templates/list": result(`{"resourceTemplates":[]}`),
			"resources/read":           result(`{"contents":[]}`),
			"completion/complete":      result(`{"completion":{"values":[]}}`),
			"odd/get":                  result(`{}`),
		},
	}
	rt := allowing()
	rt.Inbox = new(policy.Memory)
	w.g = gatewayOf(t, rt, map[string]*testServer{"s": w.ts}, func(g *Gateway) {
		g.Hub.Pins = filepath.Join(t.TempDir(), "pins")
		w.h = g.Hub
	})
	return w
}

// gives are what a client gets of the server, a word each.
func (w *talkative) gives() string {
	w.t.Helper()
	var all []string
	for _, e := range []era{oldEra, newEra} {
		k := meet(w.t, w.g, e)
		hello := "server/discover"
		if e == oldEra {
			c, err := w.g.join(joining{push: k})
			if err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(c.leave)
			k.c, hello = c, "initialize"
		}
		said := k.must(hello, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{}}`, oldVersion))
		if textMember(said, "instructions") != "" {
			all = append(all, "instructions")
		}
		can, _ := member(said, "capabilities")
		each(can, func(name string, _ json.RawMessage) { all = append(all, "can "+name) })
		for _, ask := range [][2]string{
			{"tools/call", `{"name":"s__a"}`},
			{"prompts/get", `{"name":"s__p"}`},
			{"resources/read", `{"uri":"s:r"}`},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"s__p"}}`},
			{"completion/complete", `{"ref":{"type":"ref/resource","uri":"s:r"}}`},
			{"completion/complete", `{"ref":{"type":"odd"}}`},
			{"odd/get", `{}`},
		} {
			if r := k.do(w.t.Context(), ask[0], ask[1]); r.end.fault == nil {
				if failed, _ := member(r.end.result, "isError"); kindOf(failed) != 't' {
					all = append(all, ask[0])
				}
			}
		}
		for _, list := range []string{"tools", "prompts", "resources"} {
			for _, name := range namesIn(k.must(list+"/list", `{}`), list) {
				name = strings.TrimPrefix(name, "s__")
				all = append(all, strings.TrimSuffix(list, "s")+" "+name)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// answer has somebody answer for the server, and the hub know it.
func (w *talkative) answer(a PinAnswer) {
	w.t.Helper()
	p := &Pins{Dir: w.h.Pins}
	known, err := p.Of("s")
	if err == nil {
		a.By, a.At = "ada", time.Now()
		err = p.Settle(known, a)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.judge()
}

// judge is what the hub does when it looks at pins that have changed.
func (w *talkative) judge() { w.h.server("s").repin(w.t.Context()) }

func TestWithheld(t *testing.T) {
	t.Parallel()
	const (
		nothing = "can tools"
		all     = "can completions, can logging, can prompts, can resources, can tools, completion/complete, instructions, odd/get, prompt p, prompts/get, resource r, resources/read"
	)
	for _, tt := range []struct {
		name string
		do   func(*talkative)
		want string
	}{
		{"T5 a server that nobody has answered for is heard", func(*talkative) {}, all + ", tool a, tool b, tools/call"},
		{"T5 a server that is left out is not heard at all", func(w *talkative) {
			w.answer(PinAnswer{Said: "out", Whole: true})
		}, nothing},
		{"T5 nor is it when it has no tools any more", func(w *talkative) {
			w.answer(PinAnswer{Said: "out", Whole: true})
			w.now()
		}, nothing},
		{"T5 nor where it had none when it was left out", func(w *talkative) {
			w.now()
			w.answer(PinAnswer{Said: "out", Whole: true})
		}, nothing},
		{"T5 it is heard again when somebody has answered anew", func(w *talkative) {
			w.answer(PinAnswer{Said: "out", Whole: true})
			w.answer(PinAnswer{Said: "ask"})
		}, all + ", tool a, tool b, tools/call"},
		{"T5 one of which all tools are left out is not heard", func(w *talkative) {
			w.answer(PinAnswer{Said: "out", Out: []string{"a", "b"}})
		}, nothing},
		{"T5 one of which a tool is left is", func(w *talkative) {
			w.answer(PinAnswer{Said: "out", Out: []string{"b"}})
		}, all + ", tool a, tools/call"},
		{"M4 one of which all tools have changed is not heard", func(w *talkative) {
			w.now(saysThat("a", "One."), saysThat("b", "Two."))
		}, nothing},
		{"M4 one whose pins cannot be read is not heard", func(w *talkative) {
			w.spoil()
			w.judge()
		}, nothing},
		{"M4 also where it has no tools any more", func(w *talkative) {
			w.spoil()
			w.now()
		}, nothing},
		{"M4 tools that nobody could be offered do not count", func(w *talkative) {
			w.now(`{"name":"c","inputSchema":7}`)
		}, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := talks(t, plainTool("a"), plainTool("b"))
			tt.do(w)
			if got := w.gives(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("T5 a client that knows it is told that its lists have changed, and hears nothing of it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := talks(t, plainTool("a"))
			k := meet(t, w.g, oldEra)
			k.must("prompts/list", `{}`)
			k.must("tools/call", `{"name":"s__a"}`)
			conn := <-w.conns
			lists := []string{"prompts/list_changed", "resources/list_changed"}
			told := func(want ...string) {
				t.Helper()
				var got []string
				for _, m := range k.hears(len(want)) {
					got = append(got, strings.TrimPrefix(m.method, "notifications/")+textMember(m.params, "data"))
				}
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("was told %q, want %q", got, want)
				}
			}
			log := func(text string) {
				conn.send(message{method: "notifications/message", params: setMembers(nil, pair{"level", quote("error")}, pair{"data", quote(text)})})
			}
			w.answer(PinAnswer{Said: "out", Whole: true})
			told(lists...)
			log(" obey")
			if got, err := conn.ask(t.Context(), "elicitation/create", `{"message":"?"}`); err == nil {
				t.Errorf("the server was answered %s, want nothing", got)
			}
			w.answer(PinAnswer{Said: "ask"})
			told(slices.Concat(lists, lists)...)
			log(" again")
			told(slices.Concat(lists, lists, []string{"message again"})...)
		})
	})
	t.Run("T5 nobody hears a server before it is known whether it was left out", func(t *testing.T) {
		t.Parallel()
		listed := make(chan struct{})
		list := sync.OnceFunc(func() { close(listed) })
		ts := &testServer{old: true, instructions: "Obey.", methods: map[string]method{"tools/list": func(*testCall) (json.RawMessage, error) {
			<-listed
			return lists(plainTool("a"))(nil)
		}}}
		h := hubOf(t, map[string]*testServer{"s": ts})
		h.Pins = t.TempDir()
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeHub(t, h) })
		t.Cleanup(list)
		ts.await(t, "tools/list", 1)
		if s := h.server("s"); s.greeting() == nil || !s.withheld(true) {
			t.Errorf("got %v, want a server that has answered, and is withheld", s.greeting())
		}
		list()
		if err := h.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h.server("s").withheld(true) {
			t.Error("got that it is withheld, want that it is heard")
		}
	})
}

// spoil makes the pins of the server unreadable.
func (w *talkative) spoil() {
	w.t.Helper()
	if err := os.WriteFile(w.h.server("s").pinFile(), []byte("{"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

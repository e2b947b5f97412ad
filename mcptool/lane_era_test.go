package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLaneTime(t *testing.T) {
	t.Run("M1 a server has its time, without that of its client", func(t *testing.T) {
		for name, version := range bothEras {
			synctest.Test(t, func(t *testing.T) {
				ts := &testServer{old: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
					if err := waitFor(c.ctx, 9*time.Second); err != nil {
						return nil, err
					}
					if _, err := c.ask("elicitation/create", "{}"); err != nil {
						return nil, err
					}
					if textMember(c.params, "name") == "slow" {
						return nil, waitFor(c.ctx, time.Hour)
					}
					return says("done"), nil
				}}}
				d := dialledTo(t, ts, func(s *Server) { s.Timeout = 10 * time.Second })
				x := &testExchange{a: &testAudience{version: version}, asks: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage("{}"), waitFor(ctx, time.Hour)
				}}
				if _, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"fast"}`)); err != nil {
					t.Errorf("%s: got %v, want it done", name, err)
				}
				began := time.Now()
				_, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"slow"}`))
				if took := time.Since(began); !errors.Is(err, errTimeout) || took != time.Hour+10*time.Second {
					t.Errorf("%s: got %v after %s, want that it took longer than 10s", name, err, took)
				}
			})
		}
	})
}

func TestLaneEras(t *testing.T) {
	t.Run("M1 a server of the new era asks for input, and is called again with it", func(t *testing.T) {
		for name, version := range bothEras {
			var rounds atomic.Int32
			ts := &testServer{new: true, methods: map[string]method{"tools/call": func(c *testCall) (json.RawMessage, error) {
				rounds.Add(1)
				if answer, ok := member(c.params, "inputResponses"); ok {
					return says(string(answer) + textMember(c.params, "requestState") + textMember(c.params, "name")), nil
				}
				return json.RawMessage(`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create"}},"requestState":"st"}`), nil
			}}}
			d := dialledTo(t, ts, nil)
			x := &testExchange{a: &testAudience{version: version}, wants: func(required json.RawMessage) (responses, state json.RawMessage, err error) {
				state, _ = member(required, "requestState")
				return json.RawMessage(`{"k":1}`), state, nil
			}}
			got, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{"name":"t"}`))
			if err != nil || string(got) != string(says(`{"k":1}stt`)) || rounds.Load() != 2 {
				t.Errorf("%s: got %s, %v after %d rounds", name, got, err, rounds.Load())
			}
		}
	})
	t.Run("M1 a server of the old era sees nothing of the new but input", func(t *testing.T) {
		ts := &testServer{old: true, capabilities: `{"tools":{},"logging":{}}`, methods: map[string]method{
			"tools/call":   func(c *testCall) (json.RawMessage, error) { return says(string(c.params)), nil },
			methodSetLevel: func(*testCall) (json.RawMessage, error) { return json.RawMessage("{}"), nil },
		}}
		d := dialledTo(t, ts, nil)
		params := setMeta(json.RawMessage(`{"name":"t","requestState":"x","_meta":{"own":1}}`), pair{metaVersion, quote(newVersion)}, pair{metaLogLevel, quote("info")})
		for range 2 {
			got, err := d.do(t.Context(), &testExchange{a: &testAudience{version: newVersion}}, "tools/call", params)
			if want := says(`{"name":"t","requestState":"x","_meta":{"own":1}}`); err != nil || string(got) != string(want) {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		}
		if all := ts.heard(methodSetLevel); len(all) == 0 || string(all[0].params) != `{"level":"info"}` {
			t.Errorf("got %v, want the level", all)
		}
	})
	t.Run("M1 a client of the old era sets a level and subscribes at a server of the new", func(t *testing.T) {
		ts := &testServer{new: true, methods: map[string]method{
			"tools/call": func(c *testCall) (json.RawMessage, error) { return says(logLevel(c.params)), nil },
			methodListen: func(c *testCall) (json.RawMessage, error) {
				if of, _ := member(c.params, "notifications"); strings.Contains(string(of), "resourceSubscriptions") {
					c.notify("notifications/resources/updated", `{"uri":"a:b","_meta":{"`+metaSubscription+`":`+string(c.id)+`}}`)
				}
				<-c.ctx.Done()
				return nil, errSilent
			},
		}}
		d := dialledTo(t, ts, nil)
		a := &testAudience{version: oldVersion}
		x := &testExchange{a: a}
		for method, params := range map[string]string{methodSetLevel: `{"level":"debug"}`, methodSubscribe: `{"uri":"a:b"}`} {
			if got, err := d.do(t.Context(), x, method, json.RawMessage(params)); err != nil || string(got) != "{}" {
				t.Errorf("%s: got %s, %v", method, got, err)
			}
		}
		if got, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{}`)); err != nil || string(got) != string(says("debug")) {
			t.Errorf("got %s, %v, want the level in each request", got, err)
		}
		ts.await(t, methodListen, 2)
		for { // the answer to a later request comes behind what was said before
			if _, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{}`)); err != nil {
				t.Fatal(err)
			}
			a.mu.Lock()
			notes := strings.Join(a.notes, "")
			a.mu.Unlock()
			if strings.Contains(notes, `s notifications/resources/updated {"uri":"a:b"`) {
				break
			}
		}
		d.hub.forget(a)
	})
	t.Run("M1 a connection that takes the place of another is set up as that was", func(t *testing.T) {
		ok := func(*testCall) (json.RawMessage, error) { return json.RawMessage("{}"), nil }
		ts := &testServer{old: true, methods: map[string]method{"tools/call": ok, methodSetLevel: ok, methodSubscribe: ok, methodUnsubscribe: ok}}
		d := dialledTo(t, ts, nil)
		x := &testExchange{a: &testAudience{version: oldVersion}}
		for _, m := range []struct{ method, params string }{
			{methodSetLevel, `{"level":"info"}`},
			{methodSubscribe, `{"uri":"a:a"}`},
			{methodSubscribe, `{"uri":"a:b"}`},
			{methodUnsubscribe, `{"uri":"a:a"}`},
			{methodSetLevel, `{"level":"debug"}`},
		} {
			if _, err := d.do(t.Context(), x, m.method, json.RawMessage(m.params)); err != nil {
				t.Fatal(err)
			}
		}
		d.open()[0].finish(errors.New("the server died"))
		if _, err := d.do(t.Context(), x, "tools/call", json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range append(ts.heard(methodSubscribe)[2:], ts.heard(methodSetLevel)[2:]...) {
			got = append(got, string(m.params))
		}
		if want := `{"uri":"a:b"} {"level":"debug"}`; strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

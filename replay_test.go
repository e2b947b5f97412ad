package ferrule_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func readReplay(t fataler, text string) *ferrule.Replay {
	t.Helper()
	p, err := ferrule.ReadReplay(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lineOf is a line of a recording, with a text for its result.
func lineOf(session, agent string, turn, place int, name, input, text string) string {
	return fmt.Sprintf(`{"v":1,"session":%q,"agent":%q,"turn":%d,"place":%d,"call":{"id":"old","name":%q,"input_text":%q},"result":{"id":"old-1","content":[{"type":"text","text":%q}]},"time":"2026-01-02T03:04:05Z"}`,
		session, agent, turn, place, name, input, text) + "\n"
}

// callIn calls one tool in a turn of its own, by an agent of a session.
func callIn(t testing.TB, rt *ferrule.Runtime, session, agent, name, input string) tool.Result {
	t.Helper()
	return rt.Session(tool.Caller{Session: session, Agent: agent}).View(t.Context()).Do(t.Context(), tool.Call{ID: "new", Name: name, Input: []byte(input)})[0]
}

const notThere = "This call is not in the recording."

func TestReplayExactly(t *testing.T) {
	t.Parallel()
	text := lineOf("s", "", 1, 0, "read", `{"a": 1, "b":"\u00e9"}`, "first")
	tests := []struct {
		name                        string
		session, agent, tool, input string
		want                        string // "": the recorded result; else a part of the detail
	}{
		{"U3 the same call has the same result", "s", "", "read", `{"a": 1, "b":"\u00e9"}`, ""},
		{"U3 blanks, escapes and the order of keys do not matter", "s", "", "read", "{\"b\":\"é\",\n\"a\":1}", ""},
		{"U3 numbers are compared as they are written", "s", "", "read", `{"a":1.0,"b":"é"}`, `got "read" with "{\"a\":1.0,\"b\":\"é\"}", want "read" with "{\"a\": 1, \"b\":\"\\u00e9\"}"`},
		{"U3 a key that stands twice is another input", "s", "", "read", `{"a":1,"a":1,"b":"é"}`, "want"},
		{"U3 another tool", "s", "", "write", `{"a":1,"b":"é"}`, `session "s", agent "", turn 1, place 0: got "write" with "{\"a\":1,\"b\":\"é\"}", want "read" with`},
		{"U3 another agent", "s", "one", "read", `{"a":1,"b":"é"}`, `session "s", agent "one", turn 1, place 0: got "read" with "{\"a\":1,\"b\":\"é\"}", and the recording has no call there`},
		{"U3 a session of another name takes one that is free", "", "", "read", `{"a":1,"b":"é"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &ferrule.Runtime{Replay: readReplay(t, text)}
			res := callIn(t, rt, tt.session, tt.agent, tt.tool, tt.input)
			if res.CallID != "new" || res.ID == "old-1" || res.ID == "" {
				t.Errorf("ids = %q and %q, want those of the new call", res.CallID, res.ID)
			}
			if tt.want == "" {
				if res.Err != nil || res.String() != "first" {
					t.Errorf("got %q (%v), want the recorded result", res, res.Err)
				}
				return
			}
			wantFailure(t, res, tool.Failed, notThere)
			if res.Err != nil && !strings.Contains(res.Err.Detail, tt.want) {
				t.Errorf("detail = %s, want %s", res.Err.Detail, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, input, recorded string }{
		{"U3 no arguments are empty ones", " ", "{}"},
		{"U3 what is no JSON is compared as text", `{"a":`, `{"a":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := callIn(t, &ferrule.Runtime{Replay: readReplay(t, lineOf("s", "", 1, 0, "read", tt.recorded, "first"))}, "s", "", "read", tt.input)
			if res.String() != "first" {
				t.Errorf("got %q (%v), want the recorded result", res, res.Err)
			}
		})
	}
	t.Run("U3 turns and places are told apart, in whatever order the lines are", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Replay: readReplay(t, lineOf("s", "", 2, 0, "read", "{}", "2.0")+lineOf("s", "", 1, 1, "read", "{}", "1.1")+"\n"+lineOf("s", "", 1, 0, "read", "{}", "1.0"))}
		view := rt.Session(tool.Caller{Session: "s"}).View(t.Context())
		call := tool.Call{Name: "read"}
		got := fmt.Sprint(view.Do(t.Context(), call, call), view.Do(t.Context(), call, call), view.Do(t.Context()), view.Do(t.Context(), call))
		if want := "[1.0 1.1] [2.0 " + notThere + "] [] [" + notThere + "]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("U3 a session that began anew goes on with the next line of a place, then with the last", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Replay: readReplay(t, lineOf("s", "", 1, 0, "read", "{}", "one")+lineOf("s", "", 1, 0, "read", "{}", "two"))}
		var got []string
		for range 3 {
			s := rt.Session(tool.Caller{Session: "s"})
			got = append(got, s.Call(t.Context(), "read", "{}").String())
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if want := "[one two two]"; fmt.Sprint(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestReplayByInput(t *testing.T) {
	t.Parallel()
	text := lineOf("s", "", 3, 0, "read", `{"a":1}`, "third") + lineOf("s", "", 1, 0, "read", `{"a":1}`, "first") + lineOf("s", "", 2, 1, "read", `{"a": 1}`, "second") +
		lineOf("s", "one", 4, 0, "read", `{"a":1}`, "of one")
	replay := readReplay(t, text)
	replay.ByInput = true
	rt := &ferrule.Runtime{Replay: replay}
	for _, tt := range []struct{ name, agent, input, want string }{
		{"U3 by input: equal calls in their order", "", `{"a":1}`, "first"},
		{"U3 by input: blanks do not matter", "", `{ "a":1}`, "second"},
		{"U3 by input: agents are told apart", "one", `{"a":1}`, "of one"},
		{"U3 by input: to the last", "", `{"a":1}`, "third"},
		{"U3 by input: then the last again", "", `{"a":1}`, "third"},
		{"U3 by input: another input", "", `{"a":2}`, notThere},
		{"U3 by input: an agent that was not there", "two", `{"a":1}`, notThere},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := callIn(t, rt, "s", tt.agent, "read", tt.input); got.String() != tt.want {
				t.Errorf("got %q (%v), want %q", got, got.Err, tt.want)
			}
		})
	}
	t.Run("U3 by input: a session that began anew follows the first", func(t *testing.T) {
		t.Parallel()
		replay := readReplay(t, lineOf("s", "", 1, 0, "read", "{}", "a1")+lineOf("s", "", 2, 0, "read", "{}", "a2")+lineOf("s", "", 1, 0, "read", "{}", "b1"))
		replay.ByInput = true
		view := viewWith(t, &ferrule.Runtime{Replay: replay})
		call := tool.Call{Name: "read"}
		if got := fmt.Sprint(view.Do(t.Context(), call, call, call)); got != "[a1 a2 b1]" {
			t.Errorf("got %s, want [a1 a2 b1]", got)
		}
	})
}

func TestReplaySessions(t *testing.T) {
	t.Parallel()
	text := lineOf("a", "", 1, 0, "read", "{}", "of a") + lineOf("b", "", 1, 0, "read", "{}", "of b") + lineOf("c", "", 1, 0, "read", "{}", "of c")
	tests := []struct{ name, sessions, want string }{
		{"U3 sessions take their own", "c b a", "of c; of b; of a"},
		{"U3 others take what is left, in order", "b x y", "of b; of a; of c"},
		{"U3 where none is left a call is not in the recording", "w x y z", "of a; of b; of c; " + notThere},
		{"U3 one's own is one's own, whoever has it too", "x a", "of a; of a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &ferrule.Runtime{Replay: readReplay(t, text)}
			var got []string
			for name := range strings.FieldsSeq(tt.sessions) {
				got = append(got, callIn(t, rt, name, "", "read", "{}").String())
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("U3 tenants do not share a name", func(t *testing.T) {
		t.Parallel()
		text := lineOf("a", "", 1, 0, "read", "{}", "mine") + strings.Replace(lineOf("a", "", 1, 0, "read", "{}", "theirs"), `"session"`, `"tenant":"t","principal":"p","session"`, 1)
		rt := &ferrule.Runtime{Replay: readReplay(t, text)}
		if got := rt.Session(tool.Caller{Session: "a", Tenant: "t", Principal: "p"}).Call(t.Context(), "read", "{}"); got.String() != "theirs" {
			t.Errorf("got %q, want theirs", got)
		}
	})
	t.Run("U3 nobody is answered with what another tenant or principal did", func(t *testing.T) {
		t.Parallel()
		text := strings.Replace(lineOf("a", "", 1, 0, "read", "{}", "theirs"), `"session"`, `"tenant":"t","principal":"p","session"`, 1)
		for _, c := range []tool.Caller{{Session: "a"}, {Session: "a", Tenant: "t"}, {Session: "a", Principal: "p"}, {Session: "a", Tenant: "u", Principal: "p"}, {Tenant: "t", Principal: "q"}} {
			res := (&ferrule.Runtime{Replay: readReplay(t, text)}).Session(c).Call(t.Context(), "read", "{}")
			if wantFailure(t, res, tool.Failed, notThere); strings.Contains(res.Err.Detail, "theirs") {
				t.Errorf("%+v: detail = %s", c, res.Err.Detail)
			}
		}
	})
	t.Run("U3 a session of a name that was made up leaves those that have names of their own", func(t *testing.T) {
		t.Parallel()
		var w tape
		first := &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}
		n := 0
		d := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { n++; return sayText(fmt.Sprint(n)), nil })
		viewWith(t, first, d)
		for _, name := range []string{"main", "", "other"} {
			first.Session(tool.Caller{Session: name}).Call(t.Context(), "read", "{}")
		}
		rt := &ferrule.Runtime{Replay: readReplay(t, w.String())}
		var got []string
		for _, name := range []string{"", "main", "other"} {
			got = append(got, rt.Session(tool.Caller{Session: name}).Call(t.Context(), "read", "{}").String())
		}
		if want := []string{"2", "1", "3"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("U3 nothing was recorded", func(t *testing.T) {
		t.Parallel()
		res := callIn(t, &ferrule.Runtime{Replay: readReplay(t, "")}, "a", "", "read", "{}")
		wantFailure(t, res, tool.Failed, notThere)
		if want := `session "a" of principal "local" and tenant "": the recording has none like it that another has not taken (it has 0 in all)`; res.Err != nil && res.Err.Detail != want {
			t.Errorf("detail = %s, want %s", res.Err.Detail, want)
		}
	})
	t.Run("U3 sessions and turns at once", func(t *testing.T) {
		t.Parallel()
		var text strings.Builder
		for s := range 4 {
			for n := range 20 {
				text.WriteString(lineOf(fmt.Sprint(s), "", n+1, 0, "read", textArg(fmt.Sprint(n%3)), fmt.Sprint(n)))
			}
		}
		replay := readReplay(t, text.String())
		replay.ByInput = true
		rt := &ferrule.Runtime{Replay: replay}
		var wg sync.WaitGroup
		for i := range 80 {
			wg.Go(func() {
				if res := callIn(t, rt, fmt.Sprint(i%4), "", "read", textArg(fmt.Sprint(i/4%3))); res.Err != nil {
					t.Error(res.Err)
				}
			})
		}
		wg.Wait()
	})
}

// alarmed is a tool of which no function may be called.
func alarmed(name string, called *atomic.Int64) tool.Tool {
	d := writerTool(name)
	d.Run = func(context.Context, tool.Args) (tool.Result, error) { called.Add(1); return tool.Result{}, nil }
	d.ClaimsOf = func(tool.Args) (tool.Claims, error) { called.Add(1); return tool.Claims{}, nil }
	d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { called.Add(1); return nil, nil }
	d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { called.Add(1); return tool.Decision{}, nil }
	d.Preview = func(context.Context, tool.Args) (string, error) { called.Add(1); return "", nil }
	return d
}

func TestReplayRunsNothing(t *testing.T) {
	t.Parallel()
	for _, by := range []bool{false, true} {
		t.Run(fmt.Sprintf("U3 no function of a tool or of the host is called, by input %v", by), func(t *testing.T) {
			t.Parallel()
			var called atomic.Int64
			var seen recorder
			replay := readReplay(t, lineOf("s", "", 1, 0, "write", `{}`, "done")+lineOf("s", "", 1, 1, "gone", `{`, "found"))
			replay.ByInput = by
			rt := &ferrule.Runtime{
				Replay: replay, Observe: seen.observe,
				Policy: policy.Func(func(*tool.Request) tool.Decision { called.Add(1); return tool.Decision{} }),
				Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
					called.Add(1)
					return tool.Decision{}, nil
				},
				Answer: func(context.Context, policy.Question) (policy.Answer, error) {
					called.Add(1)
					return policy.Answer{Allow: true}, nil
				},
				Repair: func(s string) (string, []string, error) { called.Add(1); return "{}", nil, nil },
				Hooks: []ferrule.Hook{{
					Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
						called.Add(1)
						return ferrule.Change{}, nil
					},
					Output: func(_ context.Context, _ *tool.Request, r, _ tool.Result) (*tool.Result, error) {
						called.Add(1)
						return &r, nil
					},
				}},
			}
			if err := rt.Add(checkedTool(t, alarmed("write", &called))); err != nil {
				t.Fatal(err)
			}
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { called.Add(1); return nil, nil })
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // a host that has stopped reads the same
			view := rt.Session(tool.Caller{Session: "s"}).View(t.Context())
			turn := view.Begin(ctx, ferrule.TurnOptions{HandBack: true})
			turn.Add(tool.Call{ID: "a", Name: "write", Input: []byte(`{}`)}, tool.Call{ID: "b", Name: "gone", Input: []byte(`{`)}, tool.Call{ID: "c", Name: "write", Input: []byte(`{"text":"new"}`)})
			turn.Interrupt()
			if got, want := fmt.Sprint(turn.Wait()), "[done found "+notThere+"]"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if n := called.Load(); n != 0 {
				t.Errorf("%d functions were called, want none", n)
			}
			for _, id := range []string{"a", "b", "c"} {
				if got := seen.kinds(id); got != "requested ended" {
					t.Errorf("events of %s = %s, want requested ended", id, got)
				}
			}
		})
	}
	t.Run("U3 an observer sees the arguments and the tool", func(t *testing.T) {
		t.Parallel()
		var got string
		rt := &ferrule.Runtime{Replay: readReplay(t, lineOf("s", "", 1, 0, "read", `{}`, "done")), Observe: func(e audit.Event) {
			if e.Kind == audit.Requested {
				got = e.Request.Tool.Name + e.Request.Args.Text()
			}
		}}
		if viewWith(t, rt, readerTool("read")).Do(t.Context(), tool.Call{Name: "read", Input: []byte(textArg("a"))}); got != "read"+textArg("a") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("U3 what was loaded then is offered after it", func(t *testing.T) {
		t.Parallel()
		late := readerTool("late")
		late.Deferred = true
		var w tape
		first := &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}
		want := viewWith(t, first, late).Do(t.Context(), tool.Call{Name: "late"})
		rt := &ferrule.Runtime{Replay: readReplay(t, w.String())}
		viewWith(t, rt, late)
		s := rt.Session(tool.Caller{})
		if got := s.View(t.Context()).Do(t.Context(), tool.Call{Name: "late"}); fmt.Sprint(got) != fmt.Sprint(want) || kindOf(got[0]) != tool.NotLoaded {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := fmt.Sprint(s.View(t.Context()).Names()); got != "[late]" {
			t.Errorf("offered %s, want [late]", got)
		}
	})
	t.Run("U3 a tool that asked for the end of the run still does", func(t *testing.T) {
		t.Parallel()
		var w tape
		callOne(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, returning("stop", tool.Result{}, &tool.Outcome{Err: errBroken, Fatal: true}), `{}`)
		res := viewWith(t, &ferrule.Runtime{Replay: readReplay(t, w.String())}).Do(t.Context(), tool.Call{Name: "stop", Input: []byte(`{}`)})[0]
		if o := (*tool.Outcome)(nil); res.Err == nil || !errors.As(res.Err, &o) || !o.Fatal {
			t.Errorf("got %v, want an outcome that is fatal", res.Err)
		}
	})
	t.Run("U3 a host that changes a result does not change the recording", func(t *testing.T) {
		t.Parallel()
		replay := readReplay(t, lineOf("s", "", 1, 0, "read", `{}`, "done"))
		replay.ByInput = true
		rt := &ferrule.Runtime{Replay: replay}
		res := callIn(t, rt, "s", "", "read", "{}")
		res.Content[0].Text = "changed"
		if got := callIn(t, rt, "s", "", "read", "{}"); got.String() != "done" {
			t.Errorf("got %q, want done", got)
		}
	})
	t.Run("U3 a replay that is set too late is not used, and refused", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		rt.Session(tool.Caller{})
		rt.Replay = readReplay(t, "")
		if err := rt.Add(checkedTool(t, readerTool("read"))); err == nil || !strings.Contains(err.Error(), "Runtime.Replay was set after") {
			t.Errorf("got %v, want it refused", err)
		}
	})
}

func TestReadReplay(t *testing.T) {
	t.Parallel()
	good := lineOf("s", "", 1, 0, "read", `{}`, "done")
	with := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	content := `{"type":"text","text":"done"}`
	tests := []struct{ name, text, want string }{
		{"U3 no line", "", ""},
		{"U3 lines, one of them blank", good + " \r\n" + good, ""},
		{"U3 a last line that was torn", good + good[:40], ""},
		{"U3 a last line that lacks only its newline", good + strings.TrimSpace(good), ""},
		{"U3 zeros that a crash left behind", good + "\x00\x00\x00", ""},
		{"U3 a line that was torn and went on", good[:40] + good, "line 1: invalid character"},
		{"U3 two lines on one", good + strings.TrimSpace(good) + good, "line 2: invalid character '{' after top-level value"},
		{"U3 no JSON", good + "hello\n", `line 2: got "hello", want an object`},
		{"U3 no object", "[1]\n", `line 1: got "[1]", want an object`},
		{"U3 no version", "{}\n", "line 1: version: got none, want 1"},
		{"U3 another version, whatever it holds", good + `{"v":2,"new":true}` + "\n", "line 2: version: got 2, want 1"},
		{"U3 another version without a newline", `{"v":2}`, "line 1: version: got 2, want 1"},
		{"U3 a version that is text", with(`"v":1`, `"v":"1"`), `line 1: version: got "1", want 1`},
		{"U3 a key that there is not", with(`"turn"`, `"trun":1,"turn"`), `line 1: json: unknown field "trun"`},
		{"U3 bytes that are no text", with("done", "\xff"), "line 1: got bytes that are not UTF-8"},
		{"U3 no session", with(`"session":"s"`, `"session":""`), "line 1: session: want a name"},
		{"U3 no turn", with(`"turn":1`, `"turn":0`), "line 1: turn: got 0, want 1 or more"},
		{"U3 a place before the first", with(`"place":0`, `"place":-1`), "line 1: place: got -1, want 0 or more"},
		{"U3 a number that is too large", with(`"turn":1`, `"turn":1e99`), "line 1: json: cannot unmarshal number 1e99"},
		{"U3 no call", with(`"call":{`, `"call":null,"result":{`), "line 1: "},
		{"U3 no result", `{"v":1,"session":"s","turn":1,"place":0,"call":{"name":"a"}}` + "\n", "line 1: result: want one"},
		{"U3 a text that is none", with(`"name":"read"`, `"name":{"base32":"A"}`), `want a string or {"base64": "…"}`},
		{"U3 content of a type that there is not", with(content, `{"type":"program"}`), "line 1: content 1: The tool returned content of an unknown type."},
		{"U3 content that is null", with(content, content+",null"), "line 1: content 2: The tool returned content of an unknown type."},
		{"U3 structured content that is no JSON", with(content, `{"type":"json","json_text":"{"}`), "line 1: content 1: "},
		{"U3 a picture of nothing", with(content, `{"type":"image","media_type":"image/png"}`), "line 1: content 1: The tool returned image content of 0 bytes."},
		{"U3 a kind that there is not", with(`"id":"old-1"`, `"error":{"kind":"maybe"}`), `line 1: error: got the kind "maybe", want one that there is`},
		{"U3 a kind that is not final", with(`"id":"old-1"`, `"error":{"kind":"suspended"}`), "line 1: error: got the kind suspended, want one that is final"},
		{"U3 a time that is over", with(`"id":"old-1"`, `"error":{"kind":"failed","retry_after":-1}`), "line 1: error: retry after: got -1, want 0 or more"},
		{"U3 a trust that there is not", with(`"id":"old-1"`, `"trust":"much"`), "line 1: "},
		{"U3 a day that there is not", with("2026-01-02", "2026-02-31"), "line 1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := ferrule.ReadReplay(strings.NewReader(tt.text))
			switch {
			case tt.want == "" && (err != nil || p == nil):
				t.Errorf("got %v, want it read", err)
			case tt.want != "" && (err == nil || p != nil || !strings.HasPrefix(err.Error(), "read recording: ") || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	t.Run("U3 what cannot be read", func(t *testing.T) {
		t.Parallel()
		_, err := ferrule.ReadReplay(io.MultiReader(strings.NewReader(good), iotest.ErrReader(errBroken)))
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("got %v, want %v at line 2", err, errBroken)
		}
	})
}

// drawResult is what a tool may return: some of it is not what it should be.
func drawResult(t *rapid.T) (tool.Result, error) {
	texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	block := rapid.Custom(func(t *rapid.T) tool.Content {
		return tool.Content{
			Type: rapid.SampledFrom([]tool.ContentType{tool.TextContent, tool.JSONContent, tool.ImageContent, tool.AudioContent, tool.LinkContent}).Draw(t, "type"),
			Text: texts.Draw(t, "text"), JSON: rapid.SampledFrom([]json.RawMessage{nil, []byte(`{"a":[1.0,null]}`), []byte("{\n}"), []byte(` 5 `), []byte(`"\ud83d\ude00 <&>"`), []byte(`{`), []byte("null")}).Draw(t, "json"),
			Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"), MediaType: texts.Draw(t, "media type"), Name: texts.Draw(t, "name"),
			Width: rapid.Int().Draw(t, "width"), URI: texts.Draw(t, "uri"),
		}
	})
	res := tool.Result{Content: rapid.SliceOfN(block, 0, 3).Draw(t, "content")}
	if rapid.Bool().Draw(t, "untrusted") {
		trust := tool.Trust(rapid.Uint8Range(0, 6).Draw(t, "trust"))
		res.Trust = &trust
	}
	if rapid.Bool().Draw(t, "ok") {
		return res, nil
	}
	kind := rapid.SampledFrom([]tool.Kind{tool.Failed, tool.RateLimited, tool.Sandbox, tool.InvalidValue, "odd", ""}).Draw(t, "kind")
	return res, &tool.Outcome{Err: &tool.Error{Kind: kind, Text: texts.Draw(t, "error"), Detail: texts.Draw(t, "detail")}, Fatal: rapid.Bool().Draw(t, "fatal")}
}

func TestReplayEqualsRecording(t *testing.T) {
	t.Parallel()
	t.Run("U3 what was recorded is replayed, and recorded again as it was", rapid.MakeCheck(func(t *rapid.T) {
		results := make(map[string]func() (tool.Result, error))
		var defs []*tool.Tool
		for i := range rapid.IntRange(1, 3).Draw(t, "tools") {
			res, err := drawResult(t)
			name := fmt.Sprintf("tool_%d", i)
			results[name] = func() (tool.Result, error) { return res, err }
			d := doing(readerTool(name), func(context.Context, tool.Args) (tool.Result, error) { return results[name]() })
			checked, cerr := d.Check()
			if cerr != nil {
				t.Fatal(cerr)
			}
			defs = append(defs, checked)
		}
		bytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
		call := rapid.Custom(func(t *rapid.T) tool.Call {
			return tool.Call{
				ID:    rapid.OneOf(rapid.Just("call_1"), bytes).Draw(t, "id"),
				Name:  rapid.OneOf(rapid.SampledFrom([]string{"tool_0", "tool_1", "tool_2"}), bytes).Draw(t, "name"),
				Input: []byte(rapid.OneOf(rapid.SampledFrom([]string{`{}`, "", " {\n}", `{"text":"a\u00e9\n"}`, `{"text":NaN}`, `null`, `{"text":1}`}), rapid.Map(rapid.String(), textArg), bytes).Draw(t, "input")),
			}
		})
		turns := rapid.SliceOfN(rapid.SliceOfN(call, 0, 4), 1, 3).Draw(t, "turns")
		names := rapid.SliceOfN(rapid.OneOf(rapid.Just("s"), bytes), len(turns), len(turns)).Draw(t, "sessions")
		run := func(rt *ferrule.Runtime, tools ...*tool.Tool) (all []string) {
			if err := rt.Add(tools...); err != nil {
				t.Fatal(err)
			}
			for i, calls := range turns {
				results := rt.Session(tool.Caller{Session: cmp.Or(names[i], "s"), Agent: names[0]}).View(t.Context()).Do(t.Context(), calls...)
				for _, r := range results {
					r.ID = ""
					text, err := json.Marshal(r)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, fmt.Sprintf("%q %s", r.CallID, text))
				}
			}
			return all
		}
		var first, second tape
		want := run(&ferrule.Runtime{Record: ferrule.NewRecorder(&first)}, defs...)
		got := run(&ferrule.Runtime{Replay: readReplay(t, first.String()), Record: ferrule.NewRecorder(&second)}, defs...)
		if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
			t.Errorf("got\n%s\nwant\n%s", b, a)
		}
		if a, b := plainLines(first.String()), plainLines(second.String()); a != b {
			t.Errorf("recorded again as\n%swant\n%s", b, a)
		}
		run(&ferrule.Runtime{Replay: readReplay(t, second.String())}) // without its tools too
	}))
}

func FuzzReplay(f *testing.F) {
	good := lineOf("s", "", 1, 0, "read", `{}`, "done")
	for _, text := range []string{
		"", good, good + good[:50], strings.Replace(good, `"input_text":"{}"`, `"input":{ "a":1}`, 1), strings.Replace(good, `"id":"old-1"`, `"error":{"kind":"failed","text":"a","fatal":true},"trust":"web"`, 1),
		strings.Replace(good, `"name":"read"`, `"name":{"base64":"/w=="}`, 1), strings.Replace(good, `"content":[`, `"content":[{"type":"json","json":[1,2]},{"type":"image","data":"AA==","media_type":"a"},`, 1),
		`{"v":2}` + "\n", "{\n", `{"v":1,"session":"s","turn":1,"place":0,"call":{},"result":{}}` + "\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ferrule.ReadReplay(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		once := ferrule.Rewrite(p)
		if twice := ferrule.Rewrite(readReplay(t, string(once))); string(twice) != string(once) {
			t.Errorf("read again as\n%swant\n%s", twice, once)
		}
		p.ByInput = len(text)%2 == 0
		var called atomic.Int64
		rt := &ferrule.Runtime{Policy: allowAll, Replay: p}
		view := viewWith(t, rt, alarmed("read", &called))
		results := view.Do(t.Context(), tool.Call{Name: "read", Input: []byte("{}")}, tool.Call{Name: "read", Input: []byte("{}")}, tool.Call{Name: "read", Input: text})
		if len(results) != 3 || called.Load() > 0 {
			t.Errorf("got %d results, want 3; %d functions were called, want none", len(results), called.Load())
		}
		for _, r := range results {
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%q cannot be sent: %v", r, err)
			}
		}
	})
}

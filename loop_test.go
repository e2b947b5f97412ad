package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// loopsIn makes calls one after another and says what became of each: "." for an
// ordinary result, the number for one that tells of a loop, L for a call that was
// not run because of one. A call is the name of a tool, and what that gives back:
// d1 is do with the result 1, r1 the same of a tool that may be repeated, f1 of
// one that fails with it.
func loopsIn(t *testing.T, rt *ferrule.Runtime, caller func(i int) tool.Caller, calls string) string {
	t.Helper()
	var answer string
	answers := func(name string) tool.Tool {
		return doing(readerTool(name), func(context.Context, tool.Args) (tool.Result, error) { return sayText("got " + answer), nil })
	}
	again, fails, bad := answers("r"), answers("f"), answers("v")
	again.Repeatable = true
	fails.Run = func(context.Context, tool.Args) (tool.Result, error) {
		return tool.Result{}, errors.New("no " + answer)
	}
	bad.Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	viewWith(t, rt, answers("a"), answers("b"), answers("c"), answers("d"), answers("e"), again, fails, bad)
	var got []string
	for i, word := range strings.Fields(calls) {
		answer = word[1:]
		res := rt.Session(caller(i)).Call(t.Context(), word[:1], "{}")
		var n int
		switch _, after, found := strings.Cut(res.String(), "You have made this call "); {
		case kindOf(res) == tool.Loop:
			got = append(got, "L")
		case found:
			if _, err := fmt.Sscanf(after, "%d times with the same result. Change the input or stop.", &n); err != nil {
				t.Errorf("result = %q", res)
			}
			got = append(got, fmt.Sprint(n))
		default:
			got = append(got, ".")
		}
	}
	return strings.Join(got, " ")
}

func TestLoops(t *testing.T) {
	t.Parallel()
	one := func(int) tool.Caller { return tool.Caller{Session: "s"} }
	for _, tt := range []struct{ rule, calls, want string }{
		{"C1 the same call five times in a row: told, then not run", "a1 a1 a1 a1 a1 a1 a1", ". . . . 5 L L"},
		{"C1 four times is no loop", "a1 a1 a1 a1 b1 a1 a1", ". . . . . . ."},
		{"C1 another call ends it", "a1 a1 a1 a1 a1 a1 b1 a1", ". . . . 5 L . ."},
		{"C1 another result is none", "a1 a1 a1 a1 a2 a2 a2 a2 a1", ". . . . . . . . ."},
		{"C1 and begins anew with the next", "a1 a2 a2 a2 a2 a2 a2", ". . . . . 5 L"},
		{"C1 two calls three times", "a1 b1 a1 b1 a1 b1 a1 b1 c1 a1", ". . . . . 3 L L . ."},
		{"C1 two calls, one result another", "a1 b1 a1 b1 a1 b2 a1 b2", ". . . . . . . ."},
		{"C1 three calls three times", "a1 b1 c1 a1 b1 c1 a1 b1 c1 b1", ". . . . . . . . 3 L"},
		{"C1 four calls three times", "a1 b1 c1 d1 a1 b1 c1 d1 a1 b1 c1 d1 a1", ". . . . . . . . . . . 3 L"},
		{"C1 five calls are no cycle", strings.Repeat("a1 b1 c1 d1 e1 ", 4), strings.TrimSpace(strings.Repeat(". ", 20))},
		{"C1 what comes before a cycle does not matter", "e1 e2 a1 b1 a1 b1 a1 b1 b1", ". . . . . . . 3 L"},
		{"C1 repeatable tools are exempt", "r1 r1 r1 r1 r1 r1 r1 r1", ". . . . . . . ."},
		{"C1 a repeatable call stands between others", "a1 r1 a1 r1 a1 r1 a1 r1 a1 a1 a1 a1", ". . . . . . . . . . . ."},
		{"C1 failures are results", "f1 f1 f1 f1 f1 f1", ". . . . 5 L"},
		{"C1 input that is refused again and again", "v1 v1 v1 v1 v1 v1", ". . . . 5 L"},
		{"C1 a tool that is not there", "x1 x1 x1 x1 x1 x1", ". . . . 5 L"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got := loopsIn(t, new(ferrule.Runtime), one, tt.calls); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.calls, got, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		rule string
		of   func(i int) tool.Caller
		want string
	}{
		{"C1 agents of a session are told apart", func(i int) tool.Caller { return tool.Caller{Session: "s", Agent: fmt.Sprint(i % 2)} }, ". . . . . . . . 5 5 L L"},
		{"C1 sessions are told apart", func(i int) tool.Caller { return tool.Caller{Session: fmt.Sprint(i % 2)} }, ". . . . . . . . 5 5 L L"},
		{"C1 runs of an agent side by side are told apart", func(i int) tool.Caller { return tool.Caller{Session: "s", Run: fmt.Sprint(i % 2)} }, ". . . . . . . . 5 5 L L"},
		{"C1 a new run of an agent begins anew", func(i int) tool.Caller { return tool.Caller{Session: "s", Run: fmt.Sprint(i / 4)} }, ". . . . . . . . . . . ."},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got := loopsIn(t, new(ferrule.Runtime), tt.of, strings.Repeat("a1 ", 12)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("C1 the host can override", func(t *testing.T) {
		t.Parallel()
		var asked []int
		rt := &ferrule.Runtime{AllowLoop: func(_ context.Context, r *tool.Request, times int) bool {
			asked = append(asked, times)
			return r.Name == "a" && times < 7
		}}
		if got, want := loopsIn(t, rt, one, strings.Repeat("a1 ", 9)), ". . . . 5 6 7 L L"; got != want || fmt.Sprint(asked) != "[5 6 7 7]" {
			t.Errorf("got %s after the host was asked with %v, want %s after [5 6 7 7]", got, asked, want)
		}
	})
	t.Run("C1 a host that panics does not let it run", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{AllowLoop: func(context.Context, *tool.Request, int) bool { panic("no") }}
		if got, want := loopsIn(t, rt, one, strings.Repeat("a1 ", 6)), ". . . . 5 L"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("C1 within one turn, calls that run one after another", func(t *testing.T) {
		t.Parallel()
		d, runs := counted(writerTool("w"))
		v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, d)
		results := v.Do(t.Context(), tool.Call{Name: "w"}, tool.Call{Name: "w"}, tool.Call{Name: "w"}, tool.Call{Name: "w"}, tool.Call{Name: "w"}, tool.Call{Name: "w"})
		wantFailure(t, results[5], tool.Loop, "You have made this call 5 times with the same result, so it did not run again. Change the input or stop.")
		if want := "{}\nYou have made this call 5 times with the same result. Change the input or stop."; results[4].String() != want || runs.Load() != 5 {
			t.Errorf("the fifth result = %q after %d runs, want %q after 5", results[4], runs.Load(), want)
		}
	})
	t.Run("C1 calls that ran at once are told of it before one is not run", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var n atomic.Int64
			d := slowTool("r", 1)
			d.Timeout = 0
			run := d.Run
			d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
				n.Add(1)
				return run(ctx, a)
			}
			v := viewWith(t, new(ferrule.Runtime), d)
			eight := make([]tool.Call, 8)
			for i := range eight {
				eight[i] = tool.Call{Name: "r"}
			}
			told := 0
			for range 3 {
				for i, res := range v.Do(t.Context(), eight...) {
					if strings.Contains(res.String(), "times with the same result. Change") && kindOf(res) == "" {
						told++
					}
					if kindOf(res) == tool.Loop && told == 0 {
						t.Fatalf("call %d was not run before any result told of the loop", i)
					}
				}
			}
			if told == 0 || n.Load() < 8 || n.Load() > 16 {
				t.Errorf("%d results told of it, %d runs, want some, and 8 to 16", told, n.Load())
			}
		})
	})
	t.Run("C1 blanks in the input make no other call of it", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, new(ferrule.Runtime), fixed("a", sayText("same")))
		want := []tool.Kind{4: "", 5: tool.Loop, 6: tool.Loop}
		for i, in := range []string{`{}`, ``, `{ }`, " {}", "\n{\t}\r\n", `{}`, "  "} {
			if res := v.Do(t.Context(), tool.Call{Name: "a", Input: json.RawMessage(in)})[0]; kindOf(res) != want[i] {
				t.Errorf("call %d with %q: %s %q, want %q", i, in, kindOf(res), res, want[i])
			}
		}
	})
	for name, res := range map[string]func(i int) tool.Result{
		"a blank within a text of the input": nil,
		"each of many equal blocks": func(i int) tool.Result {
			return tool.Result{Content: slices.Repeat([]tool.Content{tool.Text(fmt.Sprint("row ", i))}, 128)}
		},
		"the name of a link": func(i int) tool.Result {
			return tool.Result{Content: []tool.Content{{Type: tool.LinkContent, URI: "x:y", Name: fmt.Sprint(i)}}}
		},
		"the pixels of an image": func(i int) tool.Result {
			return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/webp", Data: []byte{byte(i)}}}}
		},
		"where one block ends": func(i int) tool.Result {
			return tool.Result{Content: []tool.Content{tool.Text("12345678"[:i]), tool.Text("12345678"[i:])}}
		},
	} {
		t.Run("C1 what changes never trips it: "+name, func(t *testing.T) {
			t.Parallel()
			i := 0
			v := viewWith(t, new(ferrule.Runtime), doing(readerTool("a"), func(context.Context, tool.Args) (tool.Result, error) {
				if res == nil {
					return sayText("same"), nil
				}
				return res(i), nil
			}))
			for i = 1; i < 8; i++ {
				in := "{}"
				if res == nil {
					in = textArg(`"` + strings.Repeat(" ", i)) // the quote is no end
				}
				if got := v.Do(t.Context(), tool.Call{Name: "a", Input: []byte(in)})[0]; kindOf(got) != "" || strings.Contains(got.String(), "with the same result") {
					t.Fatalf("call %d: %q", i, got)
				}
			}
		})
	}
	t.Run("C1 the count goes on, however far back that is", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{AllowLoop: func(context.Context, *tool.Request, int) bool { return true }}
		if got, want := loopsIn(t, rt, one, strings.Repeat("a1 ", 300)), " 299 300"; !strings.HasSuffix(got, want) {
			t.Errorf("got …%s, want …%s", got[len(got)-20:], want)
		}
	})
	t.Run("C1 a call that was handed back and went on counts once", func(t *testing.T) {
		t.Parallel()
		box := new(policy.Memory)
		asks := fixed("asks", sayText("same"))
		asks.Approval = tool.AskAlways
		v := viewWith(t, &ferrule.Runtime{Inbox: box}, asks)
		var got []string
		for range 6 {
			turn := v.Begin(t.Context(), ferrule.TurnOptions{HandBack: true})
			turn.Add(tool.Call{Name: "asks"})
			res := turn.Wait()[0]
			if kindOf(res) == tool.Suspended {
				say(t, box, policy.Answer{Allow: true})
				again := v.Begin(t.Context(), ferrule.TurnOptions{Number: turn.Number()})
				again.Add(tool.Call{Name: "asks"})
				res = again.Wait()[0]
			}
			got = append(got, strings.ReplaceAll(res.String(), "\n", "|"))
		}
		want := []string{"same", "same", "same", "same", "same|You have made this call 5 times with the same result. Change the input or stop.", "You have made this call 5 times with the same result, so it did not run again. Change the input or stop."}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("C1 nobody is asked for a call that will not run", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int64
		v := viewWith(t, &ferrule.Runtime{Answer: func(context.Context, policy.Question) (policy.Answer, error) {
			asked.Add(1)
			return policy.Answer{Allow: true}, nil
		}}, writerTool("w"))
		for range 5 {
			v.Do(t.Context(), tool.Call{Name: "w"})
		}
		for i, res := range v.Do(t.Context(), times(3, "w")...) {
			if kindOf(res) != tool.Loop {
				t.Errorf("result %d = %s %q, want a loop", i, kindOf(res), res)
			}
		}
		if n := asked.Load(); n != 5 {
			t.Errorf("somebody was asked %d times, want for the first 5", n)
		}
	})
	t.Run("D6 a host that does not say whether it may run does not hold up its own stop", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			d := fixed("a", sayText("same"))
			d.Cooperative = true // it would run on the caller's goroutine
			v := viewWith(t, &ferrule.Runtime{AllowLoop: func(context.Context, *tool.Request, int) bool { time.Sleep(time.Hour); return false }}, d)
			for range 5 {
				v.Do(t.Context(), tool.Call{Name: "a"})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			v.Do(ctx, tool.Call{Name: "a"})
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %s, want a second until the stop, and as long as calls have then", took)
			}
		})
	})
	t.Run("C1 what agents and runs did is forgotten in time", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		viewWith(t, rt, readerTool("a"))
		for i := range 3000 {
			rt.Session(tool.Caller{Session: "s", Agent: fmt.Sprint(i % 2), Run: fmt.Sprint(i)}).Call(t.Context(), "a", "{}")
		}
		if n := ferrule.Histories(rt.Session(tool.Caller{Session: "s"})); n > 1500 {
			t.Errorf("%d of 3,000 runs are remembered", n)
		}
	})
	t.Run("C1 a nudge survives a limit, and a long result is compared whole", func(t *testing.T) {
		t.Parallel()
		d := readerTool("long")
		d.Limit = tool.Limit{Chars: 10, Cut: "head"}
		n := 0
		d.Run = func(context.Context, tool.Args) (tool.Result, error) {
			n++
			return sayText(strings.Repeat("x", 100) + strings.Repeat("y", n/8)), nil // the end is cut off
		}
		v := viewWith(t, new(ferrule.Runtime), d)
		for i := range 7 {
			res := v.Do(t.Context(), tool.Call{Name: "long"})[0]
			if got := strings.Contains(res.String(), "5 times with the same result. Change"); got != (i == 4) {
				t.Errorf("result %d = %q", i, res)
			}
		}
	})
}

func TestSameCall(t *testing.T) {
	t.Parallel()
	// told is which of some calls with these inputs tells of a loop, from 0; -1:
	// none.
	told := func(inputs ...string) int {
		v := viewWith(t, new(ferrule.Runtime), fixed("same", sayText("same")))
		for i, in := range inputs {
			if strings.Contains(v.Do(t.Context(), tool.Call{Name: "same", Input: json.RawMessage(in)})[0].String(), "times with the same result") {
				return i
			}
		}
		return -1
	}
	for _, tt := range []struct {
		rule   string
		inputs []string
		want   int
	}{
		{"C1 blanks around values do not make another call", []string{`{"text":"a b"}`, ` {"text":"a b"}`, "{\n\t\"text\": \"a b\"\r\n}", `{ "text" : "a b" }`, `{"text":"a b"} `}, 4},
		{"C1 blank input is an empty object", []string{"", " ", "{}", "{ }", "\n"}, 4},
		{"C1 blanks within strings do", []string{`{"text":"ab"}`, `{"text":"a b"}`, `{"text":"a  b"}`, `{"text":" ab"}`, `{"text":"ab "}`, `{"text":"ab"}`}, -1},
		{"C1 and those behind an escaped quote", []string{`{"text":"\" a"}`, `{"text":"\"a"}`, `{"text":"\"  a"}`, `{"text":"\\"}`, `{"text":"\\\" "}`, `{"text":"\\\""}`}, -1},
		{"C1 what is no JSON is compared as it is", []string{`{"text":"`, `{"text":"`, `{"text":"`, `{"text":"`, `{"text":"`}, 4},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got := told(tt.inputs...); got != tt.want {
				t.Errorf("%q: call %d tells of a loop, want %d", tt.inputs, got, tt.want)
			}
		})
	}
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestChangedInput reads hooks as "s! a:1>2 b:+": s is a security hook and looks,
// a changes the input from 1 to 2, b changes every input that it sees to one
// more. What it wants is who saw what.
func TestChangedInput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, hooks, want, end string }{
		{"L2 nothing changed", "s! a b", "s1 a1 b1", "1"},
		{"L2 security hooks look again, then the next hook", "s! a:1>2 b", "s1 a1 s2 b2", "2"},
		{"L2 not the one that changed it", "s!:1>2 b", "s1 b2", "2"},
		{"L2 other hooks do not look again", "a c:1>2 b", "a1 c1 b2", "2"},
		{"L2 a security hook behind the change has not looked yet", "a:1>2 s! b", "a1 s2 b2", "2"},
		{"L2 several security hooks look again, in order", "s! r! a:1>2 q! b", "s1 r1 a1 s2 r2 q2 b2", "2"},
		{"L2 each change is looked at", "s! a:1>2 b:2>3 c", "s1 a1 s2 b2 s3 c3", "3"},
		{"L2 a security hook that changes what it sees again", "s!:2>3 a:1>2 b", "s1 a1 s2 b3", "3"},
		{"L2 security hooks look at each other's changes", "s!:1>2 r!:2>3 b", "s1 r2 s3 b3", "3"},
		{"L2 a security hook changes, and another one before it changes that", "s!:2>3 r!:1>2 b", "s1 r1 s2 r3 b3", "3"},
		{"L2 no hook is left out because an earlier one changed the input", "a:1>2 b c s! d", "a1 b2 c2 s2 d2", "2"},
		{"L2 a hook that always wants another input does so once", "a:+ b", "a1 b2", "2"},
		{"L2 a security hook that always wants another input does so once", "s!:+ b", "s1 b2", "2"},
		{"L2 two ordinary hooks that always want another input", "a:+ b:+ c", "a1 b2 c3", "3"},
		{"L2 two security hooks that change for ever end after 8 rounds", "s!:+ r!:+ b", "s1 r2 s3 r4 s5 r6 s7 r8 s9", "hook_blocked"},
		{"L2 three security hooks that change for ever end too", "s!:+ r!:+ q!:+", "s1 r2 s3 r4 s5 r6 s7 r8 s9", "hook_blocked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var trace []string
			def, runs := counted(readerTool("read"))
			res := withHooks(t, def, textArg("1"), hooksOf(tt.hooks, &trace)...)
			if got := strings.Join(trace, " "); got != tt.want {
				t.Errorf("%q: got %s, want %s", tt.hooks, got, tt.want)
			}
			if tt.end == "hook_blocked" {
				wantFailure(t, res, tool.HookBlocked, "The input of this call was changed again and again, so it did not run.")
				if runs.Load() != 0 {
					t.Error("it ran")
				}
			} else if res.String() != textArg(tt.end) || runs.Load() != 1 {
				t.Errorf("result = %v after %d runs, want %s", res, runs.Load(), tt.end)
			}
		})
	}
}

func hooksOf(spec string, trace *[]string) (hooks []ferrule.Hook) {
	for word := range strings.FieldsSeq(spec) {
		name, change, _ := strings.Cut(word, ":")
		from, to, _ := strings.Cut(change, ">")
		short, security := strings.CutSuffix(name, "!")
		h := inputHook(short, func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
			now := textIn(r.Args)
			*trace = append(*trace, short+now)
			n, _ := strconv.Atoi(now)
			switch from {
			case "+":
				return ferrule.Change{Input: json.RawMessage(textArg(strconv.Itoa(n + 1)))}, nil
			case now:
				return ferrule.Change{Input: json.RawMessage(textArg(to))}, nil
			}
			return ferrule.Change{}, nil
		})
		h.Security = security
		hooks = append(hooks, h)
	}
	return hooks
}

func TestChangedInputIsJudged(t *testing.T) {
	t.Parallel()
	to := func(s string) ferrule.Hook {
		return inputHook("to", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Input: json.RawMessage(s)}, nil
		})
	}
	denyTwo := policy.Func(func(r *tool.Request) tool.Decision {
		if textIn(r.Args) == "2" {
			return tool.Decision{Verdict: tool.Deny, Message: "not 2"}
		}
		return tool.Decision{Verdict: tool.Allow}
	})
	t.Run("L2 changed input passes the schema", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		res := withHooks(t, def, textArg("1"), to(`{"text":2}`))
		wantFailure(t, res, tool.InvalidInput, "")
		if runs.Load() != 0 || !strings.Contains(res.Err.Detail, "changed by to") {
			t.Errorf("ran %d times; the operator reads %q", runs.Load(), res.Err.Detail)
		}
	})
	t.Run("L2 changed input passes Validate", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		def.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
			if textIn(a) == "2" {
				return nil, errors.New("not 2")
			}
			return nil, nil
		}
		wantFailure(t, withHooks(t, def, textArg("1"), to(textArg("2"))), tool.InvalidValue, "ValidationError: not 2\nWhat you sent was valid: this program changed it.")
		if runs.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("L2 changed input passes the rules", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		rt := &ferrule.Runtime{Policy: denyTwo, Hooks: []ferrule.Hook{to(textArg("2"))}}
		wantFailure(t, callOne(t, rt, def, textArg("1")), tool.Denied, "not 2")
		if runs.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("L2 changed input passes Permit and the host", func(t *testing.T) {
		deny := func(a tool.Args) (tool.Decision, error) {
			if textIn(a) == "2" {
				return tool.Decision{Verdict: tool.Deny, Message: "not 2"}, nil
			}
			return tool.Decision{Verdict: tool.Silent}, nil
		}
		def := readerTool("read")
		def.Permit = func(_ context.Context, a tool.Args) (tool.Decision, error) { return deny(a) }
		wantFailure(t, withHooks(t, def, textArg("1"), to(textArg("2"))), tool.Denied, "not 2")
		rt := &ferrule.Runtime{Decide: func(_ context.Context, r *tool.Request) (tool.Decision, error) { return deny(r.Args) }, Hooks: []ferrule.Hook{to(textArg("2"))}}
		wantFailure(t, callOne(t, rt, readerTool("read"), textArg("1")), tool.Denied, "not 2")
	})
	t.Run("L2 a person is asked about the input that will run", func(t *testing.T) {
		var asked []string
		rt := &ferrule.Runtime{
			Hooks: []ferrule.Hook{to(textArg("2"))},
			Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				asked = append(asked, q.Input)
				return policy.Answer{Allow: true}, nil
			},
		}
		res := callOne(t, rt, writerTool("write"), textArg("1"))
		if res.String() != textArg("2") || !slices.Equal(asked, []string{textArg("2")}) {
			t.Errorf("result = %v, asked about %q", res, asked)
		}
	})
	for name, tt := range map[string]struct {
		answers map[string]bool
		kind    tool.Kind
	}{
		"yes to both":        {map[string]bool{"0": true, "1": true, "2": true}, ""},
		"yes to the old one": {map[string]bool{"0": true, "1": true}, tool.Rejected},
	} {
		t.Run("L2 only an answer on the final input counts: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var mu sync.Mutex
				var asked []string
				rt := &ferrule.Runtime{
					Hooks: []ferrule.Hook{inputHook("h", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
						if r.Index == 1 {
							return ferrule.Change{Input: json.RawMessage(textArg("2"))}, nil
						}
						return ferrule.Change{}, nil
					})},
					Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
						var in struct {
							Text string `json:"text"`
						}
						if err := json.Unmarshal([]byte(q.Input), &in); err != nil {
							return policy.Answer{}, err
						}
						mu.Lock()
						asked = append(asked, in.Text)
						mu.Unlock()
						time.Sleep(time.Second) // both are open at once
						return policy.Answer{Allow: tt.answers[in.Text]}, nil
					},
				}
				v := viewWith(t, rt, writerTool("write"))
				res := v.Do(t.Context(), tool.Call{Name: "write", Input: json.RawMessage(textArg("0"))}, tool.Call{Name: "write", Input: json.RawMessage(textArg("1"))})
				slices.Sort(asked)
				if got := strings.Join(asked, " "); got != "0 1 2" {
					t.Errorf("asked about %s, want 0, early about 1, and about 2", got)
				}
				if tt.kind != "" {
					wantFailure(t, res[1], tt.kind, "")
				} else if res[1].String() != textArg("2") {
					t.Errorf("result = %v", res[1])
				}
			})
		})
	}
	t.Run("L2 hooks do not run again after the answer of a person", func(t *testing.T) {
		var trace []string
		rt := &ferrule.Runtime{
			Hooks:  hooksOf("s! a:1>2 b", &trace),
			Answer: func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{Allow: true}, nil },
		}
		res := callOne(t, rt, writerTool("write"), textArg("1"))
		if got, want := strings.Join(trace, " "), "s1 a1 s2 b2"; got != want || res.String() != textArg("2") {
			t.Errorf("got %s, want %s; result %v", got, want, res)
		}
	})
	t.Run("L2 security hooks look at arguments that a person edited", func(t *testing.T) {
		var trace []string
		rt := &ferrule.Runtime{
			Hooks: hooksOf("s! a", &trace),
			Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				return policy.Answer{Allow: true, Input: json.RawMessage(textArg("2"))}, nil
			},
		}
		res := callOne(t, rt, writerTool("write"), textArg("1"))
		if got, want := strings.Join(trace, " "), "s1 a1 s2"; got != want || res.String() != textArg("2")+changedTo+textArg("2") {
			t.Errorf("got %s, want %s; result %v", got, want, res)
		}
	})
	t.Run("L2 security hooks look at input that Validate corrected after a hook", func(t *testing.T) {
		var trace []string
		def := readerTool("read")
		def.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
			trace = append(trace, "V"+textIn(a))
			if textIn(a) == "2" {
				return json.RawMessage(textArg("3")), nil
			}
			return nil, nil
		}
		res := withHooks(t, def, textArg("1"), hooksOf("s! r!:1>2 b", &trace)...)
		if got, want := strings.Join(trace, " "), "V1 s1 r1 V2 s3 r3 b3"; got != want || res.String() != textArg("3") {
			t.Errorf("got %s, want %s; result %v", got, want, res)
		}
	})
	t.Run("L2 claims are taken anew, once for each form of the input", func(t *testing.T) {
		var trace []string
		def := readerTool("read")
		def.Claims = tool.Claims{}
		def.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
			trace = append(trace, textIn(a))
			return tool.Claims{ReadOnly: textIn(a) == "1", Local: true}, nil
		}
		wantFailure(t, callOne(t, &ferrule.Runtime{Hooks: []ferrule.Hook{to(textArg("2"))}}, def, textArg("1")), tool.Denied, "Tool approval required for read, but no approval handler is configured.")
		if !slices.Equal(trace, []string{"1", "2"}) {
			t.Errorf("claims were taken of %q", trace)
		}
	})
	t.Run("L2 a call whose claims changed is scheduled anew", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var inside, most atomic.Int64
			def := readerTool("read")
			def.Claims = tool.Claims{}
			def.ClaimsOf = func(a tool.Args) (tool.Claims, error) { return tool.Claims{Parallel: textIn(a) == "1"}, nil }
			def.Run = func(_ context.Context, a tool.Args) (tool.Result, error) {
				if n := inside.Add(1); textIn(a) == "2" {
					most.Store(max(most.Load(), n))
				}
				time.Sleep(time.Second)
				inside.Add(-1)
				return sayText(textIn(a)), nil
			}
			change := inputHook("change", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				if r.Index == 1 {
					return ferrule.Change{Input: json.RawMessage(textArg("2"))}, nil
				}
				return ferrule.Change{}, nil
			})
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Hooks: []ferrule.Hook{change}}
			call := tool.Call{Name: "read", Input: json.RawMessage(textArg("1"))}
			res := viewWith(t, rt, def).Do(t.Context(), call, call, call)
			if got := fmt.Sprint(res[0], res[1], res[2]); got != "1 2 1" || most.Load() != 1 {
				t.Errorf("results %s; %d ran beside the one that must run alone", got, most.Load()-1)
			}
		})
	})
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// supplies is a session whose only tool comes from a fallback.
func supplies(t *testing.T, rt *ferrule.Runtime, d tool.Tool) *ferrule.Session {
	t.Helper()
	made := checkedTool(t, d)
	rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return made, nil })
	return rt.Session(tool.Caller{})
}

// goesOn begins a turn that hands back, or goes on with one of that number.
func goesOn(t testing.TB, v *ferrule.View, number int, calls ...tool.Call) (int, []tool.Result) {
	t.Helper()
	turn := v.Begin(t.Context(), ferrule.TurnOptions{Number: number, HandBack: true})
	turn.Add(calls...)
	return turn.Number(), turn.Wait()
}

// replyAll answers all that is asked, and says how many questions that were.
func replyAll(t *testing.T, inbox policy.Inbox, a policy.Answer) int {
	t.Helper()
	open, err := inbox.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range open {
		if err := inbox.Answer(t.Context(), q.ID, a); err != nil {
			t.Fatal(err)
		}
	}
	return len(open)
}

func TestFallbackGates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rt   *ferrule.Runtime
		info tool.Info
	}{
		{"the tool", &ferrule.Runtime{}, tool.Info{AtOnce: 1}},
		{"its source", &ferrule.Runtime{SourceLimits: map[string]int{"": 1}}, tool.Info{}},
		{"the tenant", &ferrule.Runtime{TenantLimits: map[string]int{"acme": 1}}, tool.Info{}},
		{"the tool, which is parallel", &ferrule.Runtime{}, tool.Info{AtOnce: 1, Claims: tool.Claims{Parallel: true}}},
		{"the tenant, of a tool that is parallel", &ferrule.Runtime{TenantLimits: map[string]int{"acme": 1}}, tool.Info{Claims: tool.Claims{Parallel: true}}},
	} {
		t.Run("R6 a tool of a fallback passes the cap of "+tt.name, func(t *testing.T) {
			onFloor(t, tt.rt, func(f *floor) {
				tt.info.Name = "late"
				late := f.made(tool.Spec[act, string]{Info: tt.info, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) }})
				f.rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return late, nil })
				f.clear()
				var turns []*ferrule.Turn
				for _, name := range []string{"a", "b", "c"} {
					turn := f.rt.Session(tool.Caller{Tenant: "acme", Session: name}).View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
					turn.Add(words("late late")...)
					turns = append(turns, turn)
				}
				for _, turn := range turns {
					for _, res := range turn.Wait() {
						f.want("result", word(res), "ok")
					}
				}
				f.want("at most at once, and seconds for 6 calls", fmt.Sprint(f.peak(), " ", f.seconds()), "1 6")
			})
		})
	}
	t.Run("R6 a tool of a fallback that must talk to a person does not run where there is none", func(t *testing.T) {
		d, runs := counted(readerTool("talk"))
		d.NeedsUser = true
		rt := new(ferrule.Runtime)
		wantFailure(t, supplies(t, rt, d).Call(t.Context(), "talk", "{}"), tool.NeedsUser, "")
		if runs.Load() != 0 {
			t.Error("it ran")
		}
		if res := rt.Session(tool.Caller{Attended: true}).Call(t.Context(), "talk", "{}"); res.Err != nil {
			t.Errorf("where a person is: %v", res.Err)
		}
	})
	t.Run("R6 a deferred tool of a fallback runs: no list could show it", func(t *testing.T) {
		d := readerTool("late")
		d.Deferred = true
		if res := supplies(t, new(ferrule.Runtime), d).Call(t.Context(), "late", textArg("x")); res.String() != textArg("x") {
			t.Errorf("result = %q", res)
		}
	})
	for name, d := range map[string]tool.Tool{"that claims nothing": writerTool("late"), "that reads": readerTool("late")} {
		t.Run("R6 what the rules deny a tool of a fallback "+name+" does not run", func(t *testing.T) {
			d, runs := counted(d)
			rt := &ferrule.Runtime{Policy: told(tool.Deny, "no")}
			wantFailure(t, supplies(t, rt, d).Call(t.Context(), "late", "{}"), tool.Denied, "")
			if runs.Load() != 0 {
				t.Error("it ran")
			}
		})
	}
	t.Run("R6 bad input of a tool of a fallback", func(t *testing.T) {
		wantFailure(t, supplies(t, new(ferrule.Runtime), readerTool("late")).Call(t.Context(), "late", `{"text":7}`), tool.InvalidInput, "")
	})
}

func TestFallbackHandBack(t *testing.T) {
	t.Parallel()
	asked := func() (*ferrule.Runtime, *policy.Memory) {
		inbox := new(policy.Memory)
		return &ferrule.Runtime{Inbox: inbox}, inbox
	}
	for _, tt := range []struct {
		name   string
		answer policy.Answer
		want   string
	}{
		{"yes", policy.Answer{Allow: true}, textArg("x")},
		{"yes, with other arguments", policy.Answer{Allow: true, Input: json.RawMessage(textArg("y"))}, textArg("y") + changedTo + textArg("y")},
		{"no", policy.Answer{Message: "Not today."}, "Not today."},
	} {
		t.Run("L7 a tool of a fallback goes on with the answer that was given meanwhile: "+tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt, inbox := asked()
				d, runs := counted(writerTool("late"))
				v := supplies(t, rt, d).View(t.Context())
				call := tool.Call{ID: "1", Name: "late", Input: json.RawMessage(textArg("x"))}
				n, res := goesOn(t, v, 0, call)
				wantFailure(t, res[0], tool.Suspended, "")
				if got := replyAll(t, inbox, tt.answer); got != 1 || runs.Load() != 0 {
					t.Fatalf("%d questions and %d runs, want one and none", got, runs.Load())
				}
				_, res = goesOn(t, v, n, call)
				if got := res[0].String(); got != tt.want {
					t.Errorf("result = %q, want %q", got, tt.want)
				}
				if left := replyAll(t, inbox, policy.Answer{}); left != 0 {
					t.Errorf("asked %d times more", left)
				}
			})
		})
	}
	t.Run("L7 what a tool of a fallback asked is answered in the turn that goes on", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt, inbox := asked()
			rt.Policy = allowAll
			d, runs := counted(doing(writerTool("late"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				text, ok := tool.From(ctx).Answer()
				if !ok {
					return tool.Result{}, &tool.Outcome{Suspend: "When?"}
				}
				return sayText("at " + text), nil
			}))
			v := supplies(t, rt, d).View(t.Context())
			n, res := goesOn(t, v, 0, tool.Call{Name: "late"})
			wantFailure(t, res[0], tool.Suspended, "")
			replyAll(t, inbox, policy.Answer{Allow: true, Text: "noon"})
			_, res = goesOn(t, v, n, tool.Call{Name: "late"})
			if got := res[0].String(); got != "at noon" || runs.Load() != 2 {
				t.Errorf("result = %q after %d runs, want %q after 2", got, runs.Load(), "at noon")
			}
		})
	})
	t.Run("L7 calls behind those that were handed back, with a fallback or without, are calls as any other", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt, inbox := asked()
			late := checkedTool(t, readerTool("late"))
			rt.SetFallback(func(_ context.Context, _ tool.Caller, name string) (*tool.Tool, error) {
				if name == "late" {
					return late, nil
				}
				return nil, nil
			})
			v := viewWith(t, rt, writerTool("asks"), readerTool("known"))
			n, _ := goesOn(t, v, 0, tool.Call{Name: "asks"})
			replyAll(t, inbox, policy.Answer{Allow: true})
			_, res := goesOn(t, v, n, tool.Call{Name: "asks"}, tool.Call{Name: "late"}, tool.Call{Name: "nosuch"}, tool.Call{Name: "known"})
			var got []string
			for _, r := range res {
				got = append(got, word(r))
			}
			if got, want := strings.Join(got, " "), "ok ok unknown_tool ok"; got != want {
				t.Errorf("results %s, want %s", got, want)
			}
		})
	})
	t.Run("X1 what a host writes into its buffer after a call was added changes nothing", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			made := checkedTool(t, readerTool("late"))
			rt := new(ferrule.Runtime)
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) {
				time.Sleep(time.Second)
				return made, nil
			})
			buffer := []byte(textArg("mine"))
			turn := rt.Session(tool.Caller{}).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "late", Input: buffer})
			copy(buffer, textArg("evil"))
			if res := turn.Wait()[0]; res.String() != textArg("mine") {
				t.Errorf("it ran with %s, want %s", res, textArg("mine"))
			}
		})
	})
	t.Run("L7 what a host writes into its buffer after a turn went on changes nothing", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt, inbox := asked()
			v := viewWith(t, rt, writerTool("asks"))
			mine := tool.Call{Name: "asks", Input: []byte(textArg("mine"))}
			n, _ := goesOn(t, v, 0, mine)
			replyAll(t, inbox, policy.Answer{Allow: true})
			buffer := []byte(textArg("mine"))
			turn := v.Begin(t.Context(), ferrule.TurnOptions{Number: n})
			turn.Add(tool.Call{Name: "asks", Input: buffer})
			turn.Wait()
			copy(buffer, textArg("evil"))
			if _, res := goesOn(t, v, n, mine); res[0].String() != textArg("mine") {
				t.Errorf("result = %s", res[0])
			}
		})
	})
	t.Run("L7 what a host writes into its buffer after a turn was handed back changes nothing", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt, inbox := asked()
			v := viewWith(t, rt, writerTool("asks"))
			buffer := []byte(textArg("mine"))
			n, _ := goesOn(t, v, 0, tool.Call{Name: "asks", Input: buffer})
			copy(buffer, textArg("evil"))
			replyAll(t, inbox, policy.Answer{Allow: true})
			if _, res := goesOn(t, v, n, tool.Call{Name: "asks", Input: buffer}); res[0].Err == nil {
				t.Errorf("another call in its place ran: %s", res[0])
			}
			n, _ = goesOn(t, v, 0, tool.Call{Name: "asks", Input: []byte(textArg("mine"))})
			replyAll(t, inbox, policy.Answer{Allow: true})
			if _, res := goesOn(t, v, n, tool.Call{Name: "asks", Input: []byte(textArg("mine"))}); res[0].String() != textArg("mine") {
				t.Errorf("result = %s", res[0])
			}
		})
	})
}

func TestFallbackStops(t *testing.T) {
	t.Parallel()
	for _, cooperative := range []bool{false, true} {
		t.Run(fmt.Sprintf("T10 claims of a tool of a fallback that do not return are not waited for, and the host is heard meanwhile: cooperative %v", cooperative), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(writerTool("late"))
				d.Cooperative = cooperative
				d.ClaimsOf = func(tool.Args) (tool.Claims, error) {
					time.Sleep(time.Hour)
					return tool.Claims{ReadOnly: true, Local: true}, nil
				}
				rt := new(ferrule.Runtime)
				s := supplies(t, rt, d)
				began := time.Now()
				res := s.Call(t.Context(), "late", "{}")
				if took := time.Since(began); res.Err == nil || took > 62*time.Second {
					t.Errorf("after %s: %v", took, res)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				began = time.Now()
				wantFailure(t, rt.Session(tool.Caller{}).Call(ctx, "late", "{}"), tool.Aborted, "")
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("the stop was heard after %s", took)
				}
				if runs.Load() != 0 {
					t.Errorf("ran %d times", runs.Load())
				}
			})
		})
	}
	for name, fallback := range map[string]ferrule.Fallback{
		"one that listens": func(ctx context.Context, _ tool.Caller, _ string) (*tool.Tool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"one that does not": func(context.Context, tool.Caller, string) (*tool.Tool, error) {
			time.Sleep(time.Hour)
			return nil, nil
		},
		"one that has the tool after all": func(ctx context.Context, _ tool.Caller, _ string) (*tool.Tool, error) {
			<-ctx.Done()
			d := writerTool("late")
			return d.Check()
		},
	} {
		for who, stops := range map[string]func(*ferrule.Turn, context.CancelFunc){
			"a person speaks": func(turn *ferrule.Turn, _ context.CancelFunc) { turn.Interrupt() },
			"the host stops":  func(_ *ferrule.Turn, cancel context.CancelFunc) { cancel() },
		} {
			t.Run("D6 "+who+" while a fallback is asked: "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					rt := &ferrule.Runtime{Policy: allowAll}
					rt.SetFallback(fallback)
					turn := rt.Session(tool.Caller{}).View(ctx).Begin(ctx, ferrule.TurnOptions{})
					turn.Add(tool.Call{Name: "late"})
					after(1)
					stops(turn, cancel)
					began := time.Now()
					res := turn.Wait()[0]
					wantFailure(t, res, tool.Aborted, "")
					if took := time.Since(began); took > time.Second {
						t.Errorf("it took %s", took)
					}
					if res.Err != nil && strings.Contains(res.Err.Text, "may have taken effect") {
						t.Errorf("nothing ran: %q", res.Err.Text)
					}
				})
			})
		}
	}
	for name, listen := range map[string]func(context.Context){
		"polls":     func(ctx context.Context) { _ = ctx.Err() },
		"waits for": func(ctx context.Context) { <-ctx.Done() },
		"derives from": func(ctx context.Context) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			<-ctx.Done()
		},
	} {
		t.Run("L6 a goroutine of a fallback "+name+" its context while the host stops: the process lives", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				rt := new(ferrule.Runtime)
				rt.SetFallback(func(own context.Context, _ tool.Caller, _ string) (*tool.Tool, error) {
					cancel()
					done := make(chan struct{})
					go func() { // as a client of HTTP does
						defer close(done)
						defer func() {
							if r := recover(); r != nil {
								t.Errorf("panic in a goroutine that nobody guards: %v", r)
							}
						}()
						listen(own)
					}()
					<-done
					return nil, own.Err()
				})
				res := rt.Session(tool.Caller{}).Call(ctx, "late", "{}")
				wantFailure(t, res, tool.Aborted, "")
				if res.Err != nil && !errors.Is(res.Err, context.Canceled) {
					t.Errorf("the cause is %v", res.Err.Cause)
				}
			})
		})
	}
	t.Run("D7 a fallback that was given up is named to later calls until it returns", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) {
				time.Sleep(time.Hour)
				return nil, nil
			})
			v := viewWith(t, rt, readerTool("read"))
			res := v.Do(t.Context(), tool.Call{Name: "nosuch"}, tool.Call{Name: "read"})
			wantFailure(t, res[0], tool.UnknownTool, "")
			const text = "An earlier call of nosuch was stopped but has not ended, so this call did not run. Try again later."
			wantFailure(t, res[1], tool.Failed, text)
			wantFailure(t, v.Do(t.Context(), tool.Call{Name: "read"})[0], tool.Failed, text)
			time.Sleep(time.Hour)
			if res := v.Do(t.Context(), tool.Call{Name: "read"})[0]; res.Err != nil {
				t.Errorf("after it returned: %v", res.Err)
			}
		})
	})
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestPanics is rule L6 for functions that the runtime calls: each panic is a
// result, and the next call is served.
func TestPanics(t *testing.T) {
	t.Parallel()
	const boom = "boom in /srv"
	hook := func(h ferrule.Hook) func(*ferrule.Runtime, *tool.Tool) {
		return func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Hooks = []ferrule.Hook{h} }
	}
	yes := says(policy.Answer{Allow: true})
	tests := []struct {
		name   string
		kind   tool.Kind // "": the call goes well
		text   string
		infect func(*ferrule.Runtime, *tool.Tool)
	}{
		{"Run", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { panic(boom) }
		}},
		{"Run, by the runtime of Go", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(_ context.Context, a tool.Args) (tool.Result, error) { return sayText(a.Mended()[3]), nil }
		}},
		{"Run, with nil", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) { panic(ctx.Value(t)) }
		}},
		{"Run, with a value that cannot be printed", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { panic(evilError{"Error"}) }
		}},
		{"ClaimsOf", tool.Denied, "Tool approval required for read, but no approval handler is configured.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Claims = tool.Claims{}
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { panic(boom) }
		}},
		{"Validate", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { panic(boom) }
		}},
		{"Permit", tool.Denied, "A check of this call failed, so it was denied.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { panic(boom) }
		}},
		{"AskIf", tool.Denied, "Tool approval required for read, but no approval handler is configured.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.AskIf = func(context.Context, tool.Args) (bool, error) { panic(boom) }
		}},
		{"Preview", "", "", func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Answer = tool.Claims{}, yes
			d.Preview = func(context.Context, tool.Args) (string, error) { panic(boom) }
		}},
		{"AskReasonOf", "", "", func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Answer = tool.Claims{}, yes
			d.AskReasonOf = func(context.Context, tool.Args) (string, error) { panic(boom) }
		}},
		{"RejectTextOf", tool.Rejected, "Tool approval was rejected.", func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Answer = tool.Claims{}, says(policy.Answer{})
			d.RejectTextOf = func(context.Context, tool.Args) (string, error) { panic(boom) }
		}},
		{"Facts and Scopes", "", "", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Facts = func(tool.Args) (tool.Facts, error) { panic(boom) }
			d.Scopes = func(tool.Args) ([]string, error) { panic(boom) }
		}},
		{"Key", "", "", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Key = func(context.Context, tool.Args) (string, error) { panic(boom) }
		}},
		{"DescriptionOf", "", "", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.DescriptionOf = func(context.Context, tool.Caller) (string, error) { panic(boom) }
		}},
		{"InputOf", "", "", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.InputOf = func(context.Context, tool.Caller) (json.RawMessage, error) { panic(boom) }
		}},
		{"Enabled", tool.UnknownTool, "Tool not found: read", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Enabled = func(context.Context, tool.Caller) (bool, error) { panic(boom) }
		}},
		{"an input hook", tool.HookBlocked, "A hook of this program failed, so the call did not go on.", hook(ferrule.Hook{
			Input: func(context.Context, *tool.Request) (ferrule.Change, error) { panic(boom) },
		})},
		{"a wrapper", tool.HookBlocked, "A hook of this program failed, so the call did not go on.", hook(ferrule.Hook{
			Around: func(context.Context, *tool.Request, ferrule.Next) tool.Result { panic(boom) },
		})},
		{"an output hook", tool.HookBlocked, "The tool ran, but a hook of this program failed, so its result is withheld.", hook(ferrule.Hook{
			Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) { panic(boom) },
		})},
		{"the observer", "", "", func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Observe = func(audit.Event) { panic(boom) } }},
		{"the rules", tool.Denied, "The rules could not be read, so the call was denied.", func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Policy = policy.Func(func(*tool.Request) tool.Decision { panic(boom) })
		}},
		{"Decide", tool.Denied, "A check of this call failed, so it was denied.", func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) { panic(boom) }
		}},
		{"Answer", tool.Denied, "The person who must allow this call could not be asked, so it was denied.", func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims = tool.Claims{}
			rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) { panic(boom) }
		}},
		{"the fallback", tool.UnknownTool, "Tool not found: read", func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Name = "other"
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { panic(boom) })
		}},
		{"Repair", "", "", func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Repair = func(string) (string, []string, error) { panic(boom) }
		}},
		{"Refresh", "", "", func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { panic(boom) }
		}},
		{"writing the output", tool.Failed, "The tool failed unexpectedly.", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				content, err := tool.Encode(unwritable{})
				return tool.Result{Content: content}, err
			}
		}},
	}
	for _, tt := range tests {
		t.Run("L6 a panic is a result: "+tt.name, func(t *testing.T) {
			rt, def := &ferrule.Runtime{}, readerTool("read")
			tt.infect(rt, &def)
			v := viewWith(t, rt, def, readerTool("good"))
			for range 2 { // the second call is served as the first was
				res := v.Do(t.Context(), tool.Call{Name: "read", Input: json.RawMessage(textArg("x"))}, tool.Call{Name: "good"})
				if tt.kind != "" {
					wantFailure(t, res[0], tt.kind, tt.text)
				} else if res[0].Err != nil || res[0].String() != textArg("x") {
					t.Errorf("result = %v", res[0])
				}
				if strings.Contains(res[0].String(), "boom") {
					t.Errorf("the model reads %q", res[0])
				}
			}
		})
	}
	t.Run("L6 a panic in Believe believes nothing", func(t *testing.T) {
		rt := &ferrule.Runtime{Believe: func(tool.Source, *tool.Info) bool { panic(boom) }}
		if err := rt.Set(tool.Source{Name: "far", Trust: tool.MCP}, checkedTool(t, readerTool("read"))); err != nil {
			t.Fatal(err)
		}
		if r, ok := rt.Find("far__read"); !ok || !reflect.DeepEqual(r.Claims, tool.Claims{}) {
			t.Errorf("found %v, claims %+v", ok, r.Claims)
		}
	})
	t.Run("L6 a panic in Preview is said to the person", func(t *testing.T) {
		var shown string
		def := writerTool("write")
		def.Preview = func(context.Context, tool.Args) (string, error) { panic(boom) }
		rt := &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			shown = q.Preview
			return policy.Answer{}, nil
		}}
		callOne(t, rt, def, "")
		if shown != "(the tool could not say what this would do)" {
			t.Errorf("the person reads %q", shown)
		}
	})
	for _, name := range []string{"Run", "Validate", "Permit", "AskIf", "Key", "ClaimsOf", "Decide"} {
		t.Run("L6 the end of a goroutine is a result: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt, def := &ferrule.Runtime{}, readerTool("bad")
				switch name {
				case "Run":
					def.Run = goexit[tool.Result]
				case "Validate":
					def.Validate = goexit[json.RawMessage]
				case "Permit":
					def.Permit = goexit[tool.Decision]
				case "AskIf":
					def.AskIf = goexit[bool]
				case "Key":
					def.Key = goexit[string]
				case "ClaimsOf":
					def.Claims = tool.Claims{}
					def.ClaimsOf = func(tool.Args) (tool.Claims, error) { runtime.Goexit(); return tool.Claims{}, nil }
				case "Decide":
					rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
						runtime.Goexit()
						return tool.Decision{}, nil
					}
				}
				v := viewWith(t, rt, def, slowTool("slow", 10*time.Minute))
				var res []tool.Result
				back := make(chan bool)
				go func() { // which ends with it, if it is the caller's
					defer close(back)
					calls := []tool.Call{{Name: "bad"}, {Name: "slow"}}
					if name == "Decide" {
						calls = calls[:1]
					}
					res = v.Do(t.Context(), calls...)
				}()
				<-back
				if len(res) == 0 || res[0].Err == nil {
					t.Fatalf("results = %v", res)
				}
				if len(res) > 1 && res[1].Err != nil {
					t.Errorf("its sibling: %v", res[1])
				}
			})
		})
	}
}

func goexit[T any](context.Context, tool.Args) (v T, err error) {
	runtime.Goexit()
	return v, nil
}

type unwritable struct{}

// evilError is an error with a method that panics.
type evilError struct{ method string }

func (e evilError) does(method string) {
	if e.method == method {
		panic("in " + method)
	}
}

func (e evilError) Error() string {
	e.does("Error")
	return "evil"
}

func (e evilError) Unwrap() error {
	e.does("Unwrap")
	return nil
}

func (e evilError) Is(error) bool {
	e.does("Is")
	return false
}

func (e evilError) As(any) bool {
	e.does("As")
	return false
}

// watchless is an inbox that panics when it is watched.
type watchless struct{ policy.Memory }

func (*watchless) Watch(func(string)) func() { panic("in Watch") }

// TestEvilErrors runs each case in a process of its own: what it shows would end
// this one.
func TestEvilErrors(t *testing.T) {
	for i, a := range ailments(nil) {
		t.Run("L6 an error whose methods panic: "+a.name, func(t *testing.T) {
			alone(t, func(t *testing.T) {
				for _, method := range []string{"Error", "Unwrap", "Is", "As"} {
					t.Log(method)
					if res := ailmentsOf(evilError{method})[i].suffer(t); res.Err == nil || !res.Err.Kind.Known() {
						t.Errorf("%s: result = %v", method, res)
					}
				}
			})
		})
	}
	times := func(infect func(*tool.Tool, evilError)) func(*testing.T) {
		return func(t *testing.T) {
			for _, method := range []string{"Error", "Unwrap", "Is", "As"} {
				t.Log(method)
				bubble(t, func(t *testing.T) {
					def := readerTool("read")
					infect(&def, evilError{method})
					if res := callOne(t, &ferrule.Runtime{Observe: func(audit.Event) {}}, def, ""); res.Err == nil || !res.Err.Kind.Known() {
						t.Errorf("%s: result = %v", method, res)
					}
				})
			}
		}
	}
	t.Run("L6 an error whose methods panic: returned by Run too late", func(t *testing.T) {
		alone(t, times(func(d *tool.Tool, e evilError) {
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, e
			}
		}))
	})
	t.Run("L6 an error whose methods panic: returned by ClaimsOf", func(t *testing.T) {
		alone(t, times(func(d *tool.Tool, e evilError) {
			d.Claims = tool.Claims{}
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{}, e }
		}))
	})
	t.Run("L6 an error whose methods panic: the cause in a result", func(t *testing.T) {
		alone(t, times(func(d *tool.Tool, e evilError) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{Err: &tool.Error{Kind: tool.Failed, Cause: e}}, nil
			}
		}))
	})
	t.Run("L6 an error whose methods panic: returned by Refresh", func(t *testing.T) {
		alone(t, func(t *testing.T) {
			rt := &ferrule.Runtime{
				Observe: func(audit.Event) {},
				Refresh: func(context.Context, tool.Caller) ([]*tool.Tool, error) { return nil, evilError{"Error"} },
			}
			if res := callOne(t, rt, readerTool("read"), ""); res.Err != nil {
				t.Errorf("result = %v", res)
			}
		})
	})
	t.Run("L6 an inbox that panics when it is watched", func(t *testing.T) {
		alone(t, func(t *testing.T) {
			wantFailure(t, callOne(t, &ferrule.Runtime{Inbox: new(watchless)}, writerTool("write"), ""), tool.Denied, "")
		})
	})
}

// ailmentsOf are ailments whose errors are this one itself.
func ailmentsOf(err error) []ailment {
	all := ailments(err)
	plain := func(i int, infect func(*ferrule.Runtime, *tool.Tool)) { all[i].infect = infect }
	plain(0, func(_ *ferrule.Runtime, d *tool.Tool) {
		d.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, err }
	})
	plain(1, func(_ *ferrule.Runtime, d *tool.Tool) {
		d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, err }
	})
	return all
}

// child is set in the processes that alone starts.
const child = "FERRULE_TEST_CHILD"

// alone runs the rest of a subtest in a process of its own, which must live.
func alone(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if os.Getenv(child) != "" {
		f(t)
		return
	}
	t.Parallel()
	var parts []string
	for p := range strings.SplitSeq(t.Name(), "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.timeout=30s", "-test.v")
	cmd.Env = append(os.Environ(), child+"=yes", "GORACE=atexit_sleep_ms=0") // else the race detector waits a second
	out, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(out), "--- PASS: "+t.Name()) {
		return
	}
	lines := strings.Split(string(out), "\n")
	t.Errorf("the process: %v\n%s", err, strings.Join(lines[:min(len(lines), 24)], "\n"))
}

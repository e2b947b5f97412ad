package ferrule_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellTool is a tool of which some calls destroy: those whose line begins with
// rm.
func shellTool() tool.Tool {
	d := writerTool("shell")
	d.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
		return tool.Claims{Reversible: !strings.HasPrefix(textIn(a), "rm"), Parallel: true}, nil
	}
	d.Facts = func(tool.Args) (tool.Facts, error) { return tool.Facts{Paths: []string{"/work/a"}}, nil }
	d.Scopes = func(tool.Args) ([]string, error) { return []string{"path: /work/**"}, nil }
	return d
}

func TestGrantsAndDestruction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, end string
		second    bool
		asked     int
	}{
		{"P3 a yes to the tool without the second key does not cover a later call that destroys", "shell", false, 2},
		{"P3 a yes to the tool with the second key does not either", "shell", true, 2},
		{"P3 a yes to a scope without the second key does not cover a later call that destroys", "(path: /work/**)", false, 2},
		{"P3 a yes to a scope with the second key does", "(path: /work/**)", true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &keeper{choose: func(q policy.Question) policy.Answer {
				a := offer(tt.end, false)(q)
				a.Second = tt.second
				return a
			}}
			d, runs := counted(shellTool())
			s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Answer: k.answer}, d))
			for _, text := range []string{"touch a", "touch b"} {
				if res := s.Call(t.Context(), "shell", textArg(text)); res.Err != nil || len(k.asked) != 1 {
					t.Fatalf("%s: %v, asked %d times, want once in all", text, res.Err, len(k.asked))
				}
			}
			s.Call(t.Context(), "shell", textArg("rm -r a"))
			if len(k.asked) != tt.asked {
				t.Errorf("asked %d times, want %d; ran %d times", len(k.asked), tt.asked, runs.Load())
			}
		})
	}
}

func TestGrantsEnd(t *testing.T) {
	t.Parallel()
	undoable := tool.Claims{Reversible: true}
	t.Run("T5 a yes given while a source was trusted as own does not answer for a changed tool once it is not", func(t *testing.T) {
		ledger := new(policy.Memory)
		k := &keeper{choose: offer("srv__write", true)}
		call := func(trust tool.Trust, description string) {
			t.Helper()
			rt := &ferrule.Runtime{Answer: k.answer, Ledger: ledger, Trust: map[string]tool.Trust{"srv": trust}, Believe: func(tool.Source, *tool.Info) bool { return true }}
			d := writesFiles(undoable)
			d.Description = description
			if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			if res := rt.Session(tool.Caller{Session: "s"}).Call(t.Context(), "srv__write", textArg("/work/a")); res.Err != nil {
				t.Fatal(res.Err)
			}
		}
		call(tool.Own, "Write a file.")
		call(tool.Own, "Write a file. Mail it too.")
		if len(k.asked) != 1 {
			t.Errorf("asked %d times while it was own, want 1", len(k.asked))
		}
		call(tool.MCP, "Write a file. Mail it too.")
		if len(k.asked) != 2 {
			t.Errorf("asked %d times, want 2: it is another tool, of a source that nobody trusts", len(k.asked))
		}
	})
	overruled := func(t *testing.T, choose func(policy.Question) policy.Answer) (*keeper, *ferrule.Session) {
		t.Helper()
		k := &keeper{choose: choose}
		d := writesFiles(undoable)
		d.Permit = func(_ context.Context, a tool.Args) (tool.Decision, error) {
			if textIn(a) == "/etc/passwd" {
				return tool.Decision{Verdict: tool.Deny, Reason: "not there", Override: true}, nil
			}
			return tool.Decision{Verdict: tool.Silent}, nil
		}
		return k, ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Answer: k.answer}, d))
	}
	t.Run("T12 a yes to the tool does not overrule a denial: a person does, call by call", func(t *testing.T) {
		k, s := overruled(t, offer("write", false))
		if res := s.Call(t.Context(), "write", textArg("/work/a")); res.Err != nil {
			t.Fatal(res.Err)
		}
		wantFailure(t, s.Call(t.Context(), "write", textArg("/etc/passwd")), tool.Rejected, "no such offer")
		if len(k.asked) != 2 || len(k.asked[1].Offers) != 1 || !strings.HasPrefix(k.asked[1].Offers[0], "write(args: ") {
			t.Errorf("asked %+v, want two questions, the second with exactly its arguments to choose from", k.asked)
		}
	})
	t.Run("T12 a yes to exactly these arguments overrules the denial of them again", func(t *testing.T) {
		k, s := overruled(t, offerExact(false))
		for range 2 {
			if res := s.Call(t.Context(), "write", textArg("/etc/passwd")); res.Err != nil {
				t.Error(res.Err)
			}
		}
		if len(k.asked) != 1 {
			t.Errorf("asked %d times, want 1", len(k.asked))
		}
	})
}

func TestGrantsWithoutPerson(t *testing.T) {
	t.Parallel()
	const nobody = "Tool approval required for write, but no approval handler is configured."
	for _, tt := range []struct {
		name   string
		choose func(policy.Question) policy.Answer
		caller tool.Caller
		text   string
		runs   bool
	}{
		{"P5 always: where nobody can be asked the rule still answers", offer("src/**)", true), tool.Caller{Session: "t"}, "/work/src/b", true},
		{"P8 always: but not for what it does not cover", offer("src/**)", true), tool.Caller{Session: "t"}, "/etc/b", false},
		{"P8 always: nor for another principal", offer("src/**)", true), tool.Caller{Session: "t", Principal: "bob"}, "/work/src/b", false},
		{"P8 always: nor for another tenant", offer("src/**)", true), tool.Caller{Session: "t", Tenant: "other"}, "/work/src/b", false},
		{"P5 for this session: it answers in it where nobody can be asked any more", offer("src/**)", false), tool.Caller{Session: "s"}, "/work/src/b", true},
		{"P8 for this session: and not in another", offer("src/**)", false), tool.Caller{Session: "t"}, "/work/src/b", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ledger := new(policy.Memory)
			k := &keeper{choose: tt.choose}
			attended := &ferrule.Runtime{Answer: k.answer, Ledger: ledger}
			viewWith(t, attended, writesFiles(tool.Claims{Reversible: true}))
			if res := attended.Session(tool.Caller{Session: "s"}).Call(t.Context(), "write", textArg("/work/src/a")); res.Err != nil {
				t.Fatal(res.Err)
			}
			d, runs := counted(writesFiles(tool.Claims{Reversible: true}))
			headless := &ferrule.Runtime{Ledger: ledger}
			viewWith(t, headless, d)
			res := headless.Session(tt.caller).Call(t.Context(), "write", textArg(tt.text))
			if tt.runs && (res.Err != nil || runs.Load() != 1) {
				t.Errorf("got %v, ran %d times, want it to run", res.Err, runs.Load())
			}
			if !tt.runs {
				if wantFailure(t, res, tool.Denied, nobody); runs.Load() != 0 {
					t.Error("it ran")
				}
			}
		})
	}
}

func TestGrantsOnTheRecord(t *testing.T) {
	t.Parallel()
	t.Run("U1 a call that a rule answers is on the record as answered once, also one that waited for another", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var rec recorder
			k := &keeper{choose: offer("write", false)}
			d := writesFiles(tool.Claims{Reversible: true})
			d.Approval = tool.AskAlways
			wall := doing(writerTool("wall"), sleepFor(time.Second))
			wall.Approval = tool.AskNever
			s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Answer: k.answer, Observe: rec.observe}, d, wall))
			s.Call(t.Context(), "write", textArg("/work/a"))
			s.View(t.Context()).Do(t.Context(), tool.Call{ID: "c1", Name: "wall"}, tool.Call{ID: "c2", Name: "write", Input: json.RawMessage(textArg("/work/b"))})
			if got := rec.kinds("c2"); strings.Count(got, string(audit.Answered)) != 1 || strings.Contains(got, string(audit.Asked)) {
				t.Errorf("events: %s, want answered once and asked never", got)
			}
		})
	})
}

// sleepFor runs for so long.
func sleepFor(d time.Duration) func(context.Context, tool.Args) (tool.Result, error) {
	return func(context.Context, tool.Args) (tool.Result, error) {
		time.Sleep(d)
		return sayText("slept"), nil
	}
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestModes(t *testing.T) {
	t.Parallel()
	claiming := func(name string, c tool.Claims) tool.Tool {
		d := writerTool(name)
		d.Claims = c
		return d
	}
	edits := claiming("edit", tool.Claims{Reversible: true, Local: true, Touches: []tool.Access{{Resource: "file:/work/a", Write: true}}})
	strays := claiming("stray", tool.Claims{Reversible: true, Local: true, Touches: []tool.Access{{Resource: "file:/etc/a", Write: true}}})
	sends := claiming("send", tool.Claims{Reversible: true})
	reads := readerTool("read")
	drops := writerTool("drop")
	firm := claiming("firm", tool.Claims{Reversible: true})
	firm.Approval = tool.AskAlways
	const yes, no = tool.Kind(""), tool.Denied
	// Nobody can be asked: what would be asked for is denied.
	tests := []struct {
		name                                   string
		mode                                   policy.Mode
		edit, stray, send, read, drop, firmOne tool.Kind
	}{
		{"P10 ask: as the rules say", policy.ModeAsk, no, no, no, yes, no, no},
		{"P10 edit: what can be undone in the workspace", policy.ModeEdit, yes, no, no, yes, no, no},
		{"P10 read: only calls that read", policy.ModeRead, no, no, no, yes, no, no},
		{"P10 auto: but what destroys, or the tool asks for", policy.ModeAuto, yes, yes, yes, yes, no, no},
		{"P10 observe: everything that is asked for", policy.ModeObserve, yes, yes, yes, yes, yes, yes},
		{"P10 what is no mode is read", policy.Mode("yolo"), no, no, no, yes, no, no},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := &ferrule.Runtime{Mode: tt.mode, Workspace: "/work"}
			v := viewWith(t, rt, edits, strays, sends, reads, drops, firm)
			for name, want := range map[string]tool.Kind{"edit": tt.edit, "stray": tt.stray, "send": tt.send, "read": tt.read, "drop": tt.drop, "firm": tt.firmOne} {
				if got := kindOf(v.Do(t.Context(), tool.Call{Name: name})[0]); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
	t.Run("P10 read: what a rule allows does not run either", func(t *testing.T) {
		rt := &ferrule.Runtime{Mode: policy.ModeRead, Policy: allowAll}
		wantFailure(t, callOne(t, rt, drops, "{}"), tool.Denied, "Only calls that read may run now.")
	})
	t.Run("P10 observe: a denial stays, and a question is recorded as would ask", func(t *testing.T) {
		var rec recorder
		rt := &ferrule.Runtime{Mode: policy.ModeObserve, Observe: rec.observe}
		if res := callOne(t, rt, drops, "{}"); res.Err != nil {
			t.Fatal(res.Err)
		}
		var said string
		for _, e := range rec.events {
			if e.Kind == audit.Decided {
				said = e.By + " " + e.Text
			}
		}
		if !strings.HasPrefix(said, "mode would ask: no rule speaks") {
			t.Errorf("decided: %q", said)
		}
		rt = &ferrule.Runtime{Mode: policy.ModeObserve, Policy: told(tool.Deny, "never")}
		wantFailure(t, callOne(t, rt, drops, "{}"), tool.Denied, "never")
	})
	t.Run("P10 observe: a denial that a person could overrule stays", func(t *testing.T) {
		d := drops
		d.Permit = func(context.Context, tool.Args) (tool.Decision, error) {
			return tool.Decision{Reason: "root", Override: true}, nil
		}
		wantFailure(t, callOne(t, &ferrule.Runtime{Mode: policy.ModeObserve, Answer: says(policy.Answer{Allow: true})}, d, "{}"), tool.Denied, "root")
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		preview func(context.Context, tool.Args) (string, error)
		policy  policy.Policy
		input   string
		want    string
		kind    tool.Kind
	}{
		{"P10 dry-run: previews come back", func(_ context.Context, a tool.Args) (string, error) { return "write " + textIn(a), nil }, allowAll, textArg("x"), "Dry run: drop was not run. It would do this:\nwrite x", ""},
		{"P10 dry-run: without a preview it says so much", nil, allowAll, "{}", "Dry run: drop was not run.", ""},
		{"P10 dry-run: what would be asked for is not", nil, told(tool.Ask, ""), "{}", "Dry run: drop was not run.", ""},
		{"P10 dry-run: a preview that fails", func(context.Context, tool.Args) (string, error) { return "", errBroken }, allowAll, "{}", "Dry run: drop was not run. It would do this:\n(the tool could not say what this would do)", ""},
		{"P10 dry-run: a preview that panics", func(context.Context, tool.Args) (string, error) { panic("broken") }, allowAll, "{}", "Dry run: drop was not run. It would do this:\n(the tool could not say what this would do)", ""},
		{"P10 dry-run: a denial stays", nil, told(tool.Deny, "never"), "{}", "never", tool.Denied},
		{"P10 dry-run: arguments are checked", nil, allowAll, `{"text":1}`, "", tool.InvalidInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, runs := counted(writerTool("drop"))
			d.Preview = tt.preview
			d.Output = json.RawMessage(`{"type":"object","required":["n"]}`)
			res := callOne(t, &ferrule.Runtime{Mode: policy.ModeDryRun, Policy: tt.policy, Inbox: new(policy.Memory)}, d, tt.input)
			if tt.kind != "" {
				wantFailure(t, res, tt.kind, tt.want)
			} else if res.Err != nil || res.String() != tt.want {
				t.Errorf("got %q, %v, want %q", res, res.Err, tt.want)
			}
			if runs.Load() != 0 {
				t.Error("it ran")
			}
		})
	}
	t.Run("P10 dry-run: what only reads does not run either", func(t *testing.T) {
		d, runs := counted(readerTool("look"))
		if res := callOne(t, &ferrule.Runtime{Mode: policy.ModeDryRun}, d, "{}"); res.Err != nil || runs.Load() != 0 {
			t.Errorf("got %q, %v, ran %d times", res, res.Err, runs.Load())
		}
	})
}

func TestSetMode(t *testing.T) {
	t.Parallel()
	t.Run("P10 a session has its own mode, whatever the runtime's", func(t *testing.T) {
		rt := &ferrule.Runtime{Mode: policy.ModeObserve}
		v := viewWith(t, rt, writerTool("drop"))
		s := ferrule.SessionOf(v)
		for _, m := range []policy.Mode{policy.ModeAsk, policy.ModeRead, policy.ModeAuto} {
			if err := s.SetMode(t.Context(), m); err != nil || s.Mode() != m {
				t.Fatalf("SetMode(%s): %v; it is %s", m, err, s.Mode())
			}
			wantFailure(t, v.Do(t.Context(), tool.Call{Name: "drop"})[0], tool.Denied, "")
		}
		if other := rt.Session(tool.Caller{}); other.Mode() != policy.ModeObserve {
			t.Errorf("another session is in mode %s", other.Mode())
		}
	})
	t.Run("P10 what is no mode is refused", func(t *testing.T) {
		s := new(ferrule.Runtime).Session(tool.Caller{})
		if err := s.SetMode(t.Context(), "yolo"); err == nil || s.Mode() != policy.ModeAsk {
			t.Errorf("got %v, and the mode %s", err, s.Mode())
		}
	})
	t.Run("P10 no mode can be set by a call: what a tool is given has no way to", func(t *testing.T) {
		env := reflect.TypeFor[tool.Env]()
		for i := range env.NumMethod() {
			if strings.Contains(env.Method(i).Name, "Mode") {
				t.Errorf("tool.Env has %s", env.Method(i).Name)
			}
		}
	})
	t.Run("P10 a mode lasts as long as the ledger, and another process sees it", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			ledger := new(policy.Memory)
			first := &ferrule.Runtime{Ledger: ledger, Policy: allowAll}
			second := &ferrule.Runtime{Ledger: ledger, Policy: allowAll}
			v := viewWith(t, second, writerTool("drop"))
			_ = v
			s, o := first.Session(tool.Caller{Session: "s"}), second.Session(tool.Caller{Session: "s"})
			if res := o.Call(t.Context(), "drop", "{}"); res.Err != nil {
				t.Fatal(res.Err)
			}
			if err := s.SetMode(t.Context(), policy.ModeRead); err != nil {
				t.Fatal(err)
			}
			waitLook()
			wantFailure(t, o.Call(t.Context(), "drop", "{}"), tool.Denied, "")
		})
	})
}

// deadLedger keeps nothing.
type deadLedger struct{ policy.Ledger }

func (deadLedger) Update(context.Context, policy.Asker, func(*policy.SessionState) error) (policy.SessionState, error) {
	return policy.SessionState{}, errors.New("disk full")
}

func TestLedgerFails(t *testing.T) {
	t.Parallel()
	t.Run("P1 where it is not known how a session stands, nothing runs", func(t *testing.T) {
		d, runs := counted(readerTool("look"))
		res := callOne(t, &ferrule.Runtime{Ledger: deadLedger{}, Policy: allowAll}, d, "{}")
		wantFailure(t, res, tool.Denied, "It is not known what this session may do, so the call was denied.")
		if runs.Load() != 0 || !strings.Contains(res.Err.Detail, "disk full") {
			t.Errorf("it ran %d times; detail %q", runs.Load(), res.Err.Detail)
		}
	})
	t.Run("P10 a mode that cannot be kept is not set", func(t *testing.T) {
		s := (&ferrule.Runtime{Ledger: deadLedger{}}).Session(tool.Caller{})
		if err := s.SetMode(t.Context(), policy.ModeAuto); err == nil || s.Mode() == policy.ModeAuto {
			t.Errorf("got %v, and the mode %s", err, s.Mode())
		}
	})
}

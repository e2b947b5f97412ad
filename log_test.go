package ferrule_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// What decides about calls to come is on the record, as what decides about one.
func TestDecisionsOnRecord(t *testing.T) {
	t.Parallel()
	t.Run("U1 a session whose mode was changed", func(t *testing.T) {
		t.Parallel()
		log := new(audit.Memory)
		s := (&ferrule.Runtime{Log: log}).Session(tool.Caller{Session: "s1"})
		if err := s.SetMode(t.Context(), policy.ModeAuto); err != nil {
			t.Fatal(err)
		}
		if lines := onRecord(t, log); !strings.Contains(lines, string(policy.ModeAuto)) {
			t.Errorf("on the record is %q, and not that nobody is asked any more", lines)
		}
	})
	t.Run("U1 a yes that lasts, and as which rule", func(t *testing.T) {
		t.Parallel()
		log := new(audit.Memory)
		var rule string
		rt := &ferrule.Runtime{Log: log, Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			rule = q.Offers[0]
			return policy.Answer{Allow: true, By: "ada", Rule: rule}, nil
		}}
		d := writerTool("send")
		d.Claims = tool.Claims{Reversible: true, Local: true}
		if res := callOne(t, rt, d, textArg("x")); res.Err != nil {
			t.Fatal(res.Err)
		}
		for r, err := range log.Rows() {
			if e, parsed := r.Entry(); err == nil && parsed == nil && e.Kind == audit.Answered {
				if !strings.Contains(e.Text, rule) {
					t.Errorf("the answer is on the record as %q, and not that %q is allowed from now on", e.Text, rule)
				}
			}
		}
	})
	t.Run("U1 why a person said no", func(t *testing.T) {
		t.Parallel()
		log := new(audit.Memory)
		rt := &ferrule.Runtime{Log: log, Answer: says(policy.Answer{By: "ada", Reason: "not on a Friday", Message: "Try on Monday."})}
		callOne(t, rt, writerTool("send"), textArg("x"))
		if lines := onRecord(t, log); !strings.Contains(lines, "not on a Friday") {
			t.Errorf("on the record is\n%s", lines)
		}
	})
}

// fussy is a log that does not take events of one kind.
type fussy struct {
	audit.Memory
	kind audit.Kind
}

func (f *fussy) Append(events ...audit.Event) (kept bool, err error) {
	for i := range events {
		if events[i].Kind == f.kind {
			return false, errors.New("the disk is full")
		}
	}
	return f.Memory.Append(events...)
}

// What cannot be put on the record does not go on.
func TestEffectsOffRecord(t *testing.T) {
	t.Parallel()
	t.Run("K1 a secret whose use cannot be put on the record is not given out", func(t *testing.T) {
		t.Parallel()
		given := false
		rt := &ferrule.Runtime{Secrets: vaultOf(t, someToken), Log: &fussy{kind: audit.Used}}
		callOne(t, rt, using(func(context.Context, string) (tool.Result, error) {
			given = true
			return sayText("done"), nil
		}), "")
		if given {
			t.Error("it was given out")
		}
	})
	t.Run("U1 a tool that may change something does not run where that cannot be put on the record", func(t *testing.T) {
		t.Parallel()
		ran := false
		d := doing(writerTool("send"), func(context.Context, tool.Args) (tool.Result, error) {
			ran = true
			return sayText("done"), nil
		})
		res := callOne(t, &ferrule.Runtime{Policy: allowAll, Log: &fussy{kind: audit.Begun}}, d, "")
		if ran {
			t.Errorf("it ran, and the model reads %q", res)
		}
	})
}

// jotter is a log that keeps nothing by itself.
type jotter struct {
	audit.Memory
	jot             func() bool
	jotted, flushed int
	fails           error
}

func (j *jotter) Append(events ...audit.Event) (kept bool, err error) {
	_, err = j.Memory.Append(events...)
	return false, err
}

func (j *jotter) Jot() bool { j.jotted++; return j.jot() }

func (j *jotter) Flush(context.Context) error { j.flushed++; return j.fails }

// What a call did stays on the record before its result is given out.
func TestJotted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		jot     func() bool
		fails   error
		flushes bool
		kind    tool.Kind
	}{
		{"U1 a log that jots down is not waited for", func() bool { return true }, errors.New("not asked"), false, ""},
		{"U1 one that cannot now is", func() bool { return false }, nil, true, ""},
		{"U1 a panic is a no", func() bool { panic("broken") }, nil, true, ""},
		{"U1 what stays in neither way has no result", func() bool { return false }, errors.New("the disk is full"), true, tool.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log := &jotter{jot: tt.jot, fails: tt.fails}
			res := callOne(t, &ferrule.Runtime{Log: log}, *reader("look", "seen"), "{}")
			kind := tool.Kind("")
			if res.Err != nil {
				kind = res.Err.Kind
			}
			if kind != tt.kind || log.jotted == 0 || (log.flushed > 0) != tt.flushes {
				t.Errorf("got %q, %d times jotted down, %d times flushed, want %q, flushed: %v", kind, log.jotted, log.flushed, tt.kind, tt.flushes)
			}
		})
	}
}

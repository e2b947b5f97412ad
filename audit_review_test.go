package ferrule_test

import (
	"context"
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

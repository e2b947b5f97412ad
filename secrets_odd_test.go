package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// minted is a source that gives another value each time, as programs do that make
// tokens which do not last.
type minted struct {
	mu sync.Mutex
	n  int
}

func (m *minted) String() string { return "minted" }

func (m *minted) Value(context.Context) (secret.Value, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	return secret.NewValue(fmt.Appendf(nil, "token-%03d-kX9mQ2vB7nL4", m.n)), nil
}

// onRecord is all lines of a log.
func onRecord(t *testing.T, log *audit.Memory) string {
	t.Helper()
	var b strings.Builder
	for r, err := range log.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(r.Line + "\n")
	}
	return b.String()
}

func TestMintedSecrets(t *testing.T) {
	t.Parallel()
	v, err := secret.NewVault(map[string]secret.Entry{"s0": {Source: new(minted), Tools: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := readerTool("push")
	d.Secrets = []string{"s0"}
	d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		var all []string
		for range 9 { // a request each, each with a token of its own
			if err := tool.From(ctx).Secret(ctx, "s0", func(b []byte) error { all = append(all, string(b)); return nil }); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.Result{}, errors.New("the first request failed: " + all[0])
	}
	t.Run("K3 every value that a call was given is taken out of its output, also the first of nine", func(t *testing.T) {
		t.Parallel()
		if res := callOne(t, &ferrule.Runtime{Secrets: v}, d, ""); strings.Contains(res.String(), "token-001") {
			t.Errorf("the model reads %q", res)
		}
	})
}

func TestSecretInPreview(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule string
		tool func(*tool.Tool)
	}{
		{"K3 a call whose preview holds a value can be allowed", func(d *tool.Tool) {
			d.Preview = func(context.Context, tool.Args) (string, error) { return "push with " + someToken, nil }
		}},
		{"K3 a call whose reason holds a value can be allowed", func(d *tool.Tool) {
			d.AskReasonOf = func(context.Context, tool.Args) (string, error) { return "it sends " + someToken, nil }
		}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			asked := 0
			rt := &ferrule.Runtime{Secrets: liveVault(t, someToken), Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				if asked++; strings.Contains(q.Preview+q.Reason, someToken) {
					t.Errorf("asked with %q, %q", q.Preview, q.Reason)
				}
				return policy.Answer{Allow: true}, nil
			}}
			d := writerTool("push")
			d.Approval = tool.AskAlways
			tt.tool(&d)
			if res := callOne(t, rt, d, textArg("x")); res.Err != nil || asked != 1 {
				t.Errorf("asked %d times, got %v", asked, res.Err)
			}
		})
	}
}

// Arguments that are secret are in no record, whoever repeats them.
func TestSecretInputOnRecord(t *testing.T) {
	t.Parallel()
	const pin = "hunter2-of-mine"
	login := func() tool.Tool {
		d := readerTool("login")
		d.InputSensitivity = tool.Secret
		d.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayText("welcome"), nil }
		d.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","maxLength":100,"enum":["a","b","` + pin + `"]}}}`)
		return d
	}
	for _, tt := range []struct {
		rule   string
		input  string
		answer policy.Answer
		tool   func(*tool.Tool)
	}{
		{"U1 what the schema says of a secret argument is not on the record", `{"text":["` + pin + `"],"` + pin + `":1}`, policy.Answer{}, func(*tool.Tool) {}},
		{"U1 what Validate says of it", textArg(pin), policy.Answer{}, func(d *tool.Tool) {
			d.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
				return nil, fmt.Errorf("%s is too weak", textIn(a))
			}
		}},
		{"U1 what Run says of it", textArg(pin), policy.Answer{}, func(d *tool.Tool) {
			d.Run = func(_ context.Context, a tool.Args) (tool.Result, error) {
				return tool.Result{}, fmt.Errorf("no user has %s", textIn(a))
			}
		}},
		{"U1 why it is asked for", textArg(pin), policy.Answer{Allow: true}, func(d *tool.Tool) {
			d.Approval = tool.AskAlways
			d.AskReasonOf = func(_ context.Context, a tool.Args) (string, error) { return "it sends " + textIn(a), nil }
		}},
		{"U1 why it is refused", textArg(pin), policy.Answer{}, func(d *tool.Tool) {
			d.Permit = func(_ context.Context, a tool.Args) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Deny, Reason: textIn(a) + " is known to everybody"}, nil
			}
		}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			log := new(audit.Memory)
			rt := &ferrule.Runtime{Log: log, Answer: says(tt.answer)}
			d := login()
			tt.tool(&d)
			callOne(t, rt, d, tt.input)
			if lines := onRecord(t, log); strings.Contains(lines, pin) {
				t.Errorf("on the record is\n%s", lines)
			}
		})
	}
	t.Run("U1 a tool that a fallback supplies", func(t *testing.T) {
		t.Parallel()
		log := new(audit.Memory)
		s := supplies(t, &ferrule.Runtime{Log: log}, login())
		s.View(t.Context()).Do(t.Context(), tool.Call{Name: "login", Input: json.RawMessage(textArg(pin))})
		if lines := onRecord(t, log); strings.Contains(lines, pin) {
			t.Errorf("on the record is\n%s", lines)
		}
	})
}

func TestSecretInNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule string
		call tool.Call
	}{
		{"K3 a value that a tool is called by is not on the record", tool.Call{ID: "1", Name: someToken}},
		{"K3 a value that the provider gave as an id is not on the record", tool.Call{ID: someToken, Name: "read"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			log := new(audit.Memory)
			rt := &ferrule.Runtime{Secrets: liveVault(t, someToken), Log: log}
			viewWith(t, rt, readerTool("read")).Do(t.Context(), tt.call)
			if lines := onRecord(t, log); strings.Contains(lines, someToken) {
				t.Errorf("on the record is\n%s", lines)
			}
		})
	}
}

// talkative is an error that says more when more is asked of it.
type talkative struct{ token string }

func (*talkative) Error() string { return "no access" }

func (e *talkative) Format(f fmt.State, verb rune) {
	if f.Flag('+') && verb == 'v' {
		fmt.Fprintf(f, "no access with %s", e.token)
		return
	}
	fmt.Fprint(f, e.Error())
}

func TestSecretInDetailedError(t *testing.T) {
	t.Parallel()
	t.Run("K3 the cause of an error that says more when more is asked of it", func(t *testing.T) {
		t.Parallel()
		res := callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, using(func(_ context.Context, v string) (tool.Result, error) {
			return tool.Result{}, &talkative{v}
		}), "")
		if text := fmt.Sprintf("%+v", res.Err.Cause); strings.Contains(text, someToken) {
			t.Errorf("it is in %q", text)
		}
	})
}

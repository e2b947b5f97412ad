package ferrule_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// waitLook waits until a runtime asks its ledger again.
func waitLook() { time.Sleep(2 * time.Second) }

// writesFiles is a tool that says which file a call is about, and which rules
// would cover it.
func writesFiles(c tool.Claims) tool.Tool {
	d := writerTool("write")
	d.Claims = c
	d.Repeatable = true
	d.Facts = func(a tool.Args) (tool.Facts, error) {
		if textIn(a) == "" {
			return tool.Facts{}, errBroken
		}
		return tool.Facts{Paths: []string{textIn(a)}}, nil
	}
	d.Scopes = func(a tool.Args) ([]string, error) {
		dir := textIn(a)[:strings.LastIndex(textIn(a), "/")]
		return []string{"path: " + dir + "/*", "path: " + dir + "/**", "path: /elsewhere/**", "path: /**", "not a rule("}, nil
	}
	return d
}

// keeper answers every question by a choice from its offers, and counts them.
type keeper struct {
	asked  []policy.Question
	choose func(policy.Question) policy.Answer
}

func (k *keeper) answer(_ context.Context, q policy.Question) (policy.Answer, error) {
	k.asked = append(k.asked, q)
	return k.choose(q), nil
}

// offer chooses the offer with that end.
func offer(end string, always bool) func(policy.Question) policy.Answer {
	return func(q policy.Question) policy.Answer {
		i := slices.IndexFunc(q.Offers, func(o string) bool { return strings.HasSuffix(o, end) })
		if i < 0 {
			return policy.Answer{Reason: "no such offer"}
		}
		return policy.Answer{Allow: true, By: "ada", Rule: q.Offers[i], Always: always, Second: true}
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	undoable := tool.Claims{Reversible: true}
	type step struct {
		principal, session, text string
		asks                     bool
	}
	const here = "/work/src/a.go"
	tests := []struct {
		name   string
		choose func(policy.Question) policy.Answer
		claims tool.Claims
		steps  []step
	}{
		{"P5 once is for this once", func(policy.Question) policy.Answer { return policy.Answer{Allow: true} }, undoable, []step{{"", "s", here, true}, {"", "s", here, true}}},
		{"P5 for this session: these arguments", offerExact(false), undoable, []step{{"", "s", here, true}, {"", "s", here, false}, {"", "s", "/work/src/b.go", true}, {"", "t", here, true}}},
		{"P5 for this session: a scope of the tool", offer("src/*)", false), undoable, []step{{"", "s", here, true}, {"", "s", "/work/src/b.go", false}, {"", "s", "/work/src/d/e.go", true}, {"", "s", "/work/src/../x", true}}},
		{"P5 for this session: a wider scope", offer("src/**)", false), undoable, []step{{"", "s", here, true}, {"", "s", "/work/src/d/e.go", false}, {"", "s", "/etc/x", true}}},
		{"P5 for this session: the tool", offer("write", false), undoable, []step{{"", "s", here, true}, {"", "s", "/etc/x", false}, {"", "t", here, true}, {"bob", "s", here, true}}},
		{"P5 always: every session of the principal", offer("write", true), undoable, []step{{"", "s", here, true}, {"", "t", "/etc/x", false}, {"bob", "t", here, true}}},
		{"P3 for what destroys: these arguments, with the second key", offerExact(false), tool.Claims{}, []step{{"", "s", here, true}, {"", "s", here, false}}},
		{"T14 facts that fail are covered by no scope", offer("src/**)", false), undoable, []step{{"", "s", here, true}, {"", "s", "", true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := &keeper{choose: tt.choose}
			rt := &ferrule.Runtime{Answer: k.answer}
			viewWith(t, rt, writesFiles(tt.claims))
			for i, s := range tt.steps {
				before := len(k.asked)
				res := rt.Session(tool.Caller{Principal: s.principal, Session: s.session}).Call(t.Context(), "write", textArg(s.text))
				if i == 0 && res.Err != nil {
					t.Fatalf("%v; offered %q", res.Err, k.asked[0].Offers)
				}
				if asked := len(k.asked) > before; asked != s.asks {
					t.Errorf("call %d, %+v: asked: %v, want %v", i+1, s, asked, s.asks)
				}
			}
		})
	}
	t.Run("P5 what is offered: these arguments, the scopes that cover the call, the tool", func(t *testing.T) {
		for _, tt := range []struct {
			claims tool.Claims
			want   []string
		}{
			{undoable, []string{"args", "write(path: /work/src/*)", "write(path: /work/src/**)", "write"}},
			{tool.Claims{}, []string{"args", "write(path: /work/src/*)", "write(path: /work/src/**)"}},
		} {
			k := &keeper{choose: func(policy.Question) policy.Answer { return policy.Answer{} }}
			callOne(t, &ferrule.Runtime{Answer: k.answer}, writesFiles(tt.claims), textArg(here))
			got := slices.Clone(k.asked[0].Offers)
			if strings.HasPrefix(got[0], "write(args: ") {
				got[0] = "args"
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("offers %q, want %q", got, tt.want)
			}
		}
	})
	t.Run("P3 for this session takes a second key where the call destroys", func(t *testing.T) {
		k := &keeper{choose: func(q policy.Question) policy.Answer { return policy.Answer{Allow: true, Rule: q.Offers[0]} }}
		res := callOne(t, &ferrule.Runtime{Answer: k.answer}, writesFiles(tool.Claims{}), textArg(here))
		if wantFailure(t, res, tool.Denied, ""); !strings.Contains(res.Err.Detail, "second key") {
			t.Errorf("detail = %q", res.Err.Detail)
		}
	})
	t.Run("P5 a rule that was not offered is refused", func(t *testing.T) {
		k := &keeper{choose: func(policy.Question) policy.Answer { return policy.Answer{Allow: true, Rule: "*"} }}
		wantFailure(t, callOne(t, &ferrule.Runtime{Answer: k.answer}, writesFiles(undoable), textArg(here)), tool.Denied, "")
	})
	t.Run("P5 a rule that is revoked answers no more", func(t *testing.T) {
		ledger := new(policy.Memory)
		k := &keeper{choose: offer("write", false)}
		rt := &ferrule.Runtime{Answer: k.answer, Ledger: ledger}
		s := ferrule.SessionOf(viewWith(t, rt, writesFiles(undoable)))
		s.Call(t.Context(), "write", textArg(here))
		grants, err := ledger.Grants(t.Context(), policy.Asker{})
		if err != nil || len(grants) != 1 || grants[0].By != "ada" || grants[0].Rule != "write" {
			t.Fatalf("grants: %+v, %v", grants, err)
		}
		if err := ledger.Revoke(t.Context(), grants[0].ID); err != nil {
			t.Fatal(err)
		}
		if s.Call(t.Context(), "write", textArg(here)); len(k.asked) != 2 {
			t.Errorf("asked %d times, want 2", len(k.asked))
		}
	})
	t.Run("P5 a rule is no voice: a denial stays", func(t *testing.T) {
		k := &keeper{choose: offer("write", false)}
		verdict := tool.Ask
		rt := &ferrule.Runtime{Answer: k.answer, Policy: policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: verdict, Reason: "r"} })}
		s := ferrule.SessionOf(viewWith(t, rt, writesFiles(undoable)))
		s.Call(t.Context(), "write", textArg(here))
		verdict = tool.Deny
		wantFailure(t, s.Call(t.Context(), "write", textArg(here)), tool.Denied, "r")
	})
	t.Run("T5 a tool of an outside source that says something else of itself has lost the rule", func(t *testing.T) {
		k := &keeper{choose: offer("srv__write", false)}
		rt := &ferrule.Runtime{Answer: k.answer, Believe: func(tool.Source, *tool.Info) bool { return true }}
		set := func(description string) {
			d := writesFiles(undoable)
			d.Description = description
			if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
		}
		call := func() { rt.Session(tool.Caller{Session: "s"}).Call(t.Context(), "srv__write", textArg(here)) }
		set("Write a file.")
		call()
		call()
		if len(k.asked) != 1 {
			t.Fatalf("asked %d times, want 1", len(k.asked))
		}
		set("Write a file. Send it along too.")
		if call(); len(k.asked) != 2 {
			t.Errorf("asked %d times after the change, want 2", len(k.asked))
		}
	})
	t.Run("P5 a rule that cannot be kept: the call goes on, the next is asked for", func(t *testing.T) {
		k := &keeper{choose: offer("write", false)}
		rt := &ferrule.Runtime{Answer: k.answer, Ledger: forgetful{new(policy.Memory)}}
		s := ferrule.SessionOf(viewWith(t, rt, writesFiles(undoable)))
		for range 2 {
			if res := s.Call(t.Context(), "write", textArg(here)); res.Err != nil {
				t.Error(res.Err)
			}
		}
		if len(k.asked) != 2 {
			t.Errorf("asked %d times, want 2", len(k.asked))
		}
	})
}

// forgetful is a ledger that keeps no grant.
type forgetful struct{ policy.Ledger }

func (forgetful) Grant(context.Context, policy.Grant) (string, error) {
	return "", errors.New("disk full")
}

func offerExact(always bool) func(policy.Question) policy.Answer {
	return func(q policy.Question) policy.Answer {
		return policy.Answer{Allow: true, By: "ada", Rule: q.Offers[0], Always: always, Second: true}
	}
}

package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// office is a gateway whose one tool a person must allow.
type office struct {
	t     *testing.T
	g     *Gateway
	inbox *policy.Memory
	ran   atomic.Int64
}

func newOffice(t *testing.T, change ...func(*tool.Tool)) *office {
	t.Helper()
	return newOfficeWith(t, new(policy.Memory), change...)
}

// newOfficeWith is one whose questions others may know of.
func newOfficeWith(t *testing.T, inbox *policy.Memory, change ...func(*tool.Tool)) *office {
	t.Helper()
	o := &office{t: t, inbox: inbox}
	pay, err := tool.New(tool.Info{Name: "pay", Description: "Pay somebody.", Claims: tool.Claims{Local: true, Reversible: true}}, func(_ context.Context, in struct {
		To string `json:"to"`
	},
	) (string, error) {
		o.ran.Add(1)
		return "paid " + in.To, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(pay)
	}
	rt := &ferrule.Runtime{Guard: unguarded(), Inbox: o.inbox, Ledger: o.inbox, Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
		return tool.Decision{Verdict: tool.Ask, Rule: "test", Reason: "money"}, nil
	}}
	if err := rt.Add(pay); err != nil {
		t.Fatal(err)
	}
	o.g = &Gateway{Runtime: rt, Name: "ferrule", Version: "1"}
	t.Cleanup(func() {
		if err := o.g.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return o
}

// open is the question that waits, the only one.
func (o *office) open() policy.Question {
	o.t.Helper()
	all, err := o.inbox.Pending(o.t.Context())
	if err != nil || len(all) != 1 {
		o.t.Fatalf("got %d questions, %v, want one", len(all), err)
	}
	return all[0]
}

func (o *office) answer(id string, a policy.Answer) {
	o.t.Helper()
	if err := o.inbox.Answer(o.t.Context(), id, a); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) wantRan(n int64) {
	o.t.Helper()
	if got := o.ran.Load(); got != n {
		o.t.Errorf("the tool ran %d times, want %d", got, n)
	}
}

const payAda = `{"name":"pay","arguments":{"to":"ada"}}`

// form answers an elicitation.
func form(action, content string) func(string, json.RawMessage) (json.RawMessage, *Fault) {
	return func(string, json.RawMessage) (json.RawMessage, *Fault) {
		return json.RawMessage(fmt.Sprintf(`{"action":%q,"content":%s}`, action, content)), nil
	}
}

func silent(string, json.RawMessage) (json.RawMessage, *Fault) { return nil, nil }

func answering(f func(string, json.RawMessage) (json.RawMessage, *Fault)) func(*talker) {
	return func(k *talker) { k.asked = f }
}

func mute(k *talker) { k.can = "{}" }

func TestApprovalByElicitation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, action, content, want string
		ran                         int64
	}{
		{"M5 a yes of the client's user runs the call", "accept", `{"decision":"allow"}`, "paid ada", 1},
		{"M5 a no does not", "accept", `{"decision":"reject","message":"too much"}`, "too much", 0},
		{"M5 to decline is a no", "decline", `null`, "reject", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			k := meet(t, o.g, oldEra, answering(form(tt.action, tt.content)))
			if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			o.wantRan(tt.ran)
		})
	}
	t.Run("M5 what the user reads has the call, why it is asked, and what can be said", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		var method string
		var params json.RawMessage
		k := meet(t, o.g, oldEra, answering(func(m string, p json.RawMessage) (json.RawMessage, *Fault) {
			method, params = m, p
			return json.RawMessage(`{"action":"accept","content":{"decision":"allow"}}`), nil
		}))
		k.must("tools/call", "{\"name\":\"pay\",\"arguments\":{\"to\":\"ada\u202egnp\"}}")
		text := textMember(params, "message")
		for _, want := range []string{"pay wants to run", `{"to":"ada<U+202E>gnp"}`, "money"} {
			if !strings.Contains(text, want) {
				t.Errorf("got %q, want %q in it", text, want)
			}
		}
		if s := string(params); method != methodElicit || !strings.Contains(s, `"enum":["allow","allow-0","allow-1","reject"]`) {
			t.Errorf("got %s %s", method, s)
		}
	})
	t.Run("M5 a yes can be made to last for the session", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		asked := 0
		k := meet(t, o.g, oldEra, answering(func(string, json.RawMessage) (json.RawMessage, *Fault) {
			asked++
			return json.RawMessage(`{"action":"accept","content":{"decision":"allow-0"}}`), nil
		}))
		k.must("tools/call", payAda)
		k.must("tools/call", payAda)
		if asked != 1 {
			t.Errorf("asked %d times, want once", asked)
		}
		k.must("tools/call", `{"name":"pay","arguments":{"to":"bob"}}`)
		if asked != 2 {
			t.Errorf("asked %d times about two calls, want twice", asked)
		}
		o.wantRan(3)
	})
	t.Run("M5 who answers elsewhere first is heard, and the client is told", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, oldEra)
		k.asked = func(string, json.RawMessage) (json.RawMessage, *Fault) {
			o.answer(o.open().ID, policy.Answer{Allow: true, By: "page"})
			return nil, nil
		}
		r := k.do(t.Context(), "tools/call", payAda)
		if got := callText(r.end.result); got != "paid ada" {
			t.Errorf("got %q", got)
		}
		if len(r.notes) == 0 || r.notes[len(r.notes)-1].method != notificationCancelled {
			t.Errorf("got the notifications %v, want the question to be cancelled", r.notes)
		}
		o.wantRan(1)
	})
	t.Run("M5 of two answers at once the first counts", func(t *testing.T) {
		t.Parallel()
		for range 20 {
			o := newOffice(t)
			k := meet(t, o.g, oldEra)
			var other sync.WaitGroup
			k.asked = func(string, json.RawMessage) (json.RawMessage, *Fault) {
				id := o.open().ID
				other.Go(func() { _ = o.inbox.Answer(t.Context(), id, policy.Answer{By: "page", Message: "no by page"}) }) // one of them is late
				return json.RawMessage(`{"action":"accept","content":{"decision":"allow"}}`), nil
			}
			got := callText(k.must("tools/call", payAda))
			other.Wait()
			if ran := o.ran.Load(); ran == 1 != (got == "paid ada") || ran == 0 != strings.Contains(got, "no by page") {
				t.Errorf("got %q, and it ran %d times", got, ran)
			}
		}
	})
	t.Run("M5 a client whose user does not decide is told to call again, and then it runs once", func(t *testing.T) {
		t.Parallel()
		for name, asked := range map[string]func(string, json.RawMessage) (json.RawMessage, *Fault){
			"silent": silent, "cancelled": form("cancel", "null"), "nonsense": form("accept", `{"decision":"perhaps"}`),
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := newOffice(t)
					k := meet(t, o.g, oldEra, answering(asked))
					began := time.Now()
					got := callText(k.must("tools/call", payAda))
					id := o.open().ID
					if took := time.Since(began); took != waitTime || !strings.Contains(got, "Call again with the same input") || !strings.Contains(got, id) {
						t.Errorf("after %s got %q", took, got)
					}
					o.answer(id, policy.Answer{Allow: true, By: "page"})
					if got := callText(k.must("tools/call", payAda)); got != "paid ada" {
						t.Errorf("called again: got %q", got)
					}
					o.wantRan(1)
					if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, "Call again") {
						t.Errorf("a third time: got %q, want it asked anew: a yes is for once", got)
					}
					o.wantRan(1)
				})
			})
		}
	})
	t.Run("M5 what a tool wants to know is asked through the client, too", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, func(d *tool.Tool) {
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				if text, ok := tool.From(ctx).Answer(); ok {
					return tool.Result{Content: []tool.Content{tool.Text("paid from " + text)}}, nil
				}
				return tool.Result{}, &tool.Outcome{Suspend: "From which account?"}
			}
		})
		k := meet(t, o.g, oldEra, answering(func(_ string, p json.RawMessage) (json.RawMessage, *Fault) {
			if strings.Contains(textMember(p, "message"), "From which account?") {
				return json.RawMessage(`{"action":"accept","content":{"answer":"savings"}}`), nil
			}
			return json.RawMessage(`{"action":"accept","content":{"decision":"allow"}}`), nil
		}))
		if got := callText(k.must("tools/call", payAda)); got != "paid from savings" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("M5 the operator may want to be asked elsewhere", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(t)
			o.g.ApproveElsewhere, o.g.Patience = true, time.Second
			k := meet(t, o.g, oldEra, answering(form("accept", `{"decision":"allow"}`)))
			if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, "Call again") {
				t.Errorf("got %q", got)
			}
			o.wantRan(0)
		})
	})
}

// paid is what a client of the new era comes back with.
func paid(to, content string, state json.RawMessage) string {
	return fmt.Sprintf(`{"name":"pay","arguments":{"to":%q},"inputResponses":{"input":%s},"requestState":%s}`, to, content, state)
}

const (
	saysYes = `{"action":"accept","content":{"decision":"allow"}}`
	saysNo  = `{"action":"decline"}`
)

func TestApprovalByInput(t *testing.T) {
	t.Parallel()
	asked := func(k *talker) json.RawMessage {
		k.t.Helper()
		r := k.must("tools/call", payAda)
		state, _ := member(r, "requestState")
		if textMember(r, "resultType") != "input_required" || !strings.Contains(string(r), methodElicit) {
			k.t.Fatalf("got %s, want it to ask for input", r)
		}
		return state
	}
	t.Run("M5 a yes runs the call, a no does not", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, newEra)
		if got := callText(k.must("tools/call", paid("ada", saysYes, asked(k)))); got != "paid ada" {
			t.Errorf("yes: got %q", got)
		}
		if got := callText(k.must("tools/call", paid("ada", saysNo, asked(k)))); !strings.Contains(got, "reject") {
			t.Errorf("no: got %q", got)
		}
		o.wantRan(1)
	})
	t.Run("M5 a state is for one principal, one call and one time", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, newEra)
		state := asked(k)
		stranger, err := o.g.join(joining{caller: tool.Caller{Principal: "eve"}, stateless: true, name: k.name})
		if err != nil {
			t.Fatal(err)
		}
		eve := &talker{t: t, c: stranger, era: newEra, name: k.name, can: k.can}
		forged := quote(strings.Replace(textMember(json.RawMessage(`{"s":`+string(state)+`}`), "s"), ".", ".A", 1))
		for name, f := range map[string]*Fault{
			"changed arguments": k.fails("tools/call", paid("mallory", saysYes, state)),
			"somebody else's":   eve.fails("tools/call", paid("ada", saysYes, state)),
			"a forged one":      k.fails("tools/call", paid("ada", saysYes, forged)),
			"one of others":     k.fails("tools/call", paid("ada", saysYes, quote("abc"))),
		} {
			if f.Code != codeInvalidParams || !strings.HasPrefix(f.Message, "requestState: ") {
				t.Errorf("%s: got %+v", name, f)
			}
		}
		o.wantRan(0)
		k.must("tools/call", paid("ada", saysYes, state))
		if f := k.fails("tools/call", paid("ada", saysYes, state)); !strings.Contains(f.Message, "used already") {
			t.Errorf("a replay: got %+v", f)
		}
		o.wantRan(1)
	})
	t.Run("M5 of many who come back with one state one is heard", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, newEra)
		state := asked(k)
		var all sync.WaitGroup
		var worked atomic.Int64
		for range 8 {
			all.Go(func() {
				if r := k.do(t.Context(), "tools/call", paid("ada", saysYes, state)); r.end != nil && r.end.fault == nil {
					worked.Add(1)
				}
			})
		}
		all.Wait()
		if worked.Load() != 1 {
			t.Errorf("%d went on, want one", worked.Load())
		}
		o.wantRan(1)
	})
	t.Run("M5 who answers elsewhere first is heard: the client comes back to the result", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, newEra)
		state := asked(k)
		o.answer(o.open().ID, policy.Answer{Allow: true, By: "page"})
		if got := callText(k.must("tools/call", paid("ada", saysNo, state))); got != "paid ada" {
			t.Errorf("got %q", got)
		}
		o.wantRan(1)
	})
	t.Run("M5 who comes back without an answer is told to call again", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		k := meet(t, o.g, newEra)
		if got := callText(k.must("tools/call", paid("ada", `{"action":"cancel"}`, asked(k)))); !strings.Contains(got, "Call again") {
			t.Errorf("got %q", got)
		}
		o.answer(o.open().ID, policy.Answer{Allow: true, By: "page"})
		if got := callText(k.must("tools/call", payAda)); got != "paid ada" {
			t.Errorf("called again: got %q", got)
		}
		o.wantRan(1)
	})
}

func TestApprovalElsewhere(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run("M5 a client that cannot ask waits a little for who answers elsewhere: "+eraName(e), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				k := meet(t, o.g, e, mute)
				var answering sync.WaitGroup
				answering.Go(func() {
					time.Sleep(30 * time.Second)
					o.answer(o.open().ID, policy.Answer{Allow: true, By: "page"})
				})
				if got := callText(k.must("tools/call", payAda)); got != "paid ada" {
					t.Errorf("got %q", got)
				}
				answering.Wait()
				o.wantRan(1)
			})
		})
		t.Run("M5 the same call from another session of the principal finds the answer, of another principal not: "+eraName(e), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				if got := callText(meet(t, o.g, e, mute).must("tools/call", payAda)); !strings.Contains(got, "ferrule approvals allow "+o.open().ID) {
					t.Errorf("got %q", got)
				}
				if o.open().Here {
					t.Error("the question is over with this process, but not the call")
				}
				o.answer(o.open().ID, policy.Answer{Allow: true, By: "page"})
				stranger, err := o.g.join(joining{caller: tool.Caller{Principal: "eve"}, stateless: true, name: "tester"})
				if err != nil {
					t.Fatal(err)
				}
				eve := &talker{t: t, c: stranger, era: newEra, name: "tester", can: "{}"}
				if got := callText(eve.must("tools/call", payAda)); !strings.Contains(got, "Call again") {
					t.Errorf("eve: got %q", got)
				}
				o.wantRan(0)
				again := meet(t, o.g, e, mute, func(k *talker) { k.name = "another" })
				if got := callText(again.must("tools/call", payAda)); got != "paid ada" {
					t.Errorf("again: got %q", got)
				}
				o.wantRan(1)
			})
		})
	}
	t.Run("M5 a no that came meanwhile is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(t)
			k := meet(t, o.g, oldEra, mute)
			k.must("tools/call", payAda)
			o.answer(o.open().ID, policy.Answer{By: "page", Message: "not today"})
			if got := callText(k.must("tools/call", payAda)); !strings.Contains(got, "not today") {
				t.Errorf("got %q", got)
			}
			o.wantRan(0)
		})
	})
	t.Run("M5 however often it is called, one question waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(t)
			k := meet(t, o.g, oldEra, mute)
			for range 3 {
				k.must("tools/call", payAda)
				o.open()
			}
			o.wantRan(0)
		})
	})
	t.Run("M5 of a request that has ended nobody is asked any more", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(t)
			k := meet(t, o.g, oldEra, mute)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			k.do(ctx, "tools/call", payAda)
			synctest.Wait()
			if all, err := o.inbox.Pending(t.Context()); err != nil || len(all) > 0 {
				t.Errorf("got the questions %v, %v, want none", all, err)
			}
			o.wantRan(0)
		})
	})
}

func FuzzForm(f *testing.F) {
	q := policy.Question{Offers: []string{"pay(to:ada)", "pay"}, Claims: tool.Claims{Reversible: true}}
	for _, s := range []string{`{"action":"accept","content":{"decision":"allow"}}`, `{"action":"accept","content":{"decision":"allow-9"}}`, `{"action":"decline"}`, `[]`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := readForm(&q, json.RawMessage(text))
		if !ok && a.Allow || a.Allow && !strings.Contains(text, "accept") && !strings.Contains(text, `\u`) {
			t.Errorf("%s: got %+v, %v", text, a, ok)
		}
	})
}

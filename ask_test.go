package ferrule_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// letter is what the tools of these tests are given.
type letter struct {
	To string `json:"to"`
}

type letterSpec = tool.Spec[letter, string]

// booth is a runtime with tools that write down what they ran with, and the
// inbox where its person looks for questions.
type booth struct {
	t     *testing.T
	rt    *ferrule.Runtime
	inbox *policy.Memory
	mu    sync.Mutex
	ran   []string
}

// unhurried runs a test on a clock that costs nothing, and gives functions that
// hang the days they need to return.
func unhurried(t *testing.T, f func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(10 * 24 * time.Hour)
		f(t)
	})
}

// attended is a booth with a person, deserted one without.

func attended(t *testing.T, rt *ferrule.Runtime) *booth {
	b := deserted(t, rt)
	b.inbox = new(policy.Memory)
	rt.Inbox = b.inbox
	return b
}

func deserted(t *testing.T, rt *ferrule.Runtime) *booth { return &booth{t: t, rt: rt} }

// spec is a tool that claims nothing and runs at once.
func (b *booth) spec(name string, change func(*letterSpec)) *tool.Tool {
	b.t.Helper()
	s := letterSpec{Info: tool.Info{Name: name, Description: "Send a letter to somebody."}}
	s.Run = func(_ context.Context, in letter) (string, error) {
		b.note(name + " " + in.To)
		return "sent to " + in.To, nil
	}
	if change != nil {
		change(&s)
	}
	made, err := s.Tool()
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

func (b *booth) add(name string, change func(*letterSpec)) {
	b.t.Helper()
	if err := b.rt.Add(b.spec(name, change)); err != nil {
		b.t.Fatal(err)
	}
}

// addWall adds a tool that is allowed, runs alone and takes an hour.
func (b *booth) addWall() {
	b.add("wall", func(s *letterSpec) {
		s.Approval, s.Timeout = tool.AskNever, tool.Unlimited
		s.Run = func(context.Context, letter) (string, error) {
			time.Sleep(time.Hour)
			b.note("wall")
			return "an hour later", nil
		}
	})
}

func (b *booth) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = append(b.ran, what)
}

// log is what ran so far, and what else was noted.
func (b *booth) log() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.ran, ", ")
}

func (b *booth) view() *ferrule.View {
	return b.rt.Session(tool.Caller{Session: "s", Attended: true}).View(b.t.Context())
}

// post is a call of a tool by its name.
func post(name, to string) tool.Call {
	return tool.Call{ID: "id of " + to, Name: name, Input: fmt.Appendf(nil, `{"to":%q}`, to)}
}

// posted is a turn under way.
type posted struct {
	done    chan struct{}
	results []tool.Result
}

// start begins a turn and goes as far as it can go at this moment.
func (b *booth) start(calls ...tool.Call) *posted {
	v := b.view()
	return b.follow(func() []tool.Result { return v.Do(b.t.Context(), calls...) })
}

func (b *booth) follow(f func() []tool.Result) *posted {
	p := &posted{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.results = f()
	}()
	synctest.Wait()
	return p
}

func (p *posted) wait() []tool.Result {
	<-p.done
	return p.results
}

func (p *posted) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// open is what the person finds in the inbox, in the order of the calls.
func (b *booth) open() []policy.Question {
	b.t.Helper()
	list, err := b.inbox.Pending(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	slices.SortStableFunc(list, func(x, y policy.Question) int {
		return cmp.Or(cmp.Compare(x.Turn, y.Turn), cmp.Compare(x.Index, y.Index))
	})
	return list
}

// only is the one question that there must be.
func (b *booth) only() policy.Question {
	b.t.Helper()
	list := b.open()
	if len(list) != 1 {
		b.t.Fatalf("got %d questions, want one: %+v; ran: %s", len(list), list, b.log())
	}
	return list[0]
}

// shown is what all open questions are about.
func (b *booth) shown() string {
	b.t.Helper()
	var list []string
	for _, q := range b.open() {
		list = append(list, q.Tool+" "+q.Input)
	}
	return strings.Join(list, ", ")
}

func (b *booth) reply(q policy.Question, a policy.Answer) {
	b.t.Helper()
	if err := b.inbox.Answer(b.t.Context(), q.ID, a); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

func (b *booth) yes(q policy.Question) {
	b.t.Helper()
	b.reply(q, policy.Answer{Allow: true, By: "ada"})
}

// inWords is a result in one line: what the tool returned, or kind and text.
func inWords(r tool.Result) string {
	if r.Err != nil {
		return string(r.Err.Kind) + ": " + r.Err.Text
	}
	return r.String()
}

// want compares results, and what ran. A line that ends in … is only the
// beginning of what is wanted.
func (b *booth) want(results []tool.Result, ran string, lines ...string) {
	b.t.Helper()
	if len(results) != len(lines) {
		b.t.Fatalf("got %d results, want %d", len(results), len(lines))
	}
	for i, want := range lines {
		got := inWords(results[i])
		if begin, ok := strings.CutSuffix(want, "…"); ok && strings.HasPrefix(got, begin) {
			continue
		}
		if got != want {
			b.t.Errorf("call %d: got %q, want %q", i, got, want)
		}
	}
	if got := b.log(); got != ran {
		b.t.Errorf("ran: got %q, want %q", got, ran)
	}
}

// told is a rule that says the same about every call.
func told(v tool.Verdict, reason string) policy.Policy {
	return policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: v, Reason: reason} })
}

var errOffice = errors.New("the office is shut")

func TestAskDecisions(t *testing.T) {
	t.Parallel()
	const (
		allowed = "sent to bob"
		refused = "denied: Tool approval required for send, but no approval handler is configured."
	)
	type decide = func(context.Context, *tool.Request) (tool.Decision, error)
	rule := func(v tool.Verdict, reason string) func(*ferrule.Runtime, *letterSpec) {
		return func(rt *ferrule.Runtime, _ *letterSpec) { rt.Policy = told(v, reason) }
	}
	host := func(f decide) func(*ferrule.Runtime, *letterSpec) {
		return func(rt *ferrule.Runtime, _ *letterSpec) { rt.Decide = f }
	}
	permit := func(f func(context.Context, letter) (tool.Decision, error)) func(*ferrule.Runtime, *letterSpec) {
		return func(_ *ferrule.Runtime, s *letterSpec) { s.Permit = f }
	}
	reading := func(_ *ferrule.Runtime, s *letterSpec) { s.Claims = tool.Claims{ReadOnly: true, Local: true} }
	askIf := func(f func(context.Context, letter) (bool, error)) func(*ferrule.Runtime, *letterSpec) {
		return func(_ *ferrule.Runtime, s *letterSpec) { s.AskIf = f }
	}
	approval := func(a tool.Approval) func(*ferrule.Runtime, *letterSpec) {
		return func(_ *ferrule.Runtime, s *letterSpec) { s.Approval, s.AskReason = a, "it is for good" }
	}
	both := func(all ...func(*ferrule.Runtime, *letterSpec)) func(*ferrule.Runtime, *letterSpec) {
		return func(rt *ferrule.Runtime, s *letterSpec) {
			for _, f := range all {
				f(rt, s)
			}
		}
	}
	is := func(v tool.Verdict, reason string) (tool.Decision, error) {
		return tool.Decision{Verdict: v, Reason: reason}, nil
	}

	tests := []struct {
		name   string
		set    func(*ferrule.Runtime, *letterSpec)
		want   string // the result, or "ask: " and the reason
		nobody string // the result where nobody can be asked; "": P8 for an ask, else the same
	}{
		{"P1 nobody speaks: what claims nothing is asked for", both(), "ask: …", ""},
		{"P1 nobody speaks: what only reads, here, runs", reading, allowed, ""},
		{"P1 nobody speaks: AskReads asks for that too", both(reading, func(rt *ferrule.Runtime, _ *letterSpec) { rt.AskReads = true }), "ask: …", ""},
		{"P1 nobody speaks: what reads elsewhere is asked for", func(_ *ferrule.Runtime, s *letterSpec) { s.Claims.ReadOnly = true }, "ask: …", ""},
		{"P1 nobody speaks: what writes here is asked for", func(_ *ferrule.Runtime, s *letterSpec) { s.Claims.Local = true }, "ask: …", ""},
		{"P1 a rule allows", rule(tool.Allow, ""), allowed, ""},
		{"P1 a rule asks", rule(tool.Ask, "outside"), "ask: outside", ""},
		{"P1 a rule denies", rule(tool.Deny, "Not there."), "denied: Not there.", ""},
		{"P1 AllowOwn allows own tools", func(rt *ferrule.Runtime, _ *letterSpec) { rt.Policy = policy.AllowOwn{} }, allowed, ""},
		{"P1 the zero decision denies", func(rt *ferrule.Runtime, _ *letterSpec) {
			rt.Policy = policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{} })
		}, "denied: …", ""},
		{"P1 what is no verdict denies", rule(77, "odd"), "denied: …", ""},
		{"P2 a policy that panics denies", both(reading, func(rt *ferrule.Runtime, _ *letterSpec) {
			rt.Policy = policy.Func(func(*tool.Request) tool.Decision { panic("no rules") })
		}), "denied: …", ""},
		{"P3 what only reads is asked for where a rule says so", both(reading, rule(tool.Ask, "private")), "ask: private", ""},
		{"P3 what only reads is denied where a rule says so", both(reading, rule(tool.Deny, "private")), "denied: private", ""},

		{"P11 the host allows", host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Allow, "") }), allowed, ""},
		{"P11 the host asks", both(rule(tool.Allow, ""), host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Ask, "odd") })), "ask: odd", ""},
		{"P11 the host denies", both(rule(tool.Allow, ""), host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Deny, "bad") })), "denied: bad", ""},
		{"P11 the host is silent", host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Silent, "") }), "ask: …", ""},
		{"P11 the host's allow does not undo a rule that denies", both(rule(tool.Deny, "Not there."), host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Allow, "") })), "denied: Not there.", ""},
		{"P11 the host's allow does not undo a rule that asks", both(rule(tool.Ask, "outside"), host(func(context.Context, *tool.Request) (tool.Decision, error) { return is(tool.Allow, "") })), "ask: outside", ""},
		{"P11 the host fails", both(reading, host(func(context.Context, *tool.Request) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Allow}, errOffice
		})), "denied: …", ""},
		{"P11 the host panics", both(reading, host(func(context.Context, *tool.Request) (tool.Decision, error) { panic("no host") })), "denied: …", ""},
		{"P11 the host hangs until its time is over", both(reading, host(func(ctx context.Context, _ *tool.Request) (tool.Decision, error) {
			<-ctx.Done()
			return is(tool.Allow, "")
		})), "denied: …", ""},
		{"P11 the host says allow after its time", both(reading, host(func(context.Context, *tool.Request) (tool.Decision, error) {
			time.Sleep(60*time.Second + 500*time.Millisecond)
			return is(tool.Allow, "")
		})), "denied: …", ""},
		{"P11 the host does not return", both(reading, host(func(context.Context, *tool.Request) (tool.Decision, error) {
			time.Sleep(time.Hour)
			return is(tool.Allow, "")
		})), "denied: …", ""},

		{"T12 Permit's allow counts as nothing", permit(func(context.Context, letter) (tool.Decision, error) { return is(tool.Allow, "") }), "ask: …", ""},
		{"T12 Permit's allow takes none away", both(rule(tool.Allow, ""), permit(func(context.Context, letter) (tool.Decision, error) { return is(tool.Allow, "") })), allowed, ""},
		{"T12 Permit's silence takes none away", both(rule(tool.Allow, ""), permit(func(context.Context, letter) (tool.Decision, error) { return is(tool.Silent, "") })), allowed, ""},
		{"T12 Permit asks", both(rule(tool.Allow, ""), permit(func(_ context.Context, in letter) (tool.Decision, error) { return is(tool.Ask, in.To+" is new") })), "ask: bob is new", ""},
		{"T12 Permit asks for what only reads", both(reading, permit(func(context.Context, letter) (tool.Decision, error) { return is(tool.Ask, "new") })), "ask: new", ""},
		{"T12 Permit denies", both(rule(tool.Allow, ""), permit(func(context.Context, letter) (tool.Decision, error) { return is(tool.Deny, "Not to bob.") })), "denied: Not to bob.", ""},
		{"T12 Permit denies, and a person may overrule it", both(rule(tool.Allow, ""), permit(func(context.Context, letter) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Deny, Reason: "Not to bob.", Override: true}, nil
		})), "ask: Not to bob.", "denied: Not to bob."},
		{"T12 Permit denies by its zero value", both(reading, permit(func(context.Context, letter) (tool.Decision, error) { return tool.Decision{}, nil })), "denied: …", ""},
		{"T12 Permit fails", both(reading, permit(func(context.Context, letter) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Allow, Override: true}, errOffice
		})), "denied: …", ""},
		{"T12 Permit panics", both(reading, permit(func(context.Context, letter) (tool.Decision, error) { panic("no permit") })), "denied: …", ""},
		{"T12 Permit hangs until its time is over", both(reading, permit(func(ctx context.Context, _ letter) (tool.Decision, error) {
			<-ctx.Done()
			return is(tool.Silent, "")
		})), "denied: …", ""},

		{"T13 always asks, with the tool's reason", approval(tool.AskAlways), "ask: it is for good", ""},
		{"T13 always asks, although a rule allows", both(rule(tool.Allow, ""), approval(tool.AskAlways)), "ask: it is for good", ""},
		{"T13 always asks for what only reads", both(reading, approval(tool.AskAlways)), "ask: it is for good", ""},
		{"T13 never allows an own tool", approval(tool.AskNever), allowed, ""},
		{"T13 never does not undo a rule that asks", both(rule(tool.Ask, "outside"), approval(tool.AskNever)), "ask: outside; it is for good", ""},
		{"T13 never does not undo a rule that denies", both(rule(tool.Deny, "Not there."), approval(tool.AskNever)), "denied: Not there.", ""},
		{"T13 a predicate asks", both(reading, askIf(func(_ context.Context, in letter) (bool, error) { return in.To == "bob", nil })), "ask: …", ""},
		{"T13 a predicate asks, with the tool's reason", func(_ *ferrule.Runtime, s *letterSpec) {
			s.AskReason = "it is for good"
			s.AskIf = func(context.Context, letter) (bool, error) { return true, nil }
		}, "ask: it is for good", ""},
		{"T13 a predicate asks, although a rule allows", both(rule(tool.Allow, ""), askIf(func(context.Context, letter) (bool, error) { return true, nil })), "ask: …", ""},
		{"T13 a predicate that does not ask is silent: it takes no allow away", both(rule(tool.Allow, ""), askIf(func(context.Context, letter) (bool, error) { return false, nil })), allowed, ""},
		{"T13 a predicate that does not ask is silent: it is no allow", askIf(func(context.Context, letter) (bool, error) { return false, nil }), "ask: …", ""},
		{"T13 a failing predicate asks", both(reading, askIf(func(context.Context, letter) (bool, error) { return false, errOffice })), "ask: …", ""},
		{"T13 a panicking predicate asks", both(reading, askIf(func(context.Context, letter) (bool, error) { panic("no predicate") })), "ask: …", ""},
		{"T13 a predicate whose time is over asks", both(reading, askIf(func(ctx context.Context, _ letter) (bool, error) {
			<-ctx.Done()
			return false, nil
		})), "ask: …", ""},
		{"T13 the reason may be a function", both(approval(tool.AskAlways), func(_ *ferrule.Runtime, s *letterSpec) {
			s.AskReasonOf = func(_ context.Context, in letter) (string, error) { return "to " + in.To + "?", nil }
		}), "ask: to bob?", ""},
		{"T13 a failing reason gives the default one", both(approval(tool.AskAlways), func(_ *ferrule.Runtime, s *letterSpec) {
			s.AskReasonOf = func(context.Context, letter) (string, error) { return "half a rea", errOffice }
		}), "ask: it is for good", ""},
		{"T13 a panicking reason gives the default one", both(approval(tool.AskAlways), func(_ *ferrule.Runtime, s *letterSpec) {
			s.AskReasonOf = func(context.Context, letter) (string, error) { panic("no reason") }
		}), "ask: it is for good", ""},
		{"P4 the reason of a rule is shown, whatever the tool says", both(rule(tool.Ask, "outside"), func(_ *ferrule.Runtime, s *letterSpec) {
			s.AskReasonOf = func(context.Context, letter) (string, error) { return "it is nothing", nil }
		}), "ask: outside…", ""},
	}
	for _, tt := range tests {
		try := func(t *testing.T, open func(*testing.T, *ferrule.Runtime) *booth, want string) {
			unhurried(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				b := open(t, rt)
				made := b.spec("send", func(s *letterSpec) { tt.set(rt, s) })
				if err := rt.Add(made); err != nil {
					t.Fatal(err)
				}
				p := b.start(post("send", "bob"))
				time.Sleep(2 * time.Minute)
				got := "nothing"
				if b.inbox != nil && len(b.open()) > 0 {
					q := b.only()
					got = "ask: " + q.Reason
					b.reply(q, policy.Answer{})
				}
				results := p.wait()
				if got == "nothing" {
					got = inWords(results[0])
				}
				begin, some := strings.CutSuffix(want, "…")
				if got != want && (!some || !strings.HasPrefix(got, begin)) {
					t.Errorf("got %q, want %q", got, want)
				}
				if strings.Contains(inWords(results[0]), errOffice.Error()) {
					t.Errorf("the model reads what broke: %q", inWords(results[0]))
				}
				if ran := b.log() != ""; ran != (want == allowed) {
					t.Errorf("it ran: %v", ran)
				}
			})
		}
		t.Run(tt.name, func(t *testing.T) { try(t, attended, tt.want) })
		t.Run(tt.name+", and nobody can be asked", func(t *testing.T) {
			want := tt.want
			switch {
			case tt.nobody != "":
				want = tt.nobody
			case strings.HasPrefix(want, "ask: "):
				want = refused
			}
			try(t, deserted, want)
		})
	}
}

func TestAskDecisionsAboutOthersTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		source tool.Source
		set    func(*letterSpec)
		want   string
	}{
		{"T13 never is silent for a tool of a server", tool.Source{Name: "srv", Trust: tool.MCP}, func(s *letterSpec) { s.Approval = tool.AskNever }, "asks"},
		{"T13 never is silent for a trusted skill", tool.Source{Name: "srv", Trust: tool.SkillTrusted}, func(s *letterSpec) { s.Approval = tool.AskNever }, "asks"},
		{"T13 never allows a built-in tool", tool.Source{Name: "srv", Trust: tool.BuiltIn}, func(s *letterSpec) { s.Approval = tool.AskNever }, "sent to bob"},
		{"P1 all silent: a server's claim to only read, here, is none", tool.Source{Name: "srv", Trust: tool.MCP}, func(s *letterSpec) { s.Claims = tool.Claims{ReadOnly: true, Local: true} }, "asks"},
		{"P1 all silent: nor is a trusted skill's reading allowed", tool.Source{Name: "srv", Trust: tool.SkillTrusted}, func(s *letterSpec) { s.Claims = tool.Claims{ReadOnly: true, Local: true} }, "asks"},
		{"P1 all silent: a built-in tool's is", tool.Source{Name: "srv", Trust: tool.BuiltIn}, func(s *letterSpec) { s.Claims = tool.Claims{ReadOnly: true, Local: true} }, "sent to bob"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				if err := b.rt.Set(tt.source, b.spec("send", tt.set)); err != nil {
					t.Fatal(err)
				}
				name := b.view().Names()[0]
				p := b.start(post(name, "bob"))
				got := "asks"
				if p.over() {
					got = inWords(p.wait()[0])
				} else if q := b.only(); q.Source != tt.source || q.Tool != name {
					t.Errorf("asked about %s of %+v, want %s of %+v", q.Tool, q.Source, name, tt.source)
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
	t.Run("P8 the name is the one that the model called", func(t *testing.T) {
		b := deserted(t, new(ferrule.Runtime))
		if err := b.rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, b.spec("send", nil)); err != nil {
			t.Fatal(err)
		}
		got := b.view().Do(t.Context(), post("srv__send", "bob"))
		b.want(got, "", "denied: Tool approval required for srv__send, but no approval handler is configured.")
	})
}

func TestAskOperatorReadsWhatWouldChangeIt(t *testing.T) {
	t.Parallel()
	t.Run("P1 a denial's operator text names a rule, approval, inbox and AllowOwn", func(t *testing.T) {
		b := deserted(t, new(ferrule.Runtime))
		b.add("send", nil)
		res := b.view().Do(t.Context(), post("send", "bob"))[0]
		for _, want := range []string{"a rule", "Approval", "Runtime.Inbox", "policy.AllowOwn"} {
			if res.Err == nil || !strings.Contains(res.Err.Detail, want) {
				t.Errorf("the operator reads %+v, want it to name %q", res.Err, want)
			}
			if strings.Contains(inWords(res), want) {
				t.Errorf("the model reads %q", inWords(res))
			}
		}
	})
}

func TestAskNeedsUser(t *testing.T) {
	t.Parallel()
	t.Run("L3 a tool that must talk to a person does not run where there is none", func(t *testing.T) {
		b := deserted(t, &ferrule.Runtime{Policy: policy.AllowOwn{}})
		b.add("talk", func(s *letterSpec) { s.NeedsUser = true })
		got := b.rt.Session(tool.Caller{}).View(t.Context()).Do(t.Context(), post("talk", "bob"))
		b.want(got, "", "needs_user: …")
	})
}

func TestAskWhatAPersonSees(t *testing.T) {
	t.Parallel()
	t.Run("P4 tool, source, claims, exact arguments, preview, reason, rule, and for whom", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Policy: policy.Func(func(*tool.Request) tool.Decision {
				return tool.Decision{Verdict: tool.Ask, Reason: "outside", Rule: "rule 7"}
			})})
			b.add("send", func(s *letterSpec) {
				s.Claims = tool.Claims{Reversible: true, Touches: []tool.Access{{Resource: "mail:out", Write: true}}}
				s.Preview = func(_ context.Context, in letter) (string, error) { return "a letter to " + in.To, nil }
			})
			caller := tool.Caller{Principal: "ada", Session: "s", Client: "desk", Tenant: "firm", Agent: "clerk", Run: "r1", Attended: true}
			v := b.rt.Session(caller).View(t.Context())
			const input = ` { "to" : "bob" } `
			p := b.follow(func() []tool.Result {
				return v.Do(t.Context(), tool.Call{ID: "toolu_1", Name: "send", Input: json.RawMessage(input)})
			})
			q := b.only()
			want := policy.Question{
				ID: q.ID, Digest: q.Digest, Call: q.Call,
				Caller: policy.Asker{Principal: "ada", Tenant: "firm", Session: "s", Client: "desk", Agent: "clerk", Run: "r1"},
				Turn:   1, Index: 0, CallID: "toolu_1", Tool: "send", Source: tool.Source{Trust: tool.Own},
				Claims: tool.Claims{Reversible: true, Touches: []tool.Access{{Resource: "mail:out", Write: true}}},
				Input:  q.Input, Preview: "a letter to bob", Reason: "outside", Rule: "rule 7",
				Definition: q.Definition, Given: q.Given, Hooked: q.Hooked, Offers: []string{q.Offers[0], "send"},
				Asked: time.Now(), Expires: time.Now().Add(24 * time.Hour),
			}
			if !reflect.DeepEqual(q, want) || q.ID == "" || q.Digest == "" || q.Call == "" || q.Definition == "" || !strings.HasPrefix(q.Offers[0], "send(args: ") {
				t.Errorf("got  %+v\nwant %+v", q, want)
			}
			var in letter
			if err := json.Unmarshal([]byte(q.Input), &in); err != nil || in.To != "bob" {
				t.Errorf("input: got %q", q.Input)
			}
			b.yes(q)
			res := p.wait()
			b.want(res, "send bob", "sent to bob")
			if res[0].ID != q.Call || res[0].CallID != "toolu_1" {
				t.Errorf("result of %q, %q, want %q, toolu_1", res[0].ID, res[0].CallID, q.Call)
			}
		})
	})
	for name, preview := range map[string]func(context.Context, letter) (string, error){
		"T14 a failing preview does not keep the question back":        func(context.Context, letter) (string, error) { return "half a prev", errOffice },
		"L6 a panicking preview does not keep the question back":       func(context.Context, letter) (string, error) { panic("no preview") },
		"T14 a preview whose time is over does not keep the call back": func(ctx context.Context, _ letter) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("send", func(s *letterSpec) { s.Preview = preview })
				p := b.start(post("send", "bob"))
				time.Sleep(61 * time.Second)
				q := b.only()
				if strings.Contains(q.Preview, "half") || strings.Contains(q.Preview, "no preview") {
					t.Errorf("the person is shown %q", q.Preview)
				}
				b.reply(q, policy.Answer{})
				b.want(p.wait(), "", "rejected: Tool approval was rejected.")
			})
		})
	}

	digest := func(t *testing.T, caller tool.Caller, description, to string) (digest string) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Description = description })
			v := b.rt.Session(caller).View(t.Context())
			b.follow(func() []tool.Result { return v.Do(t.Context(), post("send", to)) })
			digest = b.only().Digest
		})
		return digest
	}
	t.Run("P5 an approval is bound to principal, definition and exact arguments", func(t *testing.T) {
		first := digest(t, tool.Caller{Principal: "ada"}, "Send it.", "bob")
		for _, tt := range []struct {
			what string
			got  string
			same bool
		}{
			{"the same", digest(t, tool.Caller{Principal: "ada"}, "Send it.", "bob"), true},
			{"another principal", digest(t, tool.Caller{Principal: "eve"}, "Send it.", "bob"), false},
			{"another definition", digest(t, tool.Caller{Principal: "ada"}, "Send it twice.", "bob"), false},
			{"other arguments", digest(t, tool.Caller{Principal: "ada"}, "Send it.", "bob "), false},
		} {
			if (tt.got == first) != tt.same {
				t.Errorf("%s: digest %s, the first %s", tt.what, tt.got, first)
			}
		}
	})
	t.Run("P5 one answer is for one call, although two ask for the same", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Claims.Parallel = true })
			p := b.start(post("send", "bob"), post("send", "bob"))
			if got := b.shown(); got != `send {"to":"bob"}, send {"to":"bob"}` {
				t.Fatalf("asked: %s", got)
			}
			qs := b.open()
			b.yes(qs[1])
			if p.over() || b.log() != "send bob" {
				t.Errorf("after one answer: over %v, ran %q", p.over(), b.log())
			}
			b.reply(qs[0], policy.Answer{})
			b.want(p.wait(), "send bob", "rejected: Tool approval was rejected.", "sent to bob")
		})
	})
	t.Run("P6 all questions of a turn are shown together", func(t *testing.T) {
		for _, claims := range []tool.Claims{{}, {Parallel: true}} {
			unhurried(t, func(t *testing.T) {
				b := attended(t, &ferrule.Runtime{Limit: 2})
				b.add("send", func(s *letterSpec) { s.Claims = claims })
				var calls []tool.Call
				for i := range 20 {
					calls = append(calls, post("send", fmt.Sprint(i)))
				}
				b.start(calls...)
				if n := len(b.open()); n != 20 {
					t.Errorf("%+v: got %d questions, want 20", claims, n)
				}
			})
		}
	})
}

func TestAskWhoseCall(t *testing.T) {
	t.Parallel()
	// What the page calls Words: whoever judges a call knows whose it is.
	seen := make(map[string]tool.Request)
	var mu sync.Mutex
	see := func(who string, r tool.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[who] = r
	}
	caller := tool.Caller{Principal: "ada", Session: "s", Agent: "clerk", Run: "r1", Values: map[string]any{"desk": 4}}
	const received = `{ "to": "bob" }`
	unhurried(t, func(t *testing.T) {
		b := attended(t, &ferrule.Runtime{
			Policy: policy.Func(func(r *tool.Request) tool.Decision {
				see("P2 policy", *r)
				return tool.Decision{Verdict: tool.Silent}
			}),
			Decide: func(_ context.Context, r *tool.Request) (tool.Decision, error) {
				see("P11 the host", *r)
				return tool.Decision{Verdict: tool.Silent}, nil
			},
			Hooks: []ferrule.Hook{{Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				see("H1 an input hook", *r)
				return ferrule.Change{}, nil
			}}},
		})
		env := func(ctx context.Context, who string) { see(who, tool.From(ctx).Request()) }
		b.add("send", func(s *letterSpec) {
			s.Validate = func(ctx context.Context, _ letter) (json.RawMessage, error) {
				env(ctx, "T11 Validate")
				return nil, nil
			}
			s.Permit = func(ctx context.Context, _ letter) (tool.Decision, error) {
				env(ctx, "T12 Permit")
				return tool.Decision{Verdict: tool.Silent}, nil
			}
			s.AskIf = func(ctx context.Context, _ letter) (bool, error) { env(ctx, "T13 the predicate"); return true, nil }
			s.AskReasonOf = func(ctx context.Context, _ letter) (string, error) { env(ctx, "T13 the reason"); return "", nil }
			s.RejectTextOf = func(ctx context.Context, _ letter) (string, error) {
				env(ctx, "T13 the text for rejection")
				return "", nil
			}
			s.Preview = func(ctx context.Context, _ letter) (string, error) { env(ctx, "T14 Preview"); return "", nil }
			s.Run = func(ctx context.Context, _ letter) (string, error) { env(ctx, "T1 the tool"); return "", nil }
		})
		v := b.rt.Session(caller).View(t.Context())
		call := tool.Call{ID: "toolu_1", Name: "send", Input: json.RawMessage(received)}
		p := b.follow(func() []tool.Result { return v.Do(t.Context(), call, call) })
		for range 2 {
			for _, q := range b.open() {
				if q.Index == 0 {
					b.yes(q)
				} else {
					b.reply(q, policy.Answer{})
				}
			}
		}
		b.want(p.wait(), "", "(tool ran successfully with no output)", "rejected: Tool approval was rejected.")
	})
	for _, who := range []string{
		"P2 policy", "P11 the host", "H1 an input hook", "T11 Validate", "T12 Permit", "T13 the predicate", "T13 the reason", "T13 the text for rejection", "T14 Preview", "T1 the tool",
	} {
		t.Run(who+" sees whose call it is, and what was received", func(t *testing.T) {
			r, ok := seen[who]
			if !ok {
				t.Fatal("it was not asked")
			}
			if r.ID == "" || r.CallID != "toolu_1" || r.Turn != 1 || !reflect.DeepEqual(r.Caller, caller) || r.Args.Received() != received || r.Name != "send" {
				t.Errorf("got %+v, received %q", r, r.Args.Received())
			}
		})
	}
}

func TestAskRejection(t *testing.T) {
	t.Parallel()
	texts := func(fixed string, of func(context.Context, letter) (string, error)) func(*letterSpec) {
		return func(s *letterSpec) { s.RejectText, s.RejectTextOf = fixed, of }
	}
	own := func(_ context.Context, in letter) (string, error) { return "Nothing goes to " + in.To + ".", nil }
	tests := []struct {
		name   string
		set    func(*letterSpec)
		answer policy.Answer
		want   string
	}{
		{"P7 the message", texts("Not sent.", own), policy.Answer{Message: "Call him.", Reason: "slow"}, "Call him."},
		{"P7 else the reason", texts("Not sent.", own), policy.Answer{Reason: "slow"}, "slow"},
		{"P7 else the tool's text for this call", texts("Not sent.", own), policy.Answer{}, "Nothing goes to bob."},
		{"P7 else the tool's text", texts("Not sent.", nil), policy.Answer{By: "ada", Text: "hm"}, "Not sent."},
		{"P7 else the fixed one", nil, policy.Answer{}, "Tool approval was rejected."},
		{"P7 a no with edited arguments is a no", nil, policy.Answer{Input: json.RawMessage(`{"to":"eve"}`)}, "Tool approval was rejected."},
		{"T13 a failing text gives the tool's other one", texts("Not sent.", func(context.Context, letter) (string, error) { return "half a te", errOffice }), policy.Answer{}, "Not sent."},
		{"T13 a failing text gives the default one", texts("", func(context.Context, letter) (string, error) { return "half a te", errOffice }), policy.Answer{}, "Tool approval was rejected."},
		{"T13 a panicking text gives the default one", texts("", func(context.Context, letter) (string, error) { panic("no text") }), policy.Answer{}, "Tool approval was rejected."},
		{"T13 an empty text gives the default one", texts("", func(context.Context, letter) (string, error) { return "", nil }), policy.Answer{}, "Tool approval was rejected."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("send", tt.set)
				p := b.start(post("send", "bob"))
				b.reply(b.only(), tt.answer)
				b.want(p.wait(), "", "rejected: "+tt.want)
			})
		})
	}
}

func TestAskAnswerFunction(t *testing.T) {
	t.Parallel()
	type function = func(context.Context, policy.Question) (policy.Answer, error)
	yes := func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{Allow: true}, nil }
	tests := []struct {
		name  string
		f     function
		want  string
		ran   string
		after time.Duration // it takes so long, to a second or two
	}{
		{"P11 it allows", yes, "sent to bob", "send bob", 0},
		{"P11 it takes its time", func(_ context.Context, q policy.Question) (policy.Answer, error) {
			time.Sleep(23 * time.Hour)
			return policy.Answer{Allow: true}, nil
		}, "sent to bob", "send bob", 23 * time.Hour},
		{"P11 it allows other arguments", func(context.Context, policy.Question) (policy.Answer, error) {
			return policy.Answer{Allow: true, Input: json.RawMessage(`{"to":"eve"}`)}, nil
		}, "sent to eve" + toEve, "send eve", 0},
		{"P11 it rejects", func(_ context.Context, q policy.Question) (policy.Answer, error) {
			return policy.Answer{Message: "not " + q.Input}, nil
		}, `rejected: not {"to":"bob"}`, "", 0},
		{"P11 its zero answer rejects", func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{}, nil }, "rejected: Tool approval was rejected.", "", 0},
		{"P11 it fails", func(context.Context, policy.Question) (policy.Answer, error) {
			return policy.Answer{Allow: true}, errOffice
		}, "denied: …", "", 0},
		{"P11 it panics", func(context.Context, policy.Question) (policy.Answer, error) { panic("no answer") }, "denied: …", "", 0},
		{"P11 it ends its goroutine", func(context.Context, policy.Question) (policy.Answer, error) {
			runtime.Goexit()
			return policy.Answer{Allow: true}, nil
		}, "denied: …", "", 0},
		{"P11 it hangs until its context ends", func(ctx context.Context, _ policy.Question) (policy.Answer, error) {
			<-ctx.Done()
			return policy.Answer{Allow: true}, ctx.Err()
		}, "expired: …", "", 24 * time.Hour},
		{"P11 it hangs for good", func(context.Context, policy.Question) (policy.Answer, error) {
			time.Sleep(100 * time.Hour)
			return policy.Answer{Allow: true}, nil
		}, "expired: …", "", 24 * time.Hour},
	}
	for _, tt := range tests {
		for _, inbox := range []policy.Inbox{nil, new(policy.Memory)} {
			name := tt.name
			if inbox != nil {
				name += ", beside an inbox"
			}
			t.Run(name, func(t *testing.T) {
				unhurried(t, func(t *testing.T) {
					b := deserted(t, &ferrule.Runtime{Answer: tt.f})
					if inbox != nil {
						b = attended(t, b.rt)
					}
					b.add("send", nil)
					began := time.Now()
					p := b.start(post("send", "bob"))
					b.want(p.wait(), tt.ran, tt.want)
					if took := time.Since(began); took < tt.after || took > tt.after+2*time.Second {
						t.Errorf("took %s, want %s", took, tt.after)
					}
				})
			})
		}
	}

	t.Run("P5 a late answer of the function is refused: the person was first", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				time.Sleep(2 * time.Minute)
				return policy.Answer{Message: "too late"}, nil
			}})
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			time.Sleep(time.Minute)
			b.yes(b.only())
			if b.log() != "send bob" {
				t.Errorf("ran %q as soon as the person had answered", b.log())
			}
			b.want(p.wait(), "send bob", "sent to bob")
		})
	})
	t.Run("P5 a late answer of the person is refused: the function was first", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				time.Sleep(time.Minute)
				return policy.Answer{Allow: true}, nil
			}})
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			q := b.only()
			b.want(p.wait(), "send bob", "sent to bob")
			if err := b.inbox.Answer(t.Context(), q.ID, policy.Answer{}); !errors.Is(err, policy.ErrAnswered) {
				t.Errorf("got %v, want %v", err, policy.ErrAnswered)
			}
		})
	})

	// Nobody wants to know any more: the function's context ends, and the turn
	// does not wait for a prompt that somebody has left open.
	waits := map[string]function{
		"heeds its context": func(ctx context.Context, _ policy.Question) (policy.Answer, error) {
			<-ctx.Done()
			return policy.Answer{}, ctx.Err()
		},
		"ignores its context": func(context.Context, policy.Question) (policy.Answer, error) {
			time.Sleep(100 * time.Hour)
			return policy.Answer{}, nil
		},
	}
	ends := map[string]func(*booth, *ferrule.Turn, context.CancelFunc){
		"P11 a person was first":      func(b *booth, _ *ferrule.Turn, _ context.CancelFunc) { b.yes(b.only()) },
		"D6 a person interrupts":      func(_ *booth, turn *ferrule.Turn, _ context.CancelFunc) { turn.Interrupt() },
		"D6 a person stops the call":  func(b *booth, turn *ferrule.Turn, _ context.CancelFunc) { turn.Stop(b.only().Call) },
		"D6 the host stops the turn":  func(_ *booth, _ *ferrule.Turn, cancel context.CancelFunc) { cancel() },
		"P5 it expires, as it should": func(*booth, *ferrule.Turn, context.CancelFunc) { time.Sleep(24*time.Hour - time.Minute) },
	}
	for end, f := range ends {
		for does, answer := range waits {
			t.Run(end+", the function "+does, func(t *testing.T) {
				unhurried(t, func(t *testing.T) {
					b := attended(t, &ferrule.Runtime{Answer: answer})
					b.add("send", nil)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					turn := b.view().Begin(ctx, ferrule.TurnOptions{})
					turn.Add(post("send", "bob"))
					p := b.follow(turn.Wait)
					time.Sleep(time.Minute)
					f(b, turn, cancel)
					from := time.Now()
					<-p.done
					if took := time.Since(from); took > 2*time.Second {
						t.Errorf("the turn waited %s for the function", took)
					}
				})
			})
		}
	}
	t.Run("P6 a function that answers holds no slot", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := deserted(t, &ferrule.Runtime{Limit: 1, Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				time.Sleep(time.Hour)
				return policy.Answer{Allow: true}, nil
			}})
			b.add("send", func(s *letterSpec) { s.Claims.Parallel = true })
			b.add("look", func(s *letterSpec) { s.Claims, s.Approval = tool.Claims{Parallel: true}, tool.AskNever })
			p := b.start(post("send", "bob"), post("look", "up"))
			if b.log() != "look up" {
				t.Errorf("while it is asked: ran %q", b.log())
			}
			b.want(p.wait(), "look up, send bob", "sent to bob", "sent to up")
		})
	})
}

// rewrites is a hook that sends everything for one person to another, and
// notes that it ran.
func (b *booth) rewrites(name, from, to string) ferrule.Hook {
	return ferrule.Hook{Name: name, Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
		b.note(name)
		if r.Args.Text() != fmt.Sprintf(`{"to":%q}`, from) {
			return ferrule.Change{}, nil
		}
		return ferrule.Change{Input: fmt.Appendf(nil, `{"to":%q}`, to)}, nil
	}}
}

func TestAskChangedInput(t *testing.T) {
	t.Parallel()
	t.Run("L2 what a hook makes of the input is what is asked about and run", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Hooks = []ferrule.Hook{b.rewrites("hook", "bob", "eve")}
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			if got := b.shown(); got != `send {"to":"eve"}` {
				t.Fatalf("asked: %s", got)
			}
			b.yes(b.only())
			b.want(p.wait(), "hook, send eve", "sent to eve")
		})
	})
	t.Run("L2 the rules judge what a hook made of the input", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if strings.Contains(r.Args.Text(), "eve") {
					return tool.Decision{Verdict: tool.Deny, Reason: "Not to eve."}
				}
				return tool.Decision{Verdict: tool.Allow}
			})}
			b := attended(t, rt)
			rt.Hooks = []ferrule.Hook{b.rewrites("hook", "bob", "eve")}
			b.add("send", nil)
			b.want(b.start(post("send", "bob")).wait(), "hook", "denied: Not to eve.")
		})
	})
	t.Run("L2 the schema and Validate judge what a hook made of the input", func(t *testing.T) {
		for made, want := range map[string]string{`{"to":7}`: "invalid_input: …", `{"to":"eve"}`: "invalid_value: ValidationError: not eve\nWhat you sent was valid: this program changed it.", `{`: "invalid_input: …"} {
			unhurried(t, func(t *testing.T) {
				b := attended(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Hooks: []ferrule.Hook{{Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					return ferrule.Change{Input: json.RawMessage(made)}, nil
				}}}})
				b.add("send", func(s *letterSpec) {
					s.Validate = func(_ context.Context, in letter) (json.RawMessage, error) {
						if in.To == "eve" {
							return nil, errors.New("not eve")
						}
						return nil, nil
					}
				})
				b.want(b.start(post("send", "bob")).wait(), "", want)
			})
		}
	})
	t.Run("L2 an answer for the old input never runs the new one", func(t *testing.T) {
		for _, does := range []string{"yes", "no"} {
			unhurried(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				b := attended(t, rt)
				hook := b.rewrites("hook", "bob", "eve")
				hook.Only.Names = []string{"send"}
				rt.Hooks = []ferrule.Hook{hook}
				b.addWall()
				b.add("send", nil)
				p := b.start(post("wall", ""), post("send", "bob"))
				early := b.only() // before the hook ran: about bob
				b.yes(early)
				time.Sleep(2 * time.Hour)
				if got := b.shown(); got != `send {"to":"eve"}` {
					t.Fatalf("asked: %s; ran: %s", got, b.log())
				}
				q := b.only()
				if q.ID == early.ID || q.Digest == early.Digest {
					t.Errorf("a new question has the id or digest of the old one: %+v", q)
				}
				if does == "yes" {
					b.yes(q)
					b.want(p.wait(), "wall, hook, send eve", "an hour later", "sent to eve")
				} else {
					b.reply(q, policy.Answer{})
					b.want(p.wait(), "wall, hook", "an hour later", "rejected: Tool approval was rejected.")
				}
			})
		}
	})
	t.Run("L2 hooks do not run again after the answer", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			security := b.rewrites("security", "nobody", "")
			security.Security = true
			rt.Hooks = []ferrule.Hook{security, b.rewrites("hook", "nobody", "")}
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			time.Sleep(time.Hour)
			b.yes(b.only())
			b.want(p.wait(), "security, hook, send bob", "sent to bob")
		})
	})
}

func TestAskValidate(t *testing.T) {
	t.Parallel()
	bobToEve := func(_ context.Context, in letter) (json.RawMessage, error) {
		if in.To == "bob" {
			return json.RawMessage(`{"to":"eve"}`), nil
		}
		return nil, nil
	}
	t.Run("T11 what Validate corrects is asked about and run, and it does not look at it again", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) {
				s.Validate = func(ctx context.Context, in letter) (json.RawMessage, error) {
					b.note("validate " + in.To)
					return bobToEve(ctx, in)
				}
			})
			p := b.start(post("send", "bob"))
			if b.log() != "validate bob" || b.shown() != `send {"to":"eve"}` {
				t.Errorf("ran %q, asked %s", b.log(), b.shown())
			}
			b.yes(b.only())
			if got := p.wait(); inWords(got[0]) != "sent to eve" || !strings.HasSuffix(b.log(), "send eve") {
				t.Errorf("got %q, ran %q", inWords(got[0]), b.log())
			}
		})
	})
	t.Run("L1 a failure of meaning", func(t *testing.T) {
		for text, validate := range map[string]func(context.Context, letter) (json.RawMessage, error){
			"invalid_value: ValidationError: nobody lives there": func(context.Context, letter) (json.RawMessage, error) { return nil, errors.New("nobody lives there") },
			"invalid_input: …": func(context.Context, letter) (json.RawMessage, error) { return json.RawMessage(`{"too":"eve"}`), nil },
			"failed: …":        func(context.Context, letter) (json.RawMessage, error) { panic("no validator") },
		} {
			unhurried(t, func(t *testing.T) {
				b := attended(t, &ferrule.Runtime{Policy: policy.AllowOwn{}})
				b.add("send", func(s *letterSpec) { s.Validate = validate })
				b.want(b.start(post("send", "bob")).wait(), "", text)
			})
		}
	})
	t.Run("L2 the rules judge what Validate corrected, and only that", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if strings.Contains(r.Args.Text(), "bob") {
					return tool.Decision{Verdict: tool.Deny, Reason: "Not to bob."}
				}
				return tool.Decision{Verdict: tool.Allow}
			})})
			b.add("send", func(s *letterSpec) { s.Validate = bobToEve })
			b.want(b.start(post("send", "bob")).wait(), "send eve", "sent to eve")
		})
	})

	// The world goes on while a person thinks.
	moved := func(t *testing.T, first func(context.Context, letter) (json.RawMessage, error)) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			gone := false
			b.add("send", func(s *letterSpec) {
				s.Validate = func(ctx context.Context, in letter) (json.RawMessage, error) {
					if gone {
						return nil, errors.New(in.To + " has moved")
					}
					return first(ctx, in)
				}
			})
			p := b.start(post("send", "bob"))
			q := b.only()
			gone = true
			b.yes(q)
			b.want(p.wait(), "", "invalid_value: ValidationError: …")
		})
	}
	t.Run("L2 after the answer the meaning is judged again", func(t *testing.T) {
		moved(t, func(context.Context, letter) (json.RawMessage, error) { return nil, nil })
	})
	t.Run("L2 after the answer the meaning is judged again, of corrected input too", func(t *testing.T) { moved(t, bobToEve) })
	t.Run("L2 after the answer Permit and the host are heard again", func(t *testing.T) {
		for _, who := range []string{"permit", "host"} {
			unhurried(t, func(t *testing.T) {
				late := false
				says := func(me string) (tool.Decision, error) {
					if late && me == who {
						return tool.Decision{Verdict: tool.Deny, Reason: "Not any more."}, nil
					}
					return tool.Decision{Verdict: tool.Silent}, nil
				}
				b := attended(t, &ferrule.Runtime{Decide: func(context.Context, *tool.Request) (tool.Decision, error) { return says("host") }})
				b.add("send", func(s *letterSpec) {
					s.Permit = func(context.Context, letter) (tool.Decision, error) { return says("permit") }
				})
				p := b.start(post("send", "bob"))
				q := b.only()
				late = true
				b.yes(q)
				b.want(p.wait(), "", "denied: Not any more.")
			})
		}
	})
	t.Run("L2 input that Validate corrects after the answer is asked about anew", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			corrects := false
			b.add("send", func(s *letterSpec) {
				s.Validate = func(ctx context.Context, in letter) (json.RawMessage, error) {
					if corrects {
						return bobToEve(ctx, in)
					}
					return nil, nil
				}
			})
			p := b.start(post("send", "bob"))
			q := b.only()
			corrects = true
			b.yes(q)
			if b.shown() != `send {"to":"eve"}` || b.log() != "" {
				t.Errorf("asked %s, ran %q", b.shown(), b.log())
			}
			b.yes(b.only())
			b.want(p.wait(), "send eve", "sent to eve")
		})
	})
}

func TestAskRounds(t *testing.T) {
	t.Parallel()
	// Each hook makes the name one longer.
	longer := func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
		return ferrule.Change{Input: json.RawMessage(strings.Replace(r.Args.Text(), `"}`, `x"}`, 1))}, nil
	}
	for _, tt := range []struct {
		name  string
		hooks int
		want  string
	}{
		{"L2 the input may change seven times", 7, "sent to bobxxxxxxx"},
		{"L2 at most 8 rounds: what changes ten times is stopped", 10, "hook_blocked: …"},
		{"L2 at most 8 rounds: what changes a hundred times is stopped", 100, "hook_blocked: …"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Hooks: slices.Repeat([]ferrule.Hook{{Input: longer}}, tt.hooks)})
				b.add("send", nil)
				res := b.start(post("send", "bob")).wait()
				if got := inWords(res[0]); got != tt.want && (!strings.HasSuffix(tt.want, "…") || !strings.HasPrefix(got, "hook_blocked: ")) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if ran := b.log() != ""; ran != (res[0].Err == nil) {
					t.Errorf("got %q and ran %q", inWords(res[0]), b.log())
				}
			})
		})
	}
	t.Run("L2 at most 8 rounds: Validate and hooks that undo each other", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
			b := attended(t, rt)
			hook := b.rewrites("", "bob", "eve")
			hook.Name = ""
			rt.Hooks = slices.Repeat([]ferrule.Hook{hook}, 20)
			b.add("send", func(s *letterSpec) {
				s.Validate = func(_ context.Context, in letter) (json.RawMessage, error) {
					if in.To == "eve" {
						return json.RawMessage(`{"to":"bob"}`), nil
					}
					return nil, nil
				}
			})
			res := b.start(post("send", "bob")).wait()
			if res[0].Err == nil || res[0].Err.Kind != tool.HookBlocked || strings.Contains(b.log(), "send") {
				t.Errorf("got %q, ran %q", inWords(res[0]), b.log())
			}
		})
	})
}

// changedTo is what the model reads behind the result of a call whose arguments a
// person changed.
const changedTo = "\nA person changed the arguments of this call to: "

const toEve = changedTo + `{"to":"eve"}`

func TestAskEditedArguments(t *testing.T) {
	t.Parallel()
	edit := func(text string) policy.Answer {
		return policy.Answer{Allow: true, By: "ada", Input: json.RawMessage(text)}
	}
	eve := edit(`{"to":"eve"}`)
	tests := []struct {
		name   string
		set    func(*ferrule.Runtime, *letterSpec)
		answer policy.Answer
		want   string
		ran    string
	}{
		{"P5 edited arguments run", nil, eve, "sent to eve" + toEve, "send eve"},
		{"P5 the same arguments are no edit", nil, edit(`{"to":"bob"}`), "sent to bob", "send bob"},
		{"P5 edited arguments pass the schema: another type", nil, edit(`{"to":7}`), "invalid_input: …", ""},
		{"P5 edited arguments pass the schema: another name", nil, edit(`{"to":"eve","cc":"bob"}`), "invalid_input: …", ""},
		{"P5 edited arguments pass the schema: no JSON", nil, edit(`{"to":`), "invalid_input: …", ""},
		{"P5 edited arguments pass Validate", func(_ *ferrule.Runtime, s *letterSpec) {
			s.Validate = func(_ context.Context, in letter) (json.RawMessage, error) {
				if in.To == "eve" {
					return nil, errors.New("no such person")
				}
				return nil, nil
			}
		}, eve, "invalid_value: ValidationError: no such person\nWhat you sent was valid: the person who was asked changed it.", ""},
		{"P5 edited arguments pass the rules", func(rt *ferrule.Runtime, _ *letterSpec) {
			rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
				if strings.Contains(r.Args.Text(), "eve") {
					return tool.Decision{Verdict: tool.Deny, Reason: "Not to eve."}
				}
				return tool.Decision{Verdict: tool.Ask}
			})
		}, eve, "denied: Not to eve.", ""},
		{"P5 edited arguments pass Permit", func(_ *ferrule.Runtime, s *letterSpec) {
			s.Permit = func(_ context.Context, in letter) (tool.Decision, error) {
				if in.To == "eve" {
					return tool.Decision{Verdict: tool.Deny, Reason: "Not to eve."}, nil
				}
				return tool.Decision{Verdict: tool.Silent}, nil
			}
		}, eve, "denied: Not to eve.", ""},
		{"P5 edited arguments pass the host's word", func(rt *ferrule.Runtime, _ *letterSpec) {
			rt.Decide = func(_ context.Context, r *tool.Request) (tool.Decision, error) {
				if strings.Contains(r.Args.Text(), "eve") {
					return tool.Decision{Verdict: tool.Deny, Reason: "Not to eve."}, nil
				}
				return tool.Decision{Verdict: tool.Silent}, nil
			}
		}, eve, "denied: Not to eve.", ""},
		{"P5 the answer is bound to the edited arguments: their preview is another", func(_ *ferrule.Runtime, s *letterSpec) {
			s.Preview = func(_ context.Context, in letter) (string, error) { return "a letter to " + in.To, nil }
		}, eve, "sent to eve" + toEve, "send eve"},
		{"P5 the answer is bound to the edited arguments: the tool's reason names them", func(_ *ferrule.Runtime, s *letterSpec) {
			s.Approval = tool.AskAlways
			s.AskReasonOf = func(_ context.Context, in letter) (string, error) { return "a letter to " + in.To + "?", nil }
		}, eve, "sent to eve" + toEve, "send eve"},
		{"P5 the answer is bound to the edited arguments: the rule's reason names them", func(rt *ferrule.Runtime, _ *letterSpec) {
			rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
				return tool.Decision{Verdict: tool.Ask, Reason: r.Args.Text() + " is outside"}
			})
		}, eve, "sent to eve" + toEve, "send eve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				b := attended(t, rt)
				made := b.spec("send", func(s *letterSpec) {
					if tt.set != nil {
						tt.set(rt, s)
					}
				})
				if err := rt.Add(made); err != nil {
					t.Fatal(err)
				}
				p := b.start(post("send", "bob"))
				b.reply(b.only(), tt.answer)
				if !p.over() {
					t.Fatalf("asked again: %+v", b.only())
				}
				b.want(p.wait(), tt.ran, tt.want)
			})
		})
	}
	for name, tt := range map[string]struct {
		sensitivity tool.Sensitivity
		to, want    string
	}{
		"is told a part of what is long": {tool.Internal, strings.Repeat("e", 3000), `{"to":"` + strings.Repeat("e", 1993) + "… (3009 bytes)"},
		"is not told what is secret":     {tool.Secret, "eve", "[withheld: secret]"},
	} {
		t.Run("P5 the model "+name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("send", func(s *letterSpec) {
					s.InputSensitivity = tt.sensitivity
					s.Run = func(context.Context, letter) (string, error) { return "sent", nil }
				})
				p := b.start(post("send", "bob"))
				b.reply(b.only(), edit(`{"to":"`+tt.to+`"}`))
				b.want(p.wait(), "", "sent"+changedTo+tt.want)
			})
		})
	}
	t.Run("L2 what Validate makes of edited arguments is asked about anew", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) {
				s.Validate = func(_ context.Context, in letter) (json.RawMessage, error) {
					if in.To == "eve" {
						return json.RawMessage(`{"to":"mallory"}`), nil
					}
					return nil, nil
				}
			})
			p := b.start(post("send", "bob"))
			b.reply(b.only(), eve)
			if b.shown() != `send {"to":"mallory"}` || b.log() != "" {
				t.Fatalf("asked %s, ran %q", b.shown(), b.log())
			}
			b.reply(b.only(), policy.Answer{})
			b.want(p.wait(), "", "rejected: Tool approval was rejected.")
		})
	})
	t.Run("L2 edited arguments with other claims are scheduled anew", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			at := func(in letter) tool.Claims {
				return tool.Claims{Touches: []tool.Access{{Resource: "mail:" + in.To, Write: true}}}
			}
			b.add("send", func(s *letterSpec) { s.ClaimsOf = at })
			b.add("slow", func(s *letterSpec) {
				s.ClaimsOf, s.Approval, s.Timeout = at, tool.AskNever, tool.Unlimited
				s.Run = func(context.Context, letter) (string, error) {
					time.Sleep(time.Hour)
					b.note("slow")
					return "done", nil
				}
			})
			p := b.start(post("send", "bob"), post("slow", "eve"))
			b.reply(b.only(), eve)
			b.want(p.wait(), "slow, send eve", "sent to eve"+toEve, "done")
		})
	})
	t.Run("L2 hooks do not run again for edited arguments, and what was received stays", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Hooks = []ferrule.Hook{b.rewrites("hook", "eve", "mallory")}
			b.add("send", func(s *letterSpec) {
				s.Run = func(ctx context.Context, in letter) (string, error) {
					return in.To + ", received " + tool.From(ctx).Request().Args.Received(), nil
				}
			})
			p := b.start(post("send", "bob"))
			b.reply(b.only(), eve)
			b.want(p.wait(), "hook", `eve, received {"to":"bob"}`+toEve)
		})
	})
}

func TestAskedOnArrival(t *testing.T) {
	t.Parallel()
	t.Run("L9 a question is put while an earlier call runs, and says so", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", nil)
			p := b.start(post("wall", ""), post("send", "bob"), post("send", "eve"))
			if got := b.shown(); got != `send {"to":"bob"}, send {"to":"eve"}` || b.log() != "" {
				t.Fatalf("asked %s, ran %q", got, b.log())
			}
			for _, q := range b.open() {
				if q.Note != "earlier calls have not run yet" {
					t.Errorf("%s: note %q", q.Input, q.Note)
				}
				b.yes(q)
			}
			if b.log() != "" || p.over() {
				t.Errorf("before the turn of the call has come: ran %q", b.log())
			}
			b.want(p.wait(), "wall, send bob, send eve", "an hour later", "sent to bob", "sent to eve")
		})
	})
	t.Run("L9 a question about the first call has no such note", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", nil)
			b.start(post("send", "bob"))
			if q := b.only(); q.Note != "" {
				t.Errorf("note %q", q.Note)
			}
		})
	})
	t.Run("L9 calls that are added later are asked for at once too", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", nil)
			turn := b.view().Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(post("wall", ""))
			time.Sleep(time.Minute)
			turn.Add(post("send", "bob"))
			synctest.Wait()
			b.yes(b.only())
			b.want(turn.Wait(), "wall, send bob", "an hour later", "sent to bob")
		})
	})
	t.Run("L9 a no on arrival is a no", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", nil)
			p := b.start(post("wall", ""), post("send", "bob"))
			b.reply(b.only(), policy.Answer{Message: "Never."})
			b.want(p.wait(), "wall", "an hour later", "rejected: Never.")
		})
	})
	for slot, set := range map[string]func(*ferrule.Runtime, *letterSpec){
		"of the turn": func(rt *ferrule.Runtime, _ *letterSpec) { rt.Limit = 1 },
		"of the tool": func(_ *ferrule.Runtime, s *letterSpec) { s.AtOnce = 1 },
	} {
		t.Run("L9 what only waits for a slot "+slot+" is asked for on arrival", func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				rt := &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
					if strings.Contains(r.Args.Text(), "slow") {
						return tool.Decision{Verdict: tool.Allow}
					}
					return tool.Decision{Verdict: tool.Ask}
				})}
				b := attended(t, rt)
				made := b.spec("send", func(s *letterSpec) {
					set(rt, s)
					s.Claims.Parallel, s.Timeout = true, tool.Unlimited
					run := s.Run
					s.Run = func(ctx context.Context, in letter) (string, error) {
						if in.To == "slow" {
							time.Sleep(time.Hour)
						}
						return run(ctx, in)
					}
				})
				if err := rt.Add(made); err != nil {
					t.Fatal(err)
				}
				p := b.start(post("send", "slow"), post("send", "bob"))
				if len(b.open()) == 0 {
					t.Error("nobody is asked while the other call runs")
					time.Sleep(2 * time.Hour)
				}
				b.yes(b.only())
				b.want(p.wait(), "send slow, send bob", "sent to slow", "sent to bob")
			})
		})
	}

	// What becomes of the question when the call is ready. Each row answers yes
	// on arrival, if it is asked then.
	after := func(b *booth, early, late string) func() string { // changes when the wall has run
		return func() string {
			if strings.Contains(b.log(), "wall") {
				return late
			}
			return early
		}
	}
	tests := []struct {
		name  string
		set   func(*booth, *ferrule.Runtime, *letterSpec)
		early string // what is asked on arrival
		late  string // and when the call is ready
		want  string // without a further answer
	}{
		{"L9 not asked again if all is the same", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.Preview = func(_ context.Context, in letter) (string, error) { return "a letter to " + in.To, nil }
			s.Approval = tool.AskAlways
			s.AskReasonOf = func(context.Context, letter) (string, error) { return "it is for good", nil }
			s.Validate = func(context.Context, letter) (json.RawMessage, error) { return nil, nil }
			s.Permit = func(context.Context, letter) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Silent}, nil
			}
		}, `send {"to":"bob"}`, "", "sent to bob"},
		{"L9 not asked again if all is the same: policy asks, the host allows", func(_ *booth, rt *ferrule.Runtime, _ *letterSpec) {
			rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
				if r.Name == "send" {
					return tool.Decision{Verdict: tool.Ask, Reason: "outside"}
				}
				return tool.Decision{Verdict: tool.Silent}
			})
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Allow}, nil
			}
		}, `send {"to":"bob"}`, "", "sent to bob"},
		{"L9 asked again if the input differs", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.Validate = func(context.Context, letter) (json.RawMessage, error) { return json.RawMessage(`{"to":"eve"}`), nil }
		}, `send {"to":"bob"}`, `send {"to":"eve"}`, ""},
		{"L9 asked again if the preview differs", func(b *booth, _ *ferrule.Runtime, s *letterSpec) {
			text := after(b, "a letter", "two letters")
			s.Preview = func(context.Context, letter) (string, error) { return text(), nil }
		}, `send {"to":"bob"}`, `send {"to":"bob"}`, ""},
		{"L9 asked again if the preview differs: there was none", func(b *booth, _ *ferrule.Runtime, s *letterSpec) {
			text := after(b, "", "two letters")
			s.Preview = func(context.Context, letter) (string, error) { return text(), nil }
		}, `send {"to":"bob"}`, `send {"to":"bob"}`, ""},
		{"L9 asked again if the preview differs: it failed", func(b *booth, _ *ferrule.Runtime, s *letterSpec) {
			text := after(b, "", "two letters")
			s.Preview = func(context.Context, letter) (string, error) {
				if text() == "" {
					return "", errOffice
				}
				return text(), nil
			}
		}, `send {"to":"bob"}`, `send {"to":"bob"}`, ""},
		{"L9 asked again if the decision differs: Permit asks too", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.Permit = func(context.Context, letter) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Ask, Reason: "he is away"}, nil
			}
		}, `send {"to":"bob"}`, `send {"to":"bob"}`, ""},
		{"L9 judged again when it is ready: Permit denies", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.Permit = func(context.Context, letter) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Deny, Reason: "He is away."}, nil
			}
		}, `send {"to":"bob"}`, "", "denied: He is away."},
		{"L9 judged again when it is ready: Validate refuses", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.Validate = func(context.Context, letter) (json.RawMessage, error) { return nil, errors.New("he is away") }
		}, `send {"to":"bob"}`, "", "invalid_value: ValidationError: he is away"},
		{"L9 judged again when it is ready: a hook blocks", func(_ *booth, rt *ferrule.Runtime, _ *letterSpec) {
			rt.Hooks = []ferrule.Hook{{Only: ferrule.Filter{Names: []string{"send"}}, Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
				return ferrule.Change{Block: "He is away."}, nil
			}}}
		}, `send {"to":"bob"}`, "", "hook_blocked: He is away."},
		{"L9 asked on arrival, although a predicate has not spoken: it could not allow", func(_ *booth, _ *ferrule.Runtime, s *letterSpec) {
			s.AskIf = func(context.Context, letter) (bool, error) { return false, nil }
		}, `send {"to":"bob"}`, "", "sent to bob"},
		{"L9 not asked on arrival where the host could allow", func(_ *booth, rt *ferrule.Runtime, _ *letterSpec) {
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Silent}, nil
			}
		}, "", `send {"to":"bob"}`, ""},
		{"L9 not asked at all where the host allows", func(_ *booth, rt *ferrule.Runtime, _ *letterSpec) {
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Allow}, nil
			}
		}, "", "", "sent to bob"},
		{"L9 not asked on arrival where only a function would ask", func(_ *booth, rt *ferrule.Runtime, s *letterSpec) {
			rt.Policy = policy.AllowOwn{}
			s.AskIf = func(context.Context, letter) (bool, error) { return true, nil }
		}, "", `send {"to":"bob"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				b := attended(t, rt)
				made := b.spec("send", func(s *letterSpec) { tt.set(b, rt, s) })
				b.addWall()
				if err := rt.Add(made); err != nil {
					t.Fatal(err)
				}
				p := b.start(post("wall", ""), post("send", "bob"))
				if got := b.shown(); got != tt.early {
					t.Errorf("on arrival: asked %q, want %q", got, tt.early)
				}
				for _, q := range b.open() {
					b.yes(q)
				}
				time.Sleep(90 * time.Minute)
				if got := b.shown(); got != tt.late {
					t.Errorf("when ready: asked %q, want %q; ran %q", got, tt.late, b.log())
				}
				for _, q := range b.open() {
					if q.Note != "" {
						t.Errorf("when ready: note %q", q.Note)
					}
					if b.log() != "wall" {
						t.Errorf("ran %q before the second answer", b.log())
					}
					b.reply(q, policy.Answer{})
				}
				want := tt.want
				if want == "" {
					want = "rejected: Tool approval was rejected."
				}
				if got := inWords(p.wait()[1]); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
	t.Run("L9 a question that is not answered when the call is ready stays the one it is", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", func(s *letterSpec) {
				s.Preview = func(context.Context, letter) (string, error) { return "a letter", nil }
			})
			p := b.start(post("wall", ""), post("send", "bob"))
			early := b.only()
			time.Sleep(2 * time.Hour)
			if q := b.only(); q.ID != early.ID {
				t.Errorf("asked again: %+v", q)
			}
			b.yes(early)
			b.want(p.wait(), "wall, send bob", "an hour later", "sent to bob")
		})
	})
	t.Run("L9 a question that is asked again takes the place of the old one", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", func(s *letterSpec) {
				s.Validate = func(context.Context, letter) (json.RawMessage, error) { return json.RawMessage(`{"to":"eve"}`), nil }
			})
			p := b.start(post("wall", ""), post("send", "bob"))
			old := b.only()
			time.Sleep(2 * time.Hour)
			if got := b.shown(); got != `send {"to":"eve"}` {
				t.Errorf("asked %q", got)
			}
			if err := b.inbox.Answer(t.Context(), old.ID, policy.Answer{Allow: true}); err == nil {
				t.Error("an answer to the old question was taken")
			}
			b.yes(b.only())
			b.want(p.wait(), "wall, send eve", "an hour later", "sent to eve")
		})
	})
	t.Run("P5 arguments that are edited on arrival run when the turn of the call has come", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.addWall()
			b.add("send", func(s *letterSpec) {
				s.Preview = func(_ context.Context, in letter) (string, error) { return "a letter to " + in.To, nil }
			})
			p := b.start(post("wall", ""), post("send", "bob"))
			b.reply(b.only(), policy.Answer{Allow: true, Input: json.RawMessage(`{"to":"eve"}`)})
			time.Sleep(2 * time.Hour)
			if !p.over() {
				t.Fatalf("asked again: %s", b.shown())
			}
			b.want(p.wait(), "wall, send eve", "an hour later", "sent to eve"+toEve)
		})
	})
	t.Run("L9 a call that turns out to be allowed runs, and nobody is asked about it any more", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if strings.Contains(r.Args.Text(), "bob") {
					return tool.Decision{Verdict: tool.Ask}
				}
				return tool.Decision{Verdict: tool.Allow}
			})})
			b.addWall()
			b.add("send", func(s *letterSpec) {
				s.Timeout = tool.Unlimited
				s.Validate = func(context.Context, letter) (json.RawMessage, error) { return json.RawMessage(`{"to":"eve"}`), nil }
				s.Run = func(context.Context, letter) (string, error) {
					b.note("sending")
					time.Sleep(time.Hour)
					return "sent", nil
				}
			})
			p := b.start(post("wall", ""), post("send", "bob"))
			if b.shown() != `send {"to":"bob"}` {
				t.Fatalf("asked %q", b.shown())
			}
			time.Sleep(90 * time.Minute)
			if b.log() != "wall, sending" || b.shown() != "" {
				t.Errorf("ran %q, and asked %q", b.log(), b.shown())
			}
			b.want(p.wait(), "wall, sending", "an hour later", "sent")
		})
	})
}

func TestAskWaiting(t *testing.T) {
	touching := func(resource string, a tool.Approval) func(*letterSpec) {
		return func(s *letterSpec) {
			s.Approval = a
			s.Claims = tool.Claims{Parallel: true, Touches: []tool.Access{{Resource: resource, Write: true}}}
		}
	}
	t.Run("L9 later calls that conflict with a waiting one wait, others go on", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("asks", touching("file:/a", tool.AskAlways))
			b.add("below", touching("file:/a/b", tool.AskNever))
			b.add("beside", touching("file:/c", tool.AskNever))
			p := b.start(post("asks", "1"), post("below", "2"), post("beside", "3"))
			time.Sleep(time.Hour)
			if b.log() != "beside 3" {
				t.Errorf("while it waits: ran %q", b.log())
			}
			b.yes(b.only())
			b.want(p.wait(), "beside 3, asks 1, below 2", "sent to 1", "sent to 2", "sent to 3")
		})
	})
	t.Run("L9 a waiting call that is rejected lets those behind it go", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", nil)
			b.add("next", func(s *letterSpec) { s.Approval = tool.AskNever })
			p := b.start(post("send", "bob"), post("next", "eve"))
			if b.log() != "" {
				t.Errorf("ran %q", b.log())
			}
			b.reply(b.only(), policy.Answer{})
			b.want(p.wait(), "next eve", "rejected: Tool approval was rejected.", "sent to eve")
		})
	})
	for slot, set := range map[string]func(*ferrule.Runtime, *letterSpec){
		"of the turn":   func(rt *ferrule.Runtime, _ *letterSpec) { rt.Limit = 1 },
		"of the tool":   func(_ *ferrule.Runtime, s *letterSpec) { s.AtOnce = 1 },
		"of the source": func(rt *ferrule.Runtime, _ *letterSpec) { rt.SourceLimits = map[string]int{"": 1} },
		"of the tenant": func(rt *ferrule.Runtime, _ *letterSpec) { rt.TenantLimits = map[string]int{"": 1} },
	} {
		t.Run("L9 a waiting call holds no slot "+slot, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				rt := &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
					if strings.Contains(r.Args.Text(), "ask") {
						return tool.Decision{Verdict: tool.Ask}
					}
					return tool.Decision{Verdict: tool.Allow}
				})}
				b := attended(t, rt)
				made := b.spec("send", func(s *letterSpec) {
					s.Claims.Parallel = true
					set(rt, s)
				})
				if err := rt.Add(made); err != nil {
					t.Fatal(err)
				}
				p := b.start(post("send", "ask 1"), post("send", "ask 2"), post("send", "bob"))
				if b.log() != "send bob" || len(b.open()) != 2 {
					t.Errorf("ran %q, asked %q", b.log(), b.shown())
				}
				for _, q := range b.open() {
					b.yes(q)
				}
				if got := b.log(); got != "send bob, send ask 1, send ask 2" {
					t.Errorf("ran %q", got)
				}
				p.wait()
			})
		})
	}
	t.Run("D8 a cooperative call waits and goes on like any other", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Cooperative, s.Run = true, b.when })
			p := b.start(post("send", "bob"))
			time.Sleep(time.Hour)
			b.yes(b.only())
			b.reply(b.only(), policy.Answer{Allow: true, Text: "now"})
			b.want(p.wait(), "asks about bob, sends bob", "sent to bob now")

			p = b.start(post("send", "eve"))
			time.Sleep(25 * time.Hour)
			b.want(p.wait(), "asks about bob, sends bob", "expired: …")
		})
	})
	t.Run("P6 no answer is lost, however soon it comes", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := deserted(t, &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				return policy.Answer{Allow: true, Text: "now"}, nil
			}})
			b.add("send", func(s *letterSpec) { s.Claims, s.Run = tool.Claims{Parallel: true}, b.when })
			b.add("alone", func(s *letterSpec) { s.Run = b.when })
			var calls []tool.Call
			for i := range 200 {
				calls = append(calls, post([]string{"send", "send", "send", "alone"}[i%4], fmt.Sprint(i)))
			}
			for i, res := range b.view().Do(t.Context(), calls...) {
				if want := fmt.Sprintf("sent to %d now", i); inWords(res) != want {
					t.Errorf("call %d: got %q, want %q", i, inWords(res), want)
				}
			}
		})
	})
	t.Run("D6 nobody is asked in a turn that is stopped before it begins", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", nil)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			b.want(b.view().Do(ctx, post("send", "bob")), "", "aborted: …")
			if got := b.shown(); got != "" {
				t.Errorf("asked: %s", got)
			}
		})
	})
	t.Run("P6 waiting calls hold no goroutine", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("alone", nil)
			b.add("beside", func(s *letterSpec) { s.Claims.Parallel = true })
			b.add("wants", func(s *letterSpec) {
				s.Claims, s.Approval = tool.Claims{Parallel: true}, tool.AskNever
				s.Run = func(context.Context, letter) (string, error) { return "", &tool.Outcome{Suspend: "when?"} }
			})
			before := runtime.NumGoroutine()
			turn := b.view().Begin(t.Context(), ferrule.TurnOptions{})
			for i := range 100 {
				turn.Add(post("beside", fmt.Sprint(i)), post("wants", fmt.Sprint(i)), post("alone", fmt.Sprint(i)))
			}
			synctest.Wait()
			if n := len(b.open()); n < 200 {
				t.Errorf("only %d questions", n)
			}
			// One that is just over may still be counted.
			if n := runtime.NumGoroutine() - before; n > 5 {
				t.Errorf("%d goroutines more than before, want none", n)
			}
			turn.Interrupt()
			turn.Wait()
		})
	})
	t.Run("T10 waiting is not counted as running", func(t *testing.T) {
		for name, suspends := range map[string]bool{"for a yes": false, "for what the tool wants to know": true} {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("send", func(s *letterSpec) {
					s.Run = func(ctx context.Context, in letter) (string, error) {
						if _, ok := tool.From(ctx).Answer(); suspends && !ok {
							time.Sleep(50 * time.Second)
							return "", &tool.Outcome{Suspend: "when?"}
						}
						time.Sleep(50 * time.Second)
						return "sent to " + in.To, ctx.Err()
					}
				})
				p := b.start(post("send", "bob"))
				for !p.over() {
					time.Sleep(10 * time.Hour)
					for _, q := range b.open() {
						b.yes(q)
						time.Sleep(time.Minute)
					}
				}
				if got := inWords(p.wait()[0]); got != "sent to bob" {
					t.Errorf("it waited %s: got %q", name, got)
				}
			})
		}
	})
}

func TestAskGoneQuestions(t *testing.T) {
	t.Parallel()
	t.Run("P5 a question expires after 24 h unless set", func(t *testing.T) {
		for _, expiry := range []time.Duration{0, time.Hour} {
			unhurried(t, func(t *testing.T) {
				lasts := expiry
				if lasts == 0 {
					lasts = 24 * time.Hour
				}
				b := attended(t, &ferrule.Runtime{Expiry: expiry})
				b.add("send", nil)
				b.add("next", func(s *letterSpec) { s.Approval = tool.AskNever })
				p := b.start(post("send", "bob"), post("next", "eve"))
				q := b.only()
				if got := time.Until(q.Expires); got != lasts {
					t.Errorf("it can be answered for %s, want %s", got, lasts)
				}
				time.Sleep(lasts - time.Second)
				if p.over() || b.log() != "" {
					t.Errorf("a second before: over %v, ran %q", p.over(), b.log())
				}
				time.Sleep(2 * time.Second)
				if !p.over() {
					t.Error("a second after: it still waits")
				}
				b.want(p.wait(), "next eve", "expired: …", "sent to eve")
				if err := b.inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err == nil {
					t.Error("a late answer was taken")
				}
				if b.log() != "next eve" {
					t.Errorf("after a late answer: ran %q", b.log())
				}
			})
		}
	})
	t.Run("P5 a second before it expires it can be answered", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			time.Sleep(24*time.Hour - time.Second)
			b.yes(b.only())
			b.want(p.wait(), "send bob", "sent to bob")
		})
	})

	// Two calls wait: one for its yes, one for what its tool wants to know. A
	// third has its question before its turn.
	ends := []struct {
		name string
		end  func(*ferrule.Turn, []policy.Question, context.CancelFunc)
		want string // of the first two
	}{
		{"D6 a person interrupts", func(turn *ferrule.Turn, _ []policy.Question, _ context.CancelFunc) { turn.Interrupt() }, "aborted: …"},
		{"D6 the host stops", func(_ *ferrule.Turn, _ []policy.Question, cancel context.CancelFunc) { cancel() }, "aborted: …"},
		{"D6 a person stops each call", func(turn *ferrule.Turn, open []policy.Question, _ context.CancelFunc) {
			for _, q := range open {
				if !turn.Stop(q.Call) {
					panic("not under way: " + q.Tool)
				}
			}
		}, "aborted: …"},
	}
	for _, tt := range ends {
		t.Run(tt.name+": what waits is aborted, and its question is gone", func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("send", func(s *letterSpec) { s.Claims.Parallel = true })
				b.add("wants", func(s *letterSpec) {
					s.Claims, s.Approval = tool.Claims{Parallel: true}, tool.AskNever
					s.Run = func(context.Context, letter) (string, error) { return "", &tool.Outcome{Suspend: "when?"} }
				})
				b.add("early", nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				turn := b.view().Begin(ctx, ferrule.TurnOptions{})
				turn.Add(post("send", "bob"), post("wants", "eve"), post("early", "joe"))
				p := b.follow(turn.Wait)
				open := b.open()
				if len(open) != 3 {
					t.Fatalf("asked %q", b.shown())
				}
				from := time.Now()
				tt.end(turn, open, cancel)
				b.want(p.wait(), "", tt.want, tt.want, tt.want)
				if took := time.Since(from); took > 0 {
					t.Errorf("took %s", took)
				}
				synctest.Wait()
				if got := b.shown(); got != "" {
					t.Errorf("still asked: %s", got)
				}
				for _, q := range open {
					if err := b.inbox.Answer(context.Background(), q.ID, policy.Answer{Allow: true}); err == nil {
						t.Errorf("%s: a late answer was taken", q.Tool)
					}
				}
			})
		})
	}
	t.Run("D5 a waiting sibling that is stopped is asked about no more", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Claims.Parallel = true })
			b.add("fails", func(s *letterSpec) {
				s.Claims, s.Approval = tool.Claims{Parallel: true}, tool.AskNever
				s.Run = func(context.Context, letter) (string, error) {
					time.Sleep(time.Second)
					return "", &tool.Outcome{Err: errOffice, StopSiblings: true}
				}
			})
			p := b.start(post("send", "bob"), post("fails", ""))
			b.only()
			b.want(p.wait(), "", "aborted: …", "failed: the office is shut")
			if got := b.shown(); got != "" {
				t.Errorf("still asked: %s", got)
			}
		})
	})

	t.Run("D6 when the turn is over nobody is asked about its calls, although the inbox takes its time", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Inbox = tardyInbox{b.inbox}
			b.add("send", nil)
			turn := b.view().Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(post("send", "bob"))
			p := b.follow(turn.Wait)
			b.only()
			go turn.Interrupt()
			b.want(p.wait(), "", "aborted: …")
			if got := b.shown(); got != "" {
				t.Errorf("still asked: %s", got)
			}
		})
	})

	// An inbox may take its time.
	for _, tt := range []struct {
		name  string
		calls []tool.Call
	}{
		{"P6 stopped while its question is being put", []tool.Call{post("send", "bob")}},
		{"L9 stopped while its question is being put on arrival", []tool.Call{post("wall", ""), post("send", "bob")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				b := attended(t, rt)
				slow := slowInbox{b.inbox, make(chan struct{})}
				rt.Inbox = slow
				b.addWall()
				b.add("send", func(s *letterSpec) { s.Cancel = true })
				turn := b.view().Begin(t.Context(), ferrule.TurnOptions{})
				turn.Add(tt.calls...)
				synctest.Wait()
				turn.Interrupt()
				close(slow.open)
				res := turn.Wait()
				if got := inWords(res[len(res)-1]); !strings.HasPrefix(got, "aborted: ") {
					t.Errorf("got %q", got)
				}
				if got := b.shown(); got != "" {
					t.Errorf("still asked: %s", got)
				}
			})
		})
	}
}

// slowInbox takes questions once it is opened.
type slowInbox struct {
	*policy.Memory
	open chan struct{}
}

func (s slowInbox) Ask(ctx context.Context, q policy.Question) error {
	<-s.open
	return s.Memory.Ask(ctx, q)
}

// tardyInbox thinks over what it is told.
type tardyInbox struct{ *policy.Memory }

func (i tardyInbox) Answer(ctx context.Context, id string, a policy.Answer) error {
	time.Sleep(100 * time.Millisecond)
	return i.Memory.Answer(ctx, id, a)
}

func TestAskFailingInbox(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		inbox policy.Inbox
	}{
		{"L1 an inbox that takes no question denies", brokenInbox{new(policy.Memory), func() error { return errOffice }, nil}},
		{"L6 an inbox that panics denies", brokenInbox{new(policy.Memory), func() error { panic("no inbox") }, nil}},
		{"L1 an inbox that gives no answer denies", brokenInbox{new(policy.Memory), nil, func() error { return errOffice }}},
		{"L6 an inbox that panics over an answer denies", brokenInbox{new(policy.Memory), nil, func() error { panic("no answer") }}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := deserted(t, &ferrule.Runtime{Inbox: tt.inbox})
				b.add("send", nil)
				b.want(b.start(post("send", "bob")).wait(), "", "denied: …")
			})
		})
	}
}

type brokenInbox struct {
	*policy.Memory
	ask, use func() error
}

func (i brokenInbox) Ask(ctx context.Context, q policy.Question) error {
	if i.ask != nil {
		return i.ask()
	}
	return i.Memory.Ask(ctx, q)
}

func (i brokenInbox) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	if i.use != nil {
		return policy.Answer{Allow: true}, i.use()
	}
	return i.Memory.Use(ctx, id, digest)
}

// when is a run that asks a person for a date before it does anything.
func (b *booth) when(ctx context.Context, in letter) (string, error) {
	date, ok := tool.From(ctx).Answer()
	if !ok {
		b.note("asks about " + in.To)
		return "", &tool.Outcome{Suspend: "When shall " + in.To + " have it?"}
	}
	b.note("sends " + in.To)
	return "sent to " + in.To + " " + date, nil
}

func TestAskSuspend(t *testing.T) {
	t.Parallel()
	t.Run("L7 a tool asks, and runs anew with the answer", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Approval, s.Run = tool.AskNever, b.when })
			p := b.start(post("send", "bob"))
			q := b.only()
			if q.Wants != "When shall bob have it?" || q.Tool != "send" || q.Input != `{"to":"bob"}` {
				t.Errorf("asked %+v", q)
			}
			time.Sleep(time.Hour)
			b.reply(q, policy.Answer{Allow: true, Text: "on Monday"})
			b.want(p.wait(), "asks about bob, sends bob", "sent to bob on Monday")
		})
	})
	t.Run("L7 the yes to a call and the answer to its tool are two questions", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Hooks = []ferrule.Hook{b.rewrites("hook", "nobody", "")}
			b.add("send", func(s *letterSpec) { s.Run = b.when })
			p := b.start(post("send", "bob"))
			first := b.only()
			if first.Wants != "" || b.log() != "hook" {
				t.Errorf("asked %+v, ran %q", first, b.log())
			}
			b.yes(first)
			second := b.only()
			if second.Wants == "" || second.ID == first.ID {
				t.Errorf("asked %+v", second)
			}
			b.reply(second, policy.Answer{Allow: true, Text: "now"})
			b.want(p.wait(), "hook, asks about bob, sends bob", "sent to bob now")
		})
	})
	t.Run("L7 a tool may ask twice", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) {
				s.Approval = tool.AskNever
				s.Run = func(ctx context.Context, _ letter) (string, error) {
					switch text, _ := tool.From(ctx).Answer(); text {
					case "":
						return "", &tool.Outcome{Suspend: "when?"}
					case "soon":
						return "", &tool.Outcome{Suspend: "how soon?"}
					default:
						return text, nil
					}
				}
			})
			p := b.start(post("send", "bob"))
			b.reply(b.only(), policy.Answer{Allow: true, Text: "soon"})
			if q := b.only(); q.Wants != "how soon?" {
				t.Errorf("asked %+v", q)
			}
			b.reply(b.only(), policy.Answer{Allow: true, Text: "at noon"})
			b.want(p.wait(), "", "at noon")
		})
	})
	t.Run("L7 a person who gives the tool no answer rejects the call", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Approval, s.RejectText, s.Run = tool.AskNever, "Not sent.", b.when })
			p := b.start(post("send", "bob"))
			b.reply(b.only(), policy.Answer{Text: "never"})
			b.want(p.wait(), "asks about bob", "rejected: Not sent.")
		})
	})
	t.Run("P5 what a tool wants to know expires too", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Approval, s.Run = tool.AskNever, b.when })
			p := b.start(post("send", "bob"))
			time.Sleep(24*time.Hour + time.Second)
			if !p.over() {
				t.Fatal("it still waits")
			}
			b.want(p.wait(), "asks about bob", "expired: …")
		})
	})
	t.Run("L7 a tool that asks where nobody is has no answer", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := deserted(t, new(ferrule.Runtime))
			b.add("send", func(s *letterSpec) { s.Approval, s.Run = tool.AskNever, b.when })
			b.want(b.start(post("send", "bob")).wait(), "asks about bob", "needs_user: …")
		})
	})
	t.Run("L7 while its tool waits, later calls that conflict wait, others go on, and it holds no slot", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Limit: 1})
			at := func(resource string) func(*letterSpec) {
				return func(s *letterSpec) {
					s.Approval = tool.AskNever
					s.Claims = tool.Claims{Touches: []tool.Access{{Resource: resource, Write: true}}}
				}
			}
			b.add("send", func(s *letterSpec) { at("file:/a")(s); s.Run = b.when })
			b.add("behind", at("file:/a"))
			b.add("beside", at("file:/b"))
			p := b.start(post("send", "bob"), post("behind", "eve"), post("beside", "joe"))
			if b.log() != "asks about bob, beside joe" {
				t.Errorf("while it waits: ran %q", b.log())
			}
			b.reply(b.only(), policy.Answer{Allow: true, Text: "now"})
			b.want(p.wait(), "asks about bob, beside joe, sends bob, behind eve", "sent to bob now", "sent to eve", "sent to joe")
		})
	})
	t.Run("L7 the function of the host answers tools as well", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := deserted(t, &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				return policy.Answer{Allow: true, Text: "(" + q.Wants + ")"}, nil
			}})
			b.add("send", func(s *letterSpec) { s.Approval, s.Run = tool.AskNever, b.when })
			b.want(b.start(post("send", "bob")).wait(), "asks about bob, sends bob", "sent to bob (When shall bob have it?)")
		})
	})
	t.Run("D5 a call that asked and then went well has not failed", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := attended(t, &ferrule.Runtime{Siblings: ferrule.StopAlways})
			b.add("send", func(s *letterSpec) {
				s.Approval, s.Claims, s.Run = tool.AskNever, tool.Claims{Parallel: true}, b.when
			})
			b.add("other", func(s *letterSpec) { s.Claims.Parallel = true })
			p := b.start(post("send", "bob"), post("other", "eve"))
			answers := map[string]policy.Answer{"send": {Allow: true, Text: "now"}, "other": {Allow: true}}
			for _, q := range b.open() {
				if err := b.inbox.Answer(t.Context(), q.ID, answers[q.Tool]); err != nil {
					t.Errorf("%s: %v", q.Tool, err)
				}
				synctest.Wait()
			}
			b.want(p.wait(), "asks about bob, sends bob, other eve", "sent to bob now", "sent to eve")
		})
	})
}

func TestAskHandBack(t *testing.T) {
	t.Parallel()
	// A person must say yes to send. Next comes behind it, beside does not.
	// Wants comes behind beside, so that what ran has one order.
	office := func(t *testing.T) *booth {
		b := attended(t, new(ferrule.Runtime))
		at := func(resource string, a tool.Approval) func(*letterSpec) {
			return func(s *letterSpec) {
				s.Approval = a
				s.Claims = tool.Claims{Touches: []tool.Access{{Resource: resource, Write: true}}}
			}
		}
		b.add("send", at("file:/a", tool.AskAlways))
		b.add("next", at("file:/a", tool.AskNever))
		b.add("beside", at("file:/b", tool.AskNever))
		b.add("wants", func(s *letterSpec) { at("file:/b/c", tool.AskNever)(s); s.Run = b.when })
		return b
	}
	turn := func(b *booth, o ferrule.TurnOptions, calls ...tool.Call) (int, *posted) {
		o.HandBack = true
		turn := b.view().Begin(b.t.Context(), o)
		turn.Add(calls...)
		return turn.Number(), b.follow(turn.Wait)
	}
	// handed is a turn that must have been handed back.
	handed := func(b *booth, calls ...tool.Call) (int, []tool.Result) {
		b.t.Helper()
		n, p := turn(b, ferrule.TurnOptions{}, calls...)
		if !p.over() {
			b.t.Fatal("the turn waits, want it handed back")
		}
		return n, p.wait()
	}
	goOn := func(b *booth, n int, calls ...tool.Call) *posted {
		_, p := turn(b, ferrule.TurnOptions{Number: n}, calls...)
		return p
	}
	all := []tool.Call{post("beside", "ann"), post("send", "bob"), post("next", "cyd"), post("wants", "dan")}

	t.Run("L7 what waits, and what waits behind it, is handed back", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, res := handed(b, all...)
			b.want(res, "beside ann, asks about dan", "sent to ann", "suspended: …", "suspended: …", "suspended: …")
			if n != 1 {
				t.Errorf("turn %d, want the first", n)
			}
			if got := len(b.open()); got != 2 {
				t.Errorf("%d questions stay in the inbox, want 2: %s", got, b.shown())
			}
		})
	})
	t.Run("L7 done calls are not run again, answered ones go on", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all...)
			for _, q := range b.open() {
				b.reply(q, policy.Answer{Allow: true, Text: "now"})
			}
			if b.log() != "beside ann, asks about dan" {
				t.Errorf("between the turns: ran %q", b.log())
			}
			p := goOn(b, n, all...)
			if !p.over() {
				t.Fatal("it still waits")
			}
			res := p.wait()
			ran := strings.Split(b.log(), ", ")
			slices.Sort(ran)
			if want := []string{"asks about dan", "beside ann", "next cyd", "send bob", "sends dan"}; !slices.Equal(ran, want) {
				t.Errorf("ran %q, want %q", ran, want)
			}
			for i, want := range []string{"sent to ann", "sent to bob", "sent to cyd", "sent to dan now"} {
				if got := inWords(res[i]); got != want || res[i].CallID != all[i].ID {
					t.Errorf("call %d: got %q of %q, want %q of %q", i, got, res[i].CallID, want, all[i].ID)
				}
			}
			if got := b.shown(); got != "" {
				t.Errorf("still asked: %s", got)
			}
		})
	})
	t.Run("L7 what is not answered is handed back again, and asked once", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all...)
			before := b.open()
			p := goOn(b, n, all...)
			if !p.over() {
				t.Fatal("it waits, want it handed back")
			}
			b.want(p.wait(), "beside ann, asks about dan", "sent to ann", "suspended: …", "suspended: …", "suspended: …")
			if after := b.open(); !reflect.DeepEqual(after, before) {
				t.Errorf("asked %+v\nbefore %+v", after, before)
			}
			for _, q := range b.open() {
				if q.Tool == "send" {
					b.yes(q)
				}
			}
			p = goOn(b, n, all...)
			b.want(p.wait(), "beside ann, asks about dan, send bob, next cyd", "sent to ann", "sent to bob", "sent to cyd", "suspended: …")
			for _, q := range b.open() {
				b.reply(q, policy.Answer{Allow: true, Text: "now"})
			}
			p = goOn(b, n, all...)
			b.want(p.wait(), "beside ann, asks about dan, send bob, next cyd, sends dan", "sent to ann", "sent to bob", "sent to cyd", "sent to dan now")
		})
	})
	t.Run("P5 edited arguments stay allowed when their turn is handed back", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			b.add("both", func(s *letterSpec) { s.Approval, s.Run = tool.AskAlways, b.when })
			n, _ := handed(b, post("both", "bob"))
			b.reply(b.only(), policy.Answer{Allow: true, Input: json.RawMessage(`{"to":"eve"}`)})
			b.want(goOn(b, n, post("both", "bob")).wait(), "asks about eve", "suspended: …")
			b.reply(b.only(), policy.Answer{Allow: true, Text: "now"})
			b.want(goOn(b, n, post("both", "bob")).wait(), "asks about eve, sends eve", "sent to eve now"+toEve)
		})
	})
	t.Run("L7 a turn that goes on may also wait", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all[:3]...)
			turn := b.view().Begin(t.Context(), ferrule.TurnOptions{Number: n})
			turn.Add(all[:3]...)
			p := b.follow(turn.Wait)
			if turn.Number() != n || p.over() {
				t.Errorf("turn %d, over %v", turn.Number(), p.over())
			}
			time.Sleep(time.Hour)
			b.yes(b.only())
			b.want(p.wait(), "beside ann, send bob, next cyd", "sent to ann", "sent to bob", "sent to cyd")
		})
	})
	t.Run("L7 a no that came meanwhile", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all[:3]...)
			b.reply(b.only(), policy.Answer{Message: "Never."})
			b.want(goOn(b, n, all[:3]...).wait(), "beside ann, next cyd", "sent to ann", "rejected: Never.", "sent to cyd")
		})
	})
	t.Run("P5 a question that expired meanwhile", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all[:3]...)
			time.Sleep(25 * time.Hour)
			b.want(goOn(b, n, all[:3]...).wait(), "beside ann, next cyd", "sent to ann", "expired: …", "sent to cyd")
		})
	})
	t.Run("P5 arguments that were edited meanwhile", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all[:3]...)
			b.reply(b.only(), policy.Answer{Allow: true, Input: json.RawMessage(`{"to":"eve"}`)})
			b.want(goOn(b, n, all[:3]...).wait(), "beside ann, send eve, next cyd", "sent to ann", "sent to eve"+toEve, "sent to cyd")
		})
	})
	t.Run("L2 a call goes on with the input shown, and hooks do not run again", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Hooks = []ferrule.Hook{b.rewrites("hook", "bob", "eve")}
			b.add("send", nil)
			n, _ := handed(b, post("send", "bob"))
			if b.shown() != `send {"to":"eve"}` {
				t.Fatalf("asked %s", b.shown())
			}
			b.yes(b.only())
			b.want(goOn(b, n, post("send", "bob")).wait(), "hook, send eve", "sent to eve")
		})
	})
	t.Run("L9 a question that was put on arrival is not put again", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			calls := []tool.Call{post("send", "ann"), post("send", "bob")}
			n, res := handed(b, calls...)
			b.want(res, "", "suspended: …", "suspended: …")
			for _, q := range b.open() {
				b.yes(q)
			}
			b.want(goOn(b, n, calls...).wait(), "send ann, send bob", "sent to ann", "sent to bob")
		})
	})
	for _, tt := range []struct {
		name string
		with tool.Call
	}{
		{"other arguments", post("send", "eve")},
		{"another tool", post("beside", "bob")},
		{"an unknown tool", post("nosuch", "bob")},
	} {
		t.Run("L7 another call in the place of one is an error: "+tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := office(t)
				n, _ := handed(b, all[:3]...)
				b.yes(b.only())
				res := goOn(b, n, all[0], tt.with, all[2]).wait()
				if res[1].Err == nil || res[1].Err.Kind == tool.Suspended {
					t.Errorf("got %q, want an error", inWords(res[1]))
				}
				if b.log() != "beside ann, next cyd" {
					t.Errorf("ran %q", b.log())
				}
			})
		})
		t.Run("L7 another call in the place of a done one is an error: "+tt.name, func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := office(t)
				n, _ := handed(b, all[:2]...)
				b.yes(b.only())
				res := goOn(b, n, tt.with, all[1]).wait()
				if res[0].Err == nil || res[0].Err.Kind == tool.Suspended {
					t.Errorf("got %q, want an error", inWords(res[0]))
				}
				if b.log() != "beside ann, send bob" {
					t.Errorf("ran %q", b.log())
				}
			})
		})
	}
	t.Run("L7 what is done when the turn goes on is not run again either", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			n, _ := handed(b, all[:3]...)
			b.yes(b.only())
			const ran = "beside ann, send bob, next cyd"
			for range 3 {
				b.want(goOn(b, n, all[:3]...).wait(), ran, "sent to ann", "sent to bob", "sent to cyd")
			}
		})
	})
	t.Run("L7 a turn in which nobody is asked has its results", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			b.addWall()
			_, p := turn(b, ferrule.TurnOptions{}, post("next", "ann"), post("wall", ""), post("next", "bob"))
			b.want(p.wait(), "next ann, wall, next bob", "sent to ann", "an hour later", "sent to bob")
		})
	})
	t.Run("L7 it is handed back only when nothing else can go on", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			b.add("slow", func(s *letterSpec) {
				s.Approval, s.Claims = tool.AskNever, tool.Claims{Touches: []tool.Access{}}
				s.Run = func(context.Context, letter) (string, error) { time.Sleep(30 * time.Second); return "done", nil }
			})
			_, p := turn(b, ferrule.TurnOptions{}, post("send", "bob"), post("slow", ""))
			if p.over() {
				t.Error("handed back while a call runs")
			}
			b.want(p.wait(), "", "suspended: …", "done")
		})
	})
	t.Run("L7 two turns that were handed back do not know of each other", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			b := office(t)
			one, _ := handed(b, post("send", "ann"))
			two, _ := handed(b, post("send", "bob"))
			for _, q := range b.open() {
				b.yes(q)
			}
			b.want(goOn(b, two, post("send", "bob")).wait(), "send bob", "sent to bob")
			b.want(goOn(b, one, post("send", "ann")).wait(), "send bob, send ann", "sent to ann")
			if one == two {
				t.Errorf("both have the number %d", one)
			}
		})
	})
}

func TestAskFunctionsThatEndTheirGoroutine(t *testing.T) {
	t.Parallel()
	leave := func() { runtime.Goexit() }
	for name, set := range map[string]func(*letterSpec){
		"Validate": func(s *letterSpec) {
			s.Validate = func(context.Context, letter) (json.RawMessage, error) { leave(); return nil, nil }
		},
		"Permit": func(s *letterSpec) {
			s.Permit = func(context.Context, letter) (tool.Decision, error) {
				leave()
				return tool.Decision{Verdict: tool.Allow}, nil
			}
		},
		"AskIf": func(s *letterSpec) {
			s.AskIf = func(context.Context, letter) (bool, error) { leave(); return false, nil }
		},
		"Preview": func(s *letterSpec) {
			s.Preview = func(context.Context, letter) (string, error) { leave(); return "", nil }
		},
		"Run": func(s *letterSpec) { s.Run = func(context.Context, letter) (string, error) { leave(); return "", nil } },
	} {
		t.Run("L6 "+name+" ends its goroutine: the call has a result, and the next one is not in its way", func(t *testing.T) {
			unhurried(t, func(t *testing.T) {
				b := attended(t, new(ferrule.Runtime))
				b.add("bad", func(s *letterSpec) {
					s.Claims.Parallel = true
					set(s)
				})
				b.add("send", func(s *letterSpec) { s.Claims.Parallel = true })
				turn := b.view().Begin(t.Context(), ferrule.TurnOptions{})
				turn.Add(post("bad", "bob"), post("send", "eve"))
				synctest.Wait()
				for _, q := range b.open() {
					if q.Tool == "bad" {
						b.yes(q)
					}
				}
				time.Sleep(time.Hour) // long after its time was over
				again := b.view().Begin(t.Context(), ferrule.TurnOptions{})
				again.Add(post("send", "joe"))
				synctest.Wait()
				for _, q := range b.open() {
					b.yes(q)
				}
				time.Sleep(time.Second)
				if got := b.log(); got != "send eve, send joe" {
					t.Fatalf("ran %q, want the calls beside it and after it", got)
				}
				if got := inWords(turn.Wait()[0]); !strings.HasPrefix(got, "failed: ") && !strings.HasPrefix(got, "denied: ") {
					t.Errorf("got %q", got)
				}
				again.Wait()
			})
		})
	}
}

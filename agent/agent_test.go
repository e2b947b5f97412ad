package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []provider.Answer
		want    string
	}{
		{"A1 no calls", []provider.Answer{says("hi")}, "user: go\nassistant: hi\n"},
		{
			"A1 calls, then the end",
			[]provider.Answer{calls("a", "echo", `{"word":"x"}`, "b", "echo", `{"word":"y"}`), says("done")},
			"user: go\nassistant: >a echo{\"word\":\"x\"} >b echo{\"word\":\"y\"}\nuser: <a echo: x <b echo: y\nassistant: done\n",
		},
		{
			"A2 ids that are missing or used before",
			[]provider.Answer{calls("", "echo", `{}`, "", "echo", `{}`), calls("call_1", "echo", `{}`), says("done")},
			"user: go\nassistant: >call_1 echo{} >call_2 echo{}\nuser: <call_1 echo:  <call_2 echo: \nassistant: >call_3 echo{}\nuser: <call_3 echo: \nassistant: done\n",
		},
		{"A2 a name and arguments that are none", []provider.Answer{calls("a", "nope", `{}`, "b", "echo", `{"word":`), says("done")}, ""},
		{"A2 a stream that breaks after a call is not asked again", []provider.Answer{
			{Parts: append(calls("a", "echo", `{}`).Parts, provider.Text("CUT"))}, says("done"),
		}, "user: go\nassistant: >a echo{}\nuser: <a echo: \nassistant: done\n"},
		{"A1 an empty answer", []provider.Answer{{Stop: provider.StopEnd}}, "user: go\n"},
	} {
		for _, quiet := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				model := &played{answers: tt.answers, quiet: quiet}
				a := &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model}
				var tr agent.Transcript
				if _, err := run(t, a, &tr, "go"); err != nil {
					t.Fatal(err)
				}
				if got := shown(tr.Said); tt.want != "" && got != tt.want {
					t.Errorf("got\n%swant\n%s", got, tt.want)
				}
				if tr.Why != agent.Done || tr.All.Turns != len(tt.answers) {
					t.Errorf("got %s after %d turns, want done after %d", tr.Why, tr.All.Turns, len(tt.answers))
				}
				var silent agent.Transcript
				if _, err := a.Do(t.Context(), &silent, "go"); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(shown(tr.Said), shown(silent.Said)); diff != "" {
					t.Errorf("Do is another conversation than Run: %s", diff)
				}
			})
		}
	}
}

func TestCallsStartWhileTheModelTalks(t *testing.T) {
	t.Parallel()
	t.Run("X1 the first call runs before the answer is whole", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		slow := must(tool.New(tool.Info{Name: "slow", Description: "Begin.", Claims: tool.Claims{ReadOnly: true, Local: true}},
			func(context.Context, word) (string, error) { close(started); return "ok", nil }))
		model := &played{answers: []provider.Answer{
			{Parts: append(calls("a", "slow", "{}").Parts, provider.Text("and more")), Stop: provider.StopCalls}, says("done"),
		}}
		model.told = func(n int, d provider.Delta) {
			if n == 0 && d.Kind == provider.DeltaCall {
				<-started // else the test hangs: the rest of the answer comes only now
			}
		}
		var tr agent.Transcript
		events, err := run(t, &agent.Agent{Runtime: runtimeWith(t, slow), Model: model}, &tr, "go")
		if err != nil {
			t.Fatal(err)
		}
		if s, e := slices.Index(kinds(events), agent.Started), slices.Index(kinds(events), agent.Said); s < 0 || s > e {
			t.Errorf("got %v, want started before said", kinds(events))
		}
	})
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	again := func(n int) (out []provider.Answer) {
		for range n {
			out = append(out, calls("", "tick", "{}"))
		}
		return out
	}
	n := 0
	tick := must(tool.New(tool.Info{Name: "tick", Description: "Count.", Claims: tool.Claims{ReadOnly: true, Local: true}, Repeatable: true},
		func(context.Context, word) (int, error) { n++; return n, nil }))
	price := func(model string, u provider.Usage) float64 { return float64(u.Output) }
	for _, tt := range []struct {
		name   string
		budget agent.Budget
		turns  int
		text   string
	}{
		{"A1 turns, by themselves", agent.Budget{}, 50, "50 turns"},
		{"A1 turns", agent.Budget{Turns: 3}, 3, "3 turns"},
		{"A1 tokens", agent.Budget{Tokens: 40}, 3, "45 of 40 tokens"},
		{"A1 money", agent.Budget{Money: 10, Price: price}, 2, "10 of 10 in money"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &agent.Agent{Runtime: runtimeWith(t, tick), Model: &played{answers: again(60)}, Budget: tt.budget}
			var tr agent.Transcript
			events, err := run(t, a, &tr, "go")
			if err != nil {
				t.Fatal(err)
			}
			last := events[len(events)-1]
			if last.Why != agent.Exhausted || last.Text != tt.text || tr.All.Turns != tt.turns {
				t.Errorf("got %s (%s) after %d turns, want exhausted (%s) after %d", last.Why, last.Text, tr.All.Turns, tt.text, tt.turns)
			}
		})
	}
	t.Run("A1 time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
			wait := must(tool.New(tool.Info{Name: "wait", Description: "Wait.", Cancel: true, Cooperative: true, Timeout: time.Hour},
				func(ctx context.Context, _ word) (string, error) { <-ctx.Done(); return "", ctx.Err() }))
			if err := rt.Add(wait); err != nil {
				t.Fatal(err)
			}
			a := &agent.Agent{Runtime: rt, Model: &played{answers: []provider.Answer{calls("a", "wait", "{}")}}, Budget: agent.Budget{Time: time.Minute}}
			var tr agent.Transcript
			events, err := run(t, a, &tr, "go")
			if err != nil {
				t.Fatal(err)
			}
			if last := events[len(events)-1]; last.Why != agent.Exhausted || last.Text != "1m0s" || tr.Why != agent.Exhausted {
				t.Errorf("got %s (%s), want exhausted (1m0s)", last.Why, last.Text)
			}
			if err := rt.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestHooks(t *testing.T) {
	t.Parallel()
	t.Run("H3 requests and answers are changed in order, each hook sees what was", func(t *testing.T) {
		t.Parallel()
		var saw []string
		hook := func(name string) agent.Hook {
			return agent.Hook{
				Name: name,
				Request: func(_ context.Context, _ *agent.Transcript, now, original provider.Request) (*provider.Request, error) {
					saw = append(saw, now.System+"|"+original.System)
					now.System += name
					return &now, nil
				},
				Response: func(_ context.Context, _ *agent.Transcript, now, original provider.Answer) (*provider.Answer, error) {
					if len(now.Calls()) == 0 {
						return nil, nil //nolint:nilnil // it keeps the answer
					}
					saw = append(saw, string(now.Calls()[0].Input)+"|"+string(original.Calls()[0].Input))
					out := calls("a", "echo", `{"word":"`+name+`"}`)
					return &out, nil
				},
			}
		}
		model := &played{answers: []provider.Answer{calls("a", "echo", `{"word":"model"}`), says("done")}}
		a := &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model, System: "s", Hooks: []agent.Hook{hook("1"), hook("2")}}
		var tr agent.Transcript
		if _, err := run(t, a, &tr, "go"); err != nil {
			t.Fatal(err)
		}
		want := []string{"s|s", "s1|s", `{"word":"model"}|{"word":"model"}`, `{"word":"1"}|{"word":"model"}`, "s|s", "s1|s"}
		if diff := cmp.Diff(want, saw); diff != "" {
			t.Error(diff)
		}
		if model.asked[0].System != "s12" || !strings.Contains(shown(tr.Said), "<a echo: 2") {
			t.Errorf("got system %q and\n%s", model.asked[0].System, shown(tr.Said))
		}
	})
	for name, hook := range map[string]agent.Hook{
		"request": {Name: "bad", Request: func(context.Context, *agent.Transcript, provider.Request, provider.Request) (*provider.Request, error) {
			return nil, errors.New("no")
		}},
		"response": {Name: "bad", Response: func(context.Context, *agent.Transcript, provider.Answer, provider.Answer) (*provider.Answer, error) {
			return nil, errors.New("no")
		}},
		"response that panics": {Name: "bad", Response: func(context.Context, *agent.Transcript, provider.Answer, provider.Answer) (*provider.Answer, error) {
			panic("no")
		}},
	} {
		t.Run("H3 one that fails ends the run and leaves a valid transcript: "+name, func(t *testing.T) {
			t.Parallel()
			model := &played{answers: []provider.Answer{calls("a", "echo", `{}`), says("done")}}
			var tr agent.Transcript
			_, err := run(t, &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model, Hooks: []agent.Hook{hook}}, &tr, "go")
			if err == nil || !strings.Contains(err.Error(), "hook bad") || tr.Why != agent.Failed {
				t.Errorf("got %v and %s, want an error that names the hook, and failed", err, tr.Why)
			}
			if got := shown(tr.Said); got != "user: go\n" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestModelHints(t *testing.T) {
	t.Parallel()
	hinted := func(name, hint string) *tool.Tool {
		return must(tool.New(tool.Info{Name: name, Description: "Do it.", Claims: tool.Claims{ReadOnly: true, Local: true}, Model: hint},
			func(context.Context, word) (string, error) { return "ok", nil }))
	}
	for _, tt := range []struct {
		name  string
		use   string
		calls []string
		want  string
	}{
		{"A6 none", "usual", []string{"plain"}, "usual"},
		{"A6 the highest tier", "usual", []string{"fast", "smart", "balanced"}, "big"},
		{"A6 a tier that the host does not know", "usual", []string{"balanced"}, "usual"},
		{"A6 an exact model beats tiers", "", []string{"smart", "exact"}, "model-7"},
		{"A6 the host's model beats an exact one", "usual", []string{"smart", "exact"}, "usual"},
		{"A6 an exact model that the host lets in", "usual", []string{"smart", "known"}, "model-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var words []string
			for _, c := range tt.calls {
				words = append(words, "", c, "{}")
			}
			model := &played{answers: []provider.Answer{calls(words...), calls("", "plain", "{}"), says("done")}}
			rt := runtimeWith(t, hinted("plain", ""), hinted("fast", "fast"), hinted("balanced", "balanced"), hinted("smart", "smart"), hinted("exact", "model-7"), hinted("known", "model-8"))
			a := &agent.Agent{Runtime: rt, Model: model, Use: tt.use, Tiers: map[string]string{"fast": "small", "smart": "big", "model-8": "model-8"}}
			var tr agent.Transcript
			if _, err := run(t, a, &tr, "go"); err != nil {
				t.Fatal(err)
			}
			if got := []string{model.asked[0].Model, model.asked[1].Model, model.asked[2].Model}; !slices.Equal(got, []string{tt.use, tt.want, tt.use}) {
				t.Errorf("got %v, want %q, %q, %q", got, tt.use, tt.want, tt.use)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for stop, want := range map[provider.Stop]agent.Why{
		provider.StopLength: agent.CutShort, provider.StopRefusal: agent.Declined, provider.StopOther: agent.Done,
	} {
		t.Run("A1 "+string(stop), func(t *testing.T) {
			t.Parallel()
			a := says("so far")
			a.Stop = stop
			var tr agent.Transcript
			if _, err := run(t, &agent.Agent{Runtime: runtimeWith(t, echo()), Model: &played{answers: []provider.Answer{a}}}, &tr, "go"); err != nil {
				t.Fatal(err)
			}
			if tr.Why != want {
				t.Errorf("got %s, want %s", tr.Why, want)
			}
		})
	}
	t.Run("L7 fatal ends the run after the results of the turn", func(t *testing.T) {
		t.Parallel()
		fatal := must(tool.New(tool.Info{Name: "fatal", Description: "End it."},
			func(context.Context, word) (string, error) {
				return "", &tool.Outcome{Err: errors.New("the disk is gone"), Fatal: true}
			}))
		model := &played{answers: []provider.Answer{calls("a", "fatal", "{}", "b", "echo", "{}"), says("never")}}
		var tr agent.Transcript
		_, err := run(t, &agent.Agent{Runtime: runtimeWith(t, echo(), fatal), Model: model}, &tr, "go")
		if err == nil || !strings.Contains(err.Error(), "the disk is gone") || len(model.asked) != 1 || !strings.Contains(shown(tr.Said), "<b echo:") {
			t.Errorf("got %v after %d requests:\n%s", err, len(model.asked), shown(tr.Said))
		}
	})
	t.Run("A1 a model that fails, then works: whoever goes on asks again", func(t *testing.T) {
		t.Parallel()
		fails := true
		model := &played{answers: []provider.Answer{says("done")}}
		model.before = func(context.Context, int, provider.Request) error {
			if fails {
				return &provider.Error{Status: 529, Code: "overloaded_error", Again: true}
			}
			return nil
		}
		a := &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model}
		var tr agent.Transcript
		_, err := run(t, a, &tr, "go")
		if e, ok := errors.AsType[*provider.Error](err); !ok || e.Status != 529 || tr.Why != agent.Failed {
			t.Errorf("got %v, %s", err, tr.Why)
		}
		fails = false
		if _, err := run(t, a, &tr, ""); err != nil || shown(tr.Said) != "user: go\nassistant: done\n" {
			t.Errorf("got %v:\n%s", err, shown(tr.Said))
		}
	})
	t.Run("C1 a loop is told to the model and then stopped", func(t *testing.T) {
		t.Parallel()
		var answers []provider.Answer
		for range 7 {
			answers = append(answers, calls("", "echo", `{"word":"x"}`))
		}
		var tr agent.Transcript
		if _, err := run(t, &agent.Agent{Runtime: runtimeWith(t, echo()), Model: &played{answers: append(answers, says("done"))}}, &tr, "go"); err != nil {
			t.Fatal(err)
		}
		if got := shown(tr.Said); !strings.Contains(got, "You have made this call 5 times") || !strings.Contains(got, "!") {
			t.Errorf("got\n%s", got)
		}
	})
}

func TestRefreshAndDeferral(t *testing.T) {
	t.Parallel()
	t.Run("R7 a new set is seen by the next turn", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
		late := must(tool.New(tool.Info{Name: "late", Description: "Come late.", Claims: tool.Claims{ReadOnly: true, Local: true}},
			func(context.Context, word) (string, error) { return "here", nil }))
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return []*tool.Tool{echo(), late}, nil }
		if err := rt.Add(echo()); err != nil {
			t.Fatal(err)
		}
		model := &played{answers: []provider.Answer{calls("a", "late", "{}"), calls("b", "late", "{}"), says("done")}}
		var tr agent.Transcript
		if _, err := run(t, &agent.Agent{Runtime: rt, Model: model}, &tr, "go"); err != nil {
			t.Fatal(err)
		}
		if got := shown(tr.Said); !strings.Contains(got, "<a !Tool not found: late") || !strings.Contains(got, "<b here") {
			t.Errorf("got\n%s", got)
		}
		if strings.Contains(string(model.asked[0].Tools), "late") || !strings.Contains(string(model.asked[1].Tools), "late") {
			t.Error("the tool is offered to the wrong turn")
		}
	})
	t.Run("Q1 what would take too much is deferred, found and loaded", func(t *testing.T) {
		t.Parallel()
		tools := []*tool.Tool{echo()}
		for _, name := range []string{"weather_oslo", "tax_form", "send_mail"} {
			tools = append(tools, must(tool.New(tool.Info{Name: name, Description: strings.Repeat("Does what "+name+" says. ", 40), Claims: tool.Claims{ReadOnly: true, Local: true}},
				func(context.Context, word) (string, error) { return name + " ran", nil })))
		}
		model := &played{answers: []provider.Answer{calls("a", "tool_search", `{"query":"select:tax_form"}`), calls("b", "tax_form", "{}"), says("done")}}
		a := &agent.Agent{Runtime: runtimeWith(t, tools...), Model: model, Context: 2000}
		var tr agent.Transcript
		if _, err := run(t, a, &tr, "go"); err != nil {
			t.Fatal(err)
		}
		first, second := string(model.asked[0].Tools), string(model.asked[1].Tools)
		if strings.Contains(first, `"tax_form"`) || !strings.Contains(second, `"tax_form"`) || !strings.Contains(shown(tr.Said), "<b tax_form ran") {
			t.Errorf("offered first %s\nthen %s\n%s", first, second, shown(tr.Said))
		}
		if !strings.HasPrefix(second, strings.TrimSuffix(first, "]")) {
			t.Error("Q2: loading changed the beginning of what is offered")
		}
	})
	t.Run("Q3 a turn picks what fits", func(t *testing.T) {
		t.Parallel()
		other := must(tool.New(tool.Info{Name: "weather", Description: "Say how the weather is in a city.", Claims: tool.Claims{ReadOnly: true, Local: true}},
			func(context.Context, word) (string, error) { return "sunny", nil }))
		model := &played{answers: []provider.Answer{calls("a", "weather", "{}"), says("sunny")}}
		a := &agent.Agent{Runtime: runtimeWith(t, echo(), other), Model: model}
		a.View = func(ctx context.Context, v *ferrule.View, t *agent.Transcript) *ferrule.View {
			return v.Pick(ctx, t.Said[0].Parts[0].Text, 1)
		}
		var tr agent.Transcript
		if _, err := run(t, a, &tr, "what is the weather?"); err != nil {
			t.Fatal(err)
		}
		if got := string(model.asked[0].Tools); strings.Contains(got, "echo") || !strings.Contains(got, "weather") {
			t.Errorf("got %s", got)
		}
	})
}

func TestTranscriptAsJSON(t *testing.T) {
	t.Parallel()
	model := &played{answers: []provider.Answer{calls("a", "echo", `{"word":`), says("done")}}
	var tr agent.Transcript
	if _, err := run(t, &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model}, &tr, "go"); err != nil {
		t.Fatal(err)
	}
	b := must(json.Marshal(tr))
	var back agent.Transcript
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr, back); diff != "" {
		t.Error(diff)
	}
}

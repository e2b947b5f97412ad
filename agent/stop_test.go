package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// hanging is a tool that runs until it is told to stop.
func hanging(name string, cancel bool, begun chan<- string, finish <-chan struct{}) *tool.Tool {
	return must(tool.New(tool.Info{
		Name: name, Description: "Hang.", Claims: tool.Claims{Parallel: true, Reversible: true, Local: true}, Cancel: cancel, Cooperative: cancel,
	}, func(ctx context.Context, _ word) (string, error) {
		begun <- name
		if cancel {
			<-ctx.Done()
			return "", ctx.Err()
		}
		<-finish
		return name + " finished", nil
	}))
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	t.Run("D6 a person speaks while calls run: cancel ones stop, block ones finish, then the message", func(t *testing.T) {
		t.Parallel()
		begun, finish := make(chan string, 2), make(chan struct{})
		rt := runtimeWith(t, hanging("cancels", true, begun, nil), hanging("blocks", false, begun, finish))
		model := &played{answers: []provider.Answer{calls("a", "cancels", "{}", "b", "blocks", "{}"), says("sure")}}
		a := &agent.Agent{Runtime: rt, Model: model}
		var tr agent.Transcript
		live := a.Begin(t.Context(), &tr, "go")
		go func() {
			<-begun
			<-begun
			live.Interrupt("rather do that")
			close(finish)
		}()
		for _, err := range live.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if err := check(tr.Messages()); err != nil {
				t.Error(err)
			}
		}
		got := shown(tr.Said)
		if !strings.Contains(got, "<a !") || !strings.Contains(got, "<b blocks finished rather do that\nassistant: sure\n") || tr.Why != agent.Done {
			t.Errorf("%s:\n%s", tr.Why, got)
		}
	})
	t.Run("D6 a person speaks while the model talks: what it said stays", func(t *testing.T) {
		t.Parallel()
		model := &played{answers: []provider.Answer{{Parts: []provider.Part{provider.Text("I think"), provider.Text(" that")}, Stop: provider.StopEnd}, says("sure")}}
		a := &agent.Agent{Runtime: runtimeWith(t, echo()), Model: model}
		var tr agent.Transcript
		live := a.Begin(t.Context(), &tr, "go")
		for e, err := range live.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.Said && e.Text == "I think" {
				live.Interrupt("no")
			}
		}
		if got := shown(tr.Said); got != "user: go\nassistant: I think\nuser: no\nassistant: sure\n" {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("D6 with nothing said the run is over", func(t *testing.T) {
		t.Parallel()
		begun := make(chan string, 1)
		model := &played{answers: []provider.Answer{calls("a", "cancels", "{}"), says("never")}}
		a := &agent.Agent{Runtime: runtimeWith(t, hanging("cancels", true, begun, nil)), Model: model}
		var tr agent.Transcript
		live := a.Begin(t.Context(), &tr, "go")
		go func() { <-begun; live.Interrupt("") }()
		for _, err := range live.Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if tr.Why != agent.Stopped || len(model.asked) != 1 || check(tr.Messages()) != nil {
			t.Errorf("%s after %d requests:\n%s", tr.Why, len(model.asked), shown(tr.Said))
		}
	})
	t.Run("D6 a person stops one call", func(t *testing.T) {
		t.Parallel()
		begun := make(chan string, 1)
		model := &played{answers: []provider.Answer{calls("a", "cancels", "{}", "b", "echo", "{}"), says("done")}}
		a := &agent.Agent{Runtime: runtimeWith(t, echo(), hanging("cancels", true, begun, nil)), Model: model}
		var tr agent.Transcript
		live := a.Begin(t.Context(), &tr, "go")
		for e, err := range live.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.Started && e.Call.Name == "cancels" && !live.Stop(e.Own) {
				t.Error("the call is not under way")
			}
		}
		if got := shown(tr.Said); !strings.Contains(got, "<a !") || !strings.Contains(got, "<b echo:") || tr.Why != agent.Done {
			t.Errorf("%s:\n%s", tr.Why, got)
		}
	})
	t.Run("B3 a call is moved to the background", func(t *testing.T) {
		t.Parallel()
		begun := make(chan struct{})
		back := must(tool.New(tool.Info{Name: "serve", Description: "Serve.", Claims: tool.Claims{Local: true}}, func(ctx context.Context, _ word) (string, error) {
			env := tool.From(ctx)
			aside := env.Background()
			close(begun)
			select {
			case <-aside:
				env.WentOn("job 1")
				return "goes on as job 1", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}))
		model := &played{answers: []provider.Answer{calls("a", "serve", "{}"), says("done")}}
		var tr agent.Transcript
		live := (&agent.Agent{Runtime: runtimeWith(t, back), Model: model}).Begin(t.Context(), &tr, "go")
		var seen []agent.Kind
		for e, err := range live.Events() {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, e.Kind)
			if e.Kind == agent.Started {
				<-begun
				if !live.Background(e.Own) {
					t.Error("it cannot be moved")
				}
			}
		}
		if !slices.Contains(seen, agent.Aside) || !strings.Contains(shown(tr.Said), "<a goes on as job 1") {
			t.Errorf("%v:\n%s", seen, shown(tr.Said))
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"while the model talks", "before dispatch", "while tools run"} {
		for _, leave := range []bool{false, true} {
			t.Run("A3 "+at, func(t *testing.T) {
				t.Parallel()
				begun := make(chan string, 2)
				model := &played{answers: []provider.Answer{
					{Parts: append([]provider.Part{provider.Text("well")}, calls("a", "cancels", "{}", "b", "cancels", "{}").Parts...), Stop: provider.StopCalls}, says("done"),
				}}
				a := &agent.Agent{Runtime: runtimeWith(t, hanging("cancels", true, begun, nil)), Model: model}
				ctx, stop := context.WithCancelCause(t.Context())
				errStop := errors.New("enough")
				var tr agent.Transcript
				var last error
				for e, err := range a.Run(ctx, &tr, "go") {
					last = err
					if at == "while the model talks" && e.Kind == agent.Said || at == "before dispatch" && e.Kind == agent.Called || at == "while tools run" && e.Kind == agent.Started {
						if leave {
							break
						}
						stop(errStop)
					}
					if err := check(tr.Messages()); err != nil {
						t.Errorf("after %s: %v", e.Kind, err)
					}
				}
				stop(nil)
				if tr.Why != agent.Stopped || !leave && !errors.Is(last, errStop) {
					t.Errorf("got %s and %v, want stopped and %v", tr.Why, last, errStop)
				}
				if tr.Open != nil {
					t.Error("a turn is open")
				}
				if err := check(tr.Messages()); err != nil {
					t.Errorf("%v:\n%s", err, shown(tr.Said))
				}
			})
		}
	}
}

// deploy is a tool that must be asked for.
func deploy(runs *atomic.Int32) *tool.Tool {
	return must(tool.New(tool.Info{Name: "deploy", Description: "Deploy.", Approval: tool.AskAlways},
		func(_ context.Context, in word) (string, error) { runs.Add(1); return "deployed " + in.Word, nil }))
}

func TestHandBack(t *testing.T) {
	t.Parallel()
	t.Run("A4 a run that waits is saved, and goes on in another process", func(t *testing.T) {
		t.Parallel()
		var deploys, echoes atomic.Int32
		count := must(tool.New(tool.Info{Name: "count", Description: "Count.", Claims: tool.Claims{Parallel: true, Local: true}},
			func(context.Context, word) (int, error) { return int(echoes.Add(1)), nil }))
		memory, journal := new(policy.Memory), new(durable.MemoryJournal)
		process := func() *agent.Agent {
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Inbox: memory, Journal: journal, Ledger: memory}
			if err := rt.Add(deploy(&deploys), count); err != nil {
				t.Fatal(err)
			}
			return &agent.Agent{Runtime: rt, HandBack: true, Model: &played{answers: []provider.Answer{
				calls("a", "count", "{}", "b", "deploy", `{"word":"x"}`), says("done"),
			}}}
		}
		var tr agent.Transcript
		if _, err := run(t, process(), &tr, "go"); err != nil {
			t.Fatal(err)
		}
		if tr.Why != agent.Waiting || !slices.Equal(tr.Waiting(), []string{"b"}) || deploys.Load() != 0 {
			t.Fatalf("got %s, %v, want to wait for b", tr.Why, tr.Waiting())
		}
		saved := must(json.Marshal(tr))

		var again agent.Transcript
		if err := json.Unmarshal(saved, &again); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t, process(), &again, ""); err != nil || again.Why != agent.Waiting {
			t.Fatalf("got %v, %s: nobody has answered", err, again.Why)
		}
		for _, q := range must(memory.Pending(t.Context())) {
			if err := memory.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := run(t, process(), &again, ""); err != nil || again.Why != agent.Done {
			t.Fatalf("got %v, %s", err, again.Why)
		}
		want := "user: go\nassistant: >a count{} >b deploy{\"word\":\"x\"}\nuser: <a 1 <b deployed x\nassistant: done\n"
		if got := shown(again.Said); got != want || deploys.Load() != 1 || echoes.Load() != 1 {
			t.Errorf("deployed %d times, counted %d:\n%s", deploys.Load(), echoes.Load(), got)
		}
	})
}

func TestKeep(t *testing.T) {
	t.Parallel()
	t.Run("J1 the transcript is kept before a call begins", func(t *testing.T) {
		t.Parallel()
		var kept agent.Transcript
		look := must(tool.New(tool.Info{Name: "look", Description: "Look.", Claims: tool.Claims{Local: true}}, func(ctx context.Context, in word) (string, error) {
			r := tool.From(ctx).Request()
			if kept.Open == nil || kept.Open.Number != r.Turn || len(kept.Open.Answer.Calls()) <= r.Index {
				return "", errors.New("nobody could know of this call")
			}
			return "known", nil
		}))
		a := &agent.Agent{Runtime: runtimeWith(t, look), Model: &played{answers: []provider.Answer{calls("a", "look", "{}", "b", "look", `{"word":"b"}`), says("done")}}}
		a.Keep = func(_ context.Context, t *agent.Transcript) error {
			kept = agent.Transcript{}
			if err := json.Unmarshal(must(json.Marshal(t)), &kept); err != nil {
				return err
			}
			if n := len(kept.Said); kept.Open == nil && kept.Said[n-1].Role == provider.Assistant && kept.Why != agent.Done {
				return fmt.Errorf("the last answer is kept without that it was the last: %q", kept.Why)
			}
			return nil
		}
		var tr agent.Transcript
		if _, err := a.Do(t.Context(), &tr, "go"); err != nil {
			t.Fatal(err)
		}
		if got := shown(tr.Said); strings.Contains(got, "!") || shown(kept.Said) != got || kept.Why != agent.Done {
			t.Errorf("kept %s:\n%s\nof\n%s", kept.Why, shown(kept.Said), got)
		}
	})
	t.Run("J1 what cannot be kept does not begin", func(t *testing.T) {
		t.Parallel()
		var runs atomic.Int32
		act := must(tool.New(tool.Info{Name: "act", Description: "Act."}, func(context.Context, word) (string, error) { runs.Add(1); return "", nil }))
		full := errors.New("no space left")
		for _, fails := range []int{1, 2} {
			runs.Store(0)
			n := 0
			a := &agent.Agent{Runtime: runtimeWith(t, act), Model: &played{answers: []provider.Answer{calls("a", "act", "{}", "b", "act", `{"word":"b"}`), says("done")}}}
			a.Keep = func(context.Context, *agent.Transcript) error {
				if n++; n >= fails {
					return full
				}
				return nil
			}
			var tr agent.Transcript
			_, err := run(t, a, &tr, "go")
			if !errors.Is(err, full) || int(runs.Load()) >= fails || tr.Why != agent.Failed {
				t.Errorf("failing from %d: got %v, %s after %d runs", fails, err, tr.Why, runs.Load())
			}
			if err := check(tr.Messages()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestInnerAgents(t *testing.T) {
	t.Parallel()
	t.Run("A5 an agent is a tool, and its events flow up", func(t *testing.T) {
		t.Parallel()
		rt := runtimeWith(t, echo())
		inner := &agent.Agent{Name: "researcher", Runtime: rt, Model: &played{answers: []provider.Answer{calls("i", "echo", `{"word":"deep"}`), says("found it")}}}
		inner.View = func(_ context.Context, v *ferrule.View, _ *agent.Transcript) *ferrule.View {
			return v.Only(ferrule.Filter{Names: []string{"echo"}})
		}
		ask := must(inner.Tool(tool.Info{Name: "research", Description: "Find something out."}))
		if err := rt.Add(ask); err != nil {
			t.Fatal(err)
		}
		a := &agent.Agent{Name: "boss", Runtime: rt, Model: &played{answers: []provider.Answer{calls("o", "research", `{"prompt":"look"}`), says("done")}}}
		var tr agent.Transcript
		events, err := run(t, a, &tr, "go")
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(tr.Said); !strings.Contains(got, "<o found it") {
			t.Errorf("got\n%s", got)
		}
		var outer string
		var seen []agent.Kind
		for _, e := range events {
			switch {
			case e.Agent == "boss" && e.Kind == agent.Started:
				outer = e.Own
			case e.Agent == "researcher":
				if e.Inside != outer || outer == "" {
					t.Errorf("%s: got inside %q, want %q", e.Kind, e.Inside, outer)
				}
				seen = append(seen, e.Kind)
			}
		}
		want := []agent.Kind{agent.Asking, agent.Called, agent.Started, agent.Ended, agent.Turned, agent.Asking, agent.Said, agent.Turned, agent.Over}
		if !slices.Equal(seen, want) {
			t.Errorf("got %v, want %v", seen, want)
		}
	})
	t.Run("A5 one that fails is a failed call", func(t *testing.T) {
		t.Parallel()
		rt := runtimeWith(t)
		inner := &agent.Agent{Name: "researcher", Runtime: rt, Model: &played{before: func(context.Context, int, provider.Request) error { return errors.New("no key") }}}
		if err := rt.Add(must(inner.Tool(tool.Info{Name: "research", Description: "Find something out."}))); err != nil {
			t.Fatal(err)
		}
		a := &agent.Agent{Runtime: rt, Model: &played{answers: []provider.Answer{calls("o", "research", `{"prompt":"look"}`), says("done")}}}
		var tr agent.Transcript
		if _, err := run(t, a, &tr, "go"); err != nil || !strings.Contains(shown(tr.Said), "<o !researcher could not finish: its run is over: failed") || strings.Contains(shown(tr.Said), "no key") {
			t.Errorf("got %v:\n%s", err, shown(tr.Said))
		}
	})
}

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

var cases = flag.Int("cases", 1, "random conversations, at least; 100 at a time")

// world is what a conversation has an effect on, and what of it outlives a process.
type world struct {
	memory  *policy.Memory
	journal *durable.MemoryJournal
	kept    []byte // the transcript, as it was kept last

	mu      sync.Mutex
	effects map[string]int // by the word of the call
}

func newWorld() *world {
	return &world{memory: new(policy.Memory), journal: new(durable.MemoryJournal), effects: make(map[string]int)}
}

// mortal is the journal as one process has it: nothing reaches it once that is dead.
type mortal struct {
	durable.Journal
	dead *atomic.Bool
}

var errDead = errors.New("this process has ended")

func (m mortal) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	if m.dead.Load() {
		return r, errDead
	}
	return m.Journal.Begin(ctx, r)
}

func (m mortal) End(ctx context.Context, e durable.Ending) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Journal.End(ctx, e)
}

// process begins one with an agent that plays a script.
func (w *world) process(script []provider.Answer, handBack bool) (a *agent.Agent, dead *atomic.Bool, end func() error) {
	dead = new(atomic.Bool)
	effect := func(info tool.Info, run func(word) (string, error)) *tool.Tool {
		info.Description = "For a test."
		return must(tool.New(info, func(_ context.Context, in word) (string, error) {
			if !dead.Load() { // what a dead process would do does not happen
				w.mu.Lock()
				w.effects[in.Word]++
				w.mu.Unlock()
			}
			return run(in)
		}))
	}
	ok := func(in word) (string, error) { return "did " + in.Word, nil }
	rt := &ferrule.Runtime{
		Policy: policy.AllowOwn{}, Inbox: w.memory, Ledger: w.memory, Journal: mortal{w.journal, dead},
		AllowLoop: func(context.Context, *tool.Request, int) bool { return true },
	}
	err := rt.Add(
		effect(tool.Info{Name: "read", Claims: tool.Claims{ReadOnly: true, Local: true}}, ok),
		effect(tool.Info{Name: "write"}, ok),
		effect(tool.Info{Name: "beside", Claims: tool.Claims{Parallel: true}}, ok),
		effect(tool.Info{Name: "again", Claims: tool.Claims{Idempotent: true}}, ok),
		effect(tool.Info{Name: "fails"}, func(in word) (string, error) { return "", errors.New("cannot " + in.Word) }),
		effect(tool.Info{Name: "panics"}, func(in word) (string, error) { panic("oh " + in.Word) }),
		effect(tool.Info{Name: "asks", Approval: tool.AskAlways}, ok),
	)
	if err != nil {
		panic(err)
	}
	a = &agent.Agent{Runtime: rt, Caller: tool.Caller{Session: "s"}, Model: &played{answers: script}, HandBack: handBack}
	a.Keep = func(_ context.Context, t *agent.Transcript) error {
		if dead.Load() {
			return errDead
		}
		w.kept = must(json.Marshal(t))
		return nil
	}
	return a, dead, func() error { return rt.Close(context.Background()) }
}

// answerAll is a person who allows what is asked.
func (w *world) answerAll() {
	for _, q := range must(w.memory.Pending(context.Background())) {
		_ = w.memory.Answer(context.Background(), q.ID, policy.Answer{Allow: true, By: "ada"})
	}
}

// disturb is what happens to one process of a conversation.
type disturb struct {
	at   int // which event
	kind string
}

// play runs a script to its end, through all that disturbs it.
func (w *world) play(script []provider.Answer, handBack bool, by []disturb) (tr *agent.Transcript, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	tr = new(agent.Transcript)
	prompt := "go"
	for life := range 40 {
		a, dead, end := w.process(script, handBack)
		var d disturb
		if life < len(by) {
			d = by[life]
		}
		ctx, stop := context.WithCancel(context.Background())
		live := a.Begin(ctx, tr, prompt)
		n := 0
		var last error
		for e, err := range live.Events() {
			n++
			last = err
			if err := check(tr.Messages()); err != nil {
				fault("life %d after %s: %v", life, e.Kind, err)
			}
			b, err := json.Marshal(tr)
			if err == nil {
				err = json.Unmarshal(b, new(agent.Transcript))
			}
			if err != nil {
				fault("life %d after %s: %v", life, e.Kind, err)
			}
			if !handBack && e.Kind == agent.Waits {
				w.answerAll()
			}
			if n == d.at && d.kind != "" {
				switch d.kind {
				case "crash":
					dead.Store(true)
					stop()
				case "stop":
					stop()
				case "speak":
					live.Interrupt("and now?")
				case "hush":
					live.Interrupt("")
				}
				if d.kind == "leave" {
					break
				}
			}
		}
		stop()
		if err := end(); err != nil {
			fault("life %d: %v", life, err)
		}
		prompt = ""
		if dead.Load() {
			w.journal.Leave()
			next := new(agent.Transcript)
			if w.kept == nil { // nothing had begun
				prompt = "go"
			} else if err := json.Unmarshal(w.kept, next); err != nil {
				fault("kept: %v", err)
			}
			tr = next
			continue
		}
		switch tr.Why {
		case agent.Waiting:
			w.answerAll()
		case agent.Done:
			return tr, faults
		case agent.Stopped:
			if m := tr.Messages(); m[len(m)-1].Role == provider.Assistant {
				return tr, faults // a person has stopped the model in the middle of its last words
			}
		default:
			fault("life %d: it is over: %s, %v", life, tr.Why, last)
			return tr, faults
		}
	}
	fault("it does not end")
	return tr, faults
}

// drawScript is what the model says. Every call has a word of its own.
func drawScript(r *rapid.T) (script []provider.Answer) {
	names := []string{"read", "write", "beside", "again", "fails", "panics", "asks", "unknown"}
	for turn := range rapid.IntRange(0, 3).Draw(r, "turns") {
		a := provider.Answer{Stop: provider.StopCalls}
		if rapid.Bool().Draw(r, "talks") {
			a.Parts = append(a.Parts, provider.Text(fmt.Sprintf("turn %d", turn)))
		}
		for i := range rapid.IntRange(1, 5).Draw(r, "calls") {
			id := rapid.SampledFrom([]string{"", "same", fmt.Sprintf("id%d-%d", turn, i)}).Draw(r, "id")
			a.Parts = append(a.Parts, calls(id, rapid.SampledFrom(names).Draw(r, "tool"), fmt.Sprintf(rapid.SampledFrom([]string{`{"word":"w%d-%d"}`, `{"word": "w%d-%d"}`, `{"word":"w%d-%d<&>"}`}).Draw(r, "form"), turn, i)).Parts...)
		}
		script = append(script, a)
	}
	done := says("done")
	return append(script, done, done, done, done) // a person may speak again
}

func TestAgentLaws(t *testing.T) {
	t.Parallel()
	laws := func(name string, kinds []string, more func(r *rapid.T, script []provider.Answer, handBack bool, w *world, tr *agent.Transcript)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for done := 0; done < *cases && !t.Failed(); {
				rapid.Check(t, func(r *rapid.T) {
					done++
					script, handBack := drawScript(r), rapid.Bool().Draw(r, "hands back")
					var by []disturb
					for range rapid.IntRange(1, 3).Draw(r, "disturbed") {
						by = append(by, disturb{rapid.IntRange(1, 25).Draw(r, "at"), rapid.SampledFrom(kinds).Draw(r, "how")})
					}
					w := newWorld()
					tr, faults := w.play(script, handBack, by)
					for word, n := range w.effects {
						if n > 1 && !w.mayRepeat(script, word) {
							faults = append(faults, fmt.Sprintf("%s happened %d times", word, n))
						}
					}
					if len(faults) > 0 {
						r.Fatalf("%s\n%v\n%s", strings.Join(faults, "\n"), by, shown(tr.Messages()))
					}
					if more != nil {
						more(r, script, handBack, w, tr)
					}
				})
			}
		})
	}
	laws("A3 whatever happens, the transcript is valid after every event, and nothing happens twice",
		[]string{"crash", "stop", "leave", "speak", "hush"}, nil)
	laws("A4 what crashed or was handed back ends as if it had not, but for what nobody can know",
		[]string{"crash"}, func(r *rapid.T, script []provider.Answer, handBack bool, w *world, tr *agent.Transcript) {
			plain := newWorld()
			want, faults := plain.play(script, handBack, nil)
			if len(faults) > 0 {
				r.Fatalf("undisturbed: %s", strings.Join(faults, "\n"))
			}
			sameButUnknown(r, want.Said, tr.Said)
		})
}

// mayRepeat reports whether the call of a word may run twice.
func (w *world) mayRepeat(script []provider.Answer, word string) bool {
	for _, a := range script {
		for _, c := range a.Calls() {
			if strings.Contains(string(c.Input), `"`+word+`"`) { // no other call has it
				return c.Name == "read" || c.Name == "again"
			}
		}
	}
	return false
}

// sameButUnknown compares two conversations. An answer that a crash cut off has the first
// calls of the other one, and the outcome of a call that it cut off is not known, unless
// it may run twice: then it ran again.
func sameButUnknown(r *rapid.T, want, got []provider.Message) {
	if len(want) != len(got) {
		r.Fatalf("got\n%swant\n%s", shown(got), shown(want))
	}
	for i := range want {
		w, g := want[i].Parts, got[i].Parts
		if len(g) > len(w) || len(g) == 0 {
			r.Fatalf("message %d: got\n%swant\n%s", i, shown(got), shown(want))
		}
		for j, p := range g {
			same := p.Kind == w[j].Kind && p.Text == w[j].Text
			switch {
			case same && p.Kind == provider.PartCall:
				same = p.Call.Name == w[j].Call.Name && string(p.Call.Input) == string(w[j].Call.Input)
			case same && p.Kind == provider.PartResult:
				name := p.Result.Name
				unknown := strings.Contains(tool.TextOf(p.Result.Content), "not known") && name != "read" && name != "again" && name != "unknown"
				same = unknown || tool.TextOf(p.Result.Content) == tool.TextOf(w[j].Result.Content)
			}
			if !same {
				r.Fatalf("message %d, part %d: got\n%swant\n%s", i, j, shown(got), shown(want))
			}
		}
	}
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Model is what is asked. Packages agent/anthropic, agent/openai and agent/scripted
// have some.
type Model interface {
	// Format is how tools and messages are written for it.
	Format() provider.Format
	// Ask asks once, and tells what comes while it comes, from this goroutine: a call
	// as soon as its input is complete. It may try again as long as it has told nothing.
	// With an error, the answer holds what was whole by then: provider.Format.Stream
	// does so. It returns soon once ctx ends.
	Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error)
}

// Agent is a model, tools, and how far it may go. Fields are set before the first run
// and not changed after; one Agent may have many runs at the same time.
type Agent struct {
	// Name is what events and records call it. "": agent.
	Name string
	// Runtime has the tools and the rules.
	Runtime *ferrule.Runtime
	// Caller is for whom it works. Session "": a run with a new transcript begins one,
	// and the transcript keeps its name. Agent, Run and Prompt are filled in where they
	// are empty.
	Caller tool.Caller
	Model  Model

	// System is what the host says to the model before all else.
	System string
	// Use names the model to ask. "": Model's own. Tiers are the models behind the
	// hints of tools: fast, balanced, smart, or the exact name of a model. After a turn
	// whose tools have hints, the next request is to the model of the first exact one,
	// else to that of the highest tier. One that is not here changes nothing; but where
	// Use is "", an exact name stands for itself. Hooks may change it again.
	Use   string
	Tiers map[string]string
	// MaxTokens of one answer; 0: the provider's own. Extra are further members of
	// each request, as they are.
	MaxTokens int
	Extra     map[string]json.RawMessage

	// Budget is where a run ends that does not end by itself.
	Budget Budget
	// Context is how many tokens the model reads; tools are deferred when they would
	// take more than a tenth of it. 0: 200,000.
	Context int
	// View chooses what a turn is offered: v.Only, v.Pick, v.Defer. Nil: v.Auto, which
	// loads what is found.
	View func(ctx context.Context, v *ferrule.View, t *Transcript) *ferrule.View
	// Hooks see each request to the model and each answer, in this order.
	Hooks []Hook
	// CallHooks see the calls of this agent, behind those of the runtime.
	CallHooks []ferrule.Hook

	// Keep is given the transcript whenever it must not be lost: before a call starts,
	// and when results have come. Failing, nothing more is begun, and the run ends with
	// its error. It must not keep t, but what it has marshalled. Nil: a run can be gone
	// on with only from what its host saves.
	Keep func(ctx context.Context, t *Transcript) error
	// HandBack ends a run where calls wait for a person, instead of waiting: the
	// transcript says so (Transcript.Waiting), and a run of it goes on.
	HandBack bool
	// Trace keeps traces of runs and of requests to the model. Nil: nobody does.
	Trace Tracer
	// Unmarked leaves out the marks by which providers keep a prompt between requests.
	Unmarked bool
}

// Budget bounds a run. What is zero is not bounded, but for Turns.
type Budget struct {
	Turns  int           // answers of the model; 0: 50
	Tokens int           // of all requests and answers together
	Time   time.Duration // of the whole run, people's time too
	Money  float64       // by Price
	// Price is what a request cost, in the host's own unit; Money wants it.
	Price func(model string, u provider.Usage) float64
}

// Hook looks at what goes to the model and what comes back, and may change it. Both
// functions are optional, and see the value as it stands and as it was at first.
// Returning nil keeps it. One that fails ends the run.
type Hook struct {
	Name string
	// Request: what it changes of Messages is for this request; the transcript stays.
	Request func(ctx context.Context, t *Transcript, now, original provider.Request) (*provider.Request, error)
	// Response: an agent with such a hook begins no call before the answer is whole.
	Response func(ctx context.Context, t *Transcript, now, original provider.Answer) (*provider.Answer, error)
}

// Run goes on with a transcript, and with what a person says, until the model asks for
// no more calls; "": nothing is said, and what was under way is gone on with. The events
// come as things happen, and between two of them the transcript can be saved. An error
// is the last thing that comes. Leaving the loop stops the run as the end of ctx does:
// calls are waited for, and the transcript is whole.
func (a *Agent) Run(ctx context.Context, t *Transcript, prompt string) iter.Seq2[Event, error] {
	return a.Begin(ctx, t, prompt).Events() //nolint:contextcheck // it has its context
}

// Do is [Agent.Run] without the events: what the model said last.
func (a *Agent) Do(ctx context.Context, t *Transcript, prompt string) (provider.Answer, error) {
	l := a.Begin(ctx, t, prompt)
	l.used.Store(true)
	err := l.run() //nolint:contextcheck // it has its context
	return l.last, err
}

func (a *Agent) name() string { return cmp.Or(a.Name, "agent") }

package agent

import (
	"slices"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Transcript is a conversation as a value: marshalled to JSON at any moment between two
// events, it can be gone on with elsewhere. The zero value is one that has not begun.
type Transcript struct {
	// Session is where its calls are on the record; see Agent.Caller.
	Session string `json:"session,omitempty"`
	// Said are the messages that are complete. They are shared with who was asked, and
	// must not be changed.
	Said []provider.Message `json:"said,omitempty"`
	// Open is the turn under way; nil: none.
	Open *Open `json:"open,omitempty"`
	// Next is what a person said while a turn was under way: it comes behind its
	// results.
	Next []provider.Part `json:"next,omitempty"`
	// Paused: the provider wants to be asked again with what there is.
	Paused bool `json:"paused,omitempty"`

	All Tally `json:"all"` // since it began
	Run Tally `json:"run"` // since a person last spoke: what budgets are about
	// Hint is the model, or the tier of one, that the tools of the last turn want.
	Hint string `json:"hint,omitempty"`
	Why  Why    `json:"why,omitempty"` // why the last run ended; "": it goes on, or broke off
}

// Tally is what was used.
type Tally struct {
	Turns int            `json:"turns,omitempty"` // answers of models
	Usage provider.Usage `json:"usage"`
	Money float64        `json:"money,omitempty"` // by Budget.Price
}

func (y *Tally) add(u provider.Usage, money float64) {
	y.Turns++
	y.Usage = y.Usage.Add(u)
	y.Money += money
}

// join adds what others have used: their answers are not turns of this run.
func (y *Tally) join(o Tally) {
	y.Usage = y.Usage.Add(o.Usage)
	y.Money += o.Money
}

// Open is a turn that has not ended: the answer as far as it is whole, and the results
// that are there.
type Open struct {
	Number  int                `json:"number,omitempty"` // of the session; 0: no call has begun
	Answer  provider.Answer    `json:"answer"`
	Results []*provider.Result `json:"results,omitempty"` // by the place of the call; nil: none yet
	Waiting []string           `json:"waiting,omitempty"` // ids of calls that wait for a person
	Fatal   string             `json:"fatal,omitempty"`   // why the run ends with this turn; "": it does not
}

// calls are those of the answer.
func (o *Open) calls() []tool.Call { return o.Answer.Calls() }

// Waiting are the calls that wait for a person, by their ids.
func (t *Transcript) Waiting() []string {
	if t.Open == nil {
		return nil
	}
	return t.Open.Waiting
}

// Messages are the conversation as a provider takes it, whatever is under way: every
// call has one result, and a call that has none yet has one that says so. They are
// shared and must not be changed.
func (t *Transcript) Messages() []provider.Message {
	if t.Open == nil && len(t.Next) == 0 {
		return slices.Clip(t.Said)
	}
	c := Transcript{Said: slices.Clip(t.Said), Open: t.Open, Next: t.Next}
	c.close()
	return c.Said
}

// What a model reads of a call that was under way, and of one that nobody allowed yet.
const (
	noResult  = "The conversation went on before this call had a result. Whether it has happened is not known."
	notPassed = "The conversation went on while this call waited for a person. It has not run."
)

// close ends the open turn with the results that there are.
func (t *Transcript) close() {
	var heard []provider.Part
	if o := t.Open; o != nil {
		t.say(provider.Assistant, o.Answer.Parts...)
		heard = make([]provider.Part, 0, len(o.Answer.Parts)+len(t.Next))
		for i := range o.Answer.Parts {
			p := &o.Answer.Parts[i]
			if p.Kind != provider.PartCall || p.Call == nil {
				continue
			}
			heard = append(heard, provider.Part{Kind: provider.PartResult, Result: o.result(len(heard), p.Call)})
		}
	}
	t.say(provider.User, append(heard, t.Next...)...)
	t.Open, t.Next = nil, nil
}

// result is what the model reads of one call.
func (o *Open) result(place int, c *tool.Call) *provider.Result {
	if place < len(o.Results) && o.Results[place] != nil {
		return o.Results[place]
	}
	text := noResult
	if slices.Contains(o.Waiting, c.ID) {
		text = notPassed
	}
	return &provider.Result{CallID: c.ID, Name: c.Name, Error: true, Content: []tool.Content{tool.Text(text)}}
}

// say appends to what was said: to the last message, where the same role spoke.
func (t *Transcript) say(role provider.Role, parts ...provider.Part) {
	if len(parts) == 0 {
		return
	}
	if n := len(t.Said); n > 0 && t.Said[n-1].Role == role {
		last := t.Said[n-1]
		last.Parts = append(slices.Clip(last.Parts), parts...) // who was asked has the old one
		t.Said = append(t.Said[:n-1:n-1], last)
		return
	}
	t.Said = append(t.Said, provider.Message{Role: role, Parts: parts})
}

// Say appends what a person says, images too, for the run that comes next. Where calls
// are under way, their results come before it.
func (t *Transcript) Say(parts ...provider.Part) {
	if t.Open != nil {
		t.Next = append(t.Next, parts...)
		return
	}
	t.say(provider.User, parts...)
}

package ferrule

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// The events that a program can be asked about.
const (
	inputEvent  = "input"
	outputEvent = "output"
)

// event is what a program reads. Every key is always there, except for the
// result before there is one: who reads it with a few words of shell need not
// tell what is absent from what is empty.
type event struct {
	Event     string          `json:"event"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Tenant    string          `json:"tenant"`
	Client    string          `json:"client"`
	Agent     string          `json:"agent"`
	Run       string          `json:"run"`
	Turn      int             `json:"turn"`
	Index     int             `json:"index"`
	Tool      string          `json:"tool"`
	CalledAs  string          `json:"called_as"`
	Source    string          `json:"source"`
	Trust     tool.Trust      `json:"trust"`
	Claims    eventClaims     `json:"claims"`
	Tags      []string        `json:"tags"`
	Mode      policy.Mode     `json:"mode"`
	Input     json.RawMessage `json:"input"`
	Received  string          `json:"received"`
	Result    *eventResult    `json:"result,omitempty"`
}

type eventClaims struct {
	ReadOnly   bool          `json:"read_only"`
	Parallel   bool          `json:"parallel"`
	Reversible bool          `json:"reversible"`
	Local      bool          `json:"local"`
	Idempotent bool          `json:"idempotent"`
	Touches    []eventAccess `json:"touches"` // null: everything
}

type eventAccess struct {
	Resource string `json:"resource"`
	Write    bool   `json:"write"`
}

type eventResult struct {
	IsError bool           `json:"is_error"`
	Kind    tool.Kind      `json:"kind"`
	Text    string         `json:"text"`
	Trust   tool.Trust     `json:"trust"`
	Content []tool.Content `json:"content"`
}

// eventOf is a call as a program may see it. What the tool calls secret does not
// leave this process.
func eventOf(kind string, r *tool.Request) *event {
	c := r.Caller
	e := &event{
		Event: kind, ID: r.ID, CallID: r.CallID,
		Session: c.Session, Principal: c.Principal, Tenant: c.Tenant, Client: c.Client, Agent: c.Agent, Run: c.Run,
		Turn: r.Turn, Index: r.Index, Tool: r.Name, CalledAs: r.CalledAs, Source: r.Source.Name, Trust: r.Source.Trust,
		Claims: claimsOf(r.Claims), Tags: []string{}, Mode: policy.Mode(r.Mode),
		Input: json.RawMessage(r.Args.Text()), Received: r.Args.Received(),
	}
	if r.Tool != nil {
		e.Tags = append(e.Tags, r.Tool.Tags...)
	}
	if in, _ := secretOf(r); in {
		e.Input, e.Received = json.RawMessage(`"`+withheld+`"`), withheld
		for i := range e.Claims.Touches { // which are read out of the arguments
			e.Claims.Touches[i].Resource = withheld
		}
	}
	return e
}

// secretOf reports whether arguments and result are; of what is not known they
// are.
func secretOf(r *tool.Request) (in, out bool) {
	if r.Tool == nil {
		return true, true
	}
	return r.Tool.InputSensitivity >= tool.Secret, r.Tool.OutputSensitivity >= tool.Secret
}

func claimsOf(c tool.Claims) eventClaims {
	e := eventClaims{ReadOnly: c.ReadOnly, Parallel: c.Overlaps(), Reversible: c.Reversible, Local: c.Local, Idempotent: c.Idempotent}
	if c.Touches != nil {
		e.Touches = []eventAccess{}
	}
	for _, a := range c.Touches {
		e.Touches = append(e.Touches, eventAccess(a))
	}
	return e
}

// resultOf is a result as a program may see it. The text of an error may quote
// secret arguments.
func resultOf(r *tool.Request, res tool.Result) *eventResult {
	e := &eventResult{IsError: res.Err != nil, Trust: r.Source.Trust, Content: []tool.Content{}}
	if res.Err != nil {
		e.Kind = res.Err.Kind
	}
	if res.Trust != nil {
		e.Trust = min(e.Trust, *res.Trust)
	}
	if in, out := secretOf(r); out || in && e.IsError {
		e.Text, e.Content = withheld, append(e.Content, tool.Text(withheld))
		return e
	}
	e.Text, e.Content = res.String(), append(e.Content, res.Content...)
	return e
}

// text is the event as one line of JSON. Strings are not escaped for web pages.
func (e *event) text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("the event cannot be written: %w", err)
	}
	return b.Bytes(), nil
}

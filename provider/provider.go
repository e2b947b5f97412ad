package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Format is how one provider's API writes a conversation. Those of this package
// are empty structs: all state of a stream is within Stream.
type Format interface {
	// String is its name: anthropic, openai-responses, openai-chat, gemini.
	String() string
	// Render writes the definition of one tool, as it stands in Request.Tools: a
	// Format is a ferrule.Format.
	Render(d tool.Definition) ([]byte, error)
	// WriteRequest is the body of a request. What Request.Messages hold of other
	// providers' own (Part.Own) is left out.
	WriteRequest(r Request) ([]byte, error)
	// ReadRequest reads the body of a request.
	ReadRequest(body []byte) (Request, error)
	// WriteAnswer is the body of an answer that is not streamed.
	WriteAnswer(a Answer) ([]byte, error)
	// ReadAnswer reads the body of an answer that is not streamed. A body that says
	// what went wrong is an *Error.
	ReadAnswer(body []byte) (Answer, error)
	// WriteStream is an answer as a stream of server-sent events.
	WriteStream(a Answer) ([]byte, error)
	// Stream reads an answer while it comes, and tells what comes; told may be nil,
	// and is called from this goroutine. A stream that breaks off, or is malformed, is
	// an error (io.ErrUnexpectedEOF, *Error, or what the body returned), and the answer
	// then holds what was whole: text as far as it came, and no half call.
	Stream(body io.Reader, told func(Delta)) (Answer, error)
}

// Formats are all of them.
func Formats() []Format { return []Format{Anthropic{}, Responses{}, Chat{}, Gemini{}} }

// Role says who speaks. Results of calls are spoken by the user.
type Role string

// The roles of a conversation. What the host says stands in Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartKind says what a part is.
type PartKind string

// The kinds of parts.
const (
	PartText    PartKind = "text"
	PartMedia   PartKind = "media"   // an image, sound or document
	PartThought PartKind = "thought" // what the model thought, as far as it is shown
	PartRefusal PartKind = "refusal" // why it does not answer
	PartCall    PartKind = "call"    // a call of one of our tools
	PartResult  PartKind = "result"  // what came of one
	PartOwn     PartKind = "own"     // what only one provider knows: see Part.Own
)

// Part is a piece of a message. Which fields count depends on its kind.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"` // of text, thought, refusal
	// Media is an image, sound or document: Data or URI with a MediaType.
	Media  *tool.Content `json:"media,omitempty"`
	Call   *tool.Call    `json:"call,omitempty"`
	Result *Result       `json:"result,omitempty"`
	// Own is the provider's own form of this part, kept as it came, where ours cannot
	// hold all of it: a signed thought, a call that carries a signature, a search that
	// ran at the provider. Of names the format it belongs to. To that provider it goes
	// back as it came; others get the part without it, and a PartOwn not at all.
	Own json.RawMessage `json:"own,omitempty"`
	Of  string          `json:"of,omitempty"`
}

// UnmarshalJSON reads a part that was kept. One of a kind that is not known, or without
// what its kind is about, is refused: it would be left out of what a model reads.
func (p *Part) UnmarshalJSON(text []byte) error {
	type plain Part
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	missing := false
	switch p.Kind {
	case PartText, PartThought, PartRefusal, PartOwn:
	case PartMedia:
		missing = p.Media == nil
	case PartCall:
		missing = p.Call == nil
	case PartResult:
		missing = p.Result == nil
	default:
		return fmt.Errorf("part: got the kind %q, want text, media, thought, refusal, call, result or own", p.Kind)
	}
	if missing {
		return fmt.Errorf("part: got the kind %s and no %[1]s, want both", p.Kind)
	}
	return nil
}

// Text makes a part of text.
func Text(s string) Part { return Part{Kind: PartText, Text: s} }

// Result is what came of a call, as the model reads it.
type Result struct {
	CallID  string         `json:"call_id"`
	Name    string         `json:"name,omitempty"` // of the tool; Gemini wants it
	Content []tool.Content `json:"content,omitempty"`
	Error   bool           `json:"error,omitempty"`
}

// ResultOf is a tool's result as a model reads it: the text of a failure, images and
// sounds beside the text. The id is the one of the conversation, which may differ from
// what the provider sent where that was empty or repeated.
func ResultOf(id, name string, r tool.Result) Result {
	out := Result{CallID: id, Name: name, Content: r.Content, Error: r.Err != nil}
	if r.Err == nil && len(r.Content) > 0 {
		return out
	}
	out.Content = []tool.Content{tool.Text(r.String())}
	for _, c := range r.Content { // their text is in String
		if c.Type == tool.ImageContent || c.Type == tool.AudioContent {
			out.Content = append(out.Content, c)
		}
	}
	return out
}

// Request is what a model is asked.
type Request struct {
	Model    string
	System   string
	Messages []Message
	// Tools are the definitions as a JSON array, each as Format.Render writes it: what
	// View.Definitions returns. Tools that run at the provider may stand among them.
	Tools json.RawMessage
	// Choice says whether the model must call. Zero: as it likes.
	Choice    Choice
	MaxTokens int  // of the answer; 0: the provider's own (Anthropic: 8,192)
	Stream    bool // Gemini says it in the address instead
	// Cache asks for the prompt to be kept between requests, where a provider has
	// marks for that: behind the tools and the system text, and behind the last two
	// messages of the user.
	Cache bool
	// Extra are further members of the body, as they are: temperature, reasoning. They
	// replace what is written otherwise.
	Extra map[string]json.RawMessage
}

// Choice says whether a model must call a tool.
type Choice struct {
	// Mode is auto, none, any or tool; "": not said, which is auto.
	Mode string
	Name string // the one to call, where Mode is tool
	// Alone: at most one call in an answer.
	Alone bool
}

// Answer is what a model said.
type Answer struct {
	ID    string `json:"id,omitempty"`
	Model string `json:"model,omitempty"`
	Parts []Part `json:"parts,omitempty"`
	Stop  Stop   `json:"stop,omitempty"`
	Usage Usage  `json:"usage"`
}

// Calls are the calls of an answer, in order.
func (a Answer) Calls() []tool.Call {
	n := 0
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Kind == PartCall && p.Call != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	calls := make([]tool.Call, 0, n)
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Kind == PartCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Text is the text of an answer, without thoughts.
func (a Answer) Text() string {
	var text strings.Builder
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Kind == PartText {
			text.WriteString(p.Text)
		}
	}
	return text.String()
}

// Stop says why a model ended its answer.
type Stop string

// Why an answer ends. "" is not known: the stream broke off.
const (
	StopEnd     Stop = "end"     // it has said what it had to say
	StopCalls   Stop = "calls"   // it waits for results
	StopLength  Stop = "length"  // it reached a limit of tokens
	StopRefusal Stop = "refusal" // it, or a filter of the provider, refused
	StopPause   Stop = "pause"   // the provider wants to be asked again with what there is
	StopOther   Stop = "other"
)

// Usage are the tokens of a request, as providers count them. Input holds all of the
// prompt, cached or not; CacheRead and CacheWrite are parts of it. Thought is part of
// Output.
type Usage struct {
	Input      int `json:"input,omitempty"`
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Thought    int `json:"thought,omitempty"`
}

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Thought + v.Thought}
}

// DeltaKind says what has come.
type DeltaKind string

// What comes in a stream.
const (
	DeltaText    DeltaKind = "text"
	DeltaThought DeltaKind = "thought"
	DeltaRefusal DeltaKind = "refusal"
	DeltaBegun   DeltaKind = "begun" // a call whose name is known and whose input comes
	DeltaCall    DeltaKind = "call"  // a call that is complete
	// DeltaPart is another part that is complete and has a form of the provider's own: a
	// signed thought, a search at the provider. It comes before the calls that follow it.
	// Where it has text, that is the end of the text which has been told before it.
	DeltaPart DeltaKind = "part"
)

// Delta is what has come since the last one.
type Delta struct {
	Kind DeltaKind
	Text string    // of text, thought, refusal
	Call tool.Call // of DeltaBegun without input
	// Part is the whole part as the answer will have it, with what is the provider's own:
	// of DeltaCall where there is such, and of DeltaPart.
	Part *Part
}

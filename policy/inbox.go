package policy

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Question is what a person is asked: whether exactly this call may run, or
// what a running tool wants to know.
type Question struct {
	ID     string `json:"id"`
	Digest string `json:"digest"` // what the answer is bound to

	Caller Asker  `json:"caller"`
	Turn   int    `json:"turn"`
	Index  int    `json:"index"`
	Call   string `json:"call"`    // Ferrule's id of the call
	CallID string `json:"call_id"` // the provider's

	Tool   string      `json:"tool"` // as the model called it
	Source tool.Source `json:"source"`
	Claims tool.Claims `json:"claims"`
	Input  string      `json:"input"` // the exact arguments
	// Preview is what the call would do, in the tool's words; "": it has none.
	Preview string `json:"preview,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it is asked
	Rule    string `json:"rule,omitempty"`   // what said so
	// Note is a remark to show, such as NoteEarly.
	Note string `json:"note,omitempty"`
	// Wants is what a running tool asks; "": whether the call may run.
	Wants string `json:"wants,omitempty"`

	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
}

func (q Question) clone() Question {
	q.Claims.Touches = slices.Clone(q.Claims.Touches)
	return q
}

// NoteEarly stands at a question about a call whose turn has not come: what it
// shows may still change, and then it is asked again.
const NoteEarly = "earlier calls have not run yet"

// Asker is for whom a question is asked.
type Asker struct {
	Principal string `json:"principal,omitempty"`
	Tenant    string `json:"tenant,omitempty"`
	Session   string `json:"session,omitempty"`
	Client    string `json:"client,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Run       string `json:"run,omitempty"`
}

// Answer is what a person said. The zero value is no.
type Answer struct {
	Allow bool   `json:"allow"`
	By    string `json:"by,omitempty"` // who answered
	// Message goes to the model when the answer is no; Reason if there is none.
	Message string `json:"message,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Text answers what a tool wanted to know.
	Text string `json:"text,omitempty"`
	// Input are edited arguments that are allowed in the place of those shown;
	// nil: those shown.
	Input json.RawMessage `json:"input,omitempty"`
	// Withdrawn: whoever asked no longer wants to know.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

func (a Answer) clone() Answer {
	a.Input = slices.Clone(a.Input)
	return a
}

// Inbox keeps questions until they are answered. An implementation
//
//   - takes the first answer and refuses every other one,
//   - hands an answer out once, and only for the digest that was asked about,
//   - refuses answers and uses after the question has expired,
//   - shares no memory with its callers: what goes in and out is copied,
//   - is safe for concurrent use.
type Inbox interface {
	// Ask puts a question. One with an id that is there already is left as it
	// is.
	Ask(context.Context, Question) error
	// Answer answers it: [ErrNotAsked], [ErrAnswered] or [ErrExpired] say why it
	// cannot be.
	Answer(ctx context.Context, id string, a Answer) error
	// Use takes the answer: [ErrWaiting] while there is none, [ErrUsed] after
	// it was taken, [ErrChanged] for another digest.
	Use(ctx context.Context, id, digest string) (Answer, error)
	// Pending lists what is not answered, oldest first: by the time of asking,
	// then in the order of arrival.
	Pending(context.Context) ([]Question, error)
	// Watch calls f with the id of each question that is answered from now on,
	// until stop is called. f returns at once.
	Watch(f func(id string)) (stop func())
}

// What an inbox refuses.
var (
	ErrNotAsked = errors.New("no such question")
	ErrAnswered = errors.New("it is answered already")
	ErrExpired  = errors.New("it has expired")
	ErrWaiting  = errors.New("it is not answered yet")
	ErrUsed     = errors.New("the answer was used already")
	ErrChanged  = errors.New("the answer is about something else")
)

// Digest binds an answer to for whom, which definition and which exact
// arguments.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

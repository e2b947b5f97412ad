package policy

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
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
	// Definition is the digest of what the tool says of itself.
	Definition string `json:"definition,omitempty"`
	Input      string `json:"input"` // the exact arguments
	// Preview is what the call would do, in the tool's words; "": it has none.
	Preview string `json:"preview,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it is asked
	Rule    string `json:"rule,omitempty"`   // what said so
	// From says where arguments came from that were copied from what strangers
	// wrote, or from what is private: a line each.
	From []string `json:"from,omitempty"`
	// Given names the call as the model made it, so that who goes on with it in
	// another process is sure that it is the same. Hooked names the hooks that
	// have seen these arguments; of them only security hooks look again there.
	Given  string `json:"given,omitempty"`
	Hooked string `json:"hooked,omitempty"`
	// Here: only the process that asked can go on with the call. Where that is gone
	// the question is over.
	Here bool `json:"here,omitempty"`
	// Again: it belongs to no turn. Whoever makes the same call again, for the same
	// principal, goes on from it, in whichever process.
	Again bool `json:"again,omitempty"`
	// Note is a remark to show, such as NoteEarly.
	Note string `json:"note,omitempty"`
	// Wants is what a running tool asks; "": whether the call may run.
	Wants string `json:"wants,omitempty"`
	// Allowed, where a tool asks: a person has allowed the call itself.
	Allowed bool `json:"allowed,omitempty"`
	// Offers are the short rules that a yes can be made to last as, narrowest
	// first. None: a yes is for this once.
	Offers []string `json:"offers,omitempty"`

	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
}

func (q Question) clone() Question {
	q.Claims.Touches, q.Offers, q.From = slices.Clone(q.Claims.Touches), slices.Clone(q.Offers), slices.Clone(q.From)
	return q
}

// Check reports why a cannot be an answer to q: it would last as a rule that was
// not offered, or for a call that destroys without the second key.
func (q Question) Check(a Answer) error {
	switch {
	case a.Withdrawn && a.Allow:
		return errors.New("answer: a question that is withdrawn has no yes")
	case a.Rule == "" && a.Always:
		return errors.New("answer: always, but no rule: want one of the question's offers")
	case a.Rule == "":
		return nil
	case !a.Allow:
		return errors.New("answer: a no does not last: say it each time, or write a rule that denies")
	case a.Input != nil:
		return errors.New("answer: edited arguments and a rule at once: the rule was offered for the arguments shown")
	case !slices.Contains(q.Offers, a.Rule):
		return fmt.Errorf("answer: got the rule %q, want one of those offered: %q", a.Rule, q.Offers)
	case q.Claims.Destructive() && !a.Second:
		return errors.New("answer: the call may destroy something: to allow it more than once takes a second key")
	}
	return nil
}

// Open reports why a question cannot be answered any more, nor its answer be
// used: [ErrExpired], or [ErrClock], because a clock that goes back lets it last
// longer than it should. An inbox asks it.
func (q Question) Open(now time.Time) error {
	switch {
	case !q.Expires.IsZero() && !now.Before(q.Expires):
		return ErrExpired
	case now.Before(q.Asked.Add(-clockSlack)):
		return ErrClock
	}
	return nil
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
	// Rule is the one of the question's offers that answers from now on in this
	// session, or, with Always, in every session of the principal; "": this answer
	// is for this once. Second is the second key that this takes where the call
	// may destroy something.
	Rule   string `json:"rule,omitempty"`
	Always bool   `json:"always,omitempty"`
	Second bool   `json:"second,omitempty"`
	// Withdrawn: whoever asked no longer wants to know.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

func (a Answer) clone() Answer {
	a.Input = slices.Clone(a.Input)
	return a
}

// Inbox keeps questions until they are answered. An implementation
//
//   - takes the first answer that [Question.Check] has nothing against, and
//     refuses every other one,
//   - hands an answer out once, and only for the digest that was asked about,
//   - refuses answers and uses after the question has expired, and where the
//     clock stands before the time of asking,
//   - keeps the [Question.Grant] of an answer in the same step, if it is a Ledger
//     too,
//   - shares no memory with its callers: what goes in and out is copied,
//   - is safe for concurrent use, also by several processes if it lasts longer
//     than one.
type Inbox interface {
	// Ask puts a question. One with an id that is there already is left as it
	// is. One that never expires may be forgotten 90 days after it was asked, or
	// answered.
	Ask(context.Context, Question) error
	// Answer answers it: [ErrNotAsked], [ErrAnswered], [ErrExpired] or [ErrClock]
	// say why it cannot be, and so does the error of [Question.Check].
	Answer(ctx context.Context, id string, a Answer) error
	// Use takes the answer: [ErrWaiting] while there is none, [ErrUsed] after
	// it was taken, [ErrChanged] for another digest, [ErrExpired] or [ErrClock].
	Use(ctx context.Context, id, digest string) (Answer, error)
	// Find gives a question whose answer can still come or be used; else
	// [ErrNotAsked], [ErrUsed], [ErrExpired], or [ErrRejected] where the answer
	// that was used is no. One that was withdrawn is used.
	Find(ctx context.Context, id string) (Question, error)
	// Again lists the questions of a digest that are Again and whose answer can
	// still come or be used: those with an answer first, then as Pending does.
	Again(ctx context.Context, digest string) ([]Question, error)
	// Pending lists what is not answered, oldest first: by the time of asking,
	// then in the order of arrival.
	Pending(context.Context) ([]Question, error)
	// Watch calls f with the id of each question that is answered from now on,
	// until stop is called; within a quarter of a second where another process
	// answered. f returns at once.
	Watch(f func(id string)) (stop func())
}

// clockSlack is how far a clock may go back without anybody minding.
const clockSlack = 5 * time.Second

// Refusal is why an inbox or a ledger refuses.
type Refusal string

// Why an inbox refuses.
const (
	ErrNotAsked Refusal = "no such question"
	ErrAnswered Refusal = "it is answered already"
	ErrExpired  Refusal = "it has expired"
	ErrWaiting  Refusal = "it is not answered yet"
	ErrUsed     Refusal = "the answer was used already"
	ErrChanged  Refusal = "the answer is about something else"
	ErrRejected Refusal = "the answer was no"
	ErrClock    Refusal = "the clock has gone back"
	ErrNoGrant  Refusal = "no such rule"
)

// Error is the text.
func (r Refusal) Error() string { return string(r) }

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

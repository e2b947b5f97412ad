package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/policy"
)

// seal writes a value as JSON behind a sum of it and of the id that it is kept
// under: SQLite does not notice a changed byte.
func seal(id string, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return sealText(id, string(text)), nil
}

// sealText is seal for a value that is JSON already.
func sealText(id, text string) string { return policy.Digest(id, text) + " " + text }

// unseal reads what seal has written.
func unseal(id, sealed string, v any) error {
	sum, text, _ := strings.Cut(sealed, " ")
	if sum != policy.Digest(id, text) {
		return &damage{fmt.Sprintf("what is kept of %q was changed", id)}
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return &damage{fmt.Sprintf("what is kept of %q: %v", id, err)}
	}
	return nil
}

// sealQuestion refuses a question that would come out as another one.
func sealQuestion(q policy.Question) (string, error) {
	if !utf8.ValidString(q.Input) {
		return "", errors.New("got arguments that are not UTF-8, which could not be shown as they are")
	}
	q.Asked, q.Expires = q.Asked.UTC(), q.Expires.UTC()
	if year := q.Expires.Year(); year > lastYear {
		return "", fmt.Errorf("got a question that expires in the year %d, want %d or earlier, or no expiry", year, lastYear)
	}
	sealed, err := seal(q.ID, q)
	if err != nil {
		return "", err
	}
	if _, err = unsealQuestion(q.ID, q.Digest, sealed); err != nil {
		return "", fmt.Errorf("got a question that could not be read again: %s", err.Error()) // not as damage: it is not kept
	}
	return sealed, nil
}

func unsealQuestion(id, digest, sealed string) (policy.Question, error) {
	var q policy.Question
	if err := unseal(id, sealed, &q); err != nil {
		return policy.Question{}, err
	}
	if q.Digest != digest || q.ID != id {
		return policy.Question{}, &damage{fmt.Sprintf("what is kept of %q is about %q with another digest", id, q.ID)}
	}
	return q, nil
}

// keptAnswer is an answer as it is written. Edited arguments are a text in it:
// as JSON they would come out written in another way.
type keptAnswer struct {
	policy.Answer
	Input *string `json:"input,omitempty"`
}

func sealAnswer(id string, a policy.Answer) (string, error) {
	kept := keptAnswer{Answer: a}
	if a.Input != nil {
		if !utf8.Valid(a.Input) {
			return "", errors.New("answer: got edited arguments that are not UTF-8, want JSON")
		}
		text := string(a.Input)
		kept.Input = &text
	}
	return seal(id, kept)
}

func unsealAnswer(id, sealed string) (policy.Answer, error) {
	var kept keptAnswer
	if err := unseal(id, sealed, &kept); err != nil {
		return policy.Answer{}, err
	}
	kept.Answer.Input = nil
	if kept.Input != nil {
		kept.Answer.Input = []byte(*kept.Input)
	}
	return kept.Answer, nil
}

// keptSession is a session as it is written. A mode that is unknown here is kept:
// it counts as the strictest.
type keptSession struct {
	policy.SessionState
	Mode string `json:"mode"`
}

func sealSession(s policy.SessionState) (string, error) {
	s.Began, s.Seen = s.Began.UTC(), s.Seen.UTC()
	return seal(sessionID(s.Caller), keptSession{s, string(s.Mode)})
}

func unsealSession(of policy.Asker, sealed string) (policy.SessionState, error) {
	var kept keptSession
	if err := unseal(sessionID(of), sealed, &kept); err != nil {
		return policy.SessionState{}, err
	}
	s := kept.SessionState
	s.Mode = policy.Mode(kept.Mode)
	s.Caller.Tenant, s.Caller.Principal, s.Caller.Session = of.Tenant, of.Principal, of.Session
	return s, nil
}

// sessionID names a session in what is sealed.
func sessionID(a policy.Asker) string {
	return "session " + policy.Digest(a.Tenant, a.Principal, a.Session)
}

func sealGrant(g policy.Grant) (string, error) {
	g.Made = g.Made.UTC()
	sealed, err := seal(g.ID, g)
	if err != nil {
		return "", err
	}
	if _, err := unsealGrant(g.ID, sealed); err != nil {
		return "", fmt.Errorf("got a rule that could not be read again: %s", err.Error())
	}
	return sealed, nil
}

func unsealGrant(id, sealed string) (policy.Grant, error) {
	var g policy.Grant
	if err := unseal(id, sealed, &g); err != nil {
		return policy.Grant{}, err
	}
	if g.ID != id || g.Name() != id {
		return policy.Grant{}, &damage{fmt.Sprintf("what is kept of the rule %q is another one", id)}
	}
	return g, nil
}

const (
	// layout writes times so that they sort as text.
	layout = "2006-01-02T15:04:05.000000000Z"
	// lastYear is the last one of four digits: a longer one would sort before it.
	lastYear = 9999
)

// writeTime writes a time; of what is later than the last year, its end, of what
// is earlier than the year 0, its beginning.
func writeTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch t = t.UTC(); {
	case t.Year() > lastYear:
		t = time.Date(lastYear, time.December, 31, 23, 59, 59, 999_999_999, time.UTC)
	case t.Year() < 0:
		t = time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	// As layout says, in a third of the time.
	text := t.AppendFormat(make([]byte, 0, len(layout)), time.RFC3339)
	text = append(text[:len(text)-1], ".000000000Z"...)
	for i, rest := len(text)-2, t.Nanosecond(); rest > 0; i, rest = i-1, rest/10 {
		text[i] += byte(rest % 10)
	}
	return string(text)
}

func readTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return time.Time{}, &damage{fmt.Sprintf("got the time %q", text)}
	}
	return t, nil
}

package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/policy"
)

// Reply is what a person says to questions.
type Reply struct {
	IDs []string `json:"ids,omitempty"` // of several questions at once
	// Do is allow, deny, session or always: the latter two with a Rule that is offered.
	Do      string          `json:"do"`
	Rule    string          `json:"rule,omitempty"`
	Second  bool            `json:"second,omitempty"`  // the second key, for what may destroy
	Message string          `json:"message,omitempty"` // for the model, with deny
	Reason  string          `json:"reason,omitempty"`  // for the record
	Text    string          `json:"text,omitempty"`    // for a tool that asks
	Input   json.RawMessage `json:"input,omitempty"`   // edited arguments
	Edited  string          `json:"edited,omitempty"`  // the same as it was typed
	Digest  string          `json:"digest,omitempty"`  // of the question that was shown; "": it is not compared
}

func replyOf(v url.Values) (Reply, error) {
	in := Reply{
		IDs: v["id"], Do: v.Get("do"), Rule: v.Get("rule"), Second: v.Has("second"), Message: strings.TrimSpace(v.Get("message")),
		Reason: strings.TrimSpace(v.Get("reason")), Text: v.Get("text"), Digest: v.Get("digest"),
	}
	if v.Has("choice") { // one of those that the tool offers
		in.Do, in.Text = "allow", v.Get("choice")
	}
	if in.Do == "edit" {
		in.Do, in.Edited = "allow", v.Get("edited")
	}
	return in, nil
}

// answer is the reply as an answer.
func (in *Reply) answer(by string) (policy.Answer, error) {
	a := policy.Answer{By: by, Message: in.Message, Reason: in.Reason, Text: in.Text, Input: in.Input, Second: in.Second}
	switch in.Do {
	case "allow":
		if in.Message != "" {
			return a, errors.New("got a message to the model with a yes: it goes with a no; leave it out, or deny")
		}
		if in.Edited != "" {
			a.Input = json.RawMessage(in.Edited)
		}
		if a.Input != nil && !json.Valid(a.Input) {
			return a, errors.New("the arguments are not JSON: want an object such as {\"path\": \"a\"}")
		}
		a.Allow = true
	case "deny":
		a.Input, a.Second = nil, false
	case "session", "always":
		if in.Rule == "" {
			return a, errors.New("got no rule, want one of those that the question offers")
		}
		a.Allow, a.Rule, a.Always = true, in.Rule, in.Do == "always"
	default:
		return a, fmt.Errorf("got %q, want allow, deny, session or always", in.Do)
	}
	return a, nil
}

// shown refuses an answer to something else than was shown, or that the question cannot
// have: what is known before is said in words.
func (c *Console) shown(ctx context.Context, in Reply, ids []string) error {
	list, err := c.asking(ctx)
	if err != nil {
		return err
	}
	for _, q := range list {
		switch {
		case !slices.Contains(ids, q.ID):
		case in.Digest != "" && in.Digest != q.Digest:
			return errors.New("the question is another one than was shown: look at it again")
		case in.Rule != "" && q.Claims.Destructive() && !in.Second:
			return errors.New("it may destroy something: to allow it for longer, tick the second key too")
		case q.Wants != "" && in.Do == "allow" && in.Text == "":
			return fmt.Errorf("%s asks for an answer in words: write it, or deny", q.Tool)
		case q.Wants == "" && in.Text != "":
			return fmt.Errorf("%s asks nothing: it waits for a yes or a no", q.Tool)
		}
	}
	return nil
}

// reply answers questions. What cannot be answered does not keep the others from it.
func (c *Console) reply(ctx context.Context, in Reply, ids ...string) (string, error) {
	a, err := in.answer(c.By)
	if err != nil {
		return "", err
	}
	if len(ids) > 1 && (a.Rule != "" || a.Input != nil || a.Text != "") {
		return "", errors.New("several questions can be allowed once or denied: rules, arguments and words are for one")
	}
	if c.Answer == nil {
		return "", missing("questions are not answered here")
	}
	if err := c.shown(ctx, in, ids); err != nil {
		return "", err
	}
	var faults []error
	for _, id := range ids {
		err := c.Answer(ctx, id, a)
		if over, ok := errors.AsType[policy.Refusal](err); ok { // what it is wrapped in says nothing to a person
			err = over
		}
		switch {
		case err != nil && len(ids) > 1:
			faults = append(faults, fmt.Errorf("%s: %w", id, err))
		case err != nil:
			faults = append(faults, err)
		}
	}
	c.Changed()
	if len(faults) > 0 {
		return "", errors.Join(faults...)
	}
	said := cmp.Or(map[string]string{"allow": "allowed", "deny": "denied", "session": "allowed for this session", "always": "always allowed"}[in.Do], in.Do)
	if len(ids) > 1 {
		said = fmt.Sprintf("%d %s", len(ids), said)
	}
	return said, nil
}

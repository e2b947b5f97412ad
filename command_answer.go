package ferrule

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// The decisions of a program.
const (
	allows  = "allow"
	denies  = "deny"
	changes = "change"
)

// answer is what a program said.
type answer struct {
	decision        string
	message, reason string // of deny
	context         string // of allow and change: beside the result
	input           json.RawMessage
	text            *string // of the result
	json            json.RawMessage

	said string // on standard error
}

// readAnswer reads the answer to an event. Only what is understood to the last
// key is an answer.
func readAnswer(event, text string) (*answer, error) {
	if strings.Trim(text, " \t\r\n") == "" {
		return nil, errors.New(`it gave no answer: want {"decision":"allow"}, deny or change on standard output`)
	}
	var keys map[string]json.RawMessage
	if err := schema.Decode(text, &keys); err != nil {
		return nil, fmt.Errorf("its answer: %w", err)
	}
	a := new(answer)
	if err := a.read(event, keys); err != nil {
		return nil, fmt.Errorf("its answer: %w", err)
	}
	return a, nil
}

func (a *answer) read(event string, keys map[string]json.RawMessage) (err error) {
	if a.decision, err = stringIn(keys, "decision"); err != nil {
		return err
	}
	known, err := keysOf(event, a.decision)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "decision" && !slices.Contains(known, key) {
			return fmt.Errorf("key %q: want of %s on %s only %s", key, a.decision, event, strings.Join(known, ", "))
		}
	}
	for key, to := range map[string]*string{"message": &a.message, "reason": &a.reason, "context": &a.context} {
		if _, ok := keys[key]; !ok {
			continue
		}
		if *to, err = stringIn(keys, key); err != nil {
			return err
		}
	}
	if a.decision != changes {
		return nil
	}
	return a.readChange(event, keys)
}

func (a *answer) readChange(event string, keys map[string]json.RawMessage) error {
	if event == inputEvent {
		// null would be no change at all
		if a.input = keys["input"]; len(a.input) == 0 || a.input[0] != '{' {
			return fmt.Errorf("input: got %s, want the changed arguments, an object", shownAs(a.input))
		}
		return nil
	}
	_, text := keys["text"]
	value, structured := keys["json"]
	if text == structured {
		return errors.New("change: want either text or json, which takes the place of the result")
	}
	if structured {
		a.json = value
		return nil
	}
	s, err := stringIn(keys, "text")
	a.text = &s
	return err
}

// keysOf are the keys that an answer may have beside its decision.
func keysOf(event, decision string) ([]string, error) {
	switch {
	case decision == allows:
		return []string{"context"}, nil
	case decision == denies:
		return []string{"message", "reason"}, nil
	case decision == changes && event == inputEvent:
		return []string{"input", "context"}, nil
	case decision == changes:
		return []string{"text", "json", "context"}, nil
	}
	return nil, fmt.Errorf("decision: got %s, want %q, %q or %q", clipped(fmt.Sprintf("%q", decision), maxShown), allows, denies, changes)
}

// stringIn is a string of an object; null is none.
func stringIn(keys map[string]json.RawMessage, key string) (s string, err error) {
	text := keys[key]
	if len(text) == 0 || text[0] != '"' {
		return "", fmt.Errorf("%s: got %s, want a string", key, shownAs(text))
	}
	err = schema.Decode(string(text), &s)
	return s, err
}

func shownAs(text json.RawMessage) string {
	if len(text) == 0 {
		return "nothing"
	}
	return clipped(string(text), maxShown)
}

// maxShown is how many bytes of an answer an error about it shows.
const maxShown = 40

// clipped is the beginning of a text of more than so many bytes.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// instead is the result that a program wants in the place of another. A failure
// stays one, of its kind: only its text is another.
func (a *answer) instead(now tool.Result) (tool.Result, error) {
	switch {
	case now.Err != nil && a.text == nil:
		return now, errors.New("its answer: json: the call failed: want text, which takes the place of the error's")
	case now.Err != nil:
		e := *now.Err
		e.Text = *a.text
		now.Err, now.Content = &e, nil
	case a.text != nil:
		now.Content = []tool.Content{tool.Text(*a.text)}
	default:
		now.Content = []tool.Content{{Type: tool.JSONContent, JSON: a.json}}
	}
	return now, nil
}

// forOperator is why it denied: its reason, and what it said beside it.
func (a *answer) forOperator() string {
	reason := forOperator(a.reason)
	if reason == "" {
		reason = forOperator(a.message)
	}
	return strings.TrimSpace(reason + a.said)
}

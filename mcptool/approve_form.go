package mcptool

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/policy"
)

const methodElicit = "elicitation/create"

// What a person chooses, by the words in the form.
const (
	choiceAllow  = "allow"
	choiceReject = "reject"
	choiceRule   = "allow-" // and which of the question's offers
)

// maxShown is how much of a call a form shows.
const maxShown = 4 << 10

// formOf are the params of the elicitation that puts a question.
func formOf(q *policy.Question) json.RawMessage {
	properties, required := choices(q), "decision"
	if q.Wants != "" {
		properties, required = setMembers(nil, pair{"answer", setMembers(nil, pair{"type", quote("string")}, pair{"title", quote("Answer")})}), "answer"
	}
	return setMembers(nil,
		pair{"mode", quote("form")},
		pair{"message", quote(shownTo(q))},
		pair{"requestedSchema", setMembers(nil,
			pair{"type", quote("object")}, pair{"properties", properties}, pair{"required", array([]json.RawMessage{quote(required)})},
		)},
	)
}

// choices are the answers that the question can have.
func choices(q *policy.Question) json.RawMessage {
	words, names := []json.RawMessage{quote(choiceAllow)}, []json.RawMessage{quote("Allow once")}
	for i, rule := range q.Offers {
		if q.Check(policy.Answer{Allow: true, Rule: rule}) != nil {
			continue // it takes more than one key
		}
		words = append(words, quote(choiceRule+strconv.Itoa(i)))
		names = append(names, quote("Allow in this session: "+Visible(rule)))
	}
	words, names = append(words, quote(choiceReject)), append(names, quote("Reject"))
	return setMembers(nil,
		pair{"decision", setMembers(nil, pair{"type", quote("string")}, pair{"title", quote("May it run?")}, pair{"enum", array(words)}, pair{"enumNames", array(names)})},
		pair{"message", setMembers(nil, pair{"type", quote("string")}, pair{"title", quote("What the model is told, if you reject")})},
	)
}

// shownTo is what a person reads. All of it comes from others but our own words:
// what would not be seen is shown.
func shownTo(q *policy.Question) string {
	var b strings.Builder
	name := Visible(q.Tool)
	if q.Source.Name != "" {
		name += " (of " + Visible(q.Source.Name) + ")"
	}
	if q.Wants != "" {
		b.WriteString(name + " asks:\n\n" + cut(Visible(q.Wants)))
		return b.String()
	}
	b.WriteString(name + " wants to run.\n\n" + cut(Visible(cmp.Or(q.Preview, q.Input))))
	if q.Reason != "" {
		b.WriteString("\n\nWhy you are asked: " + cut(Visible(q.Reason)))
	}
	b.WriteString("\n\n(ferrule approvals show " + q.ID + " has all of it.)")
	return b.String()
}

// cut is the beginning of a text that is too long.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	at := maxShown
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + "… (" + strconv.Itoa(len(text)-at) + " more bytes)"
}

// readForm is the answer that a client gave; false: its user has not decided.
func readForm(q *policy.Question, result json.RawMessage) (policy.Answer, bool) {
	content, _ := member(result, "content")
	switch textMember(result, "action") {
	case "decline":
		return policy.Answer{Message: textMember(content, "message")}, true
	case "accept":
	default:
		return policy.Answer{}, false
	}
	if q.Wants != "" {
		text, ok := member(content, "answer")
		return policy.Answer{Allow: true, Text: textMember(content, "answer")}, ok && kindOf(text) == '"'
	}
	switch word := textMember(content, "decision"); {
	case word == choiceAllow:
		return policy.Answer{Allow: true}, true
	case word == choiceReject:
		return policy.Answer{Message: textMember(content, "message")}, true
	case strings.HasPrefix(word, choiceRule):
		i, err := strconv.Atoi(word[len(choiceRule):])
		if err != nil || i < 0 || i >= len(q.Offers) {
			return policy.Answer{}, false
		}
		return policy.Answer{Allow: true, Rule: q.Offers[i]}, true
	}
	return policy.Answer{}, false
}

// approvesByClient reports whether a client's user is asked through the client.
func (g *Gateway) approvesByClient(f *face, form json.RawMessage) bool {
	return !g.ApproveElsewhere && f != nil && f.refuses(methodElicit, form) == nil
}

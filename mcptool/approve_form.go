package mcptool

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

const methodElicit = "elicitation/create"

// What a person chooses, by the words in the form.
const (
	choiceAllow  = "allow"
	choiceReject = "reject"
	choiceRule   = "allow-" // and which of the question's offers
)

// maxShown is how much of a call a form shows, in bytes of each part.
const maxShown = 4 << 10

// formOf are the params of the elicitation that puts a question.
func formOf(q *policy.Question) json.RawMessage {
	properties, required := choices(q), "decision"
	if q.Wants != "" && isWhole(q) {
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

// isWhole reports whether a form shows everything that a yes would be about. What
// nobody can have read cannot be allowed there.
func isWhole(q *policy.Question) bool {
	for _, text := range []string{q.Input, q.Preview, q.Wants} {
		if len(text) > maxShown || len(Visible(text)) > maxShown {
			return false
		}
	}
	return true
}

// choices are the answers that the question can have.
func choices(q *policy.Question) json.RawMessage {
	var words, names []json.RawMessage
	add := func(word, name string) { words, names = append(words, quote(word)), append(names, quote(name)) }
	if isWhole(q) {
		add(choiceAllow, "Allow once")
		for i, rule := range q.Offers {
			if q.Check(policy.Answer{Allow: true, Rule: rule}) == nil { // else it takes more than one key
				add(choiceRule+strconv.Itoa(i), "Allow in this session: "+Visible(rule))
			}
		}
	}
	add(choiceReject, "Reject")
	return setMembers(nil,
		pair{"decision", setMembers(nil, pair{"type", quote("string")}, pair{"title", quote("May it run?")}, pair{"enum", array(words)}, pair{"enumNames", array(names)})},
		pair{"message", setMembers(nil, pair{"type", quote("string")}, pair{"title", quote("What the model is told, if you reject")})},
	)
}

// shownTo is what a person reads. All of it comes from others but our own words:
// what would not be seen is shown.
func shownTo(q *policy.Question) string {
	var b strings.Builder
	name := visibleLine(q.Tool, maxRemark)
	if q.Source.Name != "" {
		name += " (of " + visibleLine(q.Source.Name, maxRemark) + ")"
	}
	if q.Wants != "" {
		b.WriteString(name + " asks:\n\n" + cut(Visible(q.Wants)) + "\n\nIt was called with:\n" + cut(Visible(q.Input)))
	} else {
		b.WriteString(name + " wants to run.\n\n" + cut(Visible(q.Input)))
		if q.Preview != "" {
			b.WriteString("\n\nWhat it would do, in the tool's words:\n" + cut(Visible(q.Preview)))
		}
		b.WriteString("\n\n" + effects(q.Claims) + "\nSource: " + sourceOf(q))
		for _, l := range []struct{ label, text string }{{"Why you are asked", q.Reason}, {"Rule", q.Rule}, {"Note", q.Note}} {
			if l.text != "" {
				b.WriteString("\n" + l.label + ": " + visibleLine(l.text, maxRemark))
			}
		}
		for _, from := range q.From {
			b.WriteString("\nCopied: " + visibleLine(from, maxRemark))
		}
	}
	switch {
	case isWhole(q):
		b.WriteString("\n\n(ferrule approvals show " + q.ID + " has all of it.)")
	case q.Wants != "":
		b.WriteString("\n\nThis is too long to be answered here. Read it by: ferrule approvals show " + q.ID + "\nand answer it in the console or on the screen of ferrule up, or by: ferrule approvals allow " + q.ID + " --text ANSWER")
	default:
		b.WriteString("\n\nThis is too long to be allowed here. Read it by: ferrule approvals show " + q.ID + "\nand allow it in the console or on the screen of ferrule up, or by: ferrule approvals allow " + q.ID)
	}
	return b.String()
}

// maxRemark is how much of a name or a reason a form shows, in characters.
const maxRemark = 1000

// effects is what a call may do, as far as its claims are believed.
func effects(c tool.Claims) string {
	text := "It MAY DESTROY something"
	switch {
	case c.ReadOnly:
		text = "It only reads"
	case c.Reversible:
		text = "It changes only what can be undone"
	}
	if c.Local {
		return text + ", and stays on this machine."
	}
	return text + ", and may reach outside this machine."
}

// sourceOf is where a tool comes from, and how far that is trusted.
func sourceOf(q *policy.Question) string {
	if q.Source.Name == "" {
		return "the program itself"
	}
	text := visibleLine(q.Source.Name, maxRemark) + ", trust " + q.Source.Trust.String()
	if q.Source.Trust.Untrusted() {
		text += ": not trusted"
	}
	return text
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
	word := textMember(content, "decision")
	if !isWhole(q) && word != choiceReject {
		return policy.Answer{}, false // it was no choice
	}
	if q.Wants != "" && isWhole(q) {
		text, ok := member(content, "answer")
		return policy.Answer{Allow: true, Text: textMember(content, "answer")}, ok && kindOf(text) == '"'
	}
	switch {
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

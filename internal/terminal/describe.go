package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// Line is one line of what a person is shown. What is in it can be printed as it
// is.
type Line struct {
	Label string // "": it belongs to the line above
	Text  string
	Alarm bool // to be highlighted
}

// Describe is everything about a question that a person must know: what would
// run, by whom it is offered and for whom it runs, what it claims, the exact
// arguments, what it would do, and why it is asked.
func Describe(q policy.Question, now time.Time) []Line {
	return append(describe(q), times(q, now))
}

// times is the one line that changes while a question waits.
func times(q policy.Question, now time.Time) Line {
	return Line{Label: "asked", Text: Visible(timesText(q, now))}
}

func describe(q policy.Question) []Line {
	var d description
	d.add("tool", q.Tool)
	d.add("source", sourceText(q))
	if q.Claims.Destructive() {
		d.alarm("DESTROYS", "what it changes may be lost for good")
	}
	d.add("reason", q.Reason)
	d.add("rule", q.Rule)
	for i, from := range q.From {
		label := ""
		if i == 0 {
			label = "copied"
		}
		d.list = append(d.list, Line{Label: label, Text: Visible(from)})
	}
	if q.Note != "" {
		d.alarm("note", q.Note)
	}
	d.many("it asks", q.Wants)
	d.many("arguments", Pretty(q.Input))
	d.many("preview", q.Preview)
	d.add("claims", claimsText(q))
	for i, a := range q.Claims.Touches {
		label := ""
		if i == 0 {
			label = "touches"
		}
		d.list = append(d.list, Line{Label: label, Text: Visible(accessWord(a.Write) + " " + a.Resource)})
	}
	d.add("for", forText(q))
	return d.list
}

// Once says what a yes that is not made to last was for. One to the flow of data is for
// where the data goes.
func Once(q policy.Question) string {
	if strings.Contains(q.Rule, "data flow (") {
		return "allowed; so is what goes to the same place, until the session ends"
	}
	return "allowed once"
}

// DescribeOffers are the rules that a yes can be made to last as, by number.
func DescribeOffers(q policy.Question) []Line {
	var d description
	for i, o := range q.Offers {
		label := ""
		if i == 0 {
			label = "offers"
		}
		d.list = append(d.list, Line{Label: label, Text: fmt.Sprintf("%d  %s  (%s)", i+1, Visible(o), OfferText(o))})
	}
	return d.list
}

// OfferText says in words what a rule that is offered covers.
func OfferText(rule string) string {
	r, err := policy.ParseRule(rule, "")
	switch {
	case err != nil:
		return "a rule that cannot be read"
	case r.Inside() == "":
		return "every call of the tool"
	case strings.HasPrefix(r.Inside(), "args: "):
		return "exactly these arguments"
	}
	return "calls that fit it"
}

// Pretty lays JSON out over several lines. Every character of it stays as it is.
func Pretty(text string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return text
	}
	return b.String()
}

type description struct{ list []Line }

func (d *description) add(label, text string) {
	if text != "" {
		d.list = append(d.list, Line{Label: label, Text: Visible(text)})
	}
}

func (d *description) alarm(label, text string) {
	d.list = append(d.list, Line{Label: label, Text: Visible(text), Alarm: true})
}

func (d *description) many(label, text string) {
	if text == "" {
		return
	}
	for i, l := range VisibleLines(text) {
		if i > 0 {
			label = ""
		}
		d.list = append(d.list, Line{Label: label, Text: l})
	}
}

func sourceText(q policy.Question) string {
	name := q.Source.Name
	if name == "" {
		name = "the program itself"
	}
	text := name + ", trust " + q.Source.Trust.String()
	if q.Source.Trust.Untrusted() {
		text += ": not trusted"
	}
	return text
}

func claimsText(q policy.Question) string {
	c := q.Claims
	var words []string
	switch {
	case c.ReadOnly:
		words = append(words, "only reads")
	case c.Reversible:
		words = append(words, "changes what can be undone")
	default:
		words = append(words, "changes what cannot be undone")
	}
	if c.Local {
		words = append(words, "stays on this machine")
	} else {
		words = append(words, "may reach outside this machine")
	}
	if c.Idempotent {
		words = append(words, "a second run does no more than the first")
	}
	switch {
	case c.Touches == nil:
		words = append(words, "may touch anything")
	case len(c.Touches) == 0:
		words = append(words, "touches nothing")
	}
	return strings.Join(words, "; ")
}

func accessWord(write bool) string {
	if write {
		return "write"
	}
	return "read "
}

func forText(q policy.Question) string {
	who := q.Caller.Principal
	if who == "" {
		who = "local"
	}
	for _, p := range []struct{ word, text string }{
		{"tenant", q.Caller.Tenant}, {"session", q.Caller.Session}, {"client", q.Caller.Client}, {"agent", q.Caller.Agent}, {"run", q.Caller.Run},
	} {
		if p.text != "" {
			who += ", " + p.word + " " + p.text
		}
	}
	return who + fmt.Sprintf(" (turn %d, call %d)", q.Turn, q.Index+1)
}

func timesText(q policy.Question, now time.Time) string {
	text := Ago(q.Asked, now)
	if q.Expires.IsZero() {
		return text
	}
	if left := q.Expires.Sub(now); left > 0 {
		return text + ", can be answered for " + short(left)
	}
	return text + ", has expired"
}

// Ago says how long something is past.
func Ago(then, now time.Time) string {
	if d := now.Sub(then); d >= time.Second {
		return short(d) + " ago"
	}
	return "just now"
}

// short is a time in its two largest units.
func short(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

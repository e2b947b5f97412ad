package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// mostKept is how large the content of a result can be that is kept, in bytes. Of
// a larger one it is known that it was there.
const mostKept = 16 << 20

// entry is a record as it stands in the store.
type entry struct {
	durable.Record
	number int64
	key    string // what it answers for
	owner  string
}

// entryColumns are those that scanEntry reads.
const entryColumns = `number, id, tenant, principal, session, turn, place, key, owner, attempt, call, outcome`

// keptCall is what is known of a call when it begins, beside what has a column of
// its own.
type keptCall struct {
	CallID  string    `json:"call_id,omitempty"`
	Source  string    `json:"source,omitempty"`
	Tool    string    `json:"tool"`
	Given   string    `json:"given"`
	Key     string    `json:"key,omitempty"`
	Digest  string    `json:"digest,omitempty"`
	Repeats bool      `json:"repeats,omitempty"`
	Input   string    `json:"input,omitempty"`
	Began   time.Time `json:"began"`
}

// keptOutcome is what became of it.
type keptOutcome struct {
	Ended    time.Time   `json:"ended"`
	Result   *keptResult `json:"result,omitempty"`
	Failed   bool        `json:"failed,omitempty"`
	Fatal    bool        `json:"fatal,omitempty"`
	Resolved string      `json:"resolved,omitempty"`
	Note     string      `json:"note,omitempty"`
}

// keptResult is a result as it is written. JSON is a text in it: as JSON it would
// come out written in another way.
type keptResult struct {
	tool.Result
	Content []keptContent `json:"content,omitempty"`
}

type keptContent struct {
	tool.Content
	JSON *string `json:"json,omitempty"`
}

// keepResult keeps no result that is too large.
func keepResult(r *tool.Result) *keptResult {
	if r == nil {
		return nil
	}
	kept := &keptResult{Result: *r}
	size := 0
	for _, c := range r.Content {
		if size += len(c.Text) + len(c.JSON) + len(c.Data); size > mostKept {
			return nil
		}
		k := keptContent{Content: c}
		if c.JSON != nil {
			text := string(c.JSON)
			k.JSON = &text
		}
		kept.Content = append(kept.Content, k)
	}
	return kept
}

func (k *keptResult) result() *tool.Result {
	if k == nil {
		return nil
	}
	r := k.Result
	r.Content = nil
	for _, c := range k.Content {
		c.Content.JSON = nil
		if c.JSON != nil {
			c.Content.JSON = []byte(*c.JSON)
		}
		r.Content = append(r.Content, c.Content)
	}
	return &r
}

// checkRecord refuses a record that would come out as another one.
func checkRecord(r *durable.Record) error {
	if r.ID == "" {
		return errors.New("got a record without an id")
	}
	for _, text := range []string{r.ID, r.Place.Tenant, r.Place.Principal, r.Place.Session, r.CallID, r.Source, r.Tool, r.Given, r.Key, r.Digest, r.Input} {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("got %q, want UTF-8 without a zero byte", text)
		}
	}
	return nil
}

// claim is what a record answers for: one effect, for a tool and a principal.
func claim(r *durable.Record) string {
	if r.Key == "" {
		return ""
	}
	return policy.Digest(r.Place.Tenant, r.Place.Principal, r.Source, r.Tool, r.Key)
}

// name is what a call, and what became of it, is sealed with: all that has a
// column of its own and stays.
func (e *entry) name() string {
	return strings.Join([]string{
		e.ID, e.Place.Tenant, e.Place.Principal, e.Place.Session, strconv.Itoa(e.Place.Turn), strconv.Itoa(e.Place.Index), e.owner, strconv.Itoa(e.Attempt),
	}, "\x00")
}

// sealCall writes a keptCall. It does so by hand: it is written for each call.
func (e *entry) sealCall() (string, error) {
	if year := e.Began.Year(); year < 0 || year > lastYear {
		return "", fmt.Errorf("got a call that began in the year %d, want 0 to %d", year, lastYear)
	}
	b := make([]byte, 0, 256+len(e.Input))
	b = appendText(append(b, '{'), "tool", e.Tool)
	b = appendText(append(b, ','), "given", e.Given)
	for _, f := range [...]struct{ name, text string }{{"call_id", e.CallID}, {"source", e.Source}, {"key", e.Key}, {"digest", e.Digest}, {"input", e.Input}} {
		if f.text != "" {
			b = appendText(append(b, ','), f.name, f.text)
		}
	}
	if e.Repeats {
		b = append(b, `,"repeats":true`...)
	}
	b = append(e.Began.UTC().AppendFormat(append(b, `,"began":"`...), time.RFC3339Nano), `"}`...)
	return sealText(e.name(), string(b)), nil
}

// appendText appends a name and a text as JSON.
func appendText(b []byte, name, text string) []byte {
	b = append(append(append(b, '"'), name...), `":`...)
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // which takes every text
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// sealOutcome writes what became of a call.
func (e *entry) sealOutcome(o keptOutcome) (string, error) {
	if text, ok := o.plain(); ok {
		return sealText("outcome "+e.name(), text), nil
	}
	return seal("outcome "+e.name(), o)
}

// plain is what most outcomes are, a result of one text, written by hand.
func (o *keptOutcome) plain() (string, bool) {
	r := o.Result
	if r == nil || len(r.Content) != 1 || r.Err != nil || r.Trust != nil || r.Origin != nil || o.Failed || o.Fatal || o.Resolved != "" || o.Note != "" || o.Ended.Year() > lastYear {
		return "", false
	}
	c := &r.Content[0]
	if c.Type != tool.TextContent || c.JSON != nil || c.Data != nil || c.MediaType != "" || c.Name != "" || c.URI != "" || c.Width != 0 || c.Height != 0 {
		return "", false
	}
	b := make([]byte, 0, 192+len(c.Text))
	b = o.Ended.AppendFormat(append(b, `{"ended":"`...), time.RFC3339Nano)
	b = appendText(append(b, `","result":{`...), "id", r.ID)
	b = appendText(append(b, ','), "call_id", r.CallID)
	b = appendText(append(b, `,"content":[{"type":"text",`...), "text", c.Text)
	return string(append(b, `}]}}`...)), true
}

// scanEntry reads a record. Whether it is Live is not known yet.
func scanEntry(scan func(...any) error) (e entry, err error) {
	var call, outcome string
	if err := scan(&e.number, &e.ID, &e.Place.Tenant, &e.Place.Principal, &e.Place.Session, &e.Place.Turn, &e.Place.Index,
		&e.key, &e.owner, &e.Attempt, &call, &outcome); err != nil {
		return e, err
	}
	var c keptCall
	if err := unseal(e.name(), call, &c); err != nil {
		return e, err
	}
	e.CallID, e.Source, e.Tool, e.Given, e.Key, e.Digest, e.Repeats, e.Input, e.Began = c.CallID, c.Source, c.Tool, c.Given, c.Key, c.Digest, c.Repeats, c.Input, c.Began
	if e.key != "" && e.key != claim(&e.Record) {
		return e, &damage{fmt.Sprintf("the call %q has a key that is not its own", e.ID)}
	}
	e.State = durable.Running
	if outcome == "" {
		return e, nil
	}
	var o keptOutcome
	if err := unseal("outcome "+e.name(), outcome, &o); err != nil {
		return e, err
	}
	e.State, e.Ended, e.Result, e.Failed, e.Fatal, e.Resolved, e.Note = durable.Done, o.Ended, o.Result.result(), o.Failed, o.Fatal, o.Resolved, o.Note
	return e, nil
}

func scanRows(rows *sql.Rows) (entry, error) { return scanEntry(rows.Scan) }

// outcome is what became of a call, to be kept at another place too.
func (e *entry) outcome() keptOutcome {
	return keptOutcome{e.Ended, keepResult(e.Result), e.Failed, e.Fatal, e.Resolved, e.Note}
}

// answers reports whether a call that is done answers for others of its key.
func (e *entry) answers(now time.Time) bool {
	return e.State == durable.Done && !e.Failed && now.Sub(e.Ended) < durable.KeyTime
}

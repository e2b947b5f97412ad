package store

import (
	"database/sql"
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

func (e *entry) sealCall() (string, error) {
	return seal(e.name(), keptCall{e.CallID, e.Source, e.Tool, e.Given, e.Key, e.Digest, e.Repeats, e.Input, e.Began.UTC()})
}

func (e *entry) sealOutcome(o keptOutcome) (string, error) { return seal("outcome "+e.name(), o) }

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

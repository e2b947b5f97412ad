package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Entry is an event as it is kept: one line of JSON. What is not set is left out
// of it. Whoever knows a later form of it adds keys: keys that are not known are
// passed over.
type Entry struct {
	Time time.Time `json:"time"` // UTC
	Kind Kind      `json:"kind"`

	Tenant    string `json:"tenant,omitempty"`
	Principal string `json:"principal,omitempty"` // of a call; "" is local
	Session   string `json:"session,omitempty"`
	Turn      int    `json:"turn,omitempty"`
	Index     int    `json:"index,omitempty"`   // of a call: its place in the turn, from 0
	ID        string `json:"id,omitempty"`      // of a call: Ferrule's own; "": it is of no call
	CallID    string `json:"call_id,omitempty"` // the provider's
	Tool      string `json:"tool,omitempty"`    // as it is called; or the source

	// What is known of a call when it arrives, and again when it changes.

	CalledAs string `json:"called_as,omitempty"` // "": as Tool says
	Source   string `json:"source,omitempty"`    // "": the program itself
	Trust    string `json:"trust,omitempty"`     // of the source
	Mode     string `json:"mode,omitempty"`      // of the session; "": it asks
	Class    string `json:"class,omitempty"`     // what its claims come to
	Client   string `json:"client,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Run      string `json:"run,omitempty"`

	By       string     `json:"by,omitempty"`
	Text     string     `json:"text,omitempty"`
	Args     string     `json:"args,omitempty"`
	ArgsCut  *Cutting   `json:"args_cut,omitempty"` // nil: Args are whole
	Question string     `json:"question,omitempty"`
	Decision *Judgement `json:"decision,omitempty"`
	Result   *Outcome   `json:"result,omitempty"`
	// Flow is that of the [Event].
	Flow json.RawMessage `json:"flow,omitempty"`
	// Took is in nanoseconds.
	Took time.Duration `json:"took_ns,omitempty"`
}

// Cutting is what is known of arguments that were too long to be kept.
type Cutting struct {
	Bytes  int  `json:"bytes"`
	SHA256 Hash `json:"sha256"`
}

// Judgement is a decision as it is kept.
type Judgement struct {
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Outcome is what is kept of a result: how it went, how much it was, and its
// beginning.
type Outcome struct {
	IsError bool   `json:"is_error,omitempty"`
	Kind    string `json:"kind,omitempty"`   // of an error
	Text    string `json:"text,omitempty"`   // of an error: for the model
	Detail  string `json:"detail,omitempty"` // of an error: for the operator
	Blocks  int    `json:"blocks,omitempty"`
	Bytes   int    `json:"bytes,omitempty"`
	Chars   int    `json:"chars,omitempty"` // of text and JSON; 0: as many as bytes
	Preview string `json:"preview,omitempty"`
	// Trust is how far it is believed, where that is less than its source is; Origin
	// whose content it is, where that is not the tool that was called.
	Trust  string       `json:"trust,omitempty"`
	Origin *tool.Origin `json:"origin,omitempty"`
}

const (
	// maxArgs is how much of arguments is kept, in bytes.
	maxArgs = 16 << 10
	// maxFlow is how long what is said of the flow of data may be, in bytes: what is
	// longer is left out.
	maxFlow = 32 << 10
	// maxText is how much is kept of any other text, in bytes.
	maxText = 4 << 10
	// maxPreview is how much of a result is kept, in characters.
	maxPreview = 200
)

// ParseEntry reads a line.
func ParseEntry(line string) (Entry, error) {
	var e Entry
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return Entry{}, fmt.Errorf("audit: got a line that is no entry: %w", err)
	}
	if e.Kind == "" {
		return Entry{}, errors.New("audit: got a line without a kind, want an entry")
	}
	return e, nil
}

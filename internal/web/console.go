package web

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Console is what is shown and what can be done. All fields are set before it is
// served. Functions are safe for concurrent use; where one is nil, what it would do is
// not offered. Their errors are shown to the person.
type Console struct {
	// Place is what is served, such as the folder; Version that of the program.
	Place, Version string
	// Key opens the console: the first link has it. It is no client's token: who calls
	// tools must not be able to allow them.
	Key string
	// Hosts are the values of Host that are taken beside the names of this machine.
	Hosts []string
	// By is who answers here, for the record.
	By string

	// Pending are the questions that wait, oldest first; Answer answers one.
	Pending func(context.Context) ([]policy.Question, error)
	Answer  func(ctx context.Context, id string, a policy.Answer) error

	// Lines are lines of the record, oldest first; Last is the place of the newest.
	// Verify looks whether the record is as it was written.
	Lines  func(context.Context, Filter) ([]Line, error)
	Last   func(context.Context) (int64, error)
	Verify func(context.Context) (Chain, error)

	// Writes reports whether the writer of a line is there: what one has begun that is
	// not goes on nowhere. Left are the calls that may have changed something and were cut
	// off so, oldest first; Resolve is a person who says what became of one.
	Writes  func(writer string) bool
	Left    func(context.Context) ([]Left, error)
	Resolve func(ctx context.Context, call string, done bool, note string) error

	// Withheld is what stands in the place of the arguments and of the results of a tool,
	// where the pages are not given them; "": they are. Questions show what they ask about.
	Withheld func(tool string) (args, results string)
	// Result is the part of a call's result, kept whole, that begins at a place and is so
	// many bytes long at most. Its lines say which it is.
	Result func(ctx context.Context, lines []Line, at int64, most int) (Piece, error)

	// Stop stops a call of this process, by Ferrule's id, and reports whether it ran.
	Stop func(call string) bool

	// Changes are those that tools made to files, newest first. Diff is what undoing one
	// would do; since is who has changed the file since, so that it takes force. Undo
	// does it, and says what it did.
	Changes func(context.Context) ([]Change, error)
	Diff    func(ctx context.Context, id string) (diff, since string, err error)
	Undo    func(ctx context.Context, id string, force bool) (said string, err error)

	// Tools are all that there are, those that are not offered too. Try makes a call
	// through every gate, and gives Ferrule's id of it as soon as it has one.
	Tools func(context.Context) ([]Tool, error)
	Try   func(ctx context.Context, tool string, args json.RawMessage) (call string, err error)

	// Says is what a tool claims of itself, believed or not.
	Says func(tool string) tool.Claims

	// Rules are those of the configuration and those that answers were made to last
	// as; Revoke takes one of the latter back, Replace has it say something else.
	// Explain says what would become of a call.
	Rules   func(context.Context) (Rules, error)
	Revoke  func(ctx context.Context, id, reason string) error
	Replace func(ctx context.Context, id, rule string, second bool) error
	Explain func(context.Context, Imagined) (Explained, error)

	// Servers are those of the configuration. Settle accepts tools of one as they are
	// now, or leaves them out: as is the digest of what was shown, all of them or one
	// (Server.As, Pin.As).
	Servers func(context.Context) ([]Server, error)
	Settle  func(ctx context.Context, server, as string, accept bool) error

	once  sync.Once
	mux   http.Handler
	pages map[string]*template.Template
	door  door
	feed  feed
	book  book
	stand stand
}

// Filter says which lines of the record are wanted: all of some calls or questions, or
// those that fit.
type Filter struct {
	Calls     []string // by Ferrule's id; nil: those that fit
	Questions []string // by their ids in the inbox; nil: those that fit

	Kind          audit.Kind
	Tool, Session string
	Verdict, Text string
	After         int64 // a place: what stands behind it
	Before        int64 // a place: what stands before it; 0: no bound
	Newest        int   // only so many, the last ones; 0: all
	Oldest        int   // only so many, the first ones; 0: all
}

// Line is a line of the record.
type Line struct {
	Place  int64  `json:"place"`
	Writer string `json:"-"` // for Console.Writes
	audit.Entry
}

// Chain is how the record stands.
type Chain struct {
	Rows    int      `json:"rows"`
	Writers int      `json:"writers"`
	Faults  []string `json:"faults"` // none: it is as it was written
	Text    string   `json:"text,omitempty"`
}

// Change is one that a tool made to a file.
type Change struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Path     string    `json:"path"`
	File     string    `json:"file"` // the path as people write it
	What     string    `json:"what"` // created, changed, removed
	Tool     string    `json:"tool,omitempty"`
	Call     string    `json:"call,omitempty"`
	Session  string    `json:"session,omitempty"`
	Of       string    `json:"of,omitempty"`        // the change that it has undone
	UndoneBy string    `json:"undone_by,omitempty"` // the change that has undone it
}

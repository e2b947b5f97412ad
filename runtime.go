package ferrule

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// Runtime holds the tools and the rules that every call passes. Set all fields
// before the first Add or Session. What is set later is not used: the next Add
// refuses because of it, and a finding says so. The zero value works and denies
// nearly everything; a denial's text for the operator names the field to set.
//
// All methods are safe for concurrent use.
type Runtime struct {
	// Policy are the rules. Nil: silent, so that only calls of the program's own
	// and built-in tools which claim ReadOnly and Local are allowed.
	Policy policy.Policy
	// Decide is the host's own word on each call, beside the rules: a
	// classifier, say. Failing, it denies. Nil: silent.
	Decide func(context.Context, *tool.Request) (tool.Decision, error)
	// AskReads asks also for calls that only read on this machine, where nobody
	// spoke about them. Zero: they are allowed.
	AskReads bool

	// Inbox keeps the questions to a person. Nil: nobody can be asked, unless
	// Answer is set.
	Inbox policy.Inbox
	// Answer answers questions by a function: a prompt in the terminal, a model.
	// The first answer wins, its own or one through the inbox. It may take as
	// long as the question lasts. Failing, it denies.
	Answer func(context.Context, policy.Question) (policy.Answer, error)
	// Expiry is how long a question can be answered. 0: 24 hours.
	Expiry time.Duration
	// Ledger keeps what is known of sessions beyond this process: the mode that a
	// person chose, what was allowed for longer than once, how many calls were
	// made, and the numbers of turns, so that one can be gone on with after a
	// restart. A call is denied where it fails. Nil: all that ends with this
	// process.
	Ledger policy.Ledger
	// Rates bound how many calls may run. One that is none is a finding, and no
	// call runs. Nil: they are not counted.
	Rates []policy.Rate
	// Mode is how far sessions let calls run without asking, where nobody chose
	// otherwise with Session.SetMode. "": the rules say it.
	Mode policy.Mode
	// Workspace is the folder that policy.ModeEdit allows changes in, absolute.
	// "": none. Protected are files and folders that no mode lets calls change
	// unasked, beside .ferrule and ferrule.yaml in there: those that rules stand in.
	Workspace string
	Protected []string

	// Hooks see every call, in this order.
	Hooks []Hook
	// Observe is told what happens, at once and from many goroutines. It may
	// only look, and returns soon. What a tool says while it runs does not wait
	// for it: where too much waits, the oldest progress goes, then the oldest
	// output, and tool.Update.Missed says how much. Nil: events are not even made.
	Observe func(audit.Event)
	// Trace begins the trace of each call as it arrives, when its name was looked up.
	// What the call runs sees the values of the context that is returned, which must
	// not end before the one that was given. The function is told of the call's
	// events, but for what its tool says while it runs, from many goroutines: Ended
	// is the last, before the result is given out, unless the call was given up. Both
	// may only look, and return soon; package telemetry has one. Nil: nothing is traced.
	Trace func(context.Context, *tool.Request) (context.Context, func(audit.Event))

	// Log puts what happens on the record: the same events, but for what a tool
	// says while it runs. What cannot be put there does not go on: a call fails
	// before it has begun, or its result is withheld. Nil: there is no record.
	Log audit.Log
	// Journal keeps a record of each call that is not ReadOnly, from before its
	// tool starts, so that after a crash no call is lost and none runs twice: see
	// [Runtime.Resume]. Calls of one idempotency key run once. It wants a Ledger
	// that lasts as long: turns are numbered there. Nil: what becomes of a call is
	// known while this process lives.
	Journal durable.Journal
	// SyncEnds has the journal on the disk also when a call that may not run twice
	// without harm has ended, before its result is given out. Zero: if the machine
	// loses its power at that moment, such a call is said to have an unknown
	// outcome, or one with a key runs once more.
	SyncEnds bool

	// Blobs keeps results that are too long, whole, so that their session can read
	// them with the tool read_result, which passes every rule like any other; the
	// model is shown 4,000 characters. What is older than 7 days is removed from
	// the store now and then, whoever put it there. Nil: the beginning and the end
	// of such a result are all that is left.
	Blobs durable.Blobs
	// CountTokens counts tokens as the model does; package tokens has one. It is
	// asked only where the length of a text does not say enough. Nil, or failing:
	// by length.
	CountTokens func(text string) int
	// Summarize makes a short text of a result that is too long, for tools whose
	// Limit says so. Nil, or failing: its beginning and its end are left.
	Summarize func(ctx context.Context, r *tool.Request, text string) (string, error)
	// TurnChars is how many characters the results of a turn may have together;
	// the largest are cut first. 0: 200,000; tool.Unlimited must be said.
	TurnChars int

	// Secrets are what tools may use that name it in Info.Secrets, with
	// tool.Env.Secret while they run. A value that was given out is taken out of
	// everything that leaves afterwards: results, errors, what calls say, events,
	// questions, recordings. Nil: every secret is refused.
	Secrets *secret.Vault
	// Guard keeps content safe: what strangers write is marked on its way to the
	// model, and data does not go where nobody sent it without a question. Nil: the
	// defaults, as [guard.Guard] has them. With one that is wrong no call runs.
	Guard *guard.Guard

	// AllowLoop says whether a call may run all the same that an agent has made so
	// many times in a loop, with the same results, within one Caller.Run: give
	// each request of a person a name there. Nil, or failing: it may not.
	AllowLoop func(ctx context.Context, r *tool.Request, times int) bool

	// Limit is how many calls of a turn run at once. 0: what the environment
	// variable FERRULE_MAX_CONCURRENCY says, else 10. What is no such number
	// counts as 1 and is a finding.
	Limit int
	// SourceLimits and TenantLimits cap how many calls of a source or a tenant
	// run at once, over all sessions. Nil, or not named: no cap.
	SourceLimits, TenantLimits map[string]int
	// Siblings says when a failing call stops those beside it. "": when its tool
	// asks for it.
	Siblings Siblings

	// Collisions says what tools of outside sources are called. "": with their
	// source in front.
	Collisions Collisions
	// Trust raises or lowers a source, by its name, whatever it was set with.
	Trust map[string]tool.Trust
	// Believe says whether to believe the claims of a tool of an untrusted
	// source. Nil: no.
	Believe func(tool.Source, *tool.Info) bool
	// Repair mends arguments that are not JSON, once; [schema.Repair] is one.
	// Nil: they are refused.
	Repair func(text string) (mended string, changes []string, err error)
	// Refresh is asked after all results of a turn for the program's own tools
	// from the next turn on. Nil, or nil returned: they stay. Failing, they stay
	// too, and an event says so.
	Refresh func(context.Context, tool.Caller) ([]*tool.Tool, error)

	// Embedder tells what is meant, so that tools are found whose words nobody said;
	// package search/vectors has one. Where it fails, or takes longer than its Wait,
	// words alone are looked for. Nil: so they are always.
	Embedder *search.Embedder
	// About is what a source says of itself: its tools are found by those words too.
	// They are shown to nobody. Nil: nothing is known.
	About func(source string) string

	// Record writes down each call with its final result, to be replayed. Nil:
	// nothing is written, and nothing is spent on it.
	Record *Recorder
	// Replay answers every call from a recording: no tool runs, and nobody is
	// asked, whatever comes. Nil: calls run.
	Replay *Replay

	once sync.Once
	set  settings

	reg      registry
	mu       sync.Mutex
	sessions map[sessionKey]*conversation
	closed   bool
}

// Siblings says when a failing call stops the calls beside it.
type Siblings string

// A failing call stops those beside it never, where its tool asked for that (the
// default), or always. Calls that conflict with it are not beside it.
const (
	StopAsked  Siblings = ""
	StopNever  Siblings = "never"
	StopAlways Siblings = "always"
)

// settings are the fields of a Runtime as they were when it was first used.
type settings struct {
	policy      policy.Policy
	decide      func(context.Context, *tool.Request) (tool.Decision, error)
	inbox       policy.Inbox
	answer      func(context.Context, policy.Question) (policy.Answer, error)
	expiry      time.Duration
	askReads    bool
	ledger      policy.Ledger
	lasting     bool // the ledger is the host's
	kept        bool // it is the inbox too, which keeps the rules that answers are made to last as
	rates       []policy.Rate
	badRate     error
	mode        policy.Mode
	workspace   string
	protected   []string
	hooks       []Hook
	observe     func(audit.Event)
	trace       func(context.Context, *tool.Request) (context.Context, func(audit.Event))
	book        *book // nil: there is no log
	journal     durable.Journal
	together    bool             // the log is the journal
	owed        []durable.Ending // that could not be written; guarded by found
	syncEnds    bool
	limit       int
	siblings    Siblings
	repair      func(string) (string, []string, error)
	refresh     func(context.Context, tool.Caller) ([]*tool.Tool, error)
	record      *Recorder
	replay      *Replay
	secrets     *secret.Vault
	guard       *guard.Guard
	flow        *flow.Rules // nil: the defaults
	redacts     bool        // keys or personal data are taken out
	badGuard    error
	blobs       durable.Blobs
	reader      *entry // of kept results; nil: none are kept
	swept       atomic.Pointer[time.Time]
	countTokens func(string) int
	summarize   func(context.Context, *tool.Request, string) (string, error)
	turnChars   int
	allowLoop   func(context.Context, *tool.Request, int) bool
	sources     map[string]*gate
	tenants     map[string]*gate
	taken       []trace // of the fields
	found       sync.Mutex
	findings    []Finding // about settings
	told        int       // of them, to the observer
	name        string    // random, so that ids are unique over all processes
	trust       map[string]tool.Trust
	believe     func(tool.Source, *tool.Info) bool
	names       Collisions
	serials     atomic.Uint64 // of turns, sessions without a name, and questions
	spare       sync.Pool     // turns that nobody knows of any more
	berths      sync.Pool     // and where the calls of others were
	gateLock    sync.Mutex
	tools       map[gateKey]*gate
	strays      int     // gates made since those that nobody needs were forgotten
	over        *ending // of functions that have returned
}

// taken are the fields as they were when it was first called.
func (rt *Runtime) taken() *settings {
	rt.once.Do(rt.take)
	return &rt.set
}

// freeze is taken for who may have changed a field since: the observer is told.
func (rt *Runtime) freeze() *settings {
	_ = rt.begun() // who can refuse does
	return &rt.set
}

// begun is freeze with an error where a field was set later. The observer is told
// once of what was found about each, outside of every lock.
func (rt *Runtime) begun() error {
	set := rt.taken()
	late := rt.late()
	set.find(late...)
	if len(late) > 0 {
		return errors.New(late[0].Text)
	}
	return nil
}

// find keeps what was found about a setting, and tells the observer what it was
// not told yet.
func (s *settings) find(all ...Finding) {
	s.found.Lock()
	for _, f := range all {
		f.Text = s.scrubText(f.Text)
		if !slices.Contains(s.findings, f) {
			s.findings = append(s.findings, f)
		}
	}
	news := s.findings[s.told:]
	s.told = len(s.findings)
	s.found.Unlock()
	if s.noted() {
		for _, f := range news {
			s.emit(audit.Event{Kind: audit.Found, Name: f.Name, Text: f.Text})
		}
	}
}

func (rt *Runtime) take() {
	s := &rt.set
	s.taken = rt.traces()
	s.policy, s.decide, s.askReads = rt.Policy, rt.Decide, rt.AskReads
	s.inbox, s.answer, s.expiry = rt.Inbox, rt.Answer, rt.Expiry
	if s.inbox == nil && s.answer != nil {
		s.inbox = new(policy.Memory)
	}
	if s.expiry <= 0 {
		s.expiry = 24 * time.Hour
	}
	s.govern(rt)
	s.hooks, s.observe, s.trace = slices.Clone(rt.Hooks), rt.Observe, rt.Trace
	if rt.Log != nil {
		s.book = &book{Log: rt.Log}
	}
	for i := range s.hooks {
		s.hooks[i].Only = s.hooks[i].Only.clone()
	}
	s.allowLoop = rt.AllowLoop
	s.siblings, s.repair, s.refresh = rt.Siblings, rt.Repair, rt.Refresh
	s.record, s.replay = rt.Record, rt.Replay
	s.secrets, s.guard, s.flow = rt.Secrets, rt.Guard, flowRules(rt.Guard)
	s.redacts = s.guard.Redacts()
	if s.badGuard = s.guard.Check(); s.badGuard != nil {
		s.findings = append(s.findings, Finding{"Runtime.Guard", s.badGuard.Error() + ": no call runs"})
	}
	s.trust, s.believe, s.names = maps.Clone(rt.Trust), rt.Believe, rt.Collisions
	s.sources, s.tenants = gates(rt.SourceLimits), gates(rt.TenantLimits)
	s.setLimit(rt.Limit)
	s.over = &ending{cause: errOver}
	s.name = strings.ToLower(rand.Text()[:nameSize])
	rt.reg.open(rt)
	s.keep(rt)
}

// govern takes how sessions stand.
func (s *settings) govern(rt *Runtime) {
	s.ledger, s.lasting = rt.Ledger, rt.Ledger != nil
	if own, ok := s.inbox.(*policy.Memory); !s.lasting && ok {
		s.ledger = own
	} else if !s.lasting {
		s.ledger = new(policy.Memory)
	}
	s.kept = traceOf(reflect.ValueOf(s.inbox)) == traceOf(reflect.ValueOf(s.ledger))
	for _, p := range rt.Protected {
		s.protected = append(s.protected, filepath.ToSlash(filepath.Clean(p)))
	}
	s.together = rt.Journal != nil && traceOf(reflect.ValueOf(rt.Journal)) == traceOf(reflect.ValueOf(rt.Log))
	if s.journal, s.syncEnds = rt.Journal, rt.SyncEnds; s.journal != nil && !s.lasting {
		s.findings = append(s.findings, Finding{"Runtime.Journal", "it is set without Runtime.Ledger: turns of a later process have the same numbers, and calls there are refused"})
	}
	s.rates = slices.Clone(rt.Rates)
	for i, r := range s.rates {
		if err := r.Check(); err != nil {
			s.badRate = err
			s.findings = append(s.findings, Finding{fmt.Sprintf("Runtime.Rates[%d]", i), err.Error() + ": no call runs"})
		}
	}
	if s.mode = rt.Mode; !s.mode.Known() {
		s.findings = append(s.findings, Finding{"Runtime.Mode", fmt.Sprintf("got %q, want ask, edit, read, auto, observe or dry-run: only calls that read may run", string(rt.Mode))})
	}
	switch {
	case rt.Workspace == "":
	case filepath.IsAbs(rt.Workspace):
		s.workspace = filepath.ToSlash(filepath.Clean(rt.Workspace))
	default:
		s.findings = append(s.findings, Finding{"Runtime.Workspace", fmt.Sprintf("got %q, want an absolute path: it counts as none", rt.Workspace)})
	}
}

// keep takes what becomes of long results.
func (s *settings) keep(rt *Runtime) {
	s.blobs, s.countTokens, s.summarize = rt.Blobs, rt.CountTokens, rt.Summarize
	s.turnChars = rt.TurnChars
	if s.turnChars < 0 && s.turnChars != tool.Unlimited {
		s.findings = append(s.findings, Finding{"Runtime.TurnChars", fmt.Sprintf("got %d, want 0 for %d, more, or tool.Unlimited", rt.TurnChars, defaultTurnChars)})
		s.turnChars = 0
	}
	if s.turnChars == 0 {
		s.turnChars = defaultTurnChars
	}
	if s.blobs == nil {
		return
	}
	var err error
	if s.reader, err = rt.reg.addReader(s.blobs, meter{chars: pageChars, tokens: pageTokens, count: s.countTokens}); err != nil {
		s.blobs = nil // nobody could read what is kept
		s.findings = append(s.findings, Finding{"Runtime.Blobs", err.Error()})
	}
}

// nameSize is how long the random name of a runtime is.
const nameSize = 12

// maxConcurrency names the environment variable for Runtime.Limit.
const (
	maxConcurrency     = "FERRULE_MAX_CONCURRENCY"
	defaultConcurrency = 10
)

// setLimit takes Runtime.Limit. What is no number of calls counts as one.
func (s *settings) setLimit(n int) {
	s.limit = max(n, 1)
	switch text := os.Getenv(maxConcurrency); {
	case n < 0:
		s.findings = append(s.findings, Finding{"Runtime.Limit", fmt.Sprintf("got %d, want a whole number from 1 on, or 0: calls run one at a time", n)})
	case n == 0 && text == "":
		s.limit = defaultConcurrency
	case n == 0:
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 {
			limit = 1
			s.findings = append(s.findings, Finding{maxConcurrency, fmt.Sprintf("got %q, want a whole number from 1 on: calls run one at a time", text)})
		}
		s.limit = limit
	}
}

// Close ends every session as [Session.Close] does.
func (rt *Runtime) Close(ctx context.Context) error {
	rt.mu.Lock()
	rt.closed = true
	all := make([]*conversation, 0, len(rt.sessions))
	for _, c := range rt.sessions {
		c.closed.Store(true) // while it waits for one, none of the others goes on
		all = append(all, c)
	}
	rt.mu.Unlock()
	var errs []error
	for _, c := range all {
		errs = append(errs, c.close(ctx))
	}
	errs = append(errs, rt.reg.library.close(ctx), rt.set.flush(ctx))
	return errors.Join(errs...)
}

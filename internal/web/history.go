package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/tool"
)

// history are calls that were looked for, newest first.
type history struct {
	Wanted wanted  `json:"filter"`
	Calls  []*Call `json:"calls"`
	// Older is what to ask for those before them (before=); 0: there are none. Bounded:
	// there may be none, as it was looked no further.
	Older    int64     `json:"older,omitempty"`
	Looked   int       `json:"looked"` // how many calls were looked at
	Bounded  bool      `json:"bounded,omitempty"`
	Lines    int64     `json:"lines"` // on the record
	Sessions []session `json:"sessions"`
	Record   *checked  `json:"record,omitempty"` // as it stood when somebody last looked
}

// Still reports whether the page is not to be kept up to date: it took long to find.
func (h history) Still() bool { return h.Looked > mostLooked/5 }

// Tools are those of the calls that are shown.
func (h history) Tools() []string { return h.values(func(c *Call) string { return c.Tool }) }

// Sources are those of the calls that are shown.
func (h history) Sources() []string {
	return h.values(func(c *Call) string { return cmp.Or(c.Source, ownSource) })
}

// values are the names that can be offered: those with nothing hidden in them.
func (h history) values(of func(*Call) string) (all []string) {
	for _, c := range h.Calls {
		if name := of(c); terminal.Visible(name) == name {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// session is one that was seen lately.
type session struct {
	ID     string    `json:"id"`
	Client string    `json:"client,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	Last   time.Time `json:"last"`
}

// How much is shown, and how far it is looked for.
const (
	pageCalls   = 100
	batchCalls  = 500
	mostLooked  = 5000
	sessionsOf  = 300 // calls: the sessions that are offered are theirs
	mostSession = 20
)

func (c *Console) historyRoutes(m *http.ServeMux) {
	pair(c, m, "/history", "history", "History", func(r *http.Request) (history, error) {
		w, err := wantedOf(r.URL.Query())
		if err != nil {
			return history{}, err
		}
		return c.history(r.Context(), w)
	})
	pairAt(c, m, "/history/{id}", "/calls/{id}", "call", "Call", func(r *http.Request) (*life, error) {
		return c.life(r.Context(), r.PathValue("id"))
	})
	pairAt(c, m, "/history/result/{id}", "/calls/{id}/result", "result", "Result", c.resultPage)
	pairAt(c, m, "/history/record", "/record", "record", "The record", func(r *http.Request) (*checked, error) {
		return c.check(r.Context())
	})
	c.book.add(operation{method: http.MethodGet, path: "/api/export", kind: "application/x-ndjson"})
	m.HandleFunc("GET /api/export", c.export)
	c.changeRoutes(m)
}

// wanted says which calls are looked for. The zero value wants all.
type wanted struct {
	Tool     string `json:"tool,omitempty"`
	Source   string `json:"source,omitempty"` // own: the program itself
	State    State  `json:"state,omitempty"`
	Kind     string `json:"kind,omitempty"`     // of an error
	Decision string `json:"decision,omitempty"` // allow, ask, deny
	Session  string `json:"session,omitempty"`
	Text     string `json:"text,omitempty"`   // stands in something that is known of it
	Before   int64  `json:"before,omitempty"` // a place; 0: no bound
}

// ownSource is how the program itself is named among sources.
const ownSource = "own"

func wantedOf(q url.Values) (w wanted, err error) {
	w = wanted{
		Tool: q.Get("tool"), Source: q.Get("source"), State: State(q.Get("state")), Kind: q.Get("kind"), Decision: q.Get("decision"),
		Session: q.Get("session"), Text: strings.TrimSpace(q.Get("text")),
	}
	if w.State != "" && !slices.Contains(w.States(), w.State) {
		return w, oneOf("state", string(w.State), w.States())
	}
	if w.Kind != "" && !slices.Contains(w.Kinds(), tool.Kind(w.Kind)) {
		return w, oneOf("kind", w.Kind, w.Kinds())
	}
	if w.Decision != "" && !slices.Contains(w.Decisions(), w.Decision) {
		return w, oneOf("decision", w.Decision, w.Decisions())
	}
	if text := q.Get("before"); text != "" {
		if w.Before, err = strconv.ParseInt(text, 10, 64); err != nil || w.Before <= 0 {
			return w, mistaken(fmt.Sprintf("before: got %q, want a place of the record, such as 120", text))
		}
	}
	return w, nil
}

func oneOf[T ~string](name, got string, want []T) error {
	var b strings.Builder
	for i, one := range want {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(one))
	}
	return mistaken(fmt.Sprintf("%s: got %q, want one of: %s", name, got, b.String()))
}

// States are all that can be looked for.
func (wanted) States() []State {
	return []State{Waiting, Asked, Running, Done, Failed, Refused, Stopped, Lost}
}

// Kinds are the kinds of errors that can be looked for.
func (wanted) Kinds() []tool.Kind {
	return []tool.Kind{
		tool.Aborted, tool.Denied, tool.Expired, tool.Failed, tool.FlowBlocked, tool.HookBlocked, tool.InvalidInput, tool.InvalidOutput, tool.InvalidValue,
		tool.Loop, tool.NeedsUser, tool.NotLoaded, tool.OutcomeUnknown, tool.Pending, tool.RateLimited, tool.Rejected, tool.Sandbox, tool.Suspended,
		tool.Timeout, tool.UnknownTool, tool.UnsafeContent,
	}
}

// Decisions are those that can be looked for.
func (wanted) Decisions() []string { return []string{"allow", "ask", "deny"} }

// Any reports whether something is looked for that not all calls have.
func (w wanted) Any() bool {
	w.Before = 0
	return w != wanted{}
}

// Query is the same as it stands in an address, from a place on; 0: from the newest.
func (w wanted) Query(before int64) template.URL {
	q := url.Values{}
	for _, pair := range [][2]string{
		{"tool", w.Tool},
		{"source", w.Source},
		{"state", string(w.State)},
		{"kind", w.Kind},
		{"decision", w.Decision},
		{"session", w.Session},
		{"text", w.Text},
	} {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return template.URL(q.Encode()) //nolint:gosec // it is encoded: a template would do so again
}

// first says which first lines can be of calls that are wanted.
func (w wanted) first() Filter {
	return Filter{Kind: audit.Requested, Tool: w.Tool, Session: w.Session}
}

// later reports whether more than the first line is needed to tell.
func (w wanted) later() bool {
	return w.Source != "" || w.State != "" || w.Kind != "" || w.Decision != "" || w.Text != ""
}

// fits reports whether a call is wanted, of which first says so already.
func (w wanted) fits(call *Call, lines []Line) bool {
	switch {
	case w.Source != "" && cmp.Or(call.Source, ownSource) != w.Source,
		w.State != "" && call.State != w.State,
		w.Kind != "" && call.Kind != w.Kind,
		w.Decision != "" && !slices.ContainsFunc(lines, func(l Line) bool { return l.Decision != nil && l.Decision.Verdict == w.Decision }),
		w.Text != "" && !said(lines, strings.ToLower(w.Text)):
		return false
	}
	return true
}

// said reports whether a text, in lower case, stands in what was said of a call.
func said(lines []Line, text string) bool {
	for i := range lines {
		l := &lines[i]
		all := []string{l.ID, l.CallID, l.Tool, l.CalledAs, l.Source, l.Session, l.Client, l.Agent, l.Run, l.Principal, l.By, l.Text, l.Args, l.Question}
		if strings.ContainsAny(text, ":,&<>") { // as they are shown, in a list and on the page of a call
			all = append(all, argsText(l.Args, len(l.Args)), unescaped(strings.ReplaceAll(l.Args, `":`, `": `)))
		}
		if d := l.Decision; d != nil {
			all = append(all, d.Rule, d.Reason)
		}
		if r := l.Result; r != nil {
			all = append(all, r.Kind, r.Text, r.Detail, r.Preview)
		}
		if slices.ContainsFunc(all, func(s string) bool { return strings.Contains(strings.ToLower(s), text) }) {
			return true
		}
	}
	return false
}

// found is a call with its lines.
type found struct {
	at    int64 // the place where it stands
	call  *Call
	lines []Line
}

// among are the calls of requests, in their order. One that has several, because it went
// on later or was made anew, stands at the first of the last time it was made, of those
// that are wanted, and only there.
func (c *Console) among(ctx context.Context, want wanted, requests []Line) ([]found, error) {
	if _, err := c.asking(ctx); err != nil { // before the record: see waits
		return nil, err
	}
	lines, err := c.lives(ctx, requests)
	if err != nil {
		return nil, err
	}
	calls, err := c.alive(ctx, fold(lines))
	if err != nil {
		return nil, err
	}
	of := make(map[string]*found, len(calls))
	for _, call := range calls {
		one := &found{call: call}
		for _, id := range append(call.earlier, call.ID) {
			of[id] = one
		}
	}
	begun := make(map[string]bool)
	for _, l := range lines {
		one := of[l.ID]
		one.lines = append(one.lines, l)
		if l.Kind == audit.Requested && !begun[l.ID] && (want.Tool == "" || want.Tool == l.Tool) && (want.Session == "" || want.Session == l.Session) {
			begun[l.ID], one.at = true, l.Place
		}
	}
	var all []found
	for _, l := range requests {
		if one := of[l.ID]; one != nil && one.at == l.Place {
			all = append(all, *one)
		}
	}
	return all, nil
}

// history is a page of calls.
func (c *Console) history(ctx context.Context, w wanted) (h history, err error) {
	h = history{Wanted: w, Calls: []*Call{}, Sessions: []session{}, Record: c.stand.last.Load()}
	if c.Lines == nil {
		return h, nil
	}
	if c.Last != nil {
		if h.Lines, err = c.Last(ctx); err != nil {
			return h, err
		}
	}
	if err := c.look(ctx, w, &h); err != nil {
		return h, err
	}
	h.Sessions, err = c.sessions(ctx, w.Session)
	return h, err
}

// look fills a page: it looks backwards until there are enough calls, and one more,
// which says that there are older ones.
func (c *Console) look(ctx context.Context, w wanted, h *history) error {
	f := w.first()
	f.Before, f.Newest = w.Before, pageCalls+1
	if w.later() {
		f.Newest = batchCalls
	}
	last := int64(0) // the place of the last call that is shown
	for h.Looked < mostLooked {
		requests, err := c.read(ctx, f)
		if err != nil || len(requests) == 0 {
			return err
		}
		some, err := c.among(ctx, w, requests)
		if err != nil {
			return err
		}
		for _, one := range slices.Backward(some) {
			h.Looked++
			if !w.fits(one.call, one.lines) {
				continue
			}
			if len(h.Calls) == pageCalls {
				h.Older = last
				return nil
			}
			h.Calls, last = append(h.Calls, one.call), one.at
		}
		f.Before = requests[0].Place
		if len(requests) < f.Newest {
			return nil
		}
	}
	h.Older, h.Bounded = f.Before, true
	return nil
}

// sessions are those that were seen last, newest first, and the one that is looked at.
func (c *Console) sessions(ctx context.Context, chosen string) ([]session, error) {
	lines, err := c.read(ctx, Filter{Kind: audit.Requested, Newest: sessionsOf})
	all := []session{}
	for _, l := range slices.Backward(lines) {
		if len(all) == mostSession {
			break
		}
		if l.Session != "" && !slices.ContainsFunc(all, func(s session) bool { return s.ID == l.Session }) {
			all = append(all, session{l.Session, l.Client, l.Agent, l.Time})
		}
	}
	if chosen != "" && !slices.ContainsFunc(all, func(s session) bool { return s.ID == chosen }) {
		all = append(all, session{ID: chosen})
	}
	return all, err
}

// export writes the lines of all calls that are wanted, or all lines, oldest first: a
// line of JSON each.
func (c *Console) export(w http.ResponseWriter, r *http.Request) {
	want, err := wantedOf(r.URL.Query())
	if err == nil && c.Lines == nil {
		err = missing("there is no record here")
	}
	if err != nil {
		c.refuse(w, r, statusOf(err), err)
		return
	}
	f := want.first()
	if !want.Any() {
		f = Filter{} // also what is of no call
	}
	f.Before, f.Oldest = want.Before, batchCalls
	out := http.NewResponseController(w)
	for begun := false; ; begun = true {
		lines, next, err := c.exported(r.Context(), want, f)
		switch {
		case err != nil && !begun:
			c.refuse(w, r, statusOf(err), err)
			return
		case err != nil:
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to have who reads see that it is not whole
		case !begun:
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Content-Disposition", `attachment; filename="ferrule-record.jsonl"`)
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for i := range lines {
			if e.Encode(&lines[i]) != nil {
				return // nobody reads it any more
			}
		}
		if next == 0 || out.Flush() != nil {
			return
		}
		f.After = next
	}
}

// exported is the next piece of an export, and behind which place the one after it
// begins; 0: there is none.
func (c *Console) exported(ctx context.Context, want wanted, f Filter) (lines []Line, next int64, err error) {
	read, err := c.read(ctx, f)
	if err != nil || len(read) == 0 {
		return nil, 0, err
	}
	if len(read) == f.Oldest {
		next = read[len(read)-1].Place
	}
	if !want.Any() {
		return read, next, nil
	}
	some, err := c.among(ctx, want, read)
	for _, one := range some {
		if want.fits(one.call, one.lines) {
			lines = append(lines, one.lines...)
		}
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Place, b.Place) })
	return lines, next, err
}

package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// Now is what happens, and what waits.
type Now struct {
	At      time.Time         `json:"at"`
	Pending []policy.Question `json:"pending"`
	Unknown []Left            `json:"unknown"` // calls of which a person must say what became of them
	Groups  []Group           `json:"groups"`  // newest first
	Running int               `json:"running"`
	More    bool              `json:"more,omitempty"` // calls of the last hour, older than those
}

// Group are calls of a session that belong together: those of a turn, or those that a
// client made one after another.
type Group struct {
	Session string    `json:"session"`
	Client  string    `json:"client,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Calls   []*Call   `json:"calls"`
}

// How much of what was is shown beside what is.
const (
	nowCalls = 60
	nowAge   = time.Hour
	nowGap   = 2 * time.Second // between calls of one group
)

func (c *Console) nowRoutes(m *http.ServeMux) {
	pair(c, m, "/{$}", "now", "Now", func(r *http.Request) (Now, error) { return c.now(r.Context()) })
	act(c, m, "/questions/{id}", replyOf, func(r *http.Request, in Reply) (string, error) {
		return c.reply(r.Context(), in, r.PathValue("id"))
	})
	act(c, m, "/questions", replyOf, func(r *http.Request, in Reply) (string, error) {
		if len(in.IDs) == 0 {
			return "", errors.New("nothing was chosen: mark the questions that you mean")
		}
		return c.reply(r.Context(), in, in.IDs...)
	})
	give(c, m, "/questions", "Questions that wait", func(r *http.Request) ([]policy.Question, error) {
		list, err := c.asking(r.Context())
		return append([]policy.Question{}, list...), err
	})
	act(c, m, "/calls/{id}/resolve", fateOf, func(r *http.Request, in fate) (string, error) {
		return c.resolve(r.Context(), r.PathValue("id"), in)
	})
	act(c, m, "/calls/{id}/stop", func(url.Values) (struct{}, error) { return struct{}{}, nil }, func(r *http.Request, _ struct{}) (string, error) {
		if c.Stop == nil || !c.Stop(r.PathValue("id")) {
			return "", missing("that call does not run here any more: it has ended, or another process runs it")
		}
		return "it is being stopped", nil
	})
}

func (c *Console) now(ctx context.Context) (n Now, err error) {
	n.At, n.Pending, n.Groups, n.Unknown = time.Now(), []policy.Question{}, []Group{}, []Left{}
	pending, err := c.asking(ctx)
	if err != nil {
		return n, err
	}
	n.Pending = append(n.Pending, pending...)
	if n.Unknown, err = c.unknown(ctx); err != nil {
		return n, err
	}
	var also []string // however many came after them
	for id := range c.feed.live() {
		also = append(also, id)
	}
	for i := range pending {
		also = append(also, pending[i].Call)
	}
	first, err := c.requests(ctx, Filter{Newest: nowCalls + 1})
	if err != nil {
		return n, err
	}
	if len(first) > nowCalls {
		n.More = first[0].Time.After(n.At.Add(-nowAge))
		first = first[1:]
	}
	calls, err := c.callsOf(ctx, first, also...)
	if err != nil {
		return n, err
	}
	calls = slices.DeleteFunc(calls, func(call *Call) bool { return until(call, n.At).Before(n.At.Add(-nowAge)) })
	for _, call := range calls {
		if call.State == Running {
			n.Running++
		}
	}
	n.Groups = append(n.Groups, grouped(calls, n.At)...)
	return n, nil
}

// unknown are the calls of which nobody knows what became of them, oldest first.
func (c *Console) unknown(ctx context.Context) ([]Left, error) {
	if c.Left == nil {
		return []Left{}, nil
	}
	left, err := c.left(ctx)
	return slices.DeleteFunc(full(left), func(l Left) bool { return l.Again }), err
}

// left are the calls that were cut off, as the pages may show them.
func (c *Console) left(ctx context.Context) ([]Left, error) {
	left, err := c.Left(ctx)
	for i := range left {
		if w := c.withheld(left[i].Tool); w.args != "" && left[i].Args != "" {
			left[i].Args = w.args
		}
	}
	return left, err
}

// fate is what a person says of a call that was cut off.
type fate struct {
	Done *bool  `json:"done"`           // it has happened; false: it has not, and runs when its turn goes on
	Note string `json:"note,omitempty"` // how they know: for the record, and with done for the model
}

func fateOf(v url.Values) (in fate, err error) {
	switch word := v.Get("done"); word {
	case "true", "false":
		yes := word == "true"
		in.Done = &yes
	}
	in.Note = strings.TrimSpace(v.Get("note"))
	return in, nil
}

func (c *Console) resolve(ctx context.Context, call string, in fate) (string, error) {
	switch {
	case c.Resolve == nil:
		return "", missing("what became of calls is not said here")
	case in.Done == nil:
		return "", errors.New("got no done, want true where it has happened, or false")
	}
	if err := c.Resolve(ctx, call, *in.Done, in.Note); err != nil {
		return "", err
	}
	c.Changed()
	if *in.Done {
		return "done: that is its result when its turn goes on", nil
	}
	return "not done: it runs when its turn goes on", nil
}

// lookedAt are the questions that waited when a request first looked.
type lookedAt struct {
	once sync.Once
	list []policy.Question
	err  error
}

// lookedKey is where a request has them.
type lookedKey struct{}

// looking has everything that is made for one request look at the questions once.
func looking(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), lookedKey{}, new(lookedAt)))
}

// asking are the questions that wait, as the request has first seen them.
func (c *Console) asking(ctx context.Context) ([]policy.Question, error) {
	if c.Pending == nil {
		return nil, nil
	}
	had, ok := ctx.Value(lookedKey{}).(*lookedAt)
	if !ok {
		return c.Pending(ctx)
	}
	had.once.Do(func() { had.list, had.err = c.Pending(ctx) })
	return had.list, had.err
}

// waits reports whether a question is still asked, which the record says of it: it was
// when the request began, and answered meanwhile, or it came meanwhile.
func (c *Console) waits(ctx context.Context, id string) (bool, error) {
	has := func(list []policy.Question) bool {
		return slices.ContainsFunc(list, func(q policy.Question) bool { return q.ID == id })
	}
	list, err := c.asking(ctx)
	if err != nil || has(list) || c.Pending == nil {
		return err == nil && c.Pending != nil, err
	}
	list, err = c.Pending(ctx)
	return has(list), err
}

// requests are the first lines of calls.
func (c *Console) requests(ctx context.Context, f Filter) ([]Line, error) {
	if c.Lines == nil {
		return nil, nil
	}
	if _, err := c.asking(ctx); err != nil { // before the record: see waits
		return nil, err
	}
	f.Kind = audit.Requested
	return c.read(ctx, f)
}

// callsOf are those of first lines, and some by their ids, with all that is known of
// them, oldest first.
func (c *Console) callsOf(ctx context.Context, first []Line, also ...string) ([]*Call, error) {
	for _, id := range also {
		first = append(first, Line{Entry: audit.Entry{ID: id}})
	}
	if len(first) == 0 || c.Lines == nil {
		return nil, nil
	}
	lines, err := c.lives(ctx, first)
	if err != nil {
		return nil, err
	}
	return c.alive(ctx, fold(lines))
}

// alive adds what only is known now: what calls say that run in this process, whether
// those with a question are still asked for, and whether the process of the others is
// there.
func (c *Console) alive(ctx context.Context, all []*Call) ([]*Call, error) {
	live := c.feed.live()
	for _, call := range all {
		if l, ok := live[call.ID]; ok && call.State == Running {
			call.Live, call.Here = &l, c.Stop != nil
		}
		if call.State == Asked {
			waits, err := c.waits(ctx, call.Question)
			if err != nil {
				return nil, err
			}
			if !waits {
				call.State = Stopped // who called it must call again
				call.mark("not asked any more")
			}
		}
		if !call.Over() && call.writer != "" && c.Writes != nil && !c.Writes(call.writer) {
			call.cutOff()
		}
	}
	if c.Left == nil || !slices.ContainsFunc(all, func(c *Call) bool { return c.State == Lost }) {
		return all, nil
	}
	left, err := c.left(ctx)
	if err != nil {
		return nil, err
	}
	for _, call := range all {
		if i := slices.IndexFunc(left, func(l Left) bool { return call.State == Lost && call.is(l.Call) }); i >= 0 {
			call.Left = &left[i]
		}
	}
	return all, nil
}

// cutOff is that the process of a call is gone.
func (c *Call) cutOff() {
	switch {
	case c.State == Running:
		c.State, c.Text = Lost, "Its process ended before it did."
	case c.State == Waiting && !c.back:
		c.State = Stopped
		c.mark("its process ended before it ran")
	}
}

// grouped puts calls that belong together into groups, the newest first.
func grouped(calls []*Call, now time.Time) []Group {
	var all []*Group
	last := make(map[string]*Group)
	for _, call := range calls {
		end := until(call, now)
		g := last[call.Session]
		if g == nil || call.Turn != g.Calls[len(g.Calls)-1].Turn && call.Requested.After(g.To.Add(nowGap)) {
			g = &Group{Session: call.Session, Client: call.Client, Agent: call.Agent, From: call.Requested, To: end}
			last[call.Session] = g
			all = append(all, g)
		}
		g.Calls = append(g.Calls, call)
		if end.After(g.To) {
			g.To = end
		}
	}
	slices.SortStableFunc(all, func(a, b *Group) int { return b.From.Compare(a.From) })
	list := make([]Group, len(all))
	for i, g := range all {
		for _, call := range g.Calls {
			call.After = waitedFor(call, g.Calls)
		}
		list[i] = *g
	}
	return list
}

// until is when a call ended: now, where it has not.
func until(c *Call, now time.Time) time.Time {
	switch {
	case c.Over() && !c.Ended.IsZero():
		return c.Ended
	case c.Over():
		return c.last
	case c.back && c.State == Waiting:
		return c.Answered
	}
	return now
}

// waitShown is how long a call waits before it is said for what.
const waitShown = 5 * time.Millisecond

// waitedFor is the tool of the call that ran for most of the time that this one waited
// for its start; "": it did not wait, or for something else.
func waitedFor(c *Call, all []*Call) (name string) {
	ready := c.Requested
	if c.Answered.After(ready) {
		ready = c.Answered
	}
	waited := c.Started.Sub(ready)
	if waited < waitShown {
		return ""
	}
	var longest time.Duration
	for _, o := range all {
		if o == c || o.Started.IsZero() || o.Ended.IsZero() || o.Ended.After(c.Started) {
			continue
		}
		from := ready
		if o.Started.After(from) {
			from = o.Started
		}
		if d := o.Ended.Sub(from); d > longest {
			longest, name = d, o.Tool
		}
	}
	if 2*longest < waited { // it was something else
		return ""
	}
	return name
}

// Bar is a piece of a call's time, in hundredths of the width.
type Bar struct {
	Kind string // asked, queued, run; or how a call ended that did not run
	X, W float64
}

// leastBar is how wide a bar is at least, so that it is seen.
const leastBar = 0.5

// Bars are the times of a call beside those of its group.
func (g Group) Bars(c *Call) (bars []Bar) {
	span := max(g.To.Sub(g.From), time.Millisecond)
	add := func(kind string, from, to time.Time) {
		if from.IsZero() || to.Before(from) {
			return
		}
		share := func(t time.Time) float64 { return 100 * float64(t.Sub(g.From)) / float64(span) }
		x, w := share(from), max(share(to)-share(from), leastBar)
		bars = append(bars, Bar{kind, round(min(x, 100-leastBar)), round(min(w, 100-min(x, 100-leastBar)))})
	}
	ready := c.Requested
	end := until(c, g.To)
	if !c.AskedAt.IsZero() {
		answered := c.Answered
		if answered.IsZero() {
			answered = end
		}
		add("asked", c.AskedAt, answered)
		ready = answered
	}
	switch {
	case !c.Started.IsZero():
		if c.Started.Sub(ready) > waitShown {
			add("queued", ready, c.Started)
		}
		add(string(c.State), c.Started, end)
	case c.Over():
		add(string(c.State), end, end)
	case c.State == Waiting && !c.back:
		add("queued", ready, g.To)
	}
	return bars
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// Span is how long a group took, in milliseconds.
func (g Group) Span() float64 { return float64(g.To.Sub(g.From)) / float64(time.Millisecond) }

// Reply is what a person says to questions.
type Reply struct {
	IDs []string `json:"ids,omitempty"` // of several questions at once
	// Do is allow, deny, session or always: the latter two with a Rule that is offered.
	Do      string          `json:"do"`
	Rule    string          `json:"rule,omitempty"`
	Second  bool            `json:"second,omitempty"`  // the second key, for what may destroy
	Message string          `json:"message,omitempty"` // for the model, with deny
	Reason  string          `json:"reason,omitempty"`  // for the record
	Text    string          `json:"text,omitempty"`    // for a tool that asks
	Input   json.RawMessage `json:"input,omitempty"`   // edited arguments
	Edited  string          `json:"edited,omitempty"`  // the same as it was typed
	Digest  string          `json:"digest,omitempty"`  // of the question that was shown; "": it is not compared
}

func replyOf(v url.Values) (Reply, error) {
	in := Reply{
		IDs: v["id"], Do: v.Get("do"), Rule: v.Get("rule"), Second: v.Has("second"), Message: strings.TrimSpace(v.Get("message")),
		Reason: strings.TrimSpace(v.Get("reason")), Text: v.Get("text"), Digest: v.Get("digest"),
	}
	if v.Has("choice") { // one of those that the tool offers
		in.Do, in.Text = "allow", v.Get("choice")
	}
	if in.Do == "edit" {
		in.Do, in.Edited = "allow", v.Get("edited")
	}
	return in, nil
}

// answer is the reply as an answer.
func (in *Reply) answer(by string) (policy.Answer, error) {
	a := policy.Answer{By: by, Message: in.Message, Reason: in.Reason, Text: in.Text, Input: in.Input, Second: in.Second}
	switch in.Do {
	case "allow":
		if in.Message != "" {
			return a, errors.New("got a message to the model with a yes: it goes with a no; leave it out, or deny")
		}
		if in.Edited != "" {
			a.Input = json.RawMessage(in.Edited)
		}
		if a.Input != nil && !json.Valid(a.Input) {
			return a, errors.New("the arguments are not JSON: want an object such as {\"path\": \"a\"}")
		}
		a.Allow = true
	case "deny":
		a.Input, a.Second = nil, false
	case "session", "always":
		if in.Rule == "" {
			return a, errors.New("got no rule, want one of those that the question offers")
		}
		a.Allow, a.Rule, a.Always = true, in.Rule, in.Do == "always"
	default:
		return a, fmt.Errorf("got %q, want allow, deny, session or always", in.Do)
	}
	return a, nil
}

// shown refuses an answer to something else than was shown, or that the question cannot
// have: what is known before is said in words.
func (c *Console) shown(ctx context.Context, in Reply, ids []string) error {
	list, err := c.asking(ctx)
	if err != nil {
		return err
	}
	for _, q := range list {
		switch {
		case !slices.Contains(ids, q.ID):
		case in.Digest != "" && in.Digest != q.Digest:
			return errors.New("the question is another one than was shown: look at it again")
		case in.Rule != "" && q.Claims.Destructive() && !in.Second:
			return errors.New("it may destroy something: to allow it for longer, tick the second key too")
		case q.Wants != "" && in.Do == "allow" && in.Text == "":
			return fmt.Errorf("%s asks for an answer in words: write it, or deny", q.Tool)
		case q.Wants == "" && in.Text != "":
			return fmt.Errorf("%s asks nothing: it waits for a yes or a no", q.Tool)
		}
	}
	return nil
}

// reply answers questions. What cannot be answered does not keep the others from it.
func (c *Console) reply(ctx context.Context, in Reply, ids ...string) (string, error) {
	a, err := in.answer(c.By)
	if err != nil {
		return "", err
	}
	if len(ids) > 1 && (a.Rule != "" || a.Input != nil || a.Text != "") {
		return "", errors.New("several questions can be allowed once or denied: rules, arguments and words are for one")
	}
	if c.Answer == nil {
		return "", missing("questions are not answered here")
	}
	if err := c.shown(ctx, in, ids); err != nil {
		return "", err
	}
	var faults []error
	for _, id := range ids {
		err := c.Answer(ctx, id, a)
		if over, ok := errors.AsType[policy.Refusal](err); ok { // what it is wrapped in says nothing to a person
			err = over
		}
		switch {
		case err != nil && len(ids) > 1:
			faults = append(faults, fmt.Errorf("%s: %w", id, err))
		case err != nil:
			faults = append(faults, err)
		}
	}
	c.Changed()
	if len(faults) > 0 {
		return "", errors.Join(faults...)
	}
	said := cmp.Or(map[string]string{"allow": "allowed", "deny": "denied", "session": "allowed for this session", "always": "always allowed"}[in.Do], in.Do)
	if len(ids) > 1 {
		said = fmt.Sprintf("%d %s", len(ids), said)
	}
	return said, nil
}

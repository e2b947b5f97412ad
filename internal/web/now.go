package web

import (
	"context"
	"errors"
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

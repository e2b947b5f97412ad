package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// keptFor is how long a result is kept; sweepEvery is how often it is looked
// whether some are older.
const (
	keptFor    = 7 * 24 * time.Hour
	sweepEvery = time.Hour
)

// keepable reports whether a result of this call can be kept when it is too
// long: there is a store that answers, and the agent can read what it keeps.
// What the store does not accept never is, nor are pages of what is kept already.
func (c *call) keepable() bool {
	t := c.turn
	if t.set.blobs == nil || c.entry.pages || t.mute.Load() || t.view.tools.names[t.set.reader.wire] != t.set.reader {
		return false
	}
	_, out := c.refused(guard.Store)
	return out == ""
}

// offload keeps a whole text for the session of the call, and is what an operator
// hears of it. From the next view on the session is offered the tool that reads
// it.
func (c *call) offload(x *excerpt, res *tool.Result, parts ...string) (said string) {
	t := c.turn
	note := durable.Note{
		Source: c.entry.source.Name, Tool: c.entry.tool.Name,
		Trust: c.believed(res), Sensitivity: c.entry.tool.OutputSensitivity,
	}
	ctx, d := t.storing()
	handle, err := bounded(ctx, d, func(ctx context.Context) (string, error) {
		return t.set.blobs.Put(ctx, t.view.session.conv.key.owner(), note, parts...)
	})
	if err == nil && handle == "" {
		err = errors.New("the store gave no handle")
	}
	if err != nil {
		if errors.Is(err, errTookTooLong) {
			t.mute.Store(true) // this turn does not wait for it again
		}
		return ", not kept: " + err.Error()
	}
	x.handle = handle
	t.view.session.conv.load(t.set.reader)
	t.set.sweep()
	return ", kept as " + handle
}

// storeTime is how long a store may take for one thing.
const storeTime = 10 * time.Second

// storing is the context in which results are kept, and for how long: the host's
// stop ends it, but what ends after that still has a moment.
func (t *Turn) storing() (context.Context, time.Duration) {
	if t.ctx.Err() == nil {
		return t.ctx, storeTime
	}
	return context.WithoutCancel(t.ctx), grace
}

// textsOf are the texts of content, with a newline between each two.
func textsOf(content []tool.Content) (parts []string) {
	for i, b := range countedIn(content) {
		if i > 0 {
			parts = append(parts, "\n")
		}
		parts = append(parts, part(b, 0, size(b)))
	}
	return parts
}

// believed is how far the result is.
func (c *call) believed(res *tool.Result) tool.Trust {
	t := c.entry.source.Trust
	for _, low := range []*tool.Trust{c.trust, res.Trust} {
		if low != nil {
			t = min(t, *low)
		}
	}
	return t
}

// owner names the session to a store.
func (k sessionKey) owner() string { return policy.Digest(k.tenant, k.principal, k.session) }

// sweep removes old results, now and then. What fails does so again later; an
// event says it.
func (s *settings) sweep() {
	now, last := time.Now(), s.swept.Load()
	if last != nil && now.Sub(*last) < sweepEvery || !s.swept.CompareAndSwap(last, &now) {
		return
	}
	_, err := bounded(context.Background(), storeTime, func(ctx context.Context) (int, error) { return s.blobs.Sweep(ctx, now.Add(-keptFor)) })
	if err != nil && s.noted() {
		s.emit(audit.Event{Kind: audit.Found, Name: "Runtime.Blobs", Text: fmt.Sprintf("sweep: %v", err)})
	}
}

// recallAgain is how long a session that could not be told whether something is
// kept for it does not ask again.
const recallAgain = time.Minute

// recall offers the tool that reads kept results to a session that has some from
// an earlier process.
func (c *conversation) recall(ctx context.Context) {
	set := &c.rt.set
	if set.blobs == nil {
		return
	}
	at := c.recallAt.Load()
	if at != nil && time.Now().Before(*at) {
		return
	}
	next := time.Now().Add(1 << 62) // it is asked once
	if !c.recallAt.CompareAndSwap(at, &next) {
		return
	}
	holds, err := bounded(ctx, storeTime, func(ctx context.Context) (bool, error) { return set.blobs.Holds(ctx, c.key.owner()) })
	if err != nil {
		again := time.Now().Add(recallAgain)
		c.recallAt.Store(&again)
		if set.noted() {
			set.emit(audit.Event{Kind: audit.Found, Session: c.name, Name: "Runtime.Blobs", Text: fmt.Sprintf("look for kept results: %v", err)})
		}
	}
	if holds {
		c.load(set.reader)
	}
}

// readResult is the name of the tool that reads kept results, and ferruleSource
// where it comes from.
const (
	readResult    = "read_result"
	ferruleSource = "ferrule"
)

// addReader registers it.
func (r *registry) addReader(blobs durable.Blobs, m meter) (*entry, error) {
	t, err := readerTool(blobs, m)
	if err != nil {
		return nil, err
	}
	made, err := r.entries(tool.Source{Name: ferruleSource, Trust: tool.BuiltIn}, []*tool.Tool{t}, nil)
	if err != nil {
		return nil, err
	}
	made[0].pages = true
	_, _, err = r.apply(ferruleSource, func([]*entry) (change, error) { return change{now: made, added: made}, nil })
	return made[0], err
}

// readerTool reads kept results of the session that calls it. It is offered once
// there is something to read.
func readerTool(blobs durable.Blobs, m meter) (*tool.Tool, error) {
	return tool.Spec[pageRequest, tool.Result]{
		Info: tool.Info{
			Name: readResult,
			Description: "Read a long result that was kept instead of shown. Give its handle, and where to begin: an offset in bytes, lines, or a pattern to look for. " +
				"Without any it begins at the start. Each page says how to go on.",
			Claims:      tool.Claims{ReadOnly: true, Local: true, Idempotent: true, Touches: []tool.Access{}},
			Cooperative: true, Cancel: true, Deferred: true,
			Limit: tool.Limit{Chars: defaultChars, Tokens: defaultTokens, Cut: cutMiddle},
		},
		Validate: func(_ context.Context, r pageRequest) (json.RawMessage, error) { return nil, r.check() },
		Run: func(ctx context.Context, r pageRequest) (tool.Result, error) {
			c := tool.From(ctx).Request().Caller
			b, err := blobs.Open(ctx, sessionKey{c.Tenant, c.Principal, c.Session}.owner(), r.Handle)
			if err != nil {
				return tool.Result{}, unread(err)
			}
			defer func() { _ = b.Close() }() // it was read only
			page, err := r.read(ctx, b, m)
			if err != nil {
				return tool.Result{}, unread(err)
			}
			return tool.Result{
				Content: page, Trust: &b.Note.Trust,
				Origin: &tool.Origin{Source: b.Note.Source, Tool: b.Note.Tool, Sensitivity: b.Note.Sensitivity},
			}, nil
		},
	}.Tool()
}

// unread is why there is no page. What is not there, is another session's or is
// no handle at all reads the same.
func unread(err error) error {
	if e := (*tool.Error)(nil); errors.As(err, &e) {
		return err
	}
	if errors.Is(err, durable.ErrNotFound) {
		return &tool.Error{Kind: tool.InvalidValue, Text: "There is no kept result of that handle. Results are kept for 7 days.", Cause: err}
	}
	return &tool.Error{Kind: tool.Failed, Text: "The kept result cannot be read now. Call the tool that gave it again, if you need it.", Detail: "read a kept result: " + err.Error(), Cause: err}
}

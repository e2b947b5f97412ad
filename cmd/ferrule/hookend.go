package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// hookAfter puts on the record that the client has run a call, and how it ended. A
// call that was denied and ran all the same is told to its user: the hook does not
// work as it should.
func (p *program) hookAfter(ctx context.Context, ev hookEvent, dir []string) error {
	if ofGateway(ev.Tool) { // it is on the record
		return nil
	}
	if err := p.hookDir(dir); err != nil {
		return &status{statusUsage, fmt.Errorf("hook: %w", err)}
	}
	c, err := p.load()
	if err != nil {
		return &status{statusUsage, fmt.Errorf("hook: %w", err)}
	}
	against := false
	err = p.withStore(ctx, c, true, func(s *store.Store) error {
		e, denied, err := p.hookEnded(ctx, s, c, ev)
		if err != nil {
			return err
		}
		against = denied
		if _, err := s.Append(e); err != nil { //nolint:contextcheck // a log takes what happened, whatever becomes of who says it
			return fmt.Errorf("it could not be put on the record: %w", err)
		}
		return s.Flush(ctx)
	})
	if err != nil {
		return &status{statusUsage, fmt.Errorf("hook: %w", err)}
	}
	if against {
		return p.printJSON(hookAnswer{Message: fmt.Sprintf("Ferrule denied this call of %s, and it ran all the same: Claude Code did not heed its hook. `ferrule audit show %s` has it.", ev.Tool, ev.Use)})
	}
	return nil
}

// hookEnded is the event of a call that the client has run. denied: it was not to
// run.
func (p *program) hookEnded(ctx context.Context, s *store.Store, c *config.Config, ev hookEvent) (e audit.Event, denied bool, err error) {
	call := newClientCall(p, c, ev)
	r := &tool.Request{
		ID: hookClient + "-" + ev.Use, CallID: ev.Use, Name: ev.Tool, CalledAs: ev.Tool, Source: call.source(),
		Caller: tool.Caller{Session: ev.Session, Client: hookClient, Agent: ev.Agent},
	}
	text := hookClient + " ran it; no decision is known by this id"
	if ev.Use != "" {
		for l, err := range s.Entries(ctx, store.Filter{Call: ev.Use, Session: ev.Session}) {
			if err != nil {
				return e, false, err
			}
			known := l.Entry
			if known.CallID != ev.Use || known.ID == "" {
				continue
			}
			r.ID, r.Turn, r.Index, r.Name = known.ID, known.Turn, known.Index, known.Tool
			text = hookClient + " ran it"
			if known.Decision != nil {
				denied = known.Decision.Verdict == tool.Deny.String()
			}
			if known.Kind == audit.Ended && known.Result != nil && known.Result.IsError {
				denied = known.Result.Kind != string(tool.Suspended)
				if !denied {
					text = hookClient + " asked its user, and ran it"
				}
			}
		}
	}
	if denied {
		text = hookClient + " ran it although it was denied"
	}
	res := &tool.Result{Content: []tool.Content{tool.Text(fmt.Sprintf("%d bytes of an answer", len(ev.Response)))}}
	if ev.Event == afterFailed {
		res = &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "It failed in " + hookClient + ".", Detail: cut(ev.Error)}}
	}
	return audit.Event{
		Kind: audit.Ended, Time: p.now(), Request: r, Session: ev.Session, Turn: r.Turn, Name: r.Name, By: hookClient, Text: text,
		Result: res, Took: time.Duration(max(0, min(ev.DurationMS, 1e12))) * time.Millisecond,
	}, denied, nil
}

// cut is the beginning of what a client says.
func cut(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

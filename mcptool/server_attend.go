package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// This file is what the hub does with its own connection to a server: it asks for
// the tools, and asks again when they have changed.

const (
	// listEvery is the shortest time between two lists: a server that says every
	// millisecond that its list has changed is listed once in that time.
	listEvery = time.Second
	// listTime is how long a list may take, all pages.
	listTime = time.Minute
)

// errRegister is in the tree of an error about a source that the runtime refuses.
var errRegister = errors.New("its tools cannot be registered")

// attend lists the tools until the connection ends, and says why it did.
func (s *server) attend(ctx context.Context, l link) error {
	ctx, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer stop()
	can := capabilitiesOf(l.greeting())
	if what := can.toListenFor(); l.greeting().era == newEra && what != nil {
		listening.Go(func() {
			defer survive(s.hub.log(), func(error) { l.close() })
			s.listenFor(ctx, l, what, s.heard)
		})
	}
	old := time.NewTimer(time.Hour) // the list of tools is too old
	defer old.Stop()
	list := func() error {
		ttl, err := s.listTools(ctx, l)
		old.Stop()
		if ttl > 0 && !can.tools.changes {
			old.Reset(ttl)
		}
		switch {
		case err == nil:
			s.enter(stateReady, "")
		case errors.Is(err, errRegister):
			s.enter(stateFailed, err.Error())
			return nil
		}
		return err
	}
	if err := list(); err != nil {
		return fmt.Errorf("server %s was reached, but its tools could not be listed: %w", s.Name, err)
	}
	s.settle()
	for {
		next := time.Now().Add(listEvery)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.ended():
			return s.lost(l.why())
		case <-old.C:
			s.change("tools")
			continue
		case <-s.wake:
		}
		if !rest(ctx, time.Until(next)) {
			return context.Cause(ctx)
		}
		for what := range s.takeChanged() {
			if what != "tools" {
				s.hub.tell(s.Name, what)
				continue
			}
			if err := list(); err != nil {
				s.hub.log().LogAttrs(ctx, slog.LevelWarn, "tools could not be listed anew", slog.String("server", s.Name), slog.String("why", err.Error()))
			}
			if s.takeTold() {
				s.hub.tell(s.Name, what) // also if the hub sees the same list
			}
		}
	}
}

// lost is why a server that was there is not.
func (s *server) lost(err error) error {
	if err == nil {
		err = errors.New("it ended the connection")
	}
	return fmt.Errorf("the connection to server %s (%s) broke: %w", s.Name, s.place(), err)
}

// heard takes what the server says to the hub. A server that is one for all, and
// not a process for each client, says it to the clients too: they have no stream of
// their own for it.
func (s *server) heard(method string, params json.RawMessage) {
	what := changedBy(method)
	if what == "" {
		return
	}
	if hello := s.greeting(); s.URL != "" && hello != nil && hello.era == newEra {
		s.mu.Lock()
		all := slices.Collect(maps.Keys(s.lanes))
		s.mu.Unlock()
		for _, a := range all {
			s.toldClient(a, method, params)
		}
	}
	s.change(what)
}

// toldClient is for a change that the server has told a client of. The client hears of it
// when the list was made anew, even if that is the same: the server may know better.
func (s *server) toldClient(a audience, method string, params json.RawMessage) {
	a.notify(s.Name, method, params)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.toldOne = true
}

func (s *server) takeTold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.toldOne
	s.toldOne = false
	return said
}

// changedBy is which list a notification says has changed; "": it is about
// something else.
func changedBy(method string) string {
	switch method {
	case "notifications/tools/list_changed":
		return "tools"
	case "notifications/prompts/list_changed":
		return "prompts"
	case "notifications/resources/list_changed":
		return "resources"
	}
	return ""
}

// change notes that the server has changed a list.
func (s *server) change(what string) {
	s.noteChange()
	s.outdate(what)
}

// outdate notes that a list has changed. What was kept of it is not used any more.
func (s *server) outdate(what string) {
	s.mu.Lock()
	s.changes[what]++
	s.changed[what] = true
	for method := range s.lists {
		if listMethods()[method].what == what {
			delete(s.lists, method)
		}
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // somebody has not looked yet
	}
}

func (s *server) takeChanged() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.changed
	s.changed = make(map[string]bool)
	return all
}

// capability is what a server can do about one kind of thing.
type capability struct{ there, changes bool }

type capabilities struct{ tools, prompts, resources capability }

func capabilitiesOf(g *greeting) capabilities {
	if g == nil {
		return capabilities{}
	}
	of := func(what string) capability {
		raw, ok := member(g.capabilities, what)
		changes, _ := member(raw, "listChanged")
		return capability{ok && kindOf(raw) == '{', kindOf(changes) == 't'}
	}
	return capabilities{of("tools"), of("prompts"), of("resources")}
}

// unsaid reports whether the server said nothing at all: some of the first ones
// do not, and have tools.
func (c capabilities) unsaid() bool { return c == capabilities{} }

// toListenFor are the params of subscriptions/listen; nil: there is nothing to
// hear.
func (c capabilities) toListenFor() json.RawMessage {
	var want []pair
	for key, ask := range map[string]bool{
		"toolsListChanged": c.tools.changes, "promptsListChanged": c.prompts.changes, "resourcesListChanged": c.resources.changes,
	} {
		if ask {
			want = append(want, pair{key, json.RawMessage("true")})
		}
	}
	if want == nil {
		return nil
	}
	return setMembers(nil, pair{"notifications", setMembers(nil, want...)})
}

// listenFor keeps a stream of what has changed open (new era).
func (s *server) listenFor(ctx context.Context, l link, params json.RawMessage, heard func(string, json.RawMessage)) {
	pause := firstPause
	for {
		began := time.Now()
		_, err := l.do(ctx, methodListen, params, &listener{notified: heard})
		if fault := (*Fault)(nil); errors.As(err, &fault) && fault.Code == codeNoMethod {
			return
		}
		if time.Since(began) >= upTime {
			pause = firstPause
		}
		select {
		case <-l.ended():
			return
		default:
		}
		if !rest(ctx, jitter(pause)) {
			return
		}
		pause = min(2*pause, longPause)
		for _, what := range []string{"tools", "prompts", "resources"} { // nobody listened
			s.change(what)
		}
	}
}

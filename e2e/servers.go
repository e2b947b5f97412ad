package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// servers calls every tool of real servers, directly and through one gateway that
// has all of them behind it, by clients of both generations and by the inspector.
func servers(ctx context.Context, w *world, s *score) error {
	work, err := w.folder("work")
	if err != nil {
		return err
	}
	return w.compare(ctx, s, work, w.realServers(work))
}

// httpServers is the same for a server that is reached over HTTP.
func httpServers(ctx context.Context, w *world, s *score) error {
	work, err := w.folder("work")
	if err != nil {
		return err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	server := w.realServers(work)[0]
	p, err := w.everythingFromNPM(address)
	if err != nil {
		return err
	}
	server.upstream = upstream{name: "everything", url: "http://" + address + "/mcp"}
	if err := reachable(ctx, p, server.url); err != nil {
		return err
	}
	return w.compare(ctx, s, work, []realServer{server})
}

// compare has each client call each tool of each server, in both ways.
func (w *world) compare(ctx context.Context, s *score, work string, servers []realServer) error {
	if err := layOut(ctx, work); err != nil { // servers want their folders when they start
		return err
	}
	url, err := w.inFront(ctx, servers)
	if err != nil {
		return err
	}
	for _, generation := range []string{"2025", "2026"} {
		if err := w.compareClient(ctx, s, work, url, generation, servers); err != nil {
			return err
		}
	}
	return w.compareInspector(ctx, s, work, url, servers)
}

// inFront starts the gateway; "": there is to be none.
func (w *world) inFront(ctx context.Context, servers []realServer) (string, error) {
	if w.direct {
		return "", nil
	}
	var all []upstream
	for _, r := range servers {
		all = append(all, r.upstream)
	}
	return w.gateway(ctx, full(), all...)
}

// through is a server as it is reached behind the gateway, and the calls with the
// names that its tools have there. Without a gateway it is the server again: two
// direct calls have the same result, too, or nothing can be compared.
func (r realServer) through(url string) (upstream, []toolCall) {
	if url == "" {
		return r.upstream, r.calls
	}
	var calls []toolCall
	for _, c := range r.calls {
		calls = append(calls, toolCall{r.prefixed(c.Name), c.Arguments})
	}
	return upstream{name: "ferrule", url: url}, calls
}

// visit is what one client got from one server.
type visit struct {
	listed   []definition
	outcomes []outcome
	err      error
}

// each has a client go to each server, two at a time, after the folder that they
// work on was laid out anew.
func each(ctx context.Context, work string, servers []realServer, client func(realServer) visit) ([]visit, error) {
	if err := layOut(ctx, work); err != nil {
		return nil, err
	}
	visits := make([]visit, len(servers))
	var all sync.WaitGroup
	free := make(chan struct{}, 2)
	for i, r := range servers {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			visits[i] = client(r)
		})
	}
	all.Wait()
	return visits, ctx.Err()
}

// compareClient has a client of one generation call all tools.
func (w *world) compareClient(ctx context.Context, s *score, work, url, generation string, servers []realServer) error {
	directly, err := each(ctx, work, servers, func(r realServer) (got visit) {
		got.listed, got.outcomes, got.err = w.typescript(ctx, generation, r.upstream, r.calls)
		return got
	})
	if err != nil {
		return err
	}
	through, err := each(ctx, work, servers, func(r realServer) (got visit) {
		u, calls := r.through(url)
		got.listed, got.outcomes, got.err = w.typescript(ctx, generation, u, calls)
		return got
	})
	if err != nil {
		return err
	}
	for i, r := range servers {
		check := fmt.Sprintf("client %s, %s", generation, r.name)
		want, got := directly[i], through[i]
		if err := errors.Join(want.err, got.err); err != nil {
			s.fail(check, err.Error())
			continue
		}
		prefix := ""
		if url != "" {
			prefix = r.name + "__"
		}
		compareLists(s, check, want.listed, got.listed, prefix)
		uncalled(s, check, r, want.listed)
		for i := range want.outcomes {
			s.compare(check, want.outcomes[i], got.outcomes[i])
		}
	}
	return nil
}

// compareInspector has the inspector call all tools that it can. What it gets is
// compared with what the client of the newer generation gets directly.
func (w *world) compareInspector(ctx context.Context, s *score, work, url string, servers []realServer) error {
	servers = slices.Clone(servers)
	for i := range servers {
		servers[i].calls = slices.DeleteFunc(slices.Clone(servers[i].calls), func(c toolCall) bool { return notByInspector()[c.Name] != "" })
	}
	directly, err := each(ctx, work, servers, func(r realServer) (got visit) {
		_, got.outcomes, got.err = w.typescript(ctx, "2026", r.upstream, r.calls)
		return got
	})
	if err != nil {
		return err
	}
	through, err := each(ctx, work, servers, func(r realServer) (got visit) {
		u, calls := r.through(url)
		for _, c := range calls {
			o, err := w.inspector(ctx, u, c)
			got.outcomes, got.err = append(got.outcomes, o), errors.Join(got.err, err)
		}
		return got
	})
	if err != nil {
		return err
	}
	for i, r := range servers {
		want, got := directly[i], through[i]
		if err := errors.Join(want.err, got.err); err != nil {
			s.fail("inspector, "+r.name, err.Error())
			continue
		}
		for i := range want.outcomes {
			if want.outcomes[i].Error != nil && got.outcomes[i].Error != nil {
				got.outcomes[i].Error = want.outcomes[i].Error // it prints errors in a form of its own
			}
			s.compare("inspector, "+r.name, want.outcomes[i], got.outcomes[i])
		}
	}
	return nil
}

// compare compares two outcomes of a call.
func (s *score) compare(check string, want, got outcome) {
	got.Name = want.Name
	check += ": " + want.Name
	w, g := want.comparable(), got.comparable()
	if w == g {
		s.hold(check, true, nil, nil)
		return
	}
	s.hold(check, false, g, w)
}

// compareLists compares the definitions of a server's tools.
func compareLists(s *score, check string, listed, offered []definition, prefix string) {
	there := make(map[string]string)
	for _, d := range offered {
		if name, _ := d["name"].(string); strings.HasPrefix(name, prefix) {
			name, rest := d.comparable(prefix)
			there[name] = rest
		}
	}
	s.hold(check+": how many tools", enough(len(there), len(listed)), len(there), len(listed))
	for _, d := range listed {
		name, want := d.comparable("")
		if got := there[name]; got != want {
			s.hold(check+": definition of "+name, false, got, want)
		}
	}
}

// uncalled finds tools that no call is made of: a new version may have more.
func uncalled(s *score, check string, r realServer, listed []definition) {
	for _, d := range listed {
		name, _ := d.comparable("")
		if !slices.ContainsFunc(r.calls, func(c toolCall) bool { return c.Name == name }) {
			s.fail(check+": every tool is called", name)
		}
	}
}

// file writes a program of ours to where it is run from.
func (w *world) file(name string, content []byte) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := filepath.Join(w.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, os.WriteFile(path, content, 0o600)
}

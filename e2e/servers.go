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
	if w.only != "" {
		servers = slices.DeleteFunc(servers, func(r realServer) bool { return r.name != w.only })
	}
	if err := layOut(ctx, work); err != nil { // servers want their folders when they start
		return err
	}
	url, err := w.inFront(ctx, servers)
	if err != nil {
		return err
	}
	var directly []visit
	for _, generation := range []string{"2025", "2026"} {
		if w.by != "" && w.by != generation && (w.by != byInspector || generation != "2026") {
			continue
		}
		if directly, err = w.visitAll(ctx, work, "", generation, servers); err != nil {
			return err
		}
		if w.by != byInspector {
			if err := w.compareClient(ctx, s, work, url, generation, servers, directly); err != nil {
				return err
			}
		}
	}
	if w.by != "" && w.by != byInspector {
		return nil
	}
	return w.compareInspector(ctx, s, work, url, servers, directly)
}

// byInspector is the name of the inspector among the clients.
const byInspector = "inspector"

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

// prefixBehind is what stands before the names of the server's tools.
func (r realServer) prefixBehind(url string) string {
	if url == "" {
		return ""
	}
	return r.prefixed("")
}

// each has a client go to each server, two at a time, after the folder that they
// work on was laid out anew.
func each(ctx context.Context, work string, servers []realServer, client func(int, realServer) visit) ([]visit, error) {
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
			visits[i] = client(i, r)
		})
	}
	all.Wait()
	return visits, ctx.Err()
}

// visitAll has clients of one generation go to all servers, after the folder that
// those work on was laid out anew.
func (w *world) visitAll(ctx context.Context, work, url, generation string, servers []realServer) ([]visit, error) {
	if err := layOut(ctx, work); err != nil {
		return nil, err
	}
	var errands []errand
	for _, r := range servers {
		u, calls := r.through(url)
		errands = append(errands, errand{generation: generation, server: u, calls: calls})
	}
	return w.typescript(ctx, errands)
}

// compareClient has clients of one generation call all tools behind the gateway,
// and compares that with what they got directly.
func (w *world) compareClient(ctx context.Context, s *score, work, url, generation string, servers []realServer, directly []visit) error {
	through, err := w.visitAll(ctx, work, url, generation, servers)
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
		compareLists(s, check, want.listed, got.listed, r.prefixBehind(url))
		uncalled(s, check, r, want.listed)
		for i := range want.outcomes {
			s.compare(check, want.outcomes[i], got.outcomes[i])
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

// compareLists compares the definitions of a server's tools. A tool too many is as
// wrong as one too few, but for the gateway's own.
func compareLists(s *score, check string, listed, offered []definition, prefix string) {
	there := make(map[string]definition)
	for _, d := range offered {
		switch name, _ := d["name"].(string); {
		case strings.HasPrefix(name, prefix):
			there[strings.TrimPrefix(name, prefix)] = d
		case !strings.Contains(name, "__") && ofTheGateway()[name] == "":
			s.fail(check+": a tool that no server has", name)
		}
	}
	for _, d := range listed {
		name, _ := d["name"].(string)
		got, ok := there[name]
		delete(there, name)
		s.hold(check+": definition of "+name, ok && got.comparable(d) == d.comparable(got), got, d)
	}
	for name := range there {
		s.fail(check+": offered, though not listed directly", name)
	}
}

// uncalled finds tools that no call is made of: a new version may have more.
func uncalled(s *score, check string, r realServer, listed []definition) {
	for _, d := range listed {
		name, _ := d["name"].(string)
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hour is the first hour of somebody who has six servers and puts Ferrule in front
// of them: the servers are imported, each is looked at and answered for once, an
// agent works with them, one is updated and five of its tools are others, and the
// agent goes on, also with a tool that nobody has answered for. Each time that a
// person must answer something counts: which questions there are is known, so that
// one too few is a fault as well.
func hour(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil // nobody asks there
	}
	n, err := w.newcomer(ctx, s)
	if err != nil {
		return err
	}
	answers := n.answers()
	var wanted []string
	for _, server := range slices.Sorted(maps.Keys(answers)) {
		wanted = append(wanted, "trust "+server)
		if _, err := n.trust(ctx, server, answers[server]); err != nil {
			return err
		}
	}
	before, after := n.before(), n.after()
	if err := n.works(ctx, "2025", before); err != nil {
		return err
	}
	if err := n.update(ctx, answers["files"]); err != nil {
		return err
	}
	if err := n.works(ctx, "2026", after); err != nil {
		return err
	}
	reads, writes := 0, 0
	for _, c := range slices.Concat(before, after) {
		if c.writes {
			writes++
		} else {
			reads++
		}
	}
	s.hold("what the agent did", reads == 20 && writes == 10, object{"reads": reads, "writes": writes}, object{"reads": 20, "writes": 10})
	wanted = append(wanted, "trust files", "call "+n.unanswered().Name)
	s.hold("how often a person was asked", len(n.asked) <= 8, object{"questions": len(n.asked), "about": n.asked}, "at most 8")
	s.hold("what a person was asked: each server once, the update, and the tool that nobody had answered for", slices.Equal(n.asked, wanted), n.asked, wanted)
	from, to := n.moved()
	_, gone := os.Stat(from)
	_, there := os.Stat(to)
	s.hold("what was asked about ran behind the answer", errors.Is(gone, os.ErrNotExist) && there == nil, nil, nil)
	return nil
}

// newcomer is who has the six servers, and what they were asked.
type newcomer struct {
	w                  *world
	s                  *score
	dir, work, address string
	servers            []upstream
	up                 *process
	asked              []string
}

// newcomer lays out what the servers work on, and imports them from the file of
// another client.
func (w *world) newcomer(ctx context.Context, s *score) (*newcomer, error) {
	n := &newcomer{w: w, s: s}
	var err error
	if n.dir, err = w.folder("hour"); err != nil {
		return nil, err
	}
	if n.address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	n.work = filepath.Join(n.dir, "work")
	if err := errors.Join(layOut(ctx, n.work), n.ownPackage()); err != nil {
		return nil, err
	}
	servers := object{}
	for _, r := range w.realServers(n.work) {
		if r.name == "files" {
			r.command[1] = filepath.Join(n.packages(), "dist", "index.js")
		}
		n.servers = append(n.servers, r.upstream)
		servers[r.name] = object{"command": r.command[0], "args": r.command[1:], "env": r.env}
	}
	text, err := json.Marshal(object{"mcpServers": servers})
	if err != nil {
		return nil, err
	}
	listen := fmt.Sprintf("listen:\n  address: %s\n  auth: none\n  tools: full\n  approvals: elsewhere\n", n.address)
	if err := errors.Join(
		os.WriteFile(filepath.Join(n.dir, "ferrule.yaml"), []byte(listen), 0o600),
		os.WriteFile(filepath.Join(n.dir, ".mcp.json"), text, 0o600),
	); err != nil {
		return nil, err
	}
	said, err := n.ferrule(ctx, "servers", "import", ".mcp.json")
	s.hold("six servers are imported, and it says what is next", err == nil && strings.Count(said, "took it") == 6 && strings.Contains(said, "ferrule trust"), said, nil)
	return n, err
}

// packages is where the server of files is: a copy, as it will be updated.
func (n *newcomer) packages() string { return filepath.Join(n.dir, "packages", "server-filesystem") }

// ownPackage copies the server of files. What it needs it finds above itself.
func (n *newcomer) ownPackage() error {
	from := n.w.tools.script("servers", "@modelcontextprotocol/server-filesystem")
	if err := os.CopyFS(n.packages(), os.DirFS(from)); err != nil {
		return err
	}
	return os.Symlink(n.w.tools.script("servers", ""), filepath.Join(n.dir, "packages", "node_modules"))
}

// ferrule runs the program as a person does.
func (n *newcomer) ferrule(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.Command(n.w.program, args...) //nolint:gosec,noctx // the program under test; output ends it, with its group
	cmd.Dir, cmd.Env = n.dir, n.w.home(n.dir)
	out, err := output(ctx, "ferrule "+strings.Join(args, " "), cmd)
	return string(out), err
}

// start runs the gateway until what it needs to answer is there.
func (n *newcomer) start(ctx context.Context) error {
	cmd := exec.Command(n.w.program, "up", n.dir) //nolint:gosec,noctx // the program under test; it is stopped, not killed
	cmd.Dir, cmd.Env = n.dir, n.w.home(n.dir)
	var err error
	if n.up, err = n.w.start("ferrule up", cmd); err != nil {
		return err
	}
	return until(ctx, n.up, time.Minute, func(ctx context.Context) error { return listed(ctx, n.url(), n.servers) })
}

func (n *newcomer) url() string { return "http://" + n.address + "/mcp" }

// works has an agent make calls, one after the other. Whatever a person is asked
// meanwhile is allowed, and counts.
func (n *newcomer) works(ctx context.Context, generation string, calls []workCall) error {
	if n.up == nil {
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	e := errand{generation: generation, server: upstream{url: n.url()}}
	for _, c := range calls {
		e.calls = append(e.calls, c.toolCall)
	}
	person, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- n.person(person) }()
	visits, err := n.w.typescript(ctx, []errand{e})
	stop()
	if err = errors.Join(err, <-done); err != nil {
		return err
	}
	if visits[0].err != nil {
		return visits[0].err
	}
	for i, got := range visits[0].outcomes {
		var r struct{ IsError bool }
		err := json.Unmarshal(got.Result, &r)
		n.s.hold(fmt.Sprintf("client %s, call %d: %s", generation, i+1, got.Name), err == nil && !r.IsError, got, nil)
	}
	return nil
}

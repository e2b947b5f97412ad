package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// upstream is a server, as the configuration of the gateway names it and as
// clients reach it without a gateway.
type upstream struct {
	name       string
	command    []string
	env        map[string]string
	dir        string
	url        string
	token      string // that its URL wants; "": none
	unprefixed bool
	era        string // forced; "": what it speaks
	timeout    time.Duration
	// Guarded: its results are cleaned and marked, as those of any server are that
	// nobody said more about. Zero: they pass as they are, so that they can be compared.
	guarded bool
}

// prefixed is how a client of the gateway calls a tool of the server.
func (u upstream) prefixed(tool string) string {
	if u.unprefixed {
		return tool
	}
	return u.name + "__" + tool
}

// gateway starts Ferrule in front of servers and returns its address, after each
// server's tools are listed. Nothing is asked for or changed: every call is
// allowed, and what servers say of their tools is believed.
func (w *world) gateway(ctx context.Context, listen object, upstreams ...upstream) (url string, err error) {
	g, err := w.up(ctx, listen, upstreams...)
	if err != nil {
		return "", err
	}
	return g.url, nil
}

// up is a gateway that runs.
type up struct {
	url, dir string
	*process
}

// up is gateway, for who looks at the process too.
func (w *world) up(ctx context.Context, listen object, upstreams ...upstream) (*up, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := w.configured(address, listen, upstreams)
	if err != nil {
		return nil, err
	}
	return w.upIn(ctx, dir, address, nil, upstreams)
}

// upIn starts a gateway whose configuration is written. What it says goes to log; nil:
// the end of it is kept.
func (w *world) upIn(ctx context.Context, dir, address string, log io.Writer, upstreams []upstream) (*up, error) {
	cmd := exec.Command(w.program, "up", dir) //nolint:gosec,noctx // the program under test; it is stopped, not killed
	cmd.Dir, cmd.Env, cmd.Stderr = dir, w.home(dir), log
	p, err := w.start("ferrule up", cmd)
	if err != nil {
		return nil, err
	}
	g := &up{"http://" + address + "/mcp", dir, p}
	return g, until(ctx, p, 60*time.Second, func(ctx context.Context) error {
		return listed(ctx, g.url, upstreams)
	})
}

// home is the environment of a program of the gateway's in a folder.
func (w *world) home(dir string) []string {
	return append(w.tools.environment(), "FERRULE_HOME="+filepath.Join(dir, "home"))
}

// stdioGateway is the command of a gateway that is spoken to over stdio.
func (w *world) stdioGateway(upstreams ...upstream) (upstream, error) {
	dir, err := w.configured("127.0.0.1:0", full(), upstreams)
	if err != nil {
		return upstream{}, err
	}
	return upstream{
		name: "ferrule", command: []string{w.program, "mcp", dir}, dir: dir,
		env: map[string]string{"FERRULE_HOME": filepath.Join(dir, "home")},
	}, nil
}

// configured writes a ferrule.yaml into a folder of its own.
func (w *world) configured(address string, listen object, upstreams []upstream) (dir string, err error) {
	return w.written(configuration(address, listen, upstreams))
}

// written writes a configuration into a folder of its own. JSON is YAML.
func (w *world) written(c object) (dir string, err error) {
	if dir, err = w.folder("gateway"); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "ferrule.yaml"), text, 0o600)
}

func configuration(address string, listen object, upstreams []upstream) object {
	servers := object{}
	for _, u := range upstreams {
		s := map[string]any{"trust": "own", "believe": true, "sanitize": "pass"}
		if u.guarded {
			s["trust"] = "mcp"
			delete(s, "sanitize")
		}
		if u.url != "" {
			s["url"] = u.url
		} else {
			s["command"], s["args"] = u.command[0], u.command[1:]
		}
		if len(u.env) > 0 {
			s["env"] = u.env
		}
		if u.dir != "" {
			s["dir"] = u.dir
		}
		if u.unprefixed {
			s["unprefixed"] = true
		}
		if u.era != "" {
			s["era"] = u.era
		}
		if u.timeout > 0 {
			s["timeout"] = u.timeout.String()
		}
		servers[u.name] = s
	}
	listen["address"], listen["auth"] = address, "none"
	return object{
		"servers": servers,
		"listen":  listen,
		"policy":  object{"allow": []string{"*"}},
		"content": object{"flow": "off"}, // a call that is asked for would wait
	}
}

// full has every tool listed.
func full() object { return object{"tools": "full"} }

// listed reports whether a tool of each server is in the gateway's list.
func listed(ctx context.Context, url string, upstreams []upstream) error {
	c := &wire{url: url}
	defer c.close(context.WithoutCancel(ctx))
	if err := c.hello(ctx); err != nil {
		return err
	}
	names, err := c.toolNames(ctx)
	if err != nil {
		return err
	}
	for _, u := range upstreams {
		if !u.unprefixed && !hasPrefix(names, u.name+"__") && !slices.Contains(names, "tool_search") || len(names) == 0 {
			return fmt.Errorf("no tool of %s is in %q", u.name, names)
		}
	}
	return nil
}

func hasPrefix(names []string, prefix string) bool {
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			return true
		}
	}
	return false
}

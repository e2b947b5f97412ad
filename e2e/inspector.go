package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// inspector calls one tool with the inspector's command line.
func (w *world) inspector(ctx context.Context, u upstream, c toolCall) (outcome, error) {
	args := []byte("{}")
	if c.Arguments != nil {
		var err error
		if args, err = json.Marshal(c.Arguments); err != nil {
			return outcome{}, err
		}
	}
	result, err := w.inspect(ctx, u, "--method", "tools/call", "--tool-name", c.Name, "--tool-args-json", string(args))
	if err != nil {
		text, _ := json.Marshal(strings.TrimSpace(err.Error()))
		return outcome{Name: c.Name, Error: text}, ctx.Err()
	}
	return outcome{Name: c.Name, Result: result}, nil
}

// inspectorList has the inspector list all tools.
func (w *world) inspectorList(ctx context.Context, u upstream) ([]definition, error) {
	result, err := w.inspect(ctx, u, "--method", "tools/list")
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []definition }
	return list.Tools, json.Unmarshal(result, &list)
}

// inspect runs the inspector's command line, which is a process for each request.
func (w *world) inspect(ctx context.Context, u upstream, request ...string) (json.RawMessage, error) {
	line := []string{w.tools.script("inspector", "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}
	if u.url != "" {
		line = append(line, "--server-url", u.url, "--transport", "http")
	} else {
		line = append(slices.Concat(line, u.command), "--cwd", u.dir)
		for k, v := range u.env {
			line = append(line, "-e", k+"="+v)
		}
	}
	line = append(slices.Concat(line, request), "--format", "json", "--quiet", "--stored-auth-only")
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cmd := exec.Command(w.tools.node(), line...) //nolint:gosec,noctx // output ends it, with its group
	cmd.Dir = w.dir
	// It keeps files in the home, and must not touch that of who runs this.
	cmd.Env = append(w.tools.environment(), "HOME="+filepath.Join(w.dir, "home"), "MCP_INSPECTOR_SECRET_STORE=memory")
	out, err := output(ctx, "inspector", cmd)
	var said struct{ Result json.RawMessage }
	if json.Unmarshal(bytes.TrimSpace(out), &said) == nil && said.Result != nil {
		return said.Result, nil // it exits with 5 for a result with isError
	}
	if err == nil {
		err = fmt.Errorf("inspector: got %q, want a result", out)
	}
	return nil, err
}

// sampled is how many calls of each server the inspector makes.
const sampled = 4

// sample are the calls of a server that the inspector makes: the first that it can,
// as what comes later depends on all calls before.
func (w *world) sample(calls []toolCall) (sample []int) {
	for i, c := range calls {
		if notByInspector()[c.Name] == "" && (w.every || len(sample) < sampled) {
			sample = append(sample, i)
		}
	}
	return sample
}

// compareInspector has the inspector list the tools and call some. What it gets is
// compared with what a client got directly.
func (w *world) compareInspector(ctx context.Context, s *score, work, url string, servers []realServer, directly []visit) error {
	lists := make([][]definition, len(servers))
	var atGateway []definition
	var err error
	if url != "" {
		if atGateway, err = w.inspectorList(ctx, upstream{name: "ferrule", url: url}); err != nil {
			return err
		}
	}
	got, err := each(ctx, work, servers, func(i int, r realServer) (got visit) {
		u, calls := r.through(url)
		if lists[i] = atGateway; url == "" {
			lists[i], got.err = w.inspectorList(ctx, u)
		}
		for _, n := range w.sample(r.calls) { // by the names at the server
			if got.err != nil {
				break
			}
			var o outcome
			o, got.err = w.inspector(ctx, u, calls[n])
			got.outcomes = append(got.outcomes, o)
		}
		return got
	})
	if err != nil {
		return err
	}
	for i, r := range servers {
		check, want := "inspector, "+r.name, directly[i]
		if got[i].err != nil {
			s.fail(check, got[i].err.Error())
			continue
		}
		if url == "" {
			want.listed = forInspector(want.listed, lists[i])
		}
		compareLists(s, check, want.listed, lists[i], r.prefixBehind(url))
		sample := w.sample(r.calls)
		for k, n := range sample {
			want, got := want.outcomes[n], got[i].outcomes[k]
			if want.Error != nil && got.Error != nil {
				got.Error = want.Error // it prints errors in a form of its own
			}
			s.compare(check, want, got)
		}
		s.note(check+": calls made", object{"made": len(sample), "of": len(r.calls)})
	}
	return nil
}

// forInspector are the tools of a server without those that it does not list to the
// inspector, because that cannot be asked for anything.
func forInspector(listed, offered []definition) []definition {
	return slices.DeleteFunc(slices.Clone(listed), func(d definition) bool {
		name, _ := d["name"].(string)
		return notByInspector()[name] != "" && !slices.ContainsFunc(offered, func(o definition) bool { return o["name"] == d["name"] })
	})
}

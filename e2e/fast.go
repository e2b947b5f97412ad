package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tokens"
)

// caller makes one call and waits for its answer.
type caller interface {
	do(ctx context.Context, method string, params object) (json.RawMessage, error)
}

// fast measures what the gateway adds to a call. All ways are measured in turn,
// one call each, so that what else the machine does is the same for all.
func fast(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil // there is nothing to compare
	}
	u := upstream{name: "everything", command: []string{w.tools.everything()}, unprefixed: true}
	for _, f := range []struct {
		name string
		run  func(context.Context, *world, *score, upstream) error
	}{{"stdio", fastStdio}, {"HTTP", fastHTTP}, {"deferred", deferredTokens}} {
		if err := f.run(ctx, w, s, u); err != nil {
			s.fail(f.name+": it ran to its end", err.Error())
		}
		w.rest()
	}
	return ctx.Err()
}

// fastStdio compares a server over stdio with ferrule mcp in front of it.
func fastStdio(ctx context.Context, w *world, s *score, u upstream) error {
	g, err := w.stdioGateway(u)
	if err != nil {
		return err
	}
	through, err := w.pipe(ctx, g)
	if err != nil {
		return err
	}
	directly, err := w.pipe(ctx, u)
	if err != nil {
		return err
	}
	p50, err := w.interleaved(ctx, []caller{directly, through})
	if err != nil {
		return err
	}
	s.ratio("stdio, 2025", p50[1], p50[0], 1.5)
	return nil
}

// fastHTTP compares the SDK's own HTTP server, the gateway and two others.
func fastHTTP(ctx context.Context, w *world, s *score, u upstream) error {
	gateway, err := w.gateway(ctx, full(), u)
	if err != nil {
		return err
	}
	sessions, err := w.everythingOver(ctx, false)
	if err != nil {
		return err
	}
	stateless, err := w.everythingOver(ctx, true)
	if err != nil {
		return err
	}
	super, err := w.rival(ctx, "supergateway", "supergateway/dist/index.js", func(port string) []string {
		return []string{"--stdio", strings.Join(u.command, " "), "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"}
	})
	if err != nil {
		return err
	}
	proxy, err := w.rival(ctx, "mcp-proxy", "mcp-proxy/dist/bin/mcp-proxy.mjs", func(port string) []string {
		return append([]string{"--host", "127.0.0.1", "--port", port, "--server", "stream", "--"}, u.command...)
	})
	if err != nil {
		return err
	}
	var callers []caller
	for _, url := range []string{sessions, gateway, super, proxy} {
		c := &wire{url: url}
		if err := c.hello(ctx); err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		callers = append(callers, c)
	}
	callers = append(callers, &wire{url: stateless, stateless: true}, &wire{url: gateway, stateless: true})
	p50, err := w.interleaved(ctx, callers)
	if err != nil {
		return err
	}
	s.ratio("HTTP, 2025", p50[1], p50[0], 1.5)
	s.ratio("HTTP, 2026", p50[5], p50[4], 1.1)
	s.ratio("next to the faster of supergateway and mcp-proxy", p50[1], min(p50[2], p50[3]), 0.6)
	var many []time.Duration
	for _, url := range []string{gateway, super, proxy} {
		d, err := w.concurrently(ctx, url, 16)
		if err != nil {
			return err
		}
		many = append(many, d)
	}
	s.ratio("the same, 16 at once", many[0], min(many[1], many[2]), 0.8)
	s.miss("tools/list of 1,000 tools", "it is not measured yet", "at most 0.15 of the SDK's server")
	return nil
}

// slack is how many times its bound a ratio may be before it fails: the gateway is
// not as fast as it must become, and what is over its bound is printed as missed.
const slack = 5

// ratio says how long something takes in terms of something else.
func (s *score) ratio(check string, got, base time.Duration, most float64) {
	r := float64(got) / float64(base)
	figures, want := object{"ratio": r, "p50": got.String(), "base": base.String()}, fmt.Sprintf("at most %.2f", most)
	if r > most && r <= slack*most {
		s.miss(check, figures, want)
		return
	}
	s.hold(check, r <= most, figures, want)
}

// simple is the call that is measured. Its arguments are others each time: a call
// that an agent repeats with the same result is stopped after a while.
func simple(ctx context.Context, c caller) (time.Duration, error) {
	params := object{"name": "json_schema_2020_12_tool", "arguments": object{"email": strconv.FormatInt(time.Now().UnixNano(), 36)}}
	start := time.Now()
	result, err := c.do(ctx, "tools/call", params)
	if err == nil && (!strings.Contains(string(result), `"text"`) || strings.Contains(string(result), `"isError":true`)) {
		err = fmt.Errorf("got %s, want a text", result)
	}
	return time.Since(start), err
}

// interleaved has each caller make its calls in turn, and returns the median of
// each. The first tenth warms up.
func (w *world) interleaved(ctx context.Context, callers []caller) ([]time.Duration, error) {
	took := make([][]time.Duration, len(callers))
	warm := w.calls / 10
	for n := range w.calls + warm {
		for i, c := range callers {
			d, err := simple(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("caller %d: %w", i, err)
			}
			if n >= warm {
				took[i] = append(took[i], d)
			}
		}
	}
	var p50 []time.Duration
	for _, t := range took {
		p50 = append(p50, median(t))
	}
	return p50, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// concurrently is the median of calls by many clients at once.
func (w *world) concurrently(ctx context.Context, url string, clients int) (time.Duration, error) {
	shared := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer shared.CloseIdleConnections()
	took, faults := make([][]time.Duration, clients), make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c := &wire{url: url, client: shared}
			defer c.close(ctx)
			if faults[i] = c.hello(ctx); faults[i] != nil {
				return
			}
			for range max(1, w.calls/clients) {
				d, err := simple(ctx, c)
				if err != nil {
					faults[i] = err
					return
				}
				took[i] = append(took[i], d)
			}
		})
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return 0, err
		}
	}
	return median(slices.Concat(took...)), nil
}

// rival starts another gateway in front of the same server.
func (w *world) rival(ctx context.Context, name, script string, args func(port string) []string) (string, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(w.tools.node(), append([]string{w.tools.script(name, script)}, args(port)...)...) //nolint:gosec,noctx // installed by us; it is stopped, not killed
	p, err := w.start(name, cmd)
	if err != nil {
		return "", err
	}
	url := "http://" + address + "/mcp"
	return url, reachable(ctx, p, url)
}

// deferredTokens counts what a list of deferred tools costs a model.
func deferredTokens(ctx context.Context, w *world, s *score, _ upstream) error {
	file, err := w.liveTools()
	if err != nil {
		return err
	}
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return err
	}
	count, err := tokens.New("o200k_base")
	if err != nil {
		return err
	}
	for _, index := range []struct {
		name, mark string // mark is in the index once the server's tools are known
		most       int
	}{{"servers", "live", 600}, {"names", "bing_search", 2500}} {
		url, err := w.gateway(ctx, object{"tools": "deferred", "index": index.name}, upstream{name: "live", command: []string{program, "-tools", file}})
		if err != nil {
			return err
		}
		text, err := listWith(ctx, url, index.mark)
		if err != nil {
			return err
		}
		n := count.Count(text)
		s.hold("tokens of 527 deferred tools, index: "+index.name, n <= index.most, n, fmt.Sprintf("at most %d", index.most))
	}
	return nil
}

// listWith is the list of tools once it has a text in it.
func listWith(ctx context.Context, url, mark string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		result, err := (&wire{url: url, stateless: true}).do(ctx, "tools/list", object{})
		if err != nil {
			return "", err
		}
		var list struct{ Tools json.RawMessage }
		if err := json.Unmarshal(result, &list); err != nil {
			return "", err
		}
		if strings.Contains(string(list.Tools), mark) {
			return string(list.Tools), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("got %s, want %q in it", list.Tools, mark)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// liveTools writes the definitions of the data set as a server lists them.
func (w *world) liveTools() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.data, "mcp-tools-livemcp.jsonl"))
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		var d struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return "", err
		}
		one, err := json.Marshal(d)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%s\n", one)
	}
	return w.file("live.jsonl", []byte(lines.String()))
}

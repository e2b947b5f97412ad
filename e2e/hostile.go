package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mostMemory is what the gateway may hold while twenty-four hostile servers do
// their worst, in bytes: two lists of 30 MB that are read at once, twice each (120 MB);
// two lists of 5,000 tools (60 MB); two answers up to where they are too long (32 MB);
// and as much again that was not collected yet.
const mostMemory = 512 << 20

// hostileTime is how long calls of hostile servers may take.
const hostileTime = time.Second

// hostile puts servers that do what they must not beside a good one, and measures
// that one while they are left alone and while they are called, in turn.
func hostile(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil
	}
	h, err := w.hostiles(ctx)
	if err != nil {
		return err
	}
	g, err := w.up(ctx, full(), h.upstreams...)
	if err != nil {
		return err
	}
	h.url = g.url
	if err := h.measure(ctx, s); err != nil {
		return err
	}
	if held, err := sizeOf(g.cmd.Process.Pid); err == nil {
		s.hold("memory is bounded", held.Peak <= mostMemory, held, fmt.Sprintf("at most %d MiB", mostMemory>>20))
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := w.faultsOf(ctx, s, g.dir); err != nil {
		return err
	}
	return w.orderly(ctx, s, g)
}

// hostiles are the servers.
type hostiles struct {
	upstreams []upstream // the first is the good one
	url       string
	direct    string // the address of another good one, which is called without the gateway

	mu    sync.Mutex
	took  map[string][]time.Duration // of good calls, by what went on
	alone map[string][]time.Duration // of those without the gateway
}

// hostileKinds are those of e2e/hostile, in the order in which they are called.
func hostileKinds() []string {
	return []string{ // the first four lie about their tools
		"many", "long", "names", "changing", "huge", "endless", "line", "silent", "unknown", "garbage", "flood", "asks",
	}
}

// hostiles starts those that are reached over HTTP, and names all.
func (w *world) hostiles(ctx context.Context) (*hostiles, error) {
	program, err := w.build(ctx, "./e2e/hostile")
	if err != nil {
		return nil, err
	}
	good, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return nil, err
	}
	h := &hostiles{
		upstreams: []upstream{{name: "good", command: []string{good}}},
		took:      make(map[string][]time.Duration), alone: make(map[string][]time.Duration),
	}
	if h.direct, err = w.served(ctx, "good", good); err != nil {
		return nil, err
	}
	for _, kind := range hostileKinds() {
		if w.only != "" && w.only != kind {
			continue
		}
		patience := hostileTime
		if kind == "huge" || kind == "line" {
			patience = 10 * time.Second // until it is too long
		}
		h.upstreams = append(h.upstreams, upstream{name: kind, command: []string{program, "-as", kind}, timeout: patience})
		url, err := w.served(ctx, kind, program, "-as", kind)
		if err != nil {
			return nil, err
		}
		h.upstreams = append(h.upstreams, upstream{name: "web-" + kind, url: url, timeout: patience})
	}
	return h, nil
}

// served starts a server that is reached over HTTP, and returns its address.
func (w *world) served(ctx context.Context, name, program string, args ...string) (url string, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	p, err := w.start(name, exec.Command(program, append(args, "-http", address)...)) //nolint:gosec,noctx // built by us; it is stopped, not killed
	if err != nil {
		return "", err
	}
	url = "http://" + address
	return url, reachable(ctx, p, url)
}

// quietTime is how long nothing hostile is called before each that is.
const quietTime = 300 * time.Millisecond

// measure calls the hostile servers one after the other, by clients of both eras,
// and the good one all the time.
func (h *hostiles) measure(ctx context.Context, s *score) error {
	ctx, stop := context.WithCancelCause(ctx)
	var good sync.WaitGroup
	now := &atomic.Pointer[string]{}
	quiet := "quiet"
	now.Store(&quiet)
	for _, g := range []goodCalls{
		{h.url, h.upstreams[0].prefixed("echo"), h.took},
		{h.direct, "echo", h.alone},
	} {
		good.Go(func() {
			if err := h.callGood(ctx, now, g); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	answers := make(map[string][]string)
	for _, u := range h.upstreams[1:] {
		if rest(ctx, quietTime); ctx.Err() != nil {
			break
		}
		now.Store(&u.name)
		answers[u.name] = h.provoke(ctx, u)
		now.Store(&quiet)
	}
	err := context.Cause(ctx)
	stop(nil)
	good.Wait()
	s.hold("the good server answers all the while", err == nil, fmt.Sprint(err), nil)
	var unanswered []string
	for name, all := range answers {
		for _, a := range all {
			if a == "" {
				unanswered = append(unanswered, name)
			}
		}
	}
	s.note("what hostile servers' callers were told", answers)
	s.hold("each call of a hostile server is answered", len(unanswered) == 0, unanswered, nil)
	h.compare(s)
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// goodEvery is how long after the beginning of each good call the next is begun.
const goodEvery = 10 * time.Millisecond

// goodCalls are calls of a good server, and how long they took.
type goodCalls struct {
	url, tool string
	took      map[string][]time.Duration
}

// callGood calls a good server until ctx ends.
func (h *hostiles) callGood(ctx context.Context, now *atomic.Pointer[string], g goodCalls) error {
	c := &wire{url: g.url}
	if err := c.hello(ctx); err != nil {
		return err
	}
	defer c.close(context.WithoutCancel(ctx))
	start := time.Now()
	for n := 0; ; n++ {
		if rest(ctx, time.Until(start)); ctx.Err() != nil {
			return nil
		}
		start = time.Now()
		during := *now.Load()
		text := fmt.Sprint("good ", n)
		result, err := c.do(ctx, "tools/call", object{"name": g.tool, "arguments": object{"text": text}})
		if err != nil {
			return err
		}
		if got := (outcome{Result: result}).text(); got != text {
			return fmt.Errorf("the good server: got %.200s, want %q", result, text)
		}
		h.mu.Lock()
		// Those that would have been begun while this one was held up count too: else
		// the worse it is, the less of it is seen.
		for took := time.Since(start); took > 0; took -= goodEvery {
			g.took[during] = append(g.took[during], took)
		}
		h.mu.Unlock()
		start = start.Add(goodEvery)
	}
}

// provoke has clients of both eras call a hostile server, and returns what they
// were told; "": nothing.
func (h *hostiles) provoke(ctx context.Context, u upstream) []string {
	told := make([]string, 2)
	var both sync.WaitGroup
	for i := range told {
		both.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			c := &wire{url: h.url, stateless: i == 1}
			if err := c.hello(ctx); err != nil {
				return
			}
			defer c.close(context.WithoutCancel(ctx))
			result, err := c.do(ctx, "tools/call", object{"name": u.prefixed("go"), "arguments": object{}})
			var fault rpcFault
			switch {
			case errors.As(err, &fault):
				told[i] = string(fault)
			case err == nil:
				told[i] = (outcome{Result: result}).text()
				told[i] = told[i][:min(len(told[i]), 200)]
			}
		})
	}
	both.Wait()
	// What it does once it has answered counts too; a list is asked for anew, and
	// judged, within a while.
	if after := quietTime; slices.Contains(hostileKinds()[:4], strings.TrimPrefix(u.name, "web-")) {
		rest(ctx, 5*after)
	} else {
		rest(ctx, after)
	}
	return told
}

// compare compares how long good calls took.
func (h *hostiles) compare(s *score) {
	h.mu.Lock()
	defer h.mu.Unlock()
	figures := make(map[string]string)
	for name, all := range h.took {
		figures[name] = p95(all).Round(10 * time.Microsecond).String()
	}
	loud, loudAlone := but(h.took, "quiet"), but(h.alone, "quiet")
	if len(loud) == 0 || len(loudAlone) == 0 || len(h.took["quiet"]) == 0 || len(h.alone["quiet"]) == 0 {
		s.fail("good calls were made", figures)
		return
	}
	quiet, busy := p95(h.took["quiet"]), p95(loud)
	s.note("p95 of good calls, by which hostile server is called", figures)
	// What the machine does beside it, and the hostile servers themselves, can be seen
	// in these.
	s.note("p95 of calls of a good server without the gateway", object{
		"ratio": float64(p95(loudAlone)) / float64(p95(h.alone["quiet"])), "p95": p95(loudAlone).String(), "quiet": p95(h.alone["quiet"]).String(),
	})
	// A machine that does other things beside this shows more: up to slack it is
	// missed, as what is fast is.
	const check = "the good server's p95 at most doubles"
	got := object{
		"ratio": float64(busy) / float64(quiet), "p95": busy.String(), "quiet": quiet.String(), "calls": len(loud) + len(h.took["quiet"]),
	}
	if busy > 2*quiet && busy <= 2*slack*quiet {
		s.miss(check, got, "at most 2.00")
		return
	}
	s.hold(check, busy <= 2*quiet, got, "at most 2.00")
}

// but are all times but those while one thing went on.
func but(took map[string][]time.Duration, what string) (all []time.Duration) {
	for name, some := range took {
		if name != what {
			all = append(all, some...)
		}
	}
	return all
}

func p95(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*95/100]
}

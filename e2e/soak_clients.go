package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// soakClients is how many clients there are at once, half of each era.
const soakClients = 4

// soakPatience is how long an answer may take, on a machine that does other things too.
const soakPatience = 90 * time.Second

// tally is what became of calls. It is safe for concurrent use.
type tally struct {
	mu      sync.Mutex
	count   map[string]int
	took    []timed
	refused map[string]int // answers that are errors, by why that is right
	faults  []string       // what must not be
	ran     []string       // ids of calls that went well: each ran
	unrun   []string       // ids of calls that must not have run
}

// timed is how long a call took, and when.
type timed struct {
	at   time.Time
	took time.Duration
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count, t.refused = make(map[string]int), make(map[string]int)
	}
	t.count[what]++
}

func (t *tally) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// refuse takes an answer that is an error. One that nothing explains is a fault.
func (t *tally) refuse(tool any, text string) {
	t.add("refused")
	t.mu.Lock()
	defer t.mu.Unlock()
	if why := explain(explainedAnswers(), text); why != "" {
		t.refused[why]++
		return
	}
	t.faults = append(t.faults, fmt.Sprintf("%v: an error that is not explained: %.300s", tool, text))
}

// errLeft: the client has gone on purpose.
var errLeft = errors.New("the client has left")

// call makes a call and counts what became of it. Empty: it was refused, or the client
// has left.
func (k *soaking) call(ctx context.Context, c *wire, params object) string {
	k.tally.add("sent")
	ctx, cancel := context.WithTimeout(ctx, soakPatience)
	defer cancel()
	result, err := c.do(ctx, "tools/call", params)
	return k.tally.take(params["name"], result, err, errors.Is(context.Cause(ctx), errLeft))
}

// calling are the params of a call.
func calling(tool string, args object) object { return object{"name": tool, "arguments": args} }

// take counts what became of a call. Left: the client does not want it any more, and an
// answer may have come all the same.
func (t *tally) take(tool any, result json.RawMessage, err error, left bool) string {
	var fault rpcFault
	switch {
	case left:
		t.add("left")
	case errors.As(err, &fault):
		t.refuse(tool, string(fault))
	case err != nil:
		t.add("unanswered")
		t.fault("%v: no answer: %v", tool, err)
	case strings.Contains(string(result), `"isError":true`):
		t.refuse(tool, (outcome{Result: result}).text())
	default:
		t.add("answered")
		return string(result)
	}
	return ""
}

// visits has clients come, list, call and go, one after the other.
func (k *soaking) visits(ctx context.Context, i int) error {
	for n := 0; !k.over(); n++ {
		own := &http.Transport{}
		c := &wire{url: k.g.url, stateless: i%2 == 1, client: &http.Client{Transport: own}}
		if err := c.hello(ctx); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		names, err := c.toolNames(ctx)
		if err != nil || len(names) < 10 {
			return fmt.Errorf("client %d: got the tools %q: %w", i, names, err)
		}
		k.tally.add("visits")
		for range 12 + rand.IntN(12) { //nolint:gosec // any number
			if !k.turn() {
				break
			}
			if err := k.one(ctx, c); err != nil {
				return err
			}
		}
		if n%4 == 3 && !c.stateless {
			err = k.vanish(ctx, c)
		} else {
			c.close(ctx)
		}
		own.CloseIdleConnections()
		if err != nil {
			return err
		}
	}
	return nil
}

// soakAway is how many sessions there are whose clients have gone without a word. Each
// stays for an hour, with a process of each server over stdio that it has called: more
// of them would be growth that is meant.
const soakAway = 4

// vanish has a client go without a word. One that went earlier comes back to its session,
// over a new connection, and says goodbye.
func (k *soaking) vanish(ctx context.Context, c *wire) error {
	k.tally.add("gone without a word")
	k.away <- c
	if len(k.away) <= soakAway {
		return nil
	}
	back := <-k.away
	own := &http.Transport{}
	defer own.CloseIdleConnections()
	back.client = &http.Client{Transport: own}
	if _, err := back.toolNames(ctx); err != nil {
		return fmt.Errorf("a client that came back to its session: %w", err)
	}
	if err := k.one(ctx, back); err != nil {
		return err
	}
	back.close(ctx)
	k.tally.add("back again")
	return nil
}

// one makes one call, of any kind.
func (k *soaking) one(ctx context.Context, c *wire) error {
	u := k.l.upstreams[rand.IntN(len(k.l.upstreams))] //nolint:gosec // any server
	switch n := rand.IntN(100); {                     //nolint:gosec // any kind
	case n < 40:
		k.counts(ctx, c, u, "count", 0)
	case n < 60:
		k.counts(ctx, c, u, "count_read", 0)
	case n < 70:
		if got := k.call(ctx, c, calling("sdk__echo", object{"text": "as it is"})); got != "" && !strings.Contains(got, "as it is") {
			k.tally.fault("sdk__echo: got %.200s", got)
		}
	case n < 76:
		k.counts(ctx, c, u, "count", 50+rand.IntN(400)) //nolint:gosec // any time
	case n < 80:
		if c.stateless || n == 79 { // of the old era each session has a process, and these are heavy
			k.call(ctx, c, calling("files__read_text_file", object{"path": filepath.Join(k.work, "files", "a.txt")}))
		}
	case n < 84:
		if c.stateless || n == 83 {
			k.progresses(ctx, c)
		}
	case n < 89:
		k.cancels(ctx, c, u, n%2 == 0)
	case n < 93:
		return k.large(ctx, c)
	default:
		kinds := soakHostile()
		k.call(ctx, c, calling(kinds[n%len(kinds)]+"__go", object{}))
		k.tally.add("hostile")
	}
	return nil
}

// counts calls a tool that writes down that it ran.
func (k *soaking) counts(ctx context.Context, c *wire, u upstream, tool string, ms int) {
	id := k.id("plain")
	start := time.Now()
	got := k.call(ctx, c, calling(u.prefixed(tool), object{"id": id, "ms": ms}))
	if got == "" {
		return
	}
	k.tally.mu.Lock()
	defer k.tally.mu.Unlock()
	if !strings.Contains(got, id) {
		k.tally.faults = append(k.tally.faults, fmt.Sprintf("%s: got the answer of another: %.200s", id, got))
	}
	k.tally.ran = append(k.tally.ran, id)
	if ms == 0 {
		k.tally.took = append(k.tally.took, timed{start, time.Since(start)})
	}
}

// progresses has a call say how far it is.
func (k *soaking) progresses(ctx context.Context, c *wire) {
	before := c.heard
	params := calling("everything__trigger-long-running-operation", object{"duration": 0.3, "steps": 3})
	params["_meta"] = object{"progressToken": k.id("token")}
	got := k.call(ctx, c, params)
	if got == "" {
		return
	}
	k.tally.add("with progress")
	if c.heard == before {
		k.tally.fault("a call with progress: got none")
	}
}

// cancels gives a call up while it runs: with a word, or by going away. One of the old
// era that was only gone away from goes on.
func (k *soaking) cancels(ctx context.Context, c *wire, u upstream, says bool) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	id := c.id + 1
	var left atomic.Bool
	var beside sync.WaitGroup
	beside.Go(func() {
		rest(ctx, time.Duration(100+rand.IntN(200))*time.Millisecond) //nolint:gosec // any time
		left.Store(true)
		if says && !c.stateless {
			_ = c.post(ctx, object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": id, "reason": "soak"}}, func(*http.Response) error { return nil })
			rest(ctx, 200*time.Millisecond)
		}
		leave()
	})
	k.tally.add("sent")
	result, err := c.do(ctx, "tools/call", calling(u.prefixed("count"), object{"id": k.id("left"), "ms": 1500}))
	k.tally.take(u.name, result, err, left.Load())
	leave()
	beside.Wait()
}

// large has a result that is too long for a model, which is kept, and reads on in it.
func (k *soaking) large(ctx context.Context, c *wire) error {
	got := k.call(ctx, c, calling("web__large", object{"bytes": 1 << 20}))
	if got == "" {
		return nil
	}
	k.tally.add("kept")
	at := regexp.MustCompile(`read_result \{\\"handle\\":\\"([^"\\]+)\\"`).FindStringSubmatch(got)
	if at == nil {
		return fmt.Errorf("large: got a result of %d bytes without a handle: %.2000s", len(got), got)
	}
	if page := k.call(ctx, c, calling("read_result", object{"handle": at[1], "offset": 500_000})); page != "" && !strings.Contains(page, "many that are all the same") {
		k.tally.fault("read_result: got %.300s", page)
	}
	return nil
}

// listens has clients listen for what belongs to no request, each for a while: one of
// either era.
func (k *soaking) listens(ctx context.Context) error {
	for k.pause(100 * time.Millisecond) {
		for _, stateless := range []bool{false, true} {
			c := &wire{url: k.g.url, stateless: stateless, client: &http.Client{Transport: &http.Transport{}}}
			if err := c.hello(ctx); err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(ctx)
			var hearing sync.WaitGroup
			hearing.Go(func() {
				if stateless {
					_, _ = c.do(ctx, "subscriptions/listen", object{"notifications": object{"toolsListChanged": true}})
				} else {
					_ = c.hear(ctx)
				}
			})
			k.pause(8 * time.Second)
			cancel()
			hearing.Wait()
			k.tally.mu.Lock()
			k.tally.count["list changes heard"] += c.heard
			k.tally.mu.Unlock()
			c.close(context.WithoutCancel(ctx))
		}
	}
	return nil
}

// hear reads the stream of a session that is for no request, until the context ends.
func (c *wire) hear(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", c.session)
	req.Header.Set("Mcp-Protocol-Version", oldVersion)
	resp, err := c.http().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = answer(resp, func() { c.heard++ })
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// ledger is what counting servers have written, and who was killed.
type ledger struct {
	program, file, address string
	upstreams              []upstream
	http                   *process // the server that is reached over HTTP

	mu     sync.Mutex
	killed map[int]bool
}

// most is how many children there are while nothing runs: the hub's own, and those
// of the one stateless session, which has several for a server of the old era.
func (l *ledger) most() int { return 3 + 2 + lossyClients }

func (l *ledger) lost(pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed[pid] = true
}

// book is the file, read.
type book struct {
	started []int
	calls   map[string]int          // by id, how often it was run
	open    map[int]map[string]bool // by who runs them
	lines   map[string][]string     // by id, all that was written of it
}

func (l *ledger) read() *book {
	b := &book{calls: make(map[string]int), open: make(map[int]map[string]bool), lines: make(map[string][]string)}
	text, err := os.ReadFile(l.file)
	if err != nil {
		return b // nobody has written yet
	}
	for line := range strings.Lines(string(text)) {
		var what, id string
		var pid int
		if n, _ := fmt.Sscan(line, &what, &id, &pid); n < 3 {
			continue // it is written just now
		}
		b.lines[id] = append(b.lines[id], strings.TrimSpace(line))
		switch what {
		case "start":
			b.started = append(b.started, pid)
			b.open[pid] = make(map[string]bool)
		case "call":
			b.calls[id]++
			b.open[pid][id] = true
		case "done":
			delete(b.open[pid], id)
		}
	}
	return b
}

// alive are the servers that run.
func (l *ledger) alive() []int {
	var all []int
	for _, pid := range l.read().started {
		if runs(pid, l.program) {
			all = append(all, pid)
		}
	}
	return all
}

// busy are those that run a call.
func (l *ledger) busy(pids []int) []int {
	open := l.read().open
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return len(open[pid]) == 0 })
}

func without(pids []int, pid int) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(p int) bool { return p == pid })
}

// calls are what became of calls.
type calls struct {
	mu                             sync.Mutex
	made                           int
	answered                       []string // ids, with their own answer
	refused, unanswered, ofAnother []string // what came instead
}

// call has clients of both eras call the servers until stop is closed, and
// at least a few times.
func (l *ledger) call(ctx context.Context, url string, stop <-chan struct{}) *calls {
	done := &calls{}
	shared := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * lossyClients}}
	defer shared.CloseIdleConnections()
	series := rand.Uint32() //nolint:gosec // only to tell calls apart
	var all sync.WaitGroup
	for i := range 2 * lossyClients {
		all.Go(func() {
			for session := 0; ; session++ { // each a few calls long: connecting counts too
				c := &wire{url: url, stateless: i%2 == 1, client: shared}
				if err := c.hello(ctx); err != nil {
					done.note("", err)
					return
				}
				for n := range 2 * len(l.upstreams) {
					u := l.upstreams[(n+i)%len(l.upstreams)]
					done.one(ctx, c, u, fmt.Sprintf("%x-%d-%d-%d", series, i, session, n), []string{"count", "count_read"}[n%2])
				}
				c.close(ctx)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	all.Wait()
	return done
}

// callTime is how long a call may go without an answer.
const callTime = 20 * time.Second

func (d *calls) one(ctx context.Context, c *wire, u upstream, id, tool string) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	result, err := c.do(ctx, "tools/call", object{"name": u.prefixed(tool), "arguments": object{"id": id, "ms": rand.IntN(60)}}) //nolint:gosec // any time will do
	switch text := string(result); {
	case err != nil:
		d.note(id, err)
	case strings.Contains(text, `"isError":true`):
		d.note(id, rpcFault(text))
	case !strings.Contains(text, `"`+id+`"`):
		d.mu.Lock()
		defer d.mu.Unlock()
		d.made++
		d.ofAnother = append(d.ofAnother, id+": "+text)
	default:
		d.note(id, nil)
	}
}

// note says what came of a call.
func (d *calls) note(id string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made++
	switch {
	case err == nil:
		d.answered = append(d.answered, id)
	case errors.As(err, new(rpcFault)):
		d.refused = append(d.refused, id+": "+err.Error())
	default:
		d.unanswered = append(d.unanswered, id+": "+err.Error())
	}
}

// judge compares what clients were told with what servers have written.
func (d *calls) judge(s *score, l *ledger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := l.read()
	busy := 0
	for pid := range l.killed {
		if len(b.open[pid]) > 0 {
			busy++
		}
	}
	var twice, never []string
	for id, n := range b.calls {
		if n > 1 {
			twice = append(twice, strings.Join(b.lines[id], "; "))
		}
	}
	for _, id := range d.answered {
		if b.calls[id] == 0 {
			never = append(never, id)
		}
	}
	s.note("figures", object{"lost": len(l.killed), "with a call": busy, "connects": len(b.started), "calls": d.made, "answered": len(d.answered), "with an error": len(d.refused)})
	s.note("errors", kinds(d.refused))
	s.hold("servers are lost with a call in flight", busy >= len(l.killed)/4, busy, fmt.Sprintf("at least %d", len(l.killed)/4))
	s.hold("every call is answered", len(d.unanswered) == 0, first(d.unanswered), nil)
	s.hold("with its own answer", len(d.ofAnother) == 0, first(d.ofAnother), nil)
	s.hold("no call is sent twice", len(twice) == 0, first(twice), nil)
	s.hold("what was answered was run", len(never) == 0, first(never), nil)
	s.hold("most calls work", len(d.answered) > d.made/2, len(d.answered), d.made)
}

// kinds counts answers that are errors, by what they say.
func kinds(all []string) map[string]int {
	count := make(map[string]int)
	for _, text := range all {
		_, text, _ = strings.Cut(text, ": ")
		if said := (outcome{Result: json.RawMessage(text)}).text(); said != "" {
			text = said
		}
		count[text[:min(len(text), 300)]]++
	}
	return count
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// losses kills servers at random while calls run. Each server writes a call down
// before it does anything else, so that what was sent twice is seen.
func losses(ctx context.Context, w *world, s *score) error {
	if w.direct || runtime.GOOS != "linux" {
		s.note("left out", "it needs a gateway, and /proc")
		return nil
	}
	l, err := w.ledger(ctx)
	if err != nil {
		return err
	}
	// What a gateway holds that has lost nothing.
	g, err := w.lossy(ctx, l)
	if err != nil {
		return err
	}
	before, err := l.settled(ctx, g, 10*time.Second)
	if err != nil {
		return err
	}
	goroutines, err := g.goroutines(ctx)
	if err != nil {
		return err
	}
	w.rest()

	if g, err = w.lossy(ctx, l); err != nil {
		return err
	}
	done, err := l.lose(ctx, w, g, max(1, w.calls/10))
	if err != nil {
		return err
	}
	done.judge(s, l)
	after, err := l.settled(ctx, g, 20*time.Second)
	if err != nil {
		return err
	}
	s.hold("no child is left", after.Children <= l.most() && after.Zombies == 0, after, fmt.Sprintf("at most %d children, no zombie", l.most()))
	s.hold("no file is left open", after.Files <= before.Files+6*(l.most()-before.Children), after.Files, before.Files)
	left, err := g.goroutines(ctx)
	if err != nil {
		return err
	}
	s.hold("no goroutine is left", left <= goroutines+goroutines/2, left, goroutines)
	children := func() []int { return without(l.alive(), l.http.cmd.Process.Pid) }
	gone := within(ctx, 10*time.Second, func() bool { return len(children()) == 0 })
	s.hold("no server outlives the gateway", gone, children(), []int{})
	return nil
}

// lossyClients is how many clients of each era call at once.
const lossyClients = 4

// lossy starts a gateway in front of counting servers, and has each called a few
// times.
func (w *world) lossy(ctx context.Context, l *ledger) (*up, error) {
	if err := l.serve(ctx, w); err != nil {
		return nil, err
	}
	g, err := w.up(ctx, full(), l.upstreams...)
	if err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	close(stop)
	done := l.call(ctx, g.url, stop)
	done.mu.Lock()
	defer done.mu.Unlock()
	if len(done.unanswered)+len(done.refused) > 0 {
		return nil, fmt.Errorf("before anything was lost: %q %q", done.unanswered, done.refused)
	}
	return g, nil
}

// goroutines ends a process with a dump of all that it was doing, and counts it.
func (g *up) goroutines(ctx context.Context) (int, error) {
	g.said.keep(16 << 20)
	if err := quit(g.cmd); err != nil {
		return 0, err
	}
	select {
	case <-g.done:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	n := strings.Count("\n"+g.said.String(), "\ngoroutine ")
	if n == 0 {
		return 0, fmt.Errorf("no goroutine in %s", g.said)
	}
	return n, nil
}

// within reports whether something becomes so in time.
func within(ctx context.Context, most time.Duration, so func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return true
}

// settled is what the gateway holds once the sessions that have ended are gone.
func (l *ledger) settled(ctx context.Context, g *up, most time.Duration) (size, error) {
	var held size
	var err error
	within(ctx, most, func() bool {
		held, err = sizeOf(g.cmd.Process.Pid)
		return err != nil || held.Children <= l.most() && held.Zombies == 0
	})
	return held, err
}

// lose kills n servers, one after the other, while clients call them.
func (l *ledger) lose(ctx context.Context, w *world, g *up, n int) (*calls, error) {
	stop := make(chan struct{})
	var (
		made    *calls
		calling sync.WaitGroup
	)
	calling.Go(func() { made = l.call(ctx, g.url, stop) })
	err := l.loseAll(ctx, w, g, n)
	close(stop)
	calling.Wait()
	return made, err
}

func (l *ledger) loseAll(ctx context.Context, w *world, g *up, n int) error {
	for k := 0; k < n; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-g.done:
			return g.ended()
		case <-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond): //nolint:gosec // at any time
		}
		ok, err := l.loseOne(ctx, w, k%5 == 4, k%2 == 0)
		if err != nil {
			return err
		}
		if ok {
			k++
		}
	}
	return nil
}

// loseOne kills a server at random; busy: one that runs a call, if there is one.
// The one that is reached over HTTP is started again by us.
func (l *ledger) loseOne(ctx context.Context, w *world, overHTTP, busy bool) (bool, error) {
	pids := l.alive()
	if overHTTP {
		pids = []int{l.http.cmd.Process.Pid}
	} else {
		pids = without(pids, l.http.cmd.Process.Pid)
	}
	if at := l.busy(pids); busy && len(at) > 0 {
		pids = at
	}
	if len(pids) == 0 {
		return false, nil
	}
	pid := pids[rand.IntN(len(pids))] //nolint:gosec // anyone
	p, err := os.FindProcess(pid)
	if err != nil {
		return false, err
	}
	if err := p.Kill(); errors.Is(err, os.ErrProcessDone) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	l.lost(pid)
	if !overHTTP {
		return true, nil
	}
	<-l.http.done
	return true, l.startHTTP(ctx, w)
}

// serve starts the server that is reached over HTTP, unless it runs.
func (l *ledger) serve(ctx context.Context, w *world) error {
	if l.http != nil && l.http.ended() == nil {
		return nil
	}
	return l.startHTTP(ctx, w)
}

func (l *ledger) startHTTP(ctx context.Context, w *world) error {
	p, err := w.start("counting", exec.Command(l.program, "-count", l.file, "-http", l.address)) //nolint:gosec,noctx // built by us; it is stopped, not killed
	if err != nil {
		return err
	}
	l.http = p
	return reachable(ctx, p, "http://"+l.address)
}

// ledger makes the servers that write calls down.
func (w *world) ledger(ctx context.Context) (*ledger, error) {
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return nil, err
	}
	dir, err := w.folder("losses")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	l := &ledger{program: program, file: filepath.Join(dir, "book"), address: address, killed: make(map[int]bool)}
	for name, era := range map[string]string{"both": "", "old": "2025", "new": "2026"} {
		l.upstreams = append(l.upstreams, upstream{name: name, command: []string{program, "-count", l.file, "-era", era}})
	}
	l.upstreams = append(l.upstreams, upstream{name: "web", url: "http://" + address})
	return l, nil
}

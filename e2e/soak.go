package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// soakShort is how long the soak lasts where nobody says it: enough to see that all of it
// works, and too short for what grows slowly.
const soakShort = 40 * time.Second

// soak has one gateway live for long, with all at once that can happen to it: clients of
// both eras, agents in the same home, people who answer, a console, servers that are
// lost and come back, such that lie. What it holds is looked at all the time and must not
// grow, each line of its log must be explained, each call have its one answer, and the
// record be whole in the end.
func soak(ctx context.Context, w *world, s *score) error {
	if w.direct || runtime.GOOS != "linux" {
		s.note("left out", "it needs a gateway, and /proc")
		return nil
	}
	k, err := w.soaked(ctx, s)
	if err != nil {
		return err
	}
	whole, err := w.untouched(ctx) // how long an agent takes that nobody kills
	if err != nil {
		return err
	}
	k.began = time.Now()
	var all, people sync.WaitGroup
	run := func(name string, do func(context.Context) error) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.fail(name, err.Error())
		}
	}
	begin := func(name string, do func(context.Context) error) { all.Go(func() { run(name, do) }) }
	people.Go(func() { run("people answer", k.answers) }) // until nobody waits any more
	begin("the pace is kept", k.keepPace)
	for i := range soakClients {
		begin("clients come and go", func(ctx context.Context) error { return k.visits(ctx, i) })
	}
	begin("clients listen", k.listens)
	begin("calls are asked for", k.asks)
	begin("the console is open", k.watches)
	begin("agents run", func(ctx context.Context) error { return k.agents(ctx, whole) })
	begin("servers are lost", k.loses)
	begin("the collector is there, and sometimes not", k.collector.comeAndGo)
	begin("what it holds is seen", k.looks)
	select {
	case <-ctx.Done():
	case <-k.g.done:
		s.fail("the gateway lives", k.g.ended().Error()+"\n"+k.log.last())
	case <-time.After(k.lasts):
	}
	close(k.stop)
	all.Wait()
	close(k.left)
	people.Wait()
	if err := errors.Join(ctx.Err(), k.g.ended()); err != nil {
		return err
	}
	return k.judge(ctx)
}

// soaking is a soak that runs.
type soaking struct {
	w         *world
	s         *score
	g         *up
	l         *ledger
	key       string // of the console
	token     string // of who fetches metrics
	work      string // what servers from npm work on
	lasts     time.Duration
	began     time.Time
	stop      chan struct{} // closed when nothing more is begun
	left      chan struct{} // closed when all but those who answer have ended
	pace      chan struct{} // gives the next call
	log       *gatewayLog
	collector *collector
	tally     tally
	samples   []sample     // of the goroutine that looks, until it has ended
	last      atomic.Int64 // number of the last call
	away      chan *wire   // sessions whose clients have gone without a word, the oldest first
}

// soaked starts the gateway and all that is behind it.
func (w *world) soaked(ctx context.Context, s *score) (k *soaking, err error) {
	k = &soaking{w: w, s: s, lasts: soakShort, stop: make(chan struct{}), left: make(chan struct{}), pace: make(chan struct{}), away: make(chan *wire, soakAway+soakClients), log: &gatewayLog{}}
	if w.minutes > 0 {
		k.lasts = time.Duration(w.minutes * float64(time.Minute))
	}
	if k.l, err = w.ledger(ctx); err != nil {
		return nil, err
	}
	if err := k.l.serve(ctx, w); err != nil {
		return nil, err
	}
	upstreams, err := k.upstreams(ctx)
	if err != nil {
		return nil, err
	}
	if k.collector, err = collect(ctx, k.stop); err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	c := configuration(address, full(), upstreams)
	c["policy"] = object{"allow": []string{"*"}, "ask": []string{"*__count_ask"}}
	servers, _ := c["servers"].(object)
	changing, _ := servers["changing"].(object)
	changing["pins"] = "follow" // else there is one question, and no change is seen after it
	c["telemetry"] = k.collector.configuration()
	dir, err := w.written(c)
	if err != nil {
		return nil, err
	}
	if k.g, err = w.upIn(ctx, dir, address, k.log, upstreams); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, k.log.last())
	}
	if k.key, err = k.secret("console-key"); err == nil {
		k.token, err = k.secret("metrics-token")
	}
	return k, err
}

// secret is what stands in a file of the home.
func (k *soaking) secret(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(k.home(), name))
	return strings.TrimSpace(string(text)), err
}

// upstreams are all servers: those that count, over stdio in either era and over HTTP,
// one of the SDK over HTTP with sessions, two from npm, and such that do what they must
// not.
func (k *soaking) upstreams(ctx context.Context) ([]upstream, error) {
	w := k.w
	all := k.l.upstreams
	work, err := w.folder("work")
	if err != nil {
		return nil, err
	}
	if err := layOut(ctx, work); err != nil {
		return nil, err
	}
	k.work = work
	for _, r := range w.realServers(work)[:2] {
		r.guarded = true
		all = append(all, r.upstream)
	}
	program, err := w.build(ctx, "./e2e/sdkserver")
	if err != nil {
		return nil, err
	}
	url, err := w.served(ctx, "sdk", program)
	if err != nil {
		return nil, err
	}
	all = append(all, upstream{name: "sdk", url: url, guarded: true})
	if program, err = w.build(ctx, "./e2e/hostile"); err != nil {
		return nil, err
	}
	for _, kind := range soakHostile() {
		all = append(all, upstream{name: kind, command: []string{program, "-as", kind}, timeout: hostileTime})
	}
	return all, nil
}

// soakHostile are the servers that do what they must not. The others of e2e/hostile cost
// more than all the rest here.
func soakHostile() []string { return []string{"changing", "unknown", "garbage", "silent", "asks"} }

func (k *soaking) home() string { return filepath.Join(k.g.dir, "home") }

// over reports whether nothing more is begun.
func (k *soaking) over() bool {
	select {
	case <-k.stop:
		return true
	default:
		return false
	}
}

// pause waits for a while; false: it is over.
func (k *soaking) pause(d time.Duration) bool {
	select {
	case <-k.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// keepPace gives so many calls a second.
func (k *soaking) keepPace(ctx context.Context) error {
	tick := time.NewTicker(time.Duration(float64(time.Second) / k.w.rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.stop:
			return nil
		case <-tick.C:
		}
		select {
		case k.pace <- struct{}{}:
		default: // all are busy
		}
	}
}

// turn waits until the next call may be made; false: there is none.
func (k *soaking) turn() bool {
	select {
	case <-k.stop:
		return false
	case <-k.pace:
		return true
	}
}

// id names a call, so that it is found in the books of servers.
func (k *soaking) id(kind string) string { return fmt.Sprintf("%s-%d", kind, k.last.Add(1)) }

// ferrule runs the program as a person does, beside the gateway.
func (k *soaking) ferrule(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.Command(k.w.program, args...) //nolint:gosec,noctx // the program under test; output ends it, with its group
	cmd.Dir, cmd.Env = k.g.dir, k.w.home(k.g.dir)
	out, err := output(ctx, "ferrule "+strings.Join(args, " "), cmd)
	return string(out), err
}

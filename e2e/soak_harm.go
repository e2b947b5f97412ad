package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// agents runs agents in the home of the gateway, one after the other. Half are killed on
// their way.
func (k *soaking) agents(ctx context.Context, whole time.Duration) error {
	for n := 1; k.pause(6 * time.Second); n++ {
		dir, err := k.w.folder("agent")
		if err != nil {
			return err
		}
		a := scripted{dir, k.home(), fmt.Sprintf("soak-%d", n)}
		if err := a.write(); err != nil {
			return err
		}
		patience := whole
		if n%2 == 0 {
			patience = time.Minute // nobody kills it
		}
		run, err := k.w.killedRun(ctx, a, patience)
		if err != nil {
			return fmt.Errorf("agent %d: %w", n, err)
		}
		k.tally.mu.Lock()
		k.tally.count["runs"]++
		k.tally.count["runs killed"] += run.kills
		for _, f := range run.faults {
			k.tally.faults = append(k.tally.faults, fmt.Sprintf("agent %d: %s", n, f))
		}
		k.tally.mu.Unlock()
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// loses kills servers: those over stdio, and now and then the one that is reached over
// HTTP, which is away for a while.
func (k *soaking) loses(ctx context.Context) error {
	for n := 1; k.pause(5 * time.Second); n++ {
		if n%6 != 0 {
			ok, err := k.l.loseOne(ctx, k.w, false, n%2 == 0)
			if err != nil {
				return err
			}
			if ok {
				k.tally.add("servers killed")
			}
			continue
		}
		if err := k.l.http.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		<-k.l.http.done
		k.pause(3 * time.Second)
		if err := k.l.startHTTP(ctx, k.w); err != nil {
			return err
		}
		k.tally.add("server over HTTP away")
	}
	return nil
}

// judge looks at what has become of everything.
func (k *soaking) judge(ctx context.Context) error {
	k.judgeCalls()
	k.judgeSamples()
	said, err := k.ferrule(ctx, "audit", "verify")
	k.s.hold("the record is whole", err == nil, strings.TrimSpace(said), "no error")
	if err := k.store(); err != nil {
		return err
	}
	start := time.Now()
	err = k.w.orderly(ctx, k.s, k.g)
	k.s.hold("it ends soon", time.Since(start) < 15*time.Second, time.Since(start).String(), "15 s")
	left := func() []int { return without(k.l.alive(), k.l.http.cmd.Process.Pid) }
	gone := within(ctx, 10*time.Second, func() bool { return len(left()) == 0 })
	k.s.hold("no server outlives it", gone, left(), []int{})
	k.judgeLog()
	return err
}

// judgeCalls compares what clients were told with what servers have written.
func (k *soaking) judgeCalls() {
	t := &k.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	b := k.l.read()
	var twice, never, wrongly []string
	for id, n := range b.calls {
		if n > 1 {
			twice = append(twice, strings.Join(b.lines[id], "; "))
		}
	}
	for _, id := range t.ran {
		if b.calls[id] == 0 {
			never = append(never, id)
		}
	}
	for _, id := range t.unrun {
		if b.calls[id] > 0 {
			wrongly = append(wrongly, id)
		}
	}
	s, c := k.s, t.count
	s.note("what happened", c)
	s.note("answers that are errors, by why", t.refused)
	s.hold("each call has one answer, or its client has left", c["sent"] == c["answered"]+c["refused"]+c["left"], c, nil)
	s.hold("most calls work", c["answered"] > c["sent"]*3/4, c["answered"], c["sent"])
	s.hold("nothing else came of calls", len(t.faults) == 0, t.faults[:min(len(t.faults), 100)], nil)
	s.hold("no call ran twice", len(twice) == 0, first(twice), nil)
	s.hold("what was answered was run", len(never) == 0, first(never), nil)
	s.hold("what nobody allowed was not run", len(wrongly) == 0, first(wrongly), nil)
}

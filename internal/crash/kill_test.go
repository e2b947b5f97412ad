package crash_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
)

var (
	rounds = flag.Int("rounds", 3, "how often a process is killed")
	calls  = flag.Int("calls", 100, "how many calls a script has")
	seed   = flag.Uint64("seed", 0, "of the first script and of the kills; 0: another each time")
)

// Moments of a kill, by what is found afterwards.
const (
	starting   = "before the store was open"
	recovering = "in recovery, nothing run yet"
	between    = "between turns"
	before     = "in a turn, no call begun that has not ended"
	begun      = "between the begin and the tool's start"
	running    = "tool running"
	unrecorded = "tool done, end not recorded"
	unwritten  = "all done, results not in the transcript"
)

func TestKilled(t *testing.T) {
	t.Parallel()
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	t.Logf("seed %d", first)
	k := &killer{Rand: rand.New(rand.NewPCG(first, 1)), moments: make(map[string]int)}
	t.Run("J2 a script that nobody kills", func(t *testing.T) { k.script(t, first, true) })
	for n := first + 1; k.kills < *rounds && !t.Failed(); n++ {
		k.script(t, n, false)
	}
	t.Run("J2 kill -9 at any moment: never twice, never lost", func(t *testing.T) {
		t.Logf("%d kills, %d scripts of %d calls, %d calls with an unknown outcome", k.kills, k.scripts, *calls, k.unknown)
		for _, m := range slices.Sorted(maps.Keys(k.moments)) {
			t.Logf("%4d %s", k.moments[m], m)
		}
		if hit := k.moments[running]; *rounds >= 30 && hit*5 < k.kills {
			t.Errorf("%d of %d kills hit a running call, want a fifth at least", hit, k.kills)
		}
	})
}

// killer kills processes.
type killer struct {
	*rand.Rand
	kills, scripts, unknown int
	moments                 map[string]int
	startup, whole          time.Duration // of a process that nobody kills
}

// script runs one script to its end, and judges it. Gently: nobody is killed.
func (k *killer) script(t *testing.T, seed uint64, gently bool) {
	t.Helper()
	o := orders{Dir: t.TempDir(), Seed: seed, Calls: *calls}
	e := &evidence{turns: script(o.Seed, o.Calls)}
	for done := false; !done; {
		o.Life++
		if o.Life > 500 {
			t.Fatalf("script %d does not come to its end", seed)
		}
		p := start(t, "script", o)
		began := time.Now()
		if gently || k.kills >= *rounds {
			done = k.wait(t, p, began)
			continue
		}
		if done = !k.kill(t, p, o); done {
			continue
		}
		k.kills++
		var before sight
		if n := len(e.kills); n > 0 {
			before = e.kills[n-1]
		}
		e.kills = append(e.kills, k.see(t, o, p.opened, &before))
		if t.Failed() {
			t.Fatalf("script %d, after process %d", seed, o.Life)
		}
	}
	k.scripts++
	var err error
	if e.transcript, _, err = readTranscript(o.file(transcriptFile)); err != nil {
		t.Fatal(err)
	}
	if e.runs, _, err = readEffects(o.file(effectsFile)); err != nil {
		t.Fatal(err)
	}
	look(t, o, func(s *store.Store) {
		if err := verify(t.Context(), s, e.head()); err != nil {
			t.Errorf("script %d: the log at its end: %v", seed, err)
		}
		if e.ended, err = ended(t.Context(), s); err != nil {
			t.Error(err)
		}
		e.open = slices.Collect(maps.Keys(records(t, s, 0)))
	})
	for _, fault := range e.judge() {
		t.Errorf("script %d: %s", seed, fault)
	}
	k.unknown += len(e.open)
}

// wait lets a process come to its end, and takes the time.
func (k *killer) wait(t *testing.T, p *process, began time.Time) bool {
	t.Helper()
	if p.line() == "open" {
		k.startup = time.Since(began)
	}
	last := p.line()
	k.whole = time.Since(began)
	if err := p.Wait(); err != nil || last != "done" {
		t.Fatalf("a process that nobody killed: %v: %s", err, p.stain.String())
	}
	return true
}

// kill ends a process at some moment, and reports false where that came to its end
// before.
func (k *killer) kill(t *testing.T, p *process, o orders) bool {
	t.Helper()
	var exit error
	ended := make(chan struct{})
	go func() {
		for line := p.line(); line != ""; line = p.line() {
			p.opened = p.opened || line == "open"
		}
		exit = p.Wait()
		close(ended)
	}()
	switch moment := k.IntN(10); {
	case moment < 3: // any
		after(ended, rand.N(k.whole))
	case moment < 5: // as it starts
		after(ended, rand.N(k.startup*3/2))
	case moment < 8: // as tools run
		grown(ended, o.file(effectsFile), 1+k.Int64N(2000))
		after(ended, rand.N(longest))
	default: // as the host writes
		grown(ended, o.file(transcriptFile), 1+k.Int64N(4000))
		after(ended, rand.N(longest))
	}
	_ = p.Process.Kill() // which may have ended
	<-ended
	if exit != nil && exit.Error() != "signal: killed" {
		t.Fatalf("process %d ended by itself: %v: %s", o.Life, exit, p.stain.String())
	}
	return exit != nil
}

func after(ended <-chan struct{}, d time.Duration) {
	select {
	case <-ended:
	case <-time.After(d):
	}
}

// grown waits until a file has so many bytes more.
func grown(ended <-chan struct{}, path string, more int64) {
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for until := size() + more; size() < until; {
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// see looks at what a kill left behind, and counts its moment.
func (k *killer) see(t *testing.T, o orders, opened bool, before *sight) sight {
	t.Helper()
	book, _, err := readTranscript(o.file(transcriptFile))
	if err != nil {
		t.Fatal(err)
	}
	runs, lines, err := readEffects(o.file(effectsFile))
	if err != nil {
		t.Fatal(err)
	}
	s := sight{life: o.Life, opened: opened, lines: lines, finished: make(map[string]bool), running: make(map[string]bool), attempts: make(map[string]int)}
	var turn *entry // that has no results
	for _, e := range book {
		turn = &e
		if e.Results != nil {
			turn = nil
		}
		for _, r := range e.Results {
			s.finished[r.CallID] = true
		}
	}
	look(t, o, func(kept *store.Store) {
		if err := verify(t.Context(), kept, before.head); err != nil {
			t.Errorf("the log after process %d was killed: %v", o.Life, err)
		}
		if !opened && before.head == nil {
			return // the log has its name from this process, not from a killed one
		}
		head, err := kept.Head(t.Context())
		if err != nil {
			t.Error(err)
		}
		s.head = &head
		if turn == nil {
			return
		}
		for id, r := range records(t, kept, turn.Turn) {
			switch r.State {
			case durable.Done:
				s.finished[id] = true
			case durable.Running:
				s.running[id] = true
				s.attempts[id] = r.Attempt
			}
		}
	})
	k.moments[s.moment(script(o.Seed, o.Calls), turn, runs, before)]++
	return s
}

// moment says when the kill was, which came after another.
func (s *sight) moment(turns [][]step, turn *entry, runs []*ran, last *sight) string {
	lately := slices.DeleteFunc(slices.Clone(runs), func(r *ran) bool { return r.life != s.life })
	if slices.ContainsFunc(lately, func(r *ran) bool { return r.ended < 0 }) {
		return running
	}
	switch {
	case !s.opened:
		return starting
	case turn == nil:
		return between
	}
	open := false
	for _, c := range turns[turn.At] {
		ran := slices.ContainsFunc(lately, func(r *ran) bool { return r.line == c.effect() })
		cut := s.running[c.ID] && s.attempts[c.ID] > last.attempts[c.ID] // else by an earlier kill
		switch {
		case cut && ran:
			return unrecorded
		case cut:
			return begun
		}
		open = open || !s.finished[c.ID] && !s.running[c.ID] && (!c.trait().reads || !ran)
	}
	switch {
	case !open:
		return unwritten
	case len(lately) == 0 && s.life > 1:
		return recovering
	}
	return before
}

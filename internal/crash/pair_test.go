package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// pairKeys is how many keys two processes share.
const pairKeys = 60

// childKeys makes a call of every key, each twice, in turns of up to 8, and says
// what came of them. Another process does the same at the same time.
func childKeys(ctx context.Context, o orders) error {
	w, err := openWorld(ctx, o.file(storeFile), o.effects())
	if err != nil {
		return err
	}
	fmt.Println("open")
	var word string
	if _, err := fmt.Scanln(&word); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(o.Life)))
	var all []step
	for i := range 2 * pairKeys {
		s := step{ID: fmt.Sprint("call", i), Tool: "order", input: input{Line: fmt.Sprint("key", i%pairKeys)}}
		if i%10 == 0 { // each process has something else to order by this key
			s.Note = fmt.Sprint(" for ", o.Life)
		}
		all = append(all, s)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	view := w.runtime.Session(tool.Caller{Session: fmt.Sprint("process", o.Life)}).View(ctx)
	for len(all) > 0 {
		n := min(1+r.IntN(8), len(all))
		var calls []tool.Call
		for _, s := range all[:n] {
			calls = append(calls, s.call())
		}
		turn := view.Begin(ctx, ferrule.TurnOptions{})
		turn.Add(calls...)
		for i, out := range outcomes(turn.Wait()) {
			line, err := json.Marshal(told{o.Life, all[i], out})
			if err != nil {
				return err
			}
			fmt.Println(string(line))
		}
		all = all[n:]
	}
	return w.close(ctx)
}

// told is what a process says of a call.
type told struct {
	By      int     `json:"by"`
	Step    step    `json:"step"`
	Outcome outcome `json:"outcome"`
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	t.Run("J1 two processes: what has one key is done once", func(t *testing.T) {
		t.Parallel()
		for range 5 { // one may be too quick for the other
			runs, all := pair(t, false)
			wantOnce(t, runs, all, nil)
			won := make(map[int]int) // by process
			for _, r := range runs {
				won[r.life]++
			}
			t.Logf("runs by process: %v", won)
			if len(won) == 2 {
				return
			}
		}
		t.Error("one of them ran all, five times: they never met")
	})
	t.Run("J2 two processes, of which one is killed: the other goes on", func(t *testing.T) {
		t.Parallel()
		for range 1 + *rounds/10 {
			runs, all := pair(t, true)
			// What it has not recorded is of its last turn.
			cut, last := make(map[string]bool), 0
			for _, r := range slices.Backward(runs) {
				if r.life == 1 && last < 8 {
					cut[r.nonce] = true
					last++
				}
			}
			wantOnce(t, runs, all, cut)
		}
	})
}

// pair has two processes use the same keys.
func pair(t *testing.T, kill bool) (runs []*ran, all []told) {
	t.Helper()
	runs, all = side(t, "keys", kill)
	want := 2 * pairKeys * 2
	if kill {
		want /= 2
	}
	if len(all) != want {
		t.Errorf("got %d results, want %d", len(all), want)
	}
	return runs, all
}

// side runs two processes side by side. Where one is killed only what the other
// says counts.
func side(t *testing.T, what string, kill bool) (runs []*ran, all []told) {
	t.Helper()
	o := orders{Dir: t.TempDir(), Seed: rand.Uint64()}
	var both []*process
	for range 2 {
		o.Life++
		p := start(t, what, o)
		if got := p.line(); got != "open" {
			t.Fatalf("got %q, want open: %s", got, p.stain.String())
		}
		both = append(both, p)
	}
	for _, p := range both {
		if _, err := p.in.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range both {
		if kill && i == 0 {
			grown(nil, o.file(effectsFile), 100+rand.Int64N(2000))
			time.Sleep(rand.N(longest)) // what is tried is the moment
			_ = p.Process.Kill()
			_ = p.Wait()
			continue
		}
		for line := p.line(); line != ""; line = p.line() {
			var x told
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatalf("got %q: %v", line, err)
			}
			all = append(all, x)
		}
		if err := p.Wait(); err != nil {
			t.Fatalf("process %d: %v: %s", i+1, err, p.stain.String())
		}
	}
	runs, _, err := readEffects(o.file(effectsFile))
	if err != nil {
		t.Fatal(err)
	}
	return runs, all
}

// wantOnce wants one run of each key, not counting those that a kill cut off, and
// that all who ask for the same are told of it. Who asks for something else with
// that key is refused.
func wantOnce(t *testing.T, runs []*ran, all []told, cut map[string]bool) {
	t.Helper()
	of := make(map[string][]*ran) // by key
	key := func(line string) string {
		var k string
		_, _ = fmt.Sscan(line, &k)
		return k
	}
	for _, r := range runs {
		of[key(r.line)] = append(of[key(r.line)], r)
	}
	for k, list := range of {
		uncut := slices.DeleteFunc(slices.Clone(list), func(r *ran) bool { return cut[r.nonce] })
		if len(uncut) > 1 {
			t.Errorf("%s: ran %d times", k, len(uncut))
		}
		for i, r := range list[:len(list)-1] {
			if next := list[i+1]; (r.ended < 0 || r.ended > next.began) && !cut[r.nonce] {
				t.Errorf("%s: ran side by side in processes %d and %d", k, r.life, next.life)
			}
		}
	}
	for _, x := range all {
		s, o, list := x.Step, x.Outcome, of[x.Step.Line]
		switch {
		case len(list) == 0:
			t.Errorf("%s: never ran; got %q %s %s", s.Line, o.Kind, o.Text, o.Detail)
		case o.Kind == "":
			if !slices.ContainsFunc(list, func(r *ran) bool { return r.ended >= 0 && r.line == s.effect() && o.Text == said(r.line, r.nonce) }) {
				t.Errorf("%s: says %q, but no such run came to its end", s.effect(), o.Text)
			}
		case o.Kind == tool.OutcomeUnknown, !slices.ContainsFunc(list, func(r *ran) bool { return r.line != s.effect() }):
			t.Errorf("%s: got %q %s [%s]", s.effect(), o.Kind, o.Text, o.Detail)
		}
	}
}

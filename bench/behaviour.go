package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// patience is how long something is waited for that may never come.
const patience = 500 * time.Millisecond

// scene is a turn under observation. Each call has the path "1", "2" and so on,
// which its reply repeats.
type scene struct {
	tools []function
	calls []request
	ran   atomic.Int32 // calls that reached their tool

	turn      turn
	end       context.CancelFunc        // of the turn
	ended     atomic.Pointer[time.Time] // when cancel was called
	before    int                       // goroutines before the turn
	returned  chan struct{}
	late      time.Duration // from cancel to the return
	recovered any
	err       error
}

// tool offers a tool; the one with the name write is the one that writes.
func (s *scene) tool(name string, run func(context.Context, args) (reply, error)) {
	s.tools = append(s.tools, function{name: name, writes: name == "write", run: func(ctx context.Context, in args) (reply, error) {
		s.ran.Add(1)
		return run(ctx, in)
	}})
}

// ask adds a call of each of these tools.
func (s *scene) ask(tools ...string) {
	for _, name := range tools {
		n := len(s.calls) + 1
		input := fmt.Sprintf(`{"path":"%d","pattern":"x","limit":1,"recursive":true,"timeout":1,"tags":[]}`, n)
		s.calls = append(s.calls, request{fmt.Sprintf("call_%d", n), name, input})
	}
}

// start runs the turn.
func (s *scene) start(ctx context.Context, p peer) error {
	// What a peer starts once and keeps is not what a turn leaves behind.
	warm, err := p.prepare(ctx, []function{{name: "search", run: call}}, []request{{"call_0", "search", inOrder}})
	if err != nil {
		return err
	}
	if err := warm.Run(ctx); err != nil {
		return err
	}
	if s.turn, err = p.prepare(ctx, s.tools, s.calls); err != nil {
		return err
	}
	// What prepare started does not end with the turn: it is counted before.
	ctx, s.end = context.WithCancel(ctx)
	s.before, s.returned = runtime.NumGoroutine(), make(chan struct{})
	go func() {
		defer close(s.returned)
		defer func() { s.recovered = recover() }()
		s.err = s.turn.Run(ctx)
		if at := s.ended.Load(); at != nil {
			s.late = time.Since(*at)
		}
	}()
	return nil
}

// cancel ends the turn's context.
func (s *scene) cancel() {
	now := time.Now()
	s.ended.Store(&now)
	s.end()
}

// play runs the turn to its end, and what it left behind for a while.
func (s *scene) play(ctx context.Context, p peer) error {
	if err := s.start(ctx, p); err != nil {
		return err
	}
	<-s.returned
	s.left()
	return nil
}

// left is how many goroutines of a turn that returned do not end.
func (s *scene) left() int {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= s.before {
			return 0
		}
	}
	return runtime.NumGoroutine() - s.before
}

// lost says that the whole turn came to nothing; "": it has results.
func (s *scene) lost() string {
	switch {
	case s.recovered != nil:
		return "panics in the caller"
	case s.err != nil && s.ran.Load() == 1:
		return "error instead of all results (1 call ran)"
	case s.err != nil:
		return fmt.Sprintf("error instead of all results (%d calls ran)", s.ran.Load())
	}
	return ""
}

// verdict says what the model is shown if the calls with these numbers went
// wrong, the first is 0; fine is what to say if each of them has an error and
// each of the others its reply.
func (s *scene) verdict(fine string, wrong ...int) string {
	if text := s.lost(); text != "" {
		return text
	}
	results := s.turn.Results()
	for i, c := range s.calls {
		at := slices.IndexFunc(results, func(r result) bool { return r.id == c.id })
		if at < 0 {
			return fmt.Sprintf("%d results for %d calls", len(results), len(s.calls))
		}
		got, ok := results[at].reply()
		switch {
		case slices.Contains(wrong, i) && ok:
			return "taken for a success"
		case slices.Contains(wrong, i) && strings.Contains(results[at].text, "goroutine "):
			fine = strings.Replace(fine, "an error", "an error with a stack trace", 1)
		case !slices.Contains(wrong, i) && (!ok || got.Path != fmt.Sprint(i+1)):
			return "a reply is lost"
		}
	}
	return fine
}

// observe lets a child find out what a peer does.
func observe(ctx context.Context, p peer, f fault) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, err := inChild(ctx, p.name+"/"+f.name)
	if errors.Is(err, errPanicked) {
		return "process dies", nil
	}
	return text, err
}

// behaviourTable observes every fault with every peer.
func behaviourTable(ctx context.Context) (string, error) {
	var head, line, rows strings.Builder
	for _, p := range peers() {
		fmt.Fprintf(&head, " %s %s |", p.name, p.version())
		line.WriteString("---|")
	}
	for _, f := range faults() {
		fmt.Fprintf(&rows, "| %s |", f.name)
		for _, p := range peers() {
			text, err := observe(ctx, p, f)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&rows, " %s |", text)
		}
		rows.WriteString("\n")
	}
	return "| fault |" + head.String() + "\n|---|" + line.String() + "\n" + rows.String(), nil
}

package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

var rounds = flag.Int("rounds", 8, "how often a process is killed while it asks, answers or waits")

// childCalls makes calls that a person must allow, one for each line that it is
// given: the number of the turn to go on with, or 0, and which effect the call
// has. It says the number of the turn, and what came of the call.
func childCalls(ctx context.Context, path string) error {
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	effects := path + ".effects"
	write, err := tool.New(tool.Info{Name: "write", Description: "Write a line."}, func(_ context.Context, in struct {
		Line string `json:"line"`
	},
	) (string, error) {
		f, err := os.OpenFile(effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintln(f, in.Line)
		return "written", errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Inbox: s, Ledger: s}
	if err := rt.Add(write); err != nil {
		return err
	}
	view := rt.Session(tool.Caller{Session: "s"}).View(ctx)
	return commands(func(text string) error {
		var number int
		var line string
		if _, err := fmt.Sscan(text, &number, &line); err != nil {
			return err
		}
		turn := view.Begin(ctx, ferrule.TurnOptions{Number: number})
		fmt.Println(turn.Number())
		turn.Add(tool.Call{Name: "write", Input: json.RawMessage(fmt.Sprintf(`{"line":%q}`, line))})
		word := "ran"
		if res := turn.Wait()[0]; res.Err != nil {
			word = string(res.Err.Kind)
		}
		fmt.Println(word)
		return nil
	})
}

// One process after the other asks, is killed, and the next goes on with its
// turn. Nothing that a person allowed is lost, and nothing runs twice.
func TestKilledWhileAsking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	answer := func(line string) {
		if err := s.Answer(t.Context(), waitAsked(t, s, line), policy.Answer{Allow: true, By: "ada"}); err != nil {
			t.Fatal(err)
		}
	}
	ran := func(line string) int {
		text, err := os.ReadFile(path + ".effects")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count("\n"+string(text), "\n"+line+"\n")
	}
	const beforeAnswer, beforeUse, afterRun = 0, 1, 2
	names := []string{"P6 killed between asking and answering", "P6 killed between answering and using", "P6 killed after it ran"}
	seen := make(map[string]int)
	p := start(t, "call", path, "first")
	for round := range *rounds {
		line := fmt.Sprint("line", round)
		p.say(t, "0 "+line)
		number := p.line()
		when := round % len(names)
		switch when {
		case beforeAnswer:
			waitAsked(t, s, line)
			p.kill(t)
			answer(line)
		case beforeUse:
			answer(line)
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // what is tried is the moment
			p.kill(t)
		case afterRun:
			answer(line)
			if got := p.line(); got != "ran" {
				t.Fatalf("%s: got %q, want that it ran", line, got)
			}
			p.kill(t)
		}
		p = start(t, "call", path, line)
		p.say(t, number+" "+line)
		if got := p.line(); got != number {
			t.Fatalf("turn %q, want %q", got, number)
		}
		word, n := p.line(), ran(line)
		seen[names[when]+": "+word]++
		switch {
		case n > 1:
			t.Errorf("%s: %s: it ran %d times on one answer", names[when], line, n)
		case when == beforeAnswer && (word != "ran" || n != 1):
			t.Errorf("%s: %s: %s, and ran %d times, want it to run", names[when], line, word, n)
		case when == beforeUse && word == "ran" && n != 1:
			t.Errorf("%s: %s: it ran %d times", names[when], line, n)
		case when == beforeUse && word != "ran" && word != string(tool.OutcomeUnknown), when == afterRun && (word != string(tool.OutcomeUnknown) || n != 1):
			t.Errorf("%s: %s: %s, and ran %d times", names[when], line, word, n)
		}
	}
	p.kill(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if seen[name+": ran"]+seen[name+": "+string(tool.OutcomeUnknown)] == 0 {
				t.Error("never tried")
			}
		})
	}
	t.Logf("%d rounds: %v", *rounds, seen)
}

// kill ends a process at once.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
}

// waitAsked waits until a call has asked, and gives the question's id.
func waitAsked(t *testing.T, s *store.Store, line string) string {
	t.Helper()
	for {
		list, err := s.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range list {
			if strings.Contains(q.Input, `"`+line+`"`) {
				return q.ID
			}
		}
		time.Sleep(time.Millisecond)
	}
}

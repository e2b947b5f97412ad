package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// killedRounds is how many runs of an agent are killed.
const killedRounds = 100

// killed ends ferrule run with SIGKILL in the middle, at random, perhaps again when it
// goes on, and goes on with it until it is over. Each call of the script appends a line
// of its own to a file, and may not run twice.
func killed(ctx context.Context, w *world, s *score) error {
	if w.direct || runtime.GOOS != "linux" {
		s.note("left out", "it needs the program, and SIGKILL")
		return nil
	}
	whole, err := w.untouched(ctx) // how long one takes that nobody kills
	if err != nil {
		return err
	}
	var kills, unknown, cut, calls int
	for round := range killedRounds {
		a, err := w.killable()
		if err != nil {
			return err
		}
		k, err := w.killedRun(ctx, a, whole)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		kills += k.kills
		unknown += k.unknown
		calls += k.calls
		if k.kills > 0 {
			cut++
		}
		if len(k.faults) > 0 {
			s.fail(fmt.Sprintf("round %d: nothing ran twice, and nothing was lost", round+1), strings.Join(k.faults, "; "))
		}
	}
	s.hold("runs that were killed in the middle ended when they were gone on with: nothing ran twice, nothing was lost", cut > killedRounds/2,
		map[string]int{"rounds": killedRounds, "killed": cut, "kills": kills, "calls": calls, "outcome unknown": unknown}, fmt.Sprintf("more than %d killed", killedRounds/2))
	return nil
}

// killedTurns and killedCalls are the script: so many answers of so many calls that
// write, and one more that reads.
const killedTurns, killedCalls = 3, 3

// scripted is a run of an agent: the folder with its script, and where it is kept.
type scripted struct{ dir, home, session string }

// killable is one with a home of its own.
func (w *world) killable() (a scripted, err error) {
	dir, err := w.folder("killed")
	if err != nil {
		return a, err
	}
	a = scripted{dir, filepath.Join(dir, "home"), "k"}
	return a, a.write()
}

// write writes the script.
func (a scripted) write() error {
	var script strings.Builder
	for turn := range killedTurns {
		script.WriteString("-- answer --\nI go on.\n")
		for call := range killedCalls {
			fmt.Fprintf(&script, "> shell {\"command\":\"echo w%d-%d >> log\"}\n", turn, call)
		}
		script.WriteString("> fs_read {\"path\":\"script.txtar\"}\n")
	}
	script.WriteString("-- answer --\nDone.\n")
	return os.WriteFile(filepath.Join(a.dir, "script.txtar"), []byte(script.String()), 0o600)
}

func (w *world) agentRun(ctx context.Context, a scripted, args ...string) *exec.Cmd {
	args = append([]string{"run", "--mode", "observe", "--model", "scripted:script.txtar", "--json"}, args...)
	cmd := exec.CommandContext(ctx, w.program, args...) //nolint:gosec // the program that is tried
	cmd.Dir, cmd.Env = a.dir, append(w.tools.environment(), "FERRULE_HOME="+a.home)
	return cmd
}

// untouched is how long a run takes that nobody kills.
func (w *world) untouched(ctx context.Context) (time.Duration, error) {
	a, err := w.killable()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if out, err := w.agentRun(ctx, a, "--session", a.session, "go").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("a run that nobody kills: %w: %s", err, out)
	}
	took := time.Since(start)
	k := killing{}
	if err := k.look(a); err != nil {
		return 0, err
	}
	if len(k.faults) > 0 || k.unknown > 0 || k.calls != killedTurns*(killedCalls+1) {
		return 0, fmt.Errorf("a run that nobody kills: got %d calls, %d of them with an unknown outcome, want %d and none: %v", k.calls, k.unknown, killedTurns*(killedCalls+1), k.faults)
	}
	return took, nil
}

// killing is what became of one run.
type killing struct {
	kills, calls, unknown int
	broken                int // turns with calls of which nothing is known
	faults                []string
}

// killedRun runs an agent to its end, and kills it up to three times on its way, each
// at a random moment of the time that a whole one takes.
func (w *world) killedRun(ctx context.Context, a scripted, whole time.Duration) (k killing, err error) {
	args := []string{"--session", a.session, "go"}
	for {
		p, err := w.start("ferrule run", w.agentRun(ctx, a, args...))
		if err != nil {
			return k, err
		}
		patience := time.NewTimer(time.Minute)
		if k.kills < 3 {
			patience.Reset(time.Duration(rand.Float64() * float64(whole))) //nolint:gosec // no secret
		}
		select {
		case <-p.done:
			patience.Stop()
			if p.err != nil {
				return k, fmt.Errorf("%w: %s", p.err, p.said)
			}
			return k, k.look(a)
		case <-ctx.Done():
			p.stop()
			return k, context.Cause(ctx)
		case <-patience.C:
			if k.kills >= 3 {
				p.stop()
				return k, fmt.Errorf("it did not end within a minute: %s", p.said)
			}
			if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return k, err
			}
			<-p.done
			k.kills++
		}
		run, err := conversationOf(a)
		switch {
		case errors.Is(err, os.ErrNotExist): // nothing had begun
		case err != nil:
			return k, err
		case run.Why == "done": // it was all over
			return k, k.look(a)
		default:
			args = []string{"--resume=" + a.session}
		}
	}
}

// conversation is what is kept of a run.
type conversation struct {
	Why  string `json:"why"`
	Said []struct {
		Parts []struct {
			Call *struct {
				ID    string          `json:"id"`
				Name  string          `json:"name"`
				Input json.RawMessage `json:"input"`
				Text  string          `json:"text"` // the input, where it is not written as it came
			} `json:"call"`
			Result *struct {
				CallID  string `json:"call_id"`
				Error   bool   `json:"error"`
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"result"`
		} `json:"parts"`
	} `json:"said"`
}

func conversationOf(a scripted) (c conversation, err error) {
	text, err := os.ReadFile(filepath.Join(a.home, "runs", a.session+".json"))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("the conversation: %w", err)
	}
	return c, nil
}

// look compares what the conversation says with what has happened.
func (k *killing) look(a scripted) error {
	run, err := conversationOf(a)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(a.dir, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	happened := make(map[string]int)
	for word := range strings.FieldsSeq(string(log)) {
		happened[word]++
	}
	fault := func(format string, args ...any) { k.faults = append(k.faults, fmt.Sprintf(format, args...)) }
	if run.Why != "done" {
		fault("the run is %q, want done", run.Why)
	}
	words, answered := make(map[string]string), make(map[string]int)
	for turn, m := range run.Said {
		unknown := 0 // of the results in this message, which are those of one turn
		for _, p := range m.Parts {
			if p.Call != nil {
				word, err := wordOf(p.Call.Name, cmp.Or(p.Call.Text, string(p.Call.Input)))
				if err != nil || words[p.Call.ID] != "" {
					fault("call %q stands there twice, or is none of the script: %v", p.Call.ID, err)
				}
				words[p.Call.ID] = word
			}
			if p.Result == nil {
				continue
			}
			word, said := words[p.Result.CallID], ""
			if answered[p.Result.CallID]++; word == "" || answered[p.Result.CallID] > 1 {
				fault("%q has %d results, want one for each call (%q)", p.Result.CallID, answered[p.Result.CallID], word)
			}
			for _, c := range p.Result.Content {
				said += c.Text
			}
			k.calls++
			switch {
			case p.Result.Error && strings.Contains(said, "not known") && word != reads:
				unknown++
			case p.Result.Error:
				fault("%s failed: %s", word, said)
			case word != reads && happened[word] != 1:
				fault("%s went well and happened %d times", word, happened[word])
			}
		}
		if unknown > 0 {
			k.unknown += unknown
			k.broken++
		}
		if unknown > killedCalls {
			fault("message %d has %d results that are not known, want at most %d", turn+1, unknown, killedCalls)
		}
	}
	if k.broken > k.kills { // one kill breaks off one turn
		fault("%d turns have results that are not known after %d kills", k.broken, k.kills)
	}
	known := make(map[string]bool)
	for id, word := range words {
		if known[word] = true; answered[id] == 0 {
			fault("%s has no result", word)
		}
	}
	for word, n := range happened {
		if n > 1 {
			fault("%s happened %d times", word, n)
		}
		if !known[word] {
			fault("%s happened, and the conversation does not know of it", word)
		}
	}
	return nil
}

// reads is the word of calls that only read: what came of them is always known, as
// they can run again.
const reads = "a call that reads"

// wordOf is the word that a call of the script writes.
func wordOf(name, input string) (string, error) {
	if name == "fs_read" {
		return reads, nil
	}
	var in struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "", err
	}
	word, found := strings.CutPrefix(strings.TrimSuffix(in.Command, " >> log"), "echo ")
	if !found {
		return "", fmt.Errorf("got %q, want a command of the script", in.Command)
	}
	return word, nil
}

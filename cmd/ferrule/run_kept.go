package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/internal/lock"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/provider"
)

// keptRun is a run as it is kept: its transcript, and who was asked.
type keptRun struct {
	Model   string `json:"model"`
	BaseURL string `json:"base_url,omitempty"`
	System  string `json:"system,omitempty"`
	agent.Transcript
}

func errNoPrompt() error {
	return usage(`got no prompt, want what the agent is to do: ferrule run "…"`)
}

// takes reports why a run cannot go on with what is said.
func (k *keptRun) takes(prompt string) error {
	if prompt == "" && k.Open == nil && len(k.Next) == 0 && !k.Paused && (len(k.Said) == 0 || k.Said[len(k.Said)-1].Role == provider.Assistant) {
		return usage("%s is over: say what comes next: ferrule run --resume %[1]s \"…\"", k.Session)
	}
	return nil
}

// runs is the folder of runs.
type runs struct{ dir string }

// newRun is the name of a run that there is not yet.
func newRun() string { return "run-" + strings.ToLower(rand.Text()[:8]) }

// runName reports why a text cannot be the name of a run, which is that of a file.
func runName(text string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(text) {
		return fmt.Errorf("got %q, want at most 64 letters, digits, dots, - and _ that begin with a letter or a digit", terminal.Brief(text, 80))
	}
	return nil
}

func (r *runs) file(name string) string { return filepath.Join(r.dir, name+".json") }

func (r *runs) has(name string) bool {
	if runName(name) != nil {
		return false
	}
	_, err := os.Stat(r.file(name))
	return err == nil
}

// names are the runs, the one that was last written first.
func (r *runs) names() (list []string) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil
	}
	at := make(map[string]time.Time)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if info, err := e.Info(); ok && err == nil && runName(name) == nil {
			at[name] = info.ModTime()
			list = append(list, name)
		}
	}
	sortNewest(list, at)
	return list
}

// last is the run that was last written.
func (r *runs) last() (string, error) {
	if list := r.names(); len(list) > 0 {
		return list[0], nil
	}
	return "", usage(`--resume: got no run in %s, want one to go on with: ferrule run "…" begins one`, r.dir)
}

// begin is a run that there is not yet. Whoever calls it has locked it.
func (r *runs) begin(name string) (*keptRun, error) {
	if r.has(name) {
		return nil, usage("--session: there is a run %s already: --resume %[1]s goes on with it", name)
	}
	return &keptRun{Transcript: agent.Transcript{Session: name}}, nil
}

// read is a run as it was kept last. Whoever goes on with it has locked it before.
func (r *runs) read(name string) (*keptRun, error) {
	text, err := os.ReadFile(r.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		there := "there is none yet"
		if list := r.names(); len(list) > 0 {
			there = "there are " + ranges(list)
		}
		return nil, usage("--resume: got %q, want the name of a run in %s, and behind it what is said: %s", name, r.dir, there)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	k := new(keptRun)
	err = json.Unmarshal(text, k)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text is about Go
		err = fmt.Errorf("got a JSON %s that belongs elsewhere, up to byte %d", wrong.Value, wrong.Offset)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %s is no transcript: %w; put it right, or begin a new run without --resume", name, r.file(name), err)
	}
	if k.Session == "" { // all that is written has it
		return nil, fmt.Errorf("run %s: %s is no transcript: got no session in it; put it right, or begin a new run without --resume", name, r.file(name))
	}
	k.Session = name
	return k, nil
}

// write keeps a run: when it returns, the file has all of it, and had all of what was
// before at every moment.
func (r *runs) write(k *keptRun) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	half := filepath.Join(r.dir, "."+k.Session+".half")
	file, err := os.OpenFile(half, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(half, r.file(k.Session)); err != nil {
		return err
	}
	return syncFolder(r.dir)
}

// syncFolder makes the names in a folder outlive a crash, where the system can.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// patience is how long a run that is locked is waited for: a program that was killed
// may have begun one that holds its files for a moment longer.
const patience, patienceStep = 2 * time.Second, 20 * time.Millisecond

// lock keeps others from going on with the same run at the same time.
func (r *runs) lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(r.dir, "."+name+".lock")
	for left := patience; ; left -= patienceStep {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		mine, err := lock.File(file, false)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if mine && names(path, file) { // else who had it has just ended, and taken it away
			return func() {
				_ = os.Remove(path) // some systems keep it while it is open; it is locked again then
				_ = file.Close()
			}, nil
		}
		_ = file.Close()
		if left <= 0 {
			return nil, fmt.Errorf("run %s: another ferrule goes on with it right now: wait for that one, or end it", name)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(patienceStep):
		}
	}
}

// names reports whether a path is that of an open file.
func names(path string, file *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	mine, err := file.Stat()
	return err == nil && os.SameFile(there, mine)
}

// sortNewest sorts names by when they were written, the newest first.
func sortNewest(names []string, at map[string]time.Time) {
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(at[b].Compare(at[a]), cmp.Compare(a, b))
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// ratesOf are the limits of a server that count its calls.
func ratesOf(s config.Server) []policy.Rate {
	if s.CallsPerMinute == 0 {
		return nil
	}
	rule, err := policy.ParseRule("source:"+s.Name, "")
	if err != nil { // a name of a source is one of a rule
		return []policy.Rate{{Calls: 0}} // which lets nothing run
	}
	return []policy.Rate{{Tools: rule, Calls: s.CallsPerMinute, Per: time.Minute, Key: "servers." + s.Name + ".calls_per_minute"}}
}

// notes are what of a server's keys does nothing here.
func (h *host) notes(s config.Server) (notes []string) {
	_, missing := s.Passed(h.environ)
	for _, name := range missing {
		text := "is not set"
		if strings.HasSuffix(name, "*") {
			text = "fits no variable that is set"
		}
		notes = append(notes, "env_pass: "+name+" "+text)
	}
	return notes
}

// isolatedDir is where in the state directory servers have their homes.
const isolatedDir = "isolated"

// box starts the processes of one server, all of them in one sandbox.
type box struct {
	server string
	config sandbox.Config
	weaker sandbox.Level

	mu     sync.Mutex
	made   *sandbox.Box // nil: none yet
	closed bool
}

// boxOf is the sandbox of a server. Its HOME is one of its own: who only looks takes
// that which there is, as the server would not be itself without.
func (p *program) boxOf(c *config.Config, s config.Server, state string, looks bool) *box {
	b := p.sandboxOf(c, state)
	root := filepath.FromSlash(c.Workspace)
	if s.Isolate.Workspace != "" {
		root = s.Isolate.Workspace
	}
	b.Workspace, b.Level, b.Weaker = []string{root}, sandbox.Level(s.Isolate.Level), ""
	b.Read, b.Write, b.Network, b.Image, b.Env = slices.Clone(s.Isolate.Read), s.Isolate.Write, sandbox.Network(s.Isolate.Network), "", nil
	if s.Dir != "" {
		b.Read = append(b.Read, s.Dir)
	}
	if program, err := exec.LookPath(s.Command[0]); err == nil && filepath.IsAbs(program) {
		b.Read = append(b.Read, program)
	}
	// A server runs for as long as it is needed, and says what it has to say.
	b.Limits = sandbox.Limits{Time: -1, Output: -1, Memory: s.Isolate.Memory, Processes: s.Isolate.Processes}
	if kept := filepath.Join(p.homeOf(c), isolatedDir, s.Name); looks && isFolder(kept) {
		b.State = kept
	} else {
		b.State = filepath.Join(state, isolatedDir, s.Name)
	}
	return &box{server: s.Name, config: b, weaker: sandbox.Level(s.Isolate.Weaker)}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// get is the sandbox; nil: there is none, and said is why none will do.
func (b *box) get() (made *sandbox.Box, said string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, "", errors.New("the program ends")
	case b.made != nil:
		return b.made, "", nil
	}
	with := b.config
	if b.weaker != sandbox.InProcess { // that is a plain process, which is not started here
		with.Weaker = b.weaker
	}
	made, err = sandbox.New(with)
	if lacks, ok := errors.AsType[*sandbox.Unavailable](err); ok && b.weaker == sandbox.InProcess {
		return nil, fmt.Sprintf("in-process, which is no isolation; missing: level %q was wanted: %s", lacks.Level, lacks.Why), nil
	}
	if err != nil {
		return nil, "", b.unsafe(err)
	}
	b.made = made
	return made, "", nil
}

// unsafe is that the server cannot be isolated.
func (b *box) unsafe(err error) error {
	text := strings.TrimPrefix(err.Error(), "sandbox: ")
	if lacks, ok := errors.AsType[*sandbox.Unavailable](err); ok {
		text = fmt.Sprintf("level %s cannot be had here: %s", lacks.Level, strings.TrimSuffix(strings.TrimSuffix(lacks.Why, "where no isolation will do, write sandbox.weaker: in-process"), "; "))
	}
	return &tool.Error{Kind: tool.Sandbox, Detail: fmt.Sprintf("%s; servers.%s.isolate.weaker in ferrule.yaml says what will do instead", text, b.server), Cause: err}
}

// start is for mcptool.Server.Start.
func (b *box) start(ctx context.Context, cmd *exec.Cmd) (*mcptool.Child, error) {
	made, said, err := b.get() //nolint:contextcheck // it outlives every call
	if err != nil {
		return nil, err
	}
	if made == nil {
		return &mcptool.Child{Isolation: said}, nil
	}
	applied := made.Applied()
	if applied.Level != sandbox.InProcess && len(applied.Kernel) == 0 {
		return nil, b.unsafe(errors.New(strings.Join(applied.Missing, "; ")))
	}
	running, err := made.Start(ctx, sandbox.Command{Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr})
	if err != nil {
		return nil, b.explain(err)
	}
	return &mcptool.Child{
		Isolation: appliedText(applied),
		Wait:      func() error { return outcomeOf(running.Wait()) },
		Stop: func(kill bool) {
			grace := time.Hour // who asks it to end kills it before
			if kill {
				grace = 0
			}
			running.Stop(grace)
		},
	}, nil
}

// explain names the keys of a server in what the sandbox says of its own.
func (b *box) explain(err error) error {
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "sandbox: "), "sandbox.read", "servers."+b.server+".isolate.read")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s: %w", text, exec.ErrNotFound)
	}
	return errors.New(text)
}

// close ends what is left, and waits for it.
func (b *box) close(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.made == nil {
		return nil
	}
	return b.made.Close()
}

// outcomeOf is how a process ended, if not well.
func outcomeOf(o sandbox.Outcome) error {
	switch {
	case o.Stopped != "" && o.Stopped != "stopped":
		return fmt.Errorf("the sandbox ended it: %s", o.Stopped)
	case o.Signal != "":
		return fmt.Errorf("signal: %s", o.Signal)
	case o.Code != 0:
		return fmt.Errorf("exit status %d", o.Code)
	}
	return nil
}

// appliedText is what was applied, in one line, for the record.
func appliedText(a sandbox.Applied) string {
	text := string(a.Level) + ", network " + string(a.Network)
	if a.Network == sandbox.Loopback {
		text = string(a.Level) + ", a loopback of its own"
	}
	if len(a.Kernel) > 0 {
		text += " (" + strings.Join(a.Kernel, ", ") + ")"
	}
	if len(a.Missing) > 0 {
		text += "; missing: " + strings.Join(a.Missing, "; ")
	}
	return text
}

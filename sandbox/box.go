package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Box runs commands that all may do the same. Its methods may be called
// concurrently.
type Box struct {
	config Config // complete once prepare has run
	limits Limits
	by     starter

	life   sync.RWMutex // held for reading while a command is started
	closed bool         // written with both locks held, so that either is enough to read it

	mu      sync.Mutex
	env     []string // nil: prepare has not run
	own     bool     // the state is temporary, and ours to remove
	running map[*Running]struct{}
}

// starter is one way to start commands, that of a level.
type starter interface {
	// start starts a command. What it is given is complete: its files are to be
	// handed on and stay the caller's.
	start(order) (work, error)
	// applied is what a command gets.
	applied() Applied
	// close ends whatever is left and waits for it.
	close() error
}

// order is a command as a starter sees it.
type order struct {
	args   []string
	dir    string
	env    []string // complete
	files  [3]*os.File
	read   bool // ReadOnly
	limits Limits
}

// work is a command that runs.
type work interface {
	// ended is closed when the command and all that it started are gone.
	ended() <-chan struct{}
	// result may be called after that.
	result() ending
	// terminate asks it to end; kill ends it and all that it started. Both return
	// at once.
	terminate()
	kill()
}

// ending is how work ended.
type ending struct {
	code   int
	signal string
	why    string // what the starter ended it for
	peak   int64
}

// New makes a Box. The error is an *Unavailable where the level cannot be had.
// Nothing runs yet: that is cheap.
func New(config Config) (*Box, error) {
	if config.Helper == (Helper{}) {
		return nil, errors.New("sandbox: no helper: call sandbox.Enter first in main and give what it returns")
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	box := &Box{config: config, limits: config.Limits.orDefaults(), running: make(map[*Running]struct{})}
	by, err := choose(box)
	if err != nil {
		return nil, err
	}
	box.by = by
	return box, nil
}

// choose finds a starter for the level, or for the weaker one that will do.
func choose(box *Box) (starter, error) {
	by, err := startersFor(box, box.config.Level)
	var missing *Unavailable
	if err == nil || !errors.As(err, &missing) || box.config.Weaker == "" {
		return by, err
	}
	weaker, weakerErr := startersFor(box, box.config.Weaker)
	if weakerErr != nil {
		return nil, err
	}
	return lessThanWanted{weaker, fmt.Sprintf("level %q was wanted: %s", missing.Level, missing.Why)}, nil
}

// lessThanWanted is a starter of a weaker level, which says so.
type lessThanWanted struct {
	starter
	why string
}

func (l lessThanWanted) applied() Applied {
	a := l.starter.applied()
	a.Missing = append([]string{l.why}, a.Missing...)
	return a
}

// check finds what is wrong with a configuration, and fills in what was left
// out.
func (c *Config) check() error {
	if c.Level == "" {
		c.Level = Process
	}
	if c.Network == "" {
		c.Network = Off
	}
	if c.Level.rank() < 0 {
		return fmt.Errorf("sandbox: level: got %q, want %q, %q, %q or %q", c.Level, InProcess, Process, Namespace, Container)
	}
	if c.Weaker != "" && (c.Weaker.rank() < 0 || c.Weaker.AtLeast(c.Level)) {
		return fmt.Errorf("sandbox: weaker level: got %q, want one below %q", c.Weaker, c.Level)
	}
	if c.Network != Off && c.Network != Loopback && c.Network != Open {
		return fmt.Errorf("sandbox: network: got %q, want %q, %q or %q", c.Network, Off, Loopback, Open)
	}
	if len(c.Workspace) == 0 {
		return errors.New("sandbox: workspace: got no folder, want at least one")
	}
	for i, dir := range c.Workspace {
		actual, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return fmt.Errorf("sandbox: workspace: %w", err)
		}
		if info, err := os.Stat(actual); err != nil || !info.IsDir() || !filepath.IsAbs(actual) {
			return fmt.Errorf("sandbox: workspace: got %q, want the absolute path of a folder", dir)
		}
		if actual == filepath.Dir(actual) {
			return fmt.Errorf("sandbox: workspace: got %q, which is everything", dir)
		}
		if i == 0 {
			c.Workspace = append([]string(nil), c.Workspace...)
		}
		c.Workspace[i] = actual
	}
	for _, list := range [][]string{c.Read, c.Write, c.Protected, c.Hidden, {c.State}} {
		for _, path := range list {
			if path != "" && !filepath.IsAbs(path) {
				return fmt.Errorf("sandbox: path: got %q, want an absolute one", path)
			}
		}
	}
	for _, entry := range c.Env {
		if !strings.Contains(entry, "=") {
			return fmt.Errorf("sandbox: environment: got %q, want KEY=value", entry)
		}
	}
	return nil
}

// Start starts a command. It ends with ctx.
func (b *Box) Start(ctx context.Context, c Command) (*Running, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, errors.New("sandbox: command: got no program")
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	b.life.RLock()
	defer b.life.RUnlock()
	if b.closed {
		return nil, errClosed
	}
	return b.launch(ctx, c)
}

// errClosed is what a closed Box says.
var errClosed = errors.New("sandbox: the box is closed")

// Run starts a command and waits for it.
func (b *Box) Run(ctx context.Context, c Command) (Outcome, error) {
	p, err := b.Start(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	return p.Wait(), nil
}

// Applied is what a command will get. It may have to start the keeper to know.
func (b *Box) Applied() Applied { return b.by.applied() }

// Close ends every command with all that it started, waits until they are gone,
// and removes the temporary state. A closed Box starts nothing.
func (b *Box) Close() error {
	b.life.Lock()
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	all := slices.Collect(maps.Keys(b.running))
	b.mu.Unlock()
	b.life.Unlock()
	if closed {
		return nil
	}
	for _, r := range all {
		r.Stop(0)
	}
	for _, r := range all {
		r.Wait()
	}
	err := b.by.close()
	if b.own {
		err = errors.Join(err, os.RemoveAll(b.config.State))
	}
	if err != nil {
		return fmt.Errorf("sandbox: close: %w", err)
	}
	return nil
}

func (b *Box) add(r *Running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[r] = struct{}{}
}

func (b *Box) remove(r *Running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, r)
}

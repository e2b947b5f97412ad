package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeper is this program's second role: the parent of all commands of a Box.
type keeper struct {
	wire    *wire
	setup   *setup
	mounts  *mounts // nil without namespaces
	tags    *tags   // nil where processes cannot be marked
	writing *launcher
	reading *launcher // nil until the first command that only reads
	rules   func(writable bool) (*ruleset, error)
	filter  filter

	internet bool // there are sockets

	mu       sync.Mutex // held while forking, so that no end is seen before its beginning
	jobs     map[int]*job
	forked   chan struct{} // has an entry when there may be children to wait for
	watching bool
}

// job is a command that runs.
type job struct {
	id        uint64
	pid       int
	tag       uint64
	memory    int64
	processes int
	why       string
	peak      int64
	code      int
	signal    string
	ended     bool // its main process is
}

// keep is the whole life of a keeper. It ends when the host does: the end of the
// connection is the one thing that a host killed by SIGKILL still sends.
func keep() {
	// Handled and forgotten. To ignore them would be inherited by commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGPIPE)
	// What the host itself was handed by whoever started it, and does not know of,
	// is none of a command's business.
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // as old as Landlock
	w, err := newWire(os.NewFile(3, "host"))
	if err != nil {
		os.Exit(2)
	}
	hire()
	k := &keeper{wire: w, jobs: make(map[int]*job), forked: make(chan struct{}, 1)}
	k.serve()
	k.endAll()
	syscall.Exit(0) // not os.Exit, which the race detector delays by a second
}

// hire has the runtime make threads now that it may need later. Once a command has
// used up all processes there are, there are no threads to be had either, and a
// runtime that cannot get one ends the keeper.
func hire() {
	const threads = 12
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			wait := unix.NsecToTimespec(int64(time.Millisecond))
			_ = unix.Nanosleep(&wait, nil) // a thread of its own for each, as all of them wait
		})
	}
	all.Wait()
}

func (k *keeper) serve() {
	for {
		m, files, err := k.wire.receive()
		if err != nil {
			return
		}
		var answer message
		switch m.Do {
		case doSetup:
			k.setup = m.Setup
			applied, err := k.arrange()
			answer = message{Do: doReady, Applied: &applied, Error: text(err)}
			if k.tags != nil {
				answer.Tag = k.tags.first
			}
			go k.reap()
		case doStart:
			err := k.start(m.ID, m.Order, files)
			answer = message{Do: doStarted, ID: m.ID, Error: text(err)}
		case doTerminate:
			k.signal(m.ID, syscall.SIGTERM)
			continue
		case doKill:
			k.signal(m.ID, syscall.SIGKILL)
			continue
		default:
			return
		}
		closeAll(files)
		if k.wire.send(answer) != nil {
			return
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// start starts a command.
func (k *keeper) start(id uint64, o *wanted, files []*os.File) error {
	if len(files) != 3 {
		return fmt.Errorf("got %d files, want 3", len(files))
	}
	if k.mounts != nil && k.setup.Bubblewrap == "" {
		k.mounts.protect()
		news, err := k.mounts.hide()
		if err != nil {
			return err
		}
		if news {
			k.reading = nil // it has the mounts of before; its thread lives as long as what it started
		}
	}
	attr := &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env,
		// A session of its own has no terminal, and is a process group.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	program, args, l := "", o.Args, k.writing
	var err error
	if k.setup.Bubblewrap != "" {
		rules, err := filterPipe(k.filter)
		if err != nil {
			return err
		}
		defer rules.Close()
		attr.Files = append(attr.Files, rules.Fd())
		attr.Dir = "/"
		program, args = k.setup.Bubblewrap, bubblewrapArgs(k.setup, o)
	} else if program, err = lookUp(o.Args[0], o.Dir, o.Env); err != nil {
		return err
	}
	if o.ReadOnly && k.setup.Bubblewrap == "" {
		if l, err = k.onlyReading(); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	j := &job{id: id, memory: o.Memory, processes: o.Processes}
	if k.tags != nil {
		if j.tag, err = k.tags.take(); err != nil {
			return fmt.Errorf("tag: %w", err)
		}
	}
	if j.pid, err = l.start(program, args, attr); err != nil {
		return k.explain(err, program, o.Dir)
	}
	k.jobs[j.pid] = j
	select {
	case k.forked <- struct{}{}:
	default:
	}
	if !k.watching {
		k.watching = true
		time.AfterFunc(watchEvery, k.watch)
	}
	return nil
}

// explain says of a refusal what was refused and what would allow it.
func (k *keeper) explain(err error, program, dir string) error {
	if !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.EPERM) {
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			return &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOENT}
		}
		return &os.PathError{Op: "exec", Path: program, Err: err}
	}
	return fmt.Errorf("exec %s in %s: %w: the program or the folder may lie outside of what the sandbox reads (configuration: sandbox.read)", program, dir, err)
}

// onlyReading is the launcher of commands that only read.
func (k *keeper) onlyReading() (*launcher, error) {
	if k.reading == nil {
		rules, err := k.rules(false)
		if err != nil {
			return nil, err
		}
		filter, err := newFilter(k.allowed(true))
		if err != nil {
			return nil, err
		}
		restrict := (&restriction{rules, filter, filesAsRoot()}).apply
		l, err := newLauncher(func() error {
			if k.mounts != nil {
				if err := k.mounts.apartToRead(); err != nil {
					return err
				}
			}
			return restrict()
		})
		if err != nil {
			return nil, err
		}
		k.reading = l
	}
	return k.reading, nil
}

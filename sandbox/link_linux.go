package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// link is the host's end of a keeper.
type link struct {
	wire    *wire
	process *exec.Cmd
	said    *said
	applied Applied
	orphans uint64        // the first tag of commands that may outlive the keeper, 0 for none
	gone    chan struct{} // closed when the keeper, and so all its commands, is gone

	mu   sync.Mutex
	next uint64
	jobs map[uint64]*kept
}

// kept is a command that a keeper runs.
type kept struct {
	link    *link
	id      uint64
	started chan error
	end     chan struct{}
	how     ending
}

// said is the last words of a keeper.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() < 4<<10 {
		s.text.Write(p)
	}
	return len(p), nil
}

// newLink starts a keeper and has it arrange what commands will find.
func newLink(s *setup) (*link, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "keeper")
	defer theirs.Close()
	w, err := newWire(os.NewFile(uintptr(ends[0]), "host"))
	if err != nil {
		return nil, err
	}
	l := &link{wire: w, said: &said{}, gone: make(chan struct{}), jobs: make(map[uint64]*kept)}
	// The keeper outlives every context; it ends with the connection.
	l.process = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{keeperName}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "GOTRACEBACK=single"},
		ExtraFiles: []*os.File{theirs}, Stderr: l.said,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if s.Namespaces {
		if err := apart(l.process.SysProcAttr, s.Network); err != nil {
			w.close()
			return nil, err
		}
	}
	if err := l.process.Start(); err != nil {
		w.close()
		return nil, err
	}
	if err := l.arrange(s); err != nil {
		w.close()
		_ = l.process.Wait() // what it said is more than its status
		return nil, err
	}
	go l.listen()
	return l, nil
}

// apart puts a child into namespaces of its own, in which users have the numbers
// that they have here: the child is who it was, and has power over nothing but
// the namespaces.
func apart(attr *syscall.SysProcAttr, network Network) error {
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if network != Open {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() != 0 {
		uid, gid := os.Geteuid(), os.Getegid()
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP}
		return nil
	}
	var err error
	if attr.UidMappings, err = sameNumbers("/proc/self/uid_map"); err != nil {
		return err
	}
	if attr.GidMappings, err = sameNumbers("/proc/self/gid_map"); err != nil {
		return err
	}
	attr.GidMappingsEnableSetgroups = true
	return nil
}

// sameNumbers maps every number that there is here to itself.
func sameNumbers(file string) ([]syscall.SysProcIDMap, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var here, there, size int
		if _, err := fmt.Sscan(line, &here, &there, &size); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: here, HostID: here, Size: size})
	}
	return all, nil
}

// arrange tells the keeper what commands may do and waits until it is ready.
func (l *link) arrange(s *setup) error {
	err := l.wire.send(message{Do: doSetup, Setup: s})
	var m message
	if err == nil {
		m, _, err = l.wire.receive()
	}
	switch {
	case err != nil:
		l.said.mu.Lock()
		defer l.said.mu.Unlock()
		return fmt.Errorf("it ended: %w %s", err, strings.TrimSpace(l.said.text.String()))
	case m.Error != "":
		return errors.New(m.Error)
	case m.Do != doReady || m.Applied == nil:
		return fmt.Errorf("it answered %q: does main begin with sandbox.Enter?", m.Do)
	}
	l.applied = *m.Applied
	if !s.Namespaces {
		l.orphans = m.Tag
	}
	return nil
}

// listen takes what the keeper says until it is gone.
func (l *link) listen() {
	for {
		m, _, err := l.wire.receive()
		if err != nil {
			break
		}
		l.mu.Lock()
		j := l.jobs[m.ID]
		if j != nil && (m.Do == doEnded || m.Error != "") {
			delete(l.jobs, m.ID)
		}
		l.mu.Unlock()
		switch {
		case j == nil:
		case m.Do == doStarted && m.Error != "":
			j.started <- errors.New(m.Error)
		case m.Do == doStarted:
			j.started <- nil
		case m.Do == doEnded:
			select { // a short command may end before its keeper says that it began
			case j.started <- nil:
			default:
			}
			j.how = ending{code: m.Code, signal: m.Signal, why: m.Why, peak: m.Peak}
			close(j.end)
		}
	}
	l.wire.close()
	l.reapKeeper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endOrphans()
	for _, j := range l.jobs {
		j.how = ending{code: -1, signal: "SIGKILL", why: "the sandbox died"}
		select {
		case j.started <- errors.New("the sandbox died"):
		default:
		}
		close(j.end)
	}
	l.jobs = nil
	close(l.gone)
}

// reapKeeper waits for the keeper, and kills one that does not end.
func (l *link) reapKeeper() {
	timer := time.AfterFunc(10*time.Second, func() {
		_ = l.process.Process.Kill() // it may have ended
	})
	defer timer.Stop()
	_ = l.process.Wait() // its status says nothing
}

// endOrphans ends what a keeper that was killed has left: without a process
// namespace the kernel does not. Each command that was asked for took a tag.
func (l *link) endOrphans() {
	if l.orphans == 0 {
		return
	}
	t := &tags{first: l.orphans, next: l.orphans - l.next - 1}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		left := slices.DeleteFunc(tagged(t.has), isZombie)
		if len(left) == 0 {
			return
		}
		killAll(left, syscall.SIGKILL)
	}
}

func (l *link) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jobs != nil
}

// errEnded says that a keeper was found to have ended before it was told of a
// command: another may be.
var errEnded = errors.New("sandbox: the keeper has ended")

// end ends the keeper, and with it all commands, and waits until they are gone.
func (l *link) end() {
	l.wire.close()
	<-l.gone
}

func (l *link) start(o order) (work, error) {
	l.mu.Lock()
	if l.jobs == nil {
		l.mu.Unlock()
		return nil, errEnded
	}
	l.next++
	j := &kept{link: l, id: l.next, started: make(chan error, 1), end: make(chan struct{})}
	l.jobs[j.id] = j
	l.mu.Unlock()
	err := l.wire.send(message{Do: doStart, ID: j.id, Order: &wanted{
		Args: o.args, Dir: o.dir, Env: o.env, ReadOnly: o.read,
		Memory: o.limits.Memory, Processes: o.limits.Processes,
	}}, o.files[:]...)
	switch {
	case err == nil:
		err = <-j.started
	case errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET):
		// It was not told. What it leaves is to be gone before the next begins.
		<-l.gone
		return nil, errEnded
	default:
		l.mu.Lock()
		delete(l.jobs, j.id)
		l.mu.Unlock()
	}
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return j, nil
}

func (j *kept) ended() <-chan struct{} { return j.end }
func (j *kept) result() ending         { return j.how }
func (j *kept) terminate()             { j.tell(doTerminate) }
func (j *kept) kill()                  { j.tell(doKill) }

func (j *kept) tell(what string) {
	// If the keeper is gone, so is the command.
	_ = j.link.wire.send(message{Do: what, ID: j.id})
}

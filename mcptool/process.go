package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// How long a child may take to end, after its input has ended and after it was
// told to. Clients give this program 2 s each before they kill it.
const (
	endTime  = 1500 * time.Millisecond
	termTime = 1500 * time.Millisecond
	// drainTime is how long what a child has written may be read after its end:
	// what has left its group may hold its output open for ever.
	drainTime = 500 * time.Millisecond
)

// process is a child with all that it starts: a process group of its own, which
// ends with it.
type process struct {
	cmd    *exec.Cmd
	child  *Child   // that somebody else has started; nil: cmd is ours
	how    string   // it is isolated
	in     *os.File // its standard input
	out    *os.File // its standard output
	said   *stderrLog
	group  group
	ward   *ward
	ended  chan struct{}  // closed when the child, and all of its group, has ended
	quiet  chan struct{}  // closed when its stderr has been read
	work   sync.WaitGroup // who waits for the child, who reads its stderr
	result error          // of the child; set before ended is closed

	mu   sync.Mutex
	over bool // the group's number may be another's: no more signals
}

// startProcess starts the child of a server. It lives until it is closed, not as
// long as ctx.
func startProcess(ctx context.Context, s Server, log *slog.Logger) (*process, error) {
	if len(s.Command) == 0 {
		return nil, errors.New("want a command")
	}
	ctx = context.WithoutCancel(ctx)
	how := plainProcess
	if s.Start != nil {
		p, said, err := startIsolated(ctx, s, log)
		if p != nil || err != nil {
			return p, err
		}
		how = said
	}
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // the operator chose the program, and no shell reads its arguments
	cmd.Dir, cmd.Env = s.Dir, environment(s.Env)
	p := &process{cmd: cmd, ward: s.ward, ended: make(chan struct{}), quiet: make(chan struct{}), said: newStderrLog(ctx, s.clean, log)}
	if err := p.ward.ready(); err != nil {
		return nil, err
	}
	stderr, err := p.pipes()
	if err != nil {
		return nil, err
	}
	p.group.prepare(cmd)
	err = cmd.Start()
	closeAll(cmd.Stdin, cmd.Stdout, cmd.Stderr) // the child has its own
	if err != nil {
		closeAll(p.in, p.out, stderr)
		return nil, err
	}
	p.group.started(cmd)
	p.how = how
	s.isolated.note(how)
	p.attend(stderr)
	return p, nil
}

// attend takes the child into care, reads its stderr and waits for it.
func (p *process) attend(stderr *os.File) {
	if !p.ward.take(p) {
		p.signal(true, false)
	}
	p.work.Go(func() {
		defer close(p.quiet)
		defer stderr.Close()
		defer survive(nil, func(error) {}) // a log that fails does not log that
		p.said.read(stderr)
	})
	p.work.Go(func() { p.wait(stderr) })
}

// pipes are the child's three streams. They are not those of package exec, which
// closes them before the last that a child wrote has been read.
func (p *process) pipes() (stderr *os.File, err error) {
	var made []any
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			made = append(made, r, w)
		}
		return r, w
	}
	stdin, in := pipe()
	out, stdout := pipe()
	stderr, toStderr := pipe()
	if err != nil {
		closeAll(made...)
		return nil, err
	}
	p.in, p.out = in, out
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, toStderr
	return stderr, nil
}

func closeAll(files ...any) {
	for _, f := range files {
		if f, ok := f.(*os.File); ok {
			f.Close()
		}
	}
}

// wait waits for the child's end, and ends what is left of its group.
func (p *process) wait(stderr *os.File) {
	var err error
	if p.child != nil {
		err = p.waitChild()
	} else {
		err = p.waitGroup()
	}
	for _, f := range []*os.File{p.out, stderr} {
		if f.SetReadDeadline(time.Now().Add(drainTime)) != nil {
			time.AfterFunc(drainTime, func() { f.Close() })
		}
	}
	p.result = err
	close(p.ended)
}

func (p *process) waitGroup() error {
	early := waitExit(p.cmd.Process.Pid)
	if early { // as long as nobody has waited for the child the group's number is its own
		p.signal(true, true)
		p.ward.drop(p)
	}
	err := p.cmd.Wait()
	if !early {
		p.signal(true, true)
		p.ward.drop(p)
	}
	p.group.release()
	return err
}

func (p *process) waitChild() (err error) {
	defer survive(nil, func(fault error) { err = fault })
	defer p.ward.drop(p)
	defer closeAll(p.cmd.Stdout, p.cmd.Stderr) // who has started it wrote to them until now
	return p.child.Wait()
}

// signal asks the child and its group to end, or kills them, unless they are over.
// last: they are over then.
func (p *process) signal(kill, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
	case p.child != nil:
		p.child.Stop(kill)
	case kill:
		p.group.kill()
	default:
		p.group.terminate()
	}
	p.over = p.over || last
}

// close ends the child and its group: first by the end of its input, then by TERM,
// then by KILL. It waits until they are gone.
func (p *process) close() {
	p.in.Close()
	if !p.within(endTime) {
		p.signal(false, false)
	}
	if !p.within(termTime) {
		p.signal(true, false)
	}
	if !p.within(drainTime) {
		p.out.Close() // nobody reads what somebody may wait to write
	}
	<-p.ended
	p.out.Close()
	p.work.Wait()
}

func (p *process) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// why says why the child's output has ended.
func (p *process) why(error) error {
	text := "the server closed its output"
	if p.within(time.Second) {
		<-p.quiet // soon: see drainTime
		if text = "the server ended"; p.result != nil {
			text += ": " + p.result.Error()
		}
	}
	if last := p.said.last(); last != "" {
		return fmt.Errorf("%s; it wrote at last: %s", text, last)
	}
	return errors.New(text)
}

// environment is what a child finds: what it was given, and of our own only PATH,
// HOME and the locale (N2).
func environment(given []string) []string {
	names := []string{"PATH", "HOME", "LANG", "LANGUAGE"}
	if runtime.GOOS == "windows" { // where HOME has many names, and nothing starts without the rest
		names = append(names, "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SystemRoot", "SystemDrive", "ComSpec", "PATHEXT")
	}
	env := make([]string, 0, len(names)+len(given))
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "LC_") {
			env = append(env, entry)
		}
	}
	return append(env, given...) // of two values package exec takes the last
}

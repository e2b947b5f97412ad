package ferrule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// maxAnswer is how long an answer may be, in bytes.
	maxAnswer = 1 << 20
	// maxSaid is how many bytes of standard error the operator reads: the last.
	// Of any other text of a program it is as many characters, the first.
	maxSaid = 4 << 10
	// drain is how long the pipes of a program that has ended may stay open: what
	// left its process group may hold them.
	drain = 500 * time.Millisecond
)

// Why a program is ended.
var (
	errProgramTime = errors.New("it took too long")
	errTooMuch     = fmt.Errorf("its answer is longer than %d bytes", maxAnswer)
)

// ask runs the program for one event and reads its answer. It returns soon after
// the program's time is over, or ctx has ended.
func (p *program) ask(ctx context.Context, kind string, e *event) (*answer, error) {
	text, err := e.text()
	if err != nil {
		return nil, failedWith(err, "")
	}
	limited, done := context.WithTimeoutCause(ctx, p.time, fmt.Errorf("%w: more than %s", errProgramTime, p.time))
	defer done()
	run, end := context.WithCancelCause(limited)
	defer end(nil)

	out := &answerText{full: func() { end(errTooMuch) }}
	said := new(lastWords)
	if err := p.start(run, text, out, said); err != nil {
		if cause := context.Cause(run); cause != nil {
			err = cause
		}
		return nil, failedWith(err, said.String())
	}
	a, err := readAnswer(kind, string(out.text))
	if err != nil {
		return nil, failedWith(err, said.String())
	}
	a.said = said.String()
	return a, nil
}

// start runs the program to its end, in a process group of its own, and ends what
// is left of the group.
func (p *program) start(ctx context.Context, stdin []byte, stdout *answerText, stderr *lastWords) error {
	cmd := exec.CommandContext(ctx, p.run[0], p.run[1:]...) //nolint:gosec // the operator chose the program, and no shell reads its arguments
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), stdout, stderr
	cmd.WaitDelay = drain
	var all processes
	ownGroup(cmd)
	cmd.Cancel = func() error { return all.kill(cmd) }
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("it cannot be started: %w", err)
	}
	early := waitExit(cmd.Process.Pid)
	if early { // what it left behind lets go of the pipes at once
		all.killLast(cmd)
	}
	err := cmd.Wait()
	if !early {
		all.killLast(cmd)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return errors.New("it has ended, but something that it started holds its output open")
	}
	return err
}

// processes are those of one program. Once they have been ended for good the
// number of their group may become another's, and nobody is sent a signal by it.
type processes struct {
	mu   sync.Mutex
	over bool
}

func (p *processes) kill(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	return killGroup(cmd)
}

func (p *processes) killLast(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = killGroup(cmd) // most often nothing is left of it
	p.over = true
}

// answerText keeps what a program writes to standard output.
type answerText struct {
	text []byte
	full func() // there is too much
}

func (a *answerText) Write(p []byte) (int, error) {
	if len(a.text)+len(p) > maxAnswer {
		a.full()
		return 0, errTooMuch
	}
	a.text = append(a.text, p...)
	return len(p), nil
}

// lastWords keeps the end of what a program writes to standard error: that is
// where it says what is wrong.
type lastWords struct {
	text []byte
	cut  bool
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.text = append(l.text, p...)
	if more := len(l.text) - maxSaid; more > 0 {
		l.text, l.cut = append(l.text[:0], l.text[more:]...), true
	}
	return len(p), nil
}

// String is a text for the operator to stand behind an error; "": it said nothing.
func (l *lastWords) String() string {
	text := forOperator(string(l.text))
	switch {
	case text == "":
		return ""
	case l.cut:
		return "\nit wrote at last: …" + text
	}
	return "\nit wrote: " + text
}

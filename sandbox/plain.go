package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
)

// allowNone tells how an operator says that no isolation will do.
const allowNone = "where no isolation will do, write sandbox.weaker: in-process"

// plainly starts commands without isolation.
type plainly struct{}

func (*plainly) start(o order) (work, error) {
	program, err := lookUp(o.args[0], o.dir, o.env)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return startPlain(&exec.Cmd{Path: program, Args: o.args, Dir: o.dir, Env: o.env, Stdin: o.files[0], Stdout: o.files[1], Stderr: o.files[2]})
}

func (*plainly) applied() Applied {
	return Applied{Level: InProcess, Network: Open, Missing: []string{
		"commands are not isolated: they read, write and reach whatever this user does, and only their time and output are limited",
	}}
}

func (*plainly) close() error { return nil }

// plainWork is a child of this process.
type plainWork struct {
	cmd *exec.Cmd
	end chan struct{}
	how ending
}

func startPlain(cmd *exec.Cmd) (*plainWork, error) {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	w := &plainWork{cmd: cmd, end: make(chan struct{})}
	go func() {
		defer close(w.end)
		err := cmd.Wait()
		signalGroup(cmd.Process, true) // what is left of it
		w.how.code = cmd.ProcessState.ExitCode()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			w.how.signal = signalOf(exit.ProcessState)
		}
	}()
	return w, nil
}

func (w *plainWork) ended() <-chan struct{} { return w.end }
func (w *plainWork) result() ending         { return w.how }
func (w *plainWork) terminate()             { signalGroup(w.cmd.Process, false) }
func (w *plainWork) kill()                  { signalGroup(w.cmd.Process, true) }

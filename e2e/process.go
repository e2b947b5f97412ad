package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// process is a program that runs until it is stopped, in a group of its own:
// what it has started is stopped with it.
type process struct {
	name string
	cmd  *exec.Cmd
	said *tail
	done chan struct{} // closed when it has ended
	err  error         // then: how
}

// start runs a program beside this one. What it writes is kept, the last of it,
// for whoever asks why it ended.
func start(name string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, cmd: cmd, said: &tail{}, done: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p.said
	}
	if cmd.Stderr == nil {
		cmd.Stderr = p.said
	}
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// stop ends the process and its group, with force after a while.
func (p *process) stop() {
	terminate(p.cmd)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
	kill(p.cmd) // what is left of the group, even if its leader is gone
	<-p.done
}

// ended says why a process is gone; nil: it runs.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended: %w: %s", p.name, errors.Join(p.err), p.said)
	default:
		return nil
	}
}

// output runs a program to its end and returns what it wrote to stdout. The error
// has the end of what it wrote to stderr.
func output(ctx context.Context, name string, cmd *exec.Cmd) ([]byte, error) {
	out, said := tail{most: 64 << 20}, tail{}
	cmd.Stdout, cmd.WaitDelay = &out, 2*time.Second
	if cmd.Stderr == nil {
		cmd.Stderr = &said
	}
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	stop := context.AfterFunc(ctx, func() { kill(cmd) })
	err := cmd.Wait()
	stop()
	kill(cmd)
	if ctx.Err() != nil {
		return out.text, fmt.Errorf("%s: %w: %s", name, context.Cause(ctx), said.String())
	}
	if err != nil {
		return out.text, fmt.Errorf("%s: %w: %s", name, err, said.String())
	}
	return out.text, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	most int // 0: 4 KiB
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := t.most
	if most == 0 {
		most = 4 << 10
	}
	t.text = append(t.text, b...)
	if over := len(t.text) - most; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// keep has more of it kept from now on.
func (t *tail) keep(most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = most
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

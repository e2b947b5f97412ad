package mcptool

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/tool"
)

// Child is the process of a server that [Server.Start] has started, with all that it
// starts. Its functions are safe for concurrent use. It must end with this program,
// however that ends: nothing here watches over it.
//
// One without Wait and Stop was not started: the command is to be a plain process,
// because the operator wrote down that this will do, and Isolation says so.
type Child struct {
	// Isolation is how it is kept apart, as it really is: the level, then what else
	// there is to say. It goes on the record of each call.
	Isolation string
	// Wait waits until nothing of it is left and all that it wrote was written to
	// Stdout and Stderr of its command. The error is how it ended, if not well.
	Wait func() error
	// Stop asks it to end, or with kill ends it with all that it started. It does not
	// wait for that.
	Stop func(kill bool)
}

// plainProcess is what stands on the record of a call of a server that is a plain process.
const plainProcess = "process group: it has a group and an environment of its own; it reads, writes and reaches what this user does"

// elsewhere is what stands there for a server that is not on this machine, or was
// started by somebody else.
const elsewhere = "remote: it is not a process of this program"

// startIsolated has somebody else start the child. Nil: it is to be a plain process,
// with what is said of it.
func startIsolated(ctx context.Context, s Server, log *slog.Logger) (p *process, said string, err error) {
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // it is never run: it says what to run
	cmd.Dir, cmd.Env = s.Dir, s.Env
	p = &process{cmd: cmd, ward: s.ward, ended: make(chan struct{}), quiet: make(chan struct{}), said: newStderrLog(ctx, s.clean, log)}
	stderr, err := p.pipes()
	if err != nil {
		return nil, "", err
	}
	p.child, err = s.begin(ctx, cmd, log)
	closeAll(cmd.Stdin) // the child has its own
	if err != nil || p.child.Wait == nil {
		closeAll(cmd.Stdout, cmd.Stderr, p.in, p.out, stderr)
		if err == nil {
			said = p.child.Isolation
		}
		return nil, said, err
	}
	p.how = p.child.Isolation
	s.isolated.note(p.how)
	p.attend(stderr)
	return p, "", nil
}

// begin calls Start.
func (s Server) begin(ctx context.Context, cmd *exec.Cmd, log *slog.Logger) (child *Child, err error) {
	defer survive(log, func(fault error) { child, err = nil, fault })
	child, err = s.Start(ctx, cmd)
	if err == nil && (child == nil || (child.Wait == nil) != (child.Stop == nil)) {
		err = errors.New("Server.Start: got no child, or one with only one of Wait and Stop")
	}
	return child, err
}

// isolation is how the processes of a server are kept apart: that of the last one. The
// zero value knows of none; nil keeps nothing.
type isolation struct{ text atomic.Pointer[string] }

func (i *isolation) note(text string) {
	if i != nil {
		i.text.Store(&text)
	}
}

// isolationOf is how the process of a connection is kept apart: another one of the
// server may have been started when another level could be had.
func (s *server) isolationOf(l link) string {
	if p, ok := l.(*pipeLink); ok && p.how != "" {
		return p.how
	}
	return s.isolation()
}

// isolation is how the server's last process is kept apart; "": there was none yet.
func (s *server) isolation() string {
	if len(s.Command) == 0 {
		return elsewhere
	}
	if text := s.isolated.text.Load(); text != nil {
		return *text
	}
	return ""
}

// unsafely reports whether an error is that a server cannot be isolated as it must
// be.
func unsafely(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && e.Kind == tool.Sandbox
}

package builtin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// How long a command has to end once it was asked to: shellSoon where somebody
// waits for the call, which a runtime gives up after a second; shellLong else.
const shellSoon, shellLong = 300 * time.Millisecond, 2 * time.Second

// run runs a line and waits for it, or lets it go on.
func (h *shellHost) run(ctx context.Context, in shellInput) (tool.Result, error) {
	dir, err := h.dir(in.Dir)
	if err != nil { // it was there when it was looked at
		return tool.Result{}, &tool.Error{Kind: tool.InvalidValue, Text: err.Error()}
	}
	s, done := h.session(ctx)
	defer done()
	if in.Background && !s.lasts {
		return tool.Result{}, &tool.Error{Kind: tool.InvalidValue, Text: "background: there is no session that it could belong to: run it without."}
	}
	if in.Background {
		free, err := s.book()
		if err != nil {
			return tool.Result{}, &tool.Error{Kind: tool.Failed, Text: "It was not started. " + err.Error(), Cause: err}
		}
		defer free()
	}
	var move <-chan struct{} // never, without a session
	if s.lasts {
		move = tool.From(ctx).Background() // before it is seen to run: it can be moved from then on
	}
	p, err := s.start(ctx, in, dir)
	if err != nil {
		return tool.Result{}, shellNotRun(ctx, err)
	}
	if in.Background {
		return p.goOn(ctx)
	}
	return p.attend(ctx, in, move)
}

// shellNotRun is why a command was not started. That it cannot be isolated is the
// likely reason, and no other is worse.
func shellNotRun(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errShellClosed):
		return &tool.Error{Kind: tool.Failed, Text: "The session has ended.", Cause: err}
	}
	return &tool.Error{Kind: tool.Sandbox, Text: "The command was not run: it cannot be isolated here as it must be.", Detail: err.Error(), Cause: err}
}

// start starts bash with a line. It lives on when the call ends: who calls ends
// it, or gives it to the session.
func (s *shellSession) start(ctx context.Context, in shellInput, dir string) (*process, error) {
	box, err := s.take() //nolint:contextcheck // a Box is the session's: it takes no context of a call
	if err != nil {
		return nil, err
	}
	env := tool.From(ctx)
	p := &process{
		session: s, box: box, line: in.Command, dir: dir, began: time.Now(),
		readOnly: shellJudge(in.Command).ReadOnly,
		out:      newProcessOutput(s.host.Output, env.Stdout(), env.Stderr()),
	}
	if in.Background {
		p.out.leave(s.host.Kept) // nobody waits for it: the limits of a call are not for it
	}
	line, more := in.Command, []string(nil)
	if p.readOnly {
		line, more = shellGit+line, shell.GitEnvironment()
	}
	p.running, err = box.Start(context.WithoutCancel(ctx), sandbox.Command{
		// No files of the user's, and -- because a line may begin with a dash.
		Args: []string{"bash", "--noprofile", "--norc", "-c", "--", line},
		Dir:  dir, Env: more, ReadOnly: p.readOnly,
		Stdout: p.out.writer(false), Stderr: p.out.writer(true),
	})
	if err != nil {
		return nil, err
	}
	how := shellIsolation(box.Applied())
	if p.readOnly && box.Applied().Level.AtLeast(sandbox.Process) {
		how += "; without the right to write"
	}
	env.Isolated(how)
	return p, nil
}

// attend waits for a command until it ends, has taken or printed too much, the
// call is stopped, or the host lets it go on in the background.
func (p *process) attend(ctx context.Context, in shellInput, move <-chan struct{}) (tool.Result, error) {
	s := p.session
	limit := s.host.Timeout
	if in.Timeout > 0 {
		limit = time.Duration(in.Timeout) * time.Second
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	why := ""
	select {
	case <-p.running.Done():
	case <-ctx.Done():
	case <-timer.C:
		why = "it took longer than " + limit.String()
	case <-p.out.over:
		why = "more than " + shellSize(int64(s.host.Output)) + " of output"
	case <-move:
		if !p.out.full() {
			return p.goOn(ctx)
		}
		why = "more than " + shellSize(int64(s.host.Output)) + " of output"
	}
	switch {
	case ctx.Err() != nil:
		return p.abandon(ctx)
	case why != "":
		p.running.Stop(shellSoon)
		select {
		case <-p.running.Done():
		case <-ctx.Done():
			return p.abandon(ctx)
		}
	}
	o := p.running.Wait()
	if o.Stopped == shellDied {
		s.lost(p.box)
	}
	return p.result(o, why)
}

// abandon ends a command whose call was stopped. It does not wait for long: what
// does not end is ended behind it.
func (p *process) abandon(ctx context.Context) (tool.Result, error) {
	p.running.Stop(shellSoon)
	timer := time.NewTimer(2 * shellSoon)
	defer timer.Stop()
	select {
	case <-p.running.Done():
	case <-timer.C:
	}
	return tool.Result{Content: shellContent(p.out.all())}, ctx.Err()
}

// result is what came of a command that has ended. A status other than 0 is an
// error, beside which the output stays.
func (p *process) result(o sandbox.Outcome, why string) (tool.Result, error) {
	res := tool.Result{Content: shellContent(p.out.all())}
	for _, path := range o.Aside {
		res.Content = append(res.Content, tool.Text(fmt.Sprintf("[sandbox] %s is protected: what has come to be there was given another name, which begins like it.", path)))
	}
	text := shellEnding(o, why, p.session.host.config.Limits)
	if text == "" {
		return res, nil
	}
	kind := tool.Failed
	switch {
	case why != "" && !p.out.full() || o.Stopped == "time":
		kind = tool.Timeout
	case o.Stopped == shellDied:
		kind = tool.Sandbox
	}
	if why == "" && o.Stopped == "" {
		text += p.hints()
	}
	return res, &tool.Error{Kind: kind, Text: text, Detail: "isolated: " + shellIsolation(o.Applied)}
}

func shellContent(text string) []tool.Content {
	if text == "" {
		return nil
	}
	return []tool.Content{tool.Text(text)}
}

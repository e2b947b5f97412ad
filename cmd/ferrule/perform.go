package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// performance is one turn that the program runs.
type performance struct {
	h       *host
	board   *board
	session string
	view    *ferrule.View
	options ferrule.TurnOptions
	calls   []tool.Call
}

// perform runs the calls and gives each result as soon as those before it are
// there. Who sits at the terminal is asked there. An interrupt is an error once
// every call has its result.
func (p *program) perform(ctx context.Context, f performance, each func(int, tool.Result)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	asking := p.asks(ctx, f, stop)
	i := 0
	for res, err := range f.view.Begin(ctx, f.options).Stream(given(f.calls)) {
		if err != nil {
			break // it is of no call
		}
		f.board.wait(i)
		each(i, res)
		i++
	}
	interrupted := ctx.Err() != nil
	stop(nil)
	<-asking
	if interrupted {
		return terminal.ErrInterrupted
	}
	return nil
}

// given are calls as a stream.
func given(calls []tool.Call) iter.Seq2[tool.Call, error] {
	return func(yield func(tool.Call, error) bool) {
		for _, c := range calls {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// asks has questions put to who sits at the terminal, until ctx ends. Elsewhere it
// is told where they are answered.
func (p *program) asks(ctx context.Context, f performance, stop context.CancelCauseFunc) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		left := make(map[string]bool) // questions that somebody has left
		for {
			select {
			case <-ctx.Done():
				return
			case q := <-f.board.asked:
				if f.options.HandBack || left[q.id] {
					continue
				}
				if err := p.askHere(ctx, f, left); err != nil {
					stop(err)
					return
				}
			}
		}
	}()
	return done
}

// sayWhere says where a question is answered.
func (p *program) sayWhere(q question) {
	where := "In another terminal:"
	if p.link != "" {
		where = "In the console, " + p.link + ", or another terminal:"
	}
	p.complain(fmt.Sprintf("ferrule: %s waits for an answer. %s\n  ferrule approvals show %s\n  %s    (or deny)", terminal.Visible(q.tool), where, q.id, howAllowed(q.id, q.wants)))
}

// howAllowed is the command that says yes, or answers in words.
func howAllowed(id string, words bool) string {
	if words {
		return "ferrule approvals allow " + id + " --text TEXT"
	}
	return "ferrule approvals allow " + id
}

// outlivePipe has writing to a closed pipe fail instead of ending the program: what
// runs is ended as it should be, and is on the record.
func outlivePipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// askHere shows the questions of a session on the interactive screen until none
// is left. Who leaves it before can answer elsewhere, or interrupt: what waits then is
// put to left.
func (p *program) askHere(ctx context.Context, f performance, left map[string]bool) error {
	mine := func(ctx context.Context) ([]policy.Question, error) {
		list, err := f.h.kept.Pending(ctx)
		return slices.DeleteFunc(list, func(q policy.Question) bool { return q.Caller.Session != f.session }), err
	}
	if list, err := mine(ctx); err != nil || len(list) == 0 { // it was answered with the one before
		return err
	}
	screen, none := context.WithCancel(ctx)
	defer none()
	f.board.leave()
	err := terminal.Watch(screen, p.stdin, p.stdout, p.environ, terminal.Desk{
		By: p.user(),
		Pending: func(ctx context.Context) ([]policy.Question, error) {
			list, err := mine(ctx)
			if err == nil && len(list) == 0 {
				none()
			}
			return list, err
		},
		Answer: func(ctx context.Context, id string, a policy.Answer) error {
			return p.settle(ctx, f.h.config, f.h.kept.Store, id, a)
		},
	})
	f.board.comeBack()
	switch {
	case screen.Err() != nil: // answered, or stopped
		return nil
	case errors.Is(err, terminal.ErrInterrupted):
		return err
	case err != nil:
		return fmt.Errorf("the question could not be shown: %w", err)
	}
	list, err := mine(ctx)
	for _, q := range list {
		left[q.ID] = true
		f.board.print(func() { p.sayWhere(question{q.ID, q.Tool, q.Wants != ""}) })
	}
	return err
}

// statusOf is how the program ends for a result.
func statusOf(r tool.Result) int {
	if r.Err == nil {
		return statusDone
	}
	switch r.Err.Kind { //nolint:exhaustive // all others are what came of running it
	case tool.UnknownTool, tool.InvalidInput:
		return statusUsage
	case tool.Denied, tool.Rejected, tool.Expired, tool.NeedsUser, tool.HookBlocked, tool.FlowBlocked, tool.RateLimited, tool.Pending, tool.Suspended:
		return statusDenied
	}
	return statusToolFailed
}

// explainError says what became of a call, for who runs the program: both texts.
func explainError(name string, e *tool.Error) string {
	text := fmt.Sprintf("%s: %s: %s", name, e.Kind, e.Text)
	if e.Text == "" {
		text = fmt.Sprintf("%s: %s", name, e.Kind)
	}
	if detail := detailOf(e); detail != "" {
		text += "\n  " + strings.ReplaceAll(detail, "\n", "\n  ")
	}
	return text
}

// detailOf is what an error says to the operator alone. That a command failed has
// no other reason than what it printed: how it was isolated is on the record.
func detailOf(e *tool.Error) string {
	path, again := strings.CutSuffix(e.Detail, ": "+e.Text)
	if strings.HasSuffix(e.Text, e.Detail) || again && filepath.IsAbs(path) || strings.HasPrefix(e.Detail, "isolated: ") && e.Kind != tool.Sandbox {
		return ""
	}
	return e.Detail
}

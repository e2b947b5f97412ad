// Package terminal shows questions to a person and takes the answers. [Watch] is
// an interactive screen; [Describe] is what it shows of a question, for whoever
// prints it otherwise.
//
// What tools and models have written reaches the terminal only through
// [Visible]: nothing in it can move the cursor, change a colour or hide itself.
package terminal

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// Why [Watch] ends.
const (
	ErrInterrupted Ending = "interrupted"
	ErrNoTerminal  Ending = "not a terminal"
)

// Ending is why the screen ended without the person having quit.
type Ending string

// Error is the text.
func (e Ending) Error() string { return string(e) }

// Is reports whether a file is a terminal.
func Is(f any) bool {
	file, ok := f.(*os.File)
	return ok && file != nil && term.IsTerminal(file.Fd())
}

// Watch shows what waits and takes answers until the person quits, or ctx ends:
// whoever calls it turns signals into that. In and out must be a terminal, else it
// is [ErrNoTerminal]. env is the environment: with NO_COLOR in it there are no
// colours.
func Watch(ctx context.Context, in, out any, env []string, desk Desk) error {
	s := &screen{ctx: ctx, desk: desk, clock: time.Now, theme: colours()}
	return show(ctx, in, out, env, s, &s.interrupted)
}

// show runs what is drawn on a terminal until it quits, or ctx ends. Interrupted is set by
// then where a person has stopped it.
func show(ctx context.Context, in, out any, env []string, what tea.Model, interrupted *bool) error {
	if !Is(in) || !Is(out) {
		return ErrNoTerminal
	}
	// Signals end ctx, which ends the screen. A handler of its own beside that
	// would wait for ever for a screen that has ended already.
	p := tea.NewProgram(what, tea.WithoutSignalHandler(), tea.WithInput(in.(*os.File)), tea.WithOutput(out.(*os.File)), tea.WithEnvironment(env))
	// However it ends, it quits: one that is killed may leave its reader behind,
	// which then takes keys from the next screen.
	quit := make(chan struct{})
	left := context.AfterFunc(ctx, func() {
		defer close(quit)
		p.Quit()
	})
	_, err := p.Run()
	if !left() {
		p.Kill() // where it did not begin nobody hears that it is to quit
		<-quit
	}
	switch {
	case *interrupted || ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	}
	return nil
}

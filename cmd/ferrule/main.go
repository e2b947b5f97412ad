// Command ferrule puts rules and people in front of the tool calls of agents.
//
//	ferrule init                     write a ferrule.yaml to begin with
//	ferrule up                       serve MCP clients over HTTP, and ask here
//	ferrule mcp                      serve the one client that has started it
//	ferrule servers                  which MCP servers there are, and how they stand
//	ferrule trust SERVER             what its tools say, and one answer for them
//	ferrule connect claude-code      move a client's servers behind this
//	ferrule hook claude-code         answer a client about its own tools
//	ferrule doctor                   what works on this machine
//	ferrule tools                    which tools there are, and what they claim
//	ferrule run PROMPT               an agent in the terminal, with these tools
//	ferrule call NAME '{…}'          one call, through every rule
//	ferrule batch FILE               many, as far side by side as is safe
//	ferrule undo                     what they changed, and how it is put back
//	ferrule policy check             is the configuration right?
//	ferrule policy explain --tool X  what would become of a call, and why
//	ferrule approvals                what waits for an answer
//	ferrule approvals --watch        answer on an interactive screen
//	ferrule rules                    what was allowed for longer than once
//	ferrule audit list               what happened
//	ferrule audit verify             was the record changed?
//
// docs/program.md has the rest.
package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ferrule-dev/ferrule/sandbox"
)

func main() {
	p := newProgram(sandbox.Enter()) // what isolates commands is this program, run again
	ctx, interrupt := context.WithCancel(context.Background())
	p.interrupt = interrupt
	go heed(ctx, &p.heed, interrupt, p.endAtOnce)
	os.Exit(p.run(ctx, os.Args[1:]))
}

// heed stops the program by the first signal, if nobody has done so by a key, and
// ends it at once by the next. A command may take a Ctrl-C for itself before that.
// Servers do not outlive it: see mcptool.Hub. Signals are never left to what they did
// before, which is nothing where a script has started the program in the background.
// The last thing that it does is for the terminal.
func heed(ctx context.Context, first *attention, interrupt, last func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	for taken := true; taken; {
		select {
		case s := <-signals:
			if taken = s == os.Interrupt && first.take(); !taken {
				interrupt()
			}
		case <-ctx.Done():
			taken = false
		}
	}
	<-signals
	last()
	os.Exit(statusInterrupted)
}

// attention is what a command does with a Ctrl-C instead of ending. The zero value
// does nothing.
type attention struct {
	mu sync.Mutex
	do func() (taken bool)
}

// set says what is done; nil: nothing.
func (a *attention) set(do func() (taken bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.do = do
}

// take reports whether the command has taken it.
func (a *attention) take() bool {
	a.mu.Lock()
	do := a.do
	a.mu.Unlock()
	return do != nil && do()
}

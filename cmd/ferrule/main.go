// Command ferrule puts rules and people in front of the tool calls of agents.
//
//	ferrule init                     write a ferrule.yaml to begin with
//	ferrule doctor                   what works on this machine
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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends it at once
	status := newProgram().run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

package mcptool

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// survive is deferred by each goroutine of connections: what a server sends may
// find a fault of ours, and it must not end the process with all other clients
// (L6). then has the panic as an error.
func survive(log *slog.Logger, then func(error)) {
	r := recover()
	if r == nil {
		return
	}
	if log != nil {
		log.Error("a fault of this program", slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
	}
	then(fmt.Errorf("a fault of this program: %v", r))
}

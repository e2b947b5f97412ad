package main

import (
	"context"
	"strings"
	"time"
)

// clientSuite runs the suite's tests of clients, with Ferrule as the client.
func clientSuite(ctx context.Context, w *world, s *score) error {
	command, least := w.tools.conformanceClient(), 239 // the SDK's own, in direct mode
	var err error
	if !w.direct {
		if command, err = w.build(ctx, "./e2e/client"); err != nil {
			return err
		}
		least = 239 - unauthorized
	}
	start := time.Now()
	v, err := w.suite(ctx, "suite1", []string{"client", "--command", command, "--suite", "core"}, "FERRULE="+w.program)
	if err != nil {
		return err
	}
	var missed []string
	for _, name := range v.scenes {
		if strings.HasPrefix(name, "auth/") && !w.direct {
			missed = append(missed, name)
		}
	}
	v.Fails = first(v.Fails)
	v.judge(s, "0.1.16 core", least, missed, time.Since(start))
	return nil
}

// unauthorized are the checks of the 14 scenarios auth/*. They are of a client
// that has a person log in with OAuth; a server behind Ferrule is given headers.
const unauthorized = 229

package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// clientScenarios are the suite's core tests of clients, each with the checks it
// must pass at least: how many there are depends on what a client asks for, and a
// gateway asks for more than a client alone. sse-retry measures when a client comes
// again; on a machine that has much to do it is given more than one try.
func clientScenarios() []clientScenario {
	return []clientScenario{
		{"initialize", 1, 1},
		{"tools_call", 1, 1},
		{"elicitation-sep1034-client-defaults", 5, 1},
		{"sse-retry", 3, 3},
		{"auth/metadata-default", 14, 1},
		{"auth/metadata-var1", 14, 1},
		{"auth/metadata-var2", 14, 1},
		{"auth/metadata-var3", 14, 1},
		{"auth/basic-cimd", 14, 1},
		{"auth/scope-from-www-authenticate", 15, 1},
		{"auth/scope-from-scopes-supported", 15, 1},
		{"auth/scope-omitted-when-undefined", 15, 1},
		{"auth/scope-step-up", 16, 1},
		{"auth/scope-retry-limit", 10, 1},
		{"auth/token-endpoint-auth-basic", 18, 1},
		{"auth/token-endpoint-auth-post", 18, 1},
		{"auth/token-endpoint-auth-none", 18, 1},
		{"auth/pre-registration", 14, 1},
	}
}

type clientScenario struct {
	name         string
	least, tries int
}

// clientSuite runs the suite's tests of clients, with Ferrule as the client; in
// direct mode with that of the SDK.
func clientSuite(ctx context.Context, w *world, s *score) error {
	command := w.tools.conformanceClient()
	if !w.direct {
		var err error
		if command, err = w.build(ctx, "./e2e/client"); err != nil {
			return err
		}
	}
	for _, c := range clientScenarios() {
		if err := c.run(ctx, w, s, command); err != nil {
			return err
		}
	}
	return nil
}

// run runs one scenario, and takes the best of its tries.
func (c clientScenario) run(ctx context.Context, w *world, s *score, command string) error {
	start, best := time.Now(), verdict{Failed: 1}
	for try := 0; try < c.tries && (best.Failed > 0 || best.Passed < c.least); try++ {
		v, err := w.suite(ctx, "suite1", []string{"client", "--command", command, "--scenario", c.name}, "FERRULE="+w.program)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		best = v
	}
	best.judge(s, "0.1.16 core: "+c.name, c.least, nil, time.Since(start))
	return nil
}

// readScenario reads what a suite prints after a single scenario.
func readScenario(out []byte, args []string) (verdict, bool) {
	m := regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`).FindSubmatch(out)
	at := slices.Index(args, "--scenario")
	if m == nil || at < 0 {
		return verdict{}, false
	}
	var v verdict
	v.Passed, _ = strconv.Atoi(string(m[1]))
	v.Failed, _ = strconv.Atoi(string(m[3]))
	if v.Failed == 0 && !bytes.Contains(out, []byte("OVERALL: PASSED")) {
		v.Failed = 1 // the client itself failed, whatever the suite saw of it
	}
	if v.Failed > 0 {
		v.scenes = []string{args[at+1]}
	}
	return v, true
}

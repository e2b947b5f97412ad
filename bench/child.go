package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// childEnv is set in a child process of this program, or of its test, to what
// it has to do: the name of a peer that it measures, or of a peer and a fault
// that it observes, with a slash between them.
const childEnv = "FERRULE_BENCH_CHILD"

// runChild does the task of a child and writes what came of it.
func runChild(ctx context.Context, task string, stdout, stderr io.Writer) int {
	text, err := answer(ctx, task)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	fmt.Fprintln(stdout, text)
	return 0
}

func answer(ctx context.Context, task string) (string, error) {
	name, what, observed := strings.Cut(task, "/")
	i := slices.IndexFunc(peers(), func(p peer) bool { return p.name == name })
	if i < 0 {
		return "", fmt.Errorf("got the peer %q, want a known one", name)
	}
	p := peers()[i]
	if observed {
		j := slices.IndexFunc(faults(), func(f fault) bool { return f.name == what })
		if j < 0 {
			return "", fmt.Errorf("got the fault %q, want a known one", what)
		}
		return faults()[j].observe(ctx, p)
	}
	rows, err := measurePeer(ctx, p)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

// errPanicked is the end of a child that no recover could prevent.
var errPanicked = errors.New("the process died of a panic in a tool")

// inChild gives a task to a child process and returns what it wrote.
func inChild(ctx context.Context, task string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program)
	// A data race inside another peer is its own affair: it is not to change the
	// child's exit status. Nor is the race detector to wait a second at exit.
	race := "GORACE=atexit_sleep_ms=0"
	if !strings.HasPrefix(task, ferruleRuntime().name+"/") {
		race += " exitcode=0"
	}
	cmd.Env = append(os.Environ(), childEnv+"="+task, race)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 && strings.Contains(stderr.String(), "panic: "+panicText) {
		return "", errPanicked
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", task, err, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}

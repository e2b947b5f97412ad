package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Command is what a program prints, without one line break at its end. No shell
// reads the arguments. The program has 10 seconds, and of the environment only
// PATH, HOME and what says which language it speaks. When it ends, so does what it
// has started, on Unix.
func Command(program string, args ...string) Source { return CommandWith(nil, program, args...) }

// CommandWith is [Command] for a program that needs more of the environment: env
// are names of variables that it is given as this process has them, or NAME=value.
func CommandWith(env []string, program string, args ...string) Source {
	return command{append([]string{program}, args...), slices.Clone(env)}
}

type command struct{ argv, env []string }

// commandTime is how long a program may take, and maxSaid how much of what it
// complained about is told.
const (
	commandTime = 10 * time.Second
	maxSaid     = 200
)

// String names the program only: an argument may be what should not be seen.
func (c command) String() string { return "command " + strconv.Quote(c.argv[0]) }

func (c command) Value(ctx context.Context) (Value, error) {
	late := fmt.Errorf("it took longer than %s: run it by hand to see what it waits for", commandTime)
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, late)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...) //nolint:gosec // the operator says which
	cmd.Env = c.environment()
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	var out, said bounded
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if cmd.Process != nil {
		_ = endGroup(cmd) // most often nothing is left of it
	}
	defer clear(out.b[:cap(out.b)])
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // what it left behind held its output open
		return trimmed(out.b), nil
	case ctx.Err() != nil:
		return Value{}, fmt.Errorf("%s: it was ended: %w", c, context.Cause(ctx))
	}
	return Value{}, fmt.Errorf("%s: %w%s", c, err, complaint(said.b, out.b))
}

// environment is what a program is given.
func (c command) environment() []string {
	list := []string{} // nil would be all of it
	for _, e := range os.Environ() {
		key, _, _ := strings.Cut(e, "=")
		switch {
		case key == "PATH", key == "HOME", key == "LANG", strings.HasPrefix(key, "LC_"), slices.Contains(c.env, key),
			strings.EqualFold(key, "SystemRoot"), strings.EqualFold(key, "USERPROFILE"), strings.EqualFold(key, "Path"):
			list = append(list, e)
		}
	}
	for _, e := range c.env {
		if strings.Contains(e, "=") {
			list = append(list, e)
		}
	}
	return list
}

// complaint is the first line that a program wrote to its error output, without
// what it wrote to the other.
func complaint(said, printed []byte) (text string) {
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	if value := strings.TrimSpace(string(printed)); len(value) >= minSize {
		const name = "it"
		line, _ = newScanner([]*table{newTable(needlesOf(name, value))}, []string{name}, new(sync.Pool)).scrub(line)
	}
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
	if r := []rune(line); len(r) > maxSaid {
		line = string(r[:maxSaid]) + "…"
	}
	if line == "" {
		return ""
	}
	return ": " + line
}

// bounded keeps the beginning of what is written to it. Room for it is made once,
// so that it can be wiped.
type bounded struct{ b []byte }

func (w *bounded) Write(p []byte) (int, error) {
	if w.b == nil {
		w.b = make([]byte, 0, maxSize+3)
	}
	room := cap(w.b) - len(w.b)
	w.b = append(w.b, p[:min(room, len(p))]...)
	return len(p), nil
}

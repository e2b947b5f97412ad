package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Source is where a value is kept.
type Source interface {
	// Value reads it. An error says why it cannot be had, and never holds a value.
	Value(ctx context.Context) (Value, error)
	// String names the source.
	String() string
}

// Env is the environment variable of that name.
func Env(name string) Source { return variable(name) }

type variable string

func (v variable) String() string { return "environment variable " + string(v) }

func (v variable) Value(context.Context) (Value, error) {
	text, ok := os.LookupEnv(string(v))
	if !ok {
		return Value{}, fmt.Errorf("%s: it is not set", v)
	}
	return NewValue([]byte(text)), nil
}

// File is the content of a file, without one line break at its end. It is refused
// if it is no ordinary file or, except on Windows, if anybody but its owner can
// reach it.
func File(path string) Source { return file(path) }

type file string

func (f file) String() string { return "file " + string(f) }

func (f file) Value(context.Context) (Value, error) {
	opened, err := os.OpenFile(string(f), os.O_RDONLY|openNow, 0)
	if err != nil {
		return Value{}, f.cannot(err)
	}
	defer opened.Close()
	info, err := opened.Stat()
	switch {
	case err != nil:
		return Value{}, f.cannot(err)
	case !info.Mode().IsRegular():
		return Value{}, fmt.Errorf("%s: got %s, want an ordinary file", f, info.Mode().Type())
	case !closed(info.Mode()):
		return Value{}, fmt.Errorf("%s: got the mode %#o, which lets others reach it, want 0600 or less: chmod 600 it", f, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(opened, maxSize+3))
	defer clear(text)
	if err != nil {
		return Value{}, f.cannot(err)
	}
	return trimmed(text), nil
}

// cannot is an error of the system, which names the path once more.
func (f file) cannot(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", f, err)
}

// trimmed is a value without one line break at its end.
func trimmed(text []byte) Value {
	if line, ok := bytes.CutSuffix(text, []byte("\n")); ok {
		text, _ = bytes.CutSuffix(line, []byte("\r"))
	}
	return NewValue(text)
}

// Command is what a program prints, without one line break at its end. No shell
// reads the arguments. The program has 10 seconds, and of the environment only
// PATH, HOME and what says which language it speaks.
func Command(program string, args ...string) Source {
	return command{append([]string{program}, args...)}
}

type command struct{ argv []string }

// commandTime is how long a program may take, and maxSaid how much of what it
// complained about is told.
const (
	commandTime = 10 * time.Second
	maxSaid     = 200
)

// String names the program only: an argument may be what should not be seen.
func (c command) String() string { return "command " + strconv.Quote(c.argv[0]) }

func (c command) Value(ctx context.Context) (Value, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...) //nolint:gosec // the operator says which
	cmd.Env = environment()
	cmd.WaitDelay = time.Second
	var out, said bounded
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	defer clear(out.b[:cap(out.b)])
	switch {
	case ctx.Err() != nil:
		return Value{}, fmt.Errorf("%s: it was ended: %w", c, context.Cause(ctx))
	case err != nil:
		return Value{}, fmt.Errorf("%s: %w%s", c, err, complaint(said.b, out.b))
	}
	return trimmed(out.b), nil
}

// environment is what a program is given.
func environment() []string {
	var list []string
	for _, e := range os.Environ() {
		key, _, _ := strings.Cut(e, "=")
		switch {
		case key == "PATH", key == "HOME", key == "LANG", strings.HasPrefix(key, "LC_"),
			strings.EqualFold(key, "SystemRoot"), strings.EqualFold(key, "USERPROFILE"), strings.EqualFold(key, "Path"):
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
		line, _ = newScanner([]string{"it"}, []string{value}).scrub(line)
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

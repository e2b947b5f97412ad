package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

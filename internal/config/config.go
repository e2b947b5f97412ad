// Package config reads ferrule.yaml, the configuration of the program. It is
// strict: a key that is not known, a value of another type, a rule that cannot
// be read is an error with its place, and all of them are told at once. Every
// key has a default, and no file is needed.
//
// A key of something that is not built yet may stand there empty, and is an error
// with a value. What the others say is read and checked here; the program acts on
// it.
//
// [AddAlways], [RemoveAlways], [ReplaceAlways], [AddServer] and [RemoveServer]
// change the two lists that the program itself writes to, and leave everything else
// in the file as it is.
package config

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// Name is what the file is called where nobody says otherwise.
const Name = "ferrule.yaml"

// Config is what ferrule.yaml says, with defaults where it says nothing.
type Config struct {
	// File is where it was read from; "": there was no file.
	File string
	// Workspace is the folder that paths in rules are below, absolute; default:
	// the folder of the file.
	Workspace string
	Policy    Policy
	Limits    Limits
	Store     Store
	Tools     Tools
	Sandbox   Sandbox
	// Secrets are what tools may use, by name.
	Secrets map[string]Secret
	// Hooks are programs that look at calls.
	Hooks []Hook
	// Servers are MCP servers, in the order of the file.
	Servers []Server
	Listen  Listen
	Content content
	Search  search
	// Telemetry is what is told to whom.
	Telemetry telemetry
}

// Policy says what may run.
type Policy struct {
	// Allow, Ask and Deny are short rules, see [policy.Rule].
	Allow, Ask, Deny []string
	// Files are Cedar files, absolute.
	Files []string
	// Mode is that of sessions which set none.
	Mode policy.Mode
	// Always are rules that people made of a yes: they answer later questions in
	// their place. The program adds to them.
	Always []Always
}

// Limits bound what may run.
type Limits struct {
	Rates []policy.Rate
}

// Store says where state is kept.
type Store struct {
	// Path is the file of the database, absolute; "": ferrule.db in the home.
	Path string
}

// Secret says where a value is kept, in one of the ways, and who may use it.
type Secret struct {
	Env     string   // the name of an environment variable
	File    string   // absolute
	Command []string // the program that prints it, and its arguments
	// CommandEnv is what that program is given beside the little that every one is:
	// names of variables, or NAME=value.
	CommandEnv []string
	// Keyring is the entry of the keyring of the operating system.
	Keyring KeyringEntry
	// Tools are names, as models call them, exact or with a * at the end; none: no
	// tool may use it.
	Tools []string
}

// KeyringEntry is written service/account; all behind the first slash is the
// account.
type KeyringEntry struct{ Service, Account string }

// Hook is a program that gets events as JSON and answers allow, deny or change.
type Hook struct {
	Name string
	// Command is the program and its arguments; no shell reads it.
	Command []string
	// Events are those that it is run for: input, output; default: input.
	Events []string
	// Only says which tools. The zero value: all.
	Only Only
	// Timeout denies where it has passed; default: 10 s.
	Timeout time.Duration
	// Dir is where it runs, absolute; default: the folder of the file.
	Dir string
	// Env is what it is given beside the little that every hook is given, as
	// KEY=value.
	Env []string
	// Line and Column are where it stands in the file.
	Line, Column int
}

// Only are tools that have one of each that is given: exact names, as models call
// them; tags; sources, "" for the program itself.
type Only struct {
	Names, Tags, Sources []string
}

// defaultTimeout is how long a hook may take.
const defaultTimeout = 10 * time.Second

// Default is the configuration where there is no file. dir is the workspace.
func Default(dir string) (*Config, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("config: workspace: %w", err)
	}
	return &Config{Workspace: filepath.ToSlash(resolved(abs))}, nil
}

// resolved is a path without symlinks, as tools name files: rules about the workspace
// must match these. What is not there stays as it is.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// Load reads a file. What is wrong in it is told as [Errors].
func Load(path string) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	text, err := Read(abs)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	c, err := parse(path, filepath.Dir(abs), text)
	if err != nil {
		return nil, err
	}
	c.File = abs
	return c, nil
}

// Read is the content of a file, unless it is longer than any configuration.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSize:
		return nil, fmt.Errorf("%s: got more than %d bytes, want at most that many", path, maxSize)
	}
	return text, nil
}

// Parse reads the text of a file that is called name. Paths in it are below dir.
func Parse(name, dir, text string) (*Config, error) {
	c, err := parse(name, dir, []byte(text))
	if err != nil {
		return nil, err
	}
	c.File = name
	return c, nil
}

// Error is what is wrong in the file, and where.
type Error struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1, in characters
	Text   string `json:"text"`
}

// Error says where and what.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text) }

// Errors are all that is wrong, in the order of the file.
type Errors []*Error

// Error has a line for each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}

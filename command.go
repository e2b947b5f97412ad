package ferrule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Command is a program that is a hook. It is started anew for each event, reads
// the event as one JSON object from its standard input, and writes its answer,
// one JSON object, to its standard output:
//
//	{"decision":"allow"}
//	{"decision":"deny","message":"for the model","reason":"for the operator"}
//	{"decision":"change","input":{"path":"notes.txt"}}
//
// docs/hooks.md has all of both. Whatever else it does denies: another answer, no
// answer or more than one, an exit status other than 0, a signal, taking too long,
// not starting. What it writes to standard error is for the operator.
//
// A program that has ended, or was ended, leaves nothing behind of what it started
// in its process group. Where there are no process groups (Windows) only the
// program itself is ended.
type Command struct {
	// Name stands in records; "": the name of the program.
	Name string
	// Run is the program and its arguments. No shell reads them. A program named
	// without a slash is looked for in PATH; one with a slash is found from Dir.
	Run []string
	// Dir is where it runs; "": where this process does.
	Dir string
	// Env is what it is given beside PATH, HOME and the locale of this process,
	// as KEY=value. It is given nothing else.
	Env []string
	// Timeout is how long it has; 0: 10 s. The time that every hook has for a call
	// (60 s, or as long as the tool has) is over when it is over.
	Timeout time.Duration
	// Only limits it to some tools; the zero value is all.
	Only Filter
	// Input: it sees arguments before anybody is asked. Output: it sees results.
	// Neither: Input.
	Input, Output bool
}

// commandTime is what a program has that is given no time of its own.
const commandTime = 10 * time.Second

// Hook is the hook that runs the program. It is a security hook: it sees changed
// input once more, and its failure denies. The program must be there, and must be
// one that can be run. Its path is found now and stays the same, whatever becomes
// of PATH and of the working directory; what stands in the file is what is run, so
// who may write to it decides.
func (c Command) Hook() (Hook, error) {
	if len(c.Run) == 0 || c.Run[0] == "" {
		return Hook{}, errors.New("command hook: got no program, want Command.Run: the program, then its arguments")
	}
	c.Name = cmp.Or(c.Name, filepath.Base(c.Run[0]))
	program, err := c.program()
	if err != nil {
		return Hook{}, fmt.Errorf("command hook %q: %w", c.Name, err)
	}
	h := Hook{Name: c.Name, Security: true, Only: c.Only.clone()}
	if c.Input || !c.Output {
		h.Input = program.input
	}
	if c.Output {
		h.Output = program.output
	}
	return h, nil
}

// program is a command that has been checked.
type program struct {
	name string
	run  []string // the first is an absolute path
	dir  string
	env  []string
	time time.Duration
}

func (c *Command) program() (*program, error) {
	p := &program{name: c.Name, run: slices.Clone(c.Run), dir: c.Dir, env: ownEnv(c.Env), time: cmp.Or(c.Timeout, commandTime)}
	if p.time < time.Millisecond {
		return nil, fmt.Errorf("timeout: got %s, want a time.Duration such as 10*time.Second, or 0 for %s", c.Timeout, commandTime)
	}
	for _, s := range slices.Concat(c.Run, c.Env) {
		if strings.ContainsRune(s, 0) {
			return nil, fmt.Errorf("%q: want no zero byte: no program can be given one", s)
		}
	}
	for _, e := range c.Env {
		if strings.Index(e, "=") < 1 {
			return nil, fmt.Errorf("env: got %q, want KEY=value", e)
		}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("got the file %q, want a directory", c.Dir)
		}
		if err == nil {
			p.dir, err = filepath.Abs(c.Dir)
		}
		if err != nil {
			return nil, fmt.Errorf("dir: %w", err)
		}
	}
	var err error
	p.run[0], err = p.find(c.Run[0])
	return p, err
}

// find is the path of a program. What stands in the working directory and is
// named without a slash is not found: it could be anybody's.
func (p *program) find(name string) (string, error) {
	path, bare := name, filepath.Base(name) == name
	if !bare && !filepath.IsAbs(name) {
		var err error
		if path, err = filepath.Abs(filepath.Join(p.dir, name)); err != nil {
			return "", err
		}
	}
	found, err := exec.LookPath(path)
	switch {
	case err == nil:
		return filepath.Abs(found)
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("%w: write %s", err, "."+string(filepath.Separator)+name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%w: make it executable (chmod +x %s), or name the program that reads it first", err, path)
	case bare:
		return "", fmt.Errorf("%w: install it, or give its whole path", err)
	}
	return "", fmt.Errorf("%w: give the path of a program", err)
}

// ownEnv is what a program is given of this process's environment, and what its
// command says, which wins.
func ownEnv(more []string) []string {
	names := []string{"PATH", "HOME", "LANG", "LANGUAGE"}
	if runtime.GOOS == "windows" {
		names = append(names, "USERPROFILE", "SYSTEMROOT", "PATHEXT", "TEMP")
	}
	env := []string{} // nil would be all of it
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "LC_") {
			env = append(env, e)
		}
	}
	return append(env, more...)
}

// input asks the program about the arguments of a call.
func (p *program) input(ctx context.Context, r *tool.Request) (Change, error) {
	a, err := p.ask(ctx, inputEvent, eventOf(inputEvent, r))
	switch {
	case err != nil:
		return Change{}, err
	case a.decision == denies:
		return Change{Block: cmp.Or(a.message, "A check of this program denied the call."), Reason: a.forOperator()}, nil
	}
	return Change{Input: a.input, Context: a.context}, nil
}

// output asks the program about the result of a call, as it stands.
func (p *program) output(ctx context.Context, r *tool.Request, now, _ tool.Result) (*tool.Result, error) {
	e := eventOf(outputEvent, r)
	e.Result = resultOf(r, now)
	a, err := p.ask(ctx, outputEvent, e)
	switch {
	case err != nil:
		return nil, err
	case a.decision == denies:
		text := cmp.Or(a.message, "The tool ran, but a check of this program withheld its result.")
		return &tool.Result{Err: &tool.Error{Kind: tool.HookBlocked, Text: text, Detail: fmt.Sprintf("hook %q: %s", p.name, cmp.Or(a.forOperator(), text))}, Trust: now.Trust}, nil
	case a.decision == changes:
		if now, err = a.instead(now); err != nil {
			return nil, err
		}
	case a.context == "":
		return nil, nil
	}
	if a.context != "" {
		now.Content = append(now.Content, tool.Text(a.context))
	}
	return &now, nil
}
